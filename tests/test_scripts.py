"""`scripts/_npm`: packages are installed once, by one process at a time, and only a whole install counts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# An npm that notes how it was called, puts a package where it should go, and fails where it is told to.
NPM = """#!/bin/sh
echo "$*" >>"$CALLS"
[ -z "$BROKEN" ] || exit 7
mkdir -p "$3/node_modules/one"
"""
INSTALL = (
    'set -euo pipefail; source scripts/_npm; install_modules tools 2026-01-02 "$@"; ls "$modules"'
)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="these are scripts for bash")


class Machine:
    def __init__(self, folder: Path) -> None:
        self.calls = folder / "calls"
        self.calls.touch()
        self.programs = folder / "bin"
        self.programs.mkdir()
        npm = self.programs / "npm"
        npm.write_text(NPM, encoding="utf-8")
        npm.chmod(0o755)
        self.environ = {
            **os.environ,
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "CALLS": str(self.calls),
        }

    def installs(self, *pins: str, script: str = INSTALL, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", script, "scripts/x", *pins],
            cwd=ROOT,
            env={**self.environ, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def asked(self) -> list[str]:
        """What npm was asked for, one line a call."""
        return [line.split()[-1] for line in self.calls.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_packages_are_installed_once_for_each_set_of_pins(machine: Machine) -> None:
    for pin in ("one@1", "one@1", "one@2"):
        out, err = (running := machine.installs(pin)).communicate()
        assert (running.returncode, out) == (0, "one\n"), err
    assert machine.asked() == ["one@1", "one@2"]
    assert "--before 2026-01-02 " in machine.calls.read_text(encoding="utf-8")


def test_an_install_that_failed_is_tried_again(machine: Machine) -> None:
    broken = machine.installs("one@1", BROKEN="yes")
    assert (broken.communicate()[0], broken.returncode) == ("", 7)
    whole = machine.installs("one@1")
    assert (whole.communicate()[0], whole.returncode) == ("one\n", 0)


def test_two_at_once_install_it_once(machine: Machine) -> None:
    for running in [machine.installs("one@1") for _ in range(3)]:
        assert running.communicate()[0] == "one\n"
    assert machine.asked() == ["one@1"]


def test_without_npm_it_is_told_where_to_get_it(machine: Machine) -> None:
    script = 'source scripts/_npm; PATH=/nowhere; needs_npm "18 or later"; echo went on'
    running = machine.installs(script=script)
    out, err = running.communicate()
    assert (running.returncode, out) == (1, "")
    assert err.startswith("scripts/x needs npm and Node 18 or later: ")


@pytest.mark.parametrize("name", ["conformance", "schemas"])
def test_no_script_installs_packages_of_npm_by_itself(name: str) -> None:
    script = (ROOT / "scripts" / name).read_text(encoding="utf-8")
    assert "install_modules" in script
    assert "npm install" not in script
