"""The habits of the house that no linter holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "mcptask").rglob("*.py"))
LONGEST = 300  # lines: the file that outgrows it is, everywhere, the front one

# Spelled in halves, so that this file is no exception to its own rule.
REGISTRY_HOSTS = [
    f"{name}.{tail}"
    for name, tail in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry.npmjs", "org"),
        ("registry.yarnpkg", "com"),
        ("deb.debian", "org"),
    ]
]
WRITTEN_BY_HAND = ("mcptask", "tests", "scripts", "completions", ".ci")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_a_module_is_short_and_says_what_it_is_for(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    lines = source.count("\n")
    assert lines < LONGEST
    assert ast.get_docstring(ast.parse(source))


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    assert [relative(module) for module in MODULES if module.stem in {"utils", "helpers"}] == []


def test_no_file_names_the_host_of_a_package_registry() -> None:
    files = [path for path in ROOT.iterdir() if path.suffix in {".md", ".toml"}]
    for folder in WRITTEN_BY_HAND:
        files += (ROOT / folder).rglob("*")
    guilty = [
        relative(path)
        for path in files
        if path.is_file() and "__pycache__" not in path.parts
        for host in REGISTRY_HOSTS
        if host.encode() in path.read_bytes()
    ]
    assert guilty == []
