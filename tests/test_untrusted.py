"""Which files are not used because somebody else may have written them."""

import grp
import os
import pwd
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcptask.untrusted import objection

ME, MINE = 1000, 1000


def status(mode: int = 0o600, uid: int = ME, gid: int = MINE) -> os.stat_result:
    return os.stat_result((stat.S_IFREG | mode, 1, 1, 1, uid, gid, 0, 0, 0, 0))


def group(name: str, *members: str) -> SimpleNamespace:
    return SimpleNamespace(gr_name=name, gr_mem=list(members))


@pytest.fixture(autouse=True)
def groups(monkeypatch: pytest.MonkeyPatch) -> dict[int, SimpleNamespace]:
    """I am user 1000, with a group of my own."""
    groups = {MINE: group("me"), 27: group("sudo", "me")}
    me = SimpleNamespace(pw_name="me", pw_gid=MINE)
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: {ME: me}[uid])
    monkeypatch.setattr(grp, "getgrgid", lambda gid: groups[gid])
    return groups


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir(0o700)
    return folder / "file"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o444, 0o755, 0o664])
@pytest.mark.parametrize("uid", [ME, 0])
def test_a_file_that_only_its_owner_writes_is_used_whoever_reads_it(
    file: Path, mode: int, uid: int
) -> None:
    assert objection(file, status(mode, uid)) is None


@pytest.mark.parametrize("uid", [1001, 65534])
def test_a_file_of_somebody_else_is_not_used_and_the_line_to_type_is_told(
    file: Path, uid: int
) -> None:
    what, hint = objection(file, status(uid=uid)) or ("", "")
    assert what == (
        f"{file} is not used: it belongs to another user (uid {uid}), who could make mcptask run any program"
    )
    assert shlex.split(hint.partition("or: ")[2]) == ["chown", "1000", str(file)]


@pytest.mark.parametrize(
    ("mode", "gid"), [(0o602, MINE), (0o666, MINE), (0o620, 27), (0o664, 0), (0o660, 4242)]
)
def test_a_file_that_others_or_another_group_can_write_is_not_used(
    file: Path, mode: int, gid: int
) -> None:
    what, hint = objection(file, status(mode, gid=gid)) or ("", "")
    assert f"{file} is not used: other users can write it (mode {mode:04o})" in what
    assert shlex.split(hint) == ["chmod", "go-w", str(file)]


@pytest.mark.parametrize("shared", [group("me", "me", "eve"), group("users")])
def test_my_first_group_is_not_private_once_it_has_others_in_it(
    file: Path, groups: dict[int, SimpleNamespace], shared: SimpleNamespace
) -> None:
    assert objection(file, status(0o664)) is None
    groups[MINE] = shared
    assert objection(file, status(0o664)) is not None


def test_a_user_without_a_name_has_no_private_group(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: {}[uid])
    assert objection(file, status(0o600)) is None
    assert objection(file, status(0o620)) is not None


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("mode", "used"), [(0o777, False), (0o702, False), (0o1777, True), (0o755, True)]
)
def test_the_folder_counts_as_well_unless_it_is_sticky(
    file: Path, mode: int, used: bool, there: bool
) -> None:
    file.parent.chmod(mode)
    found = objection(file, status() if there else None)
    assert (found is None) is used
    if found is not None:
        assert f"other users can write to its folder (mode {mode:04o})" in found[0]
        assert shlex.split(found[1]) == ["chmod", "go-w", str(file.parent)]


def test_a_folder_that_is_not_there_is_nobodys(file: Path) -> None:
    assert objection(file.parent / "none" / "file", None) is None


def test_windows_has_no_modes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert objection(file, status(0o666, uid=5)) is None


def test_users_and_groups_are_only_looked_up_in_doubt(tmp_path: Path) -> None:
    program = (
        "import sys, os, pathlib\nfrom mcptask.untrusted import objection\n"
        "path = pathlib.Path(sys.argv[1])\nassert objection(path, os.stat(path)) is None\n"
        "print({'grp'} & set(sys.modules))"
    )
    (tmp_path / "file").touch(0o600)
    command = [sys.executable, "-c", program, str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.stdout == "set()\n", done.stderr
