"""What the state file may turn out to be: a clear line, nothing overwritten, no id lost."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import ID, Scripted

COMMANDS = ("call job month=x", "list", "get 1", "watch", "forget 1")
TASK = 'version = 1\n[[tasks]]\nref = 1\ntask_id = "tsk_0001"\nserver = "gone"\n'


def bytes_of(data: bytes) -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(data), None)[1]


def instead(make: Callable[[Path], Any]) -> Callable[[Path], None]:
    """Something else in the file's place."""

    def setup(path: Path) -> None:
        path.unlink(missing_ok=True)
        make(path)

    return setup


def owned_by_another(path: Path) -> None:
    path.write_text(TASK)
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)


def with_mode(mode: int, *, folder: bool = False) -> Callable[[Path], None]:
    def setup(path: Path) -> None:
        path.write_text(TASK)
        (path.parent if folder else path).chmod(mode)

    return setup


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**30)  # takes no room on the disk, and would take 1 GB of memory


# What is done to the file, and what is said of it. Nothing is sent then, and nothing written.
DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "truncated": (bytes_of(TASK[:45].encode()), "is damaged: Unterminated string"),
    "garbage": (bytes_of(b"\x00\xff\xfe"), "is damaged: 'utf-8' codec can't decode byte"),
    "mended by a slip of the hand": (bytes_of(b"tasks = 7\n"), "is damaged: tasks is not a list"),
    "without an id": (bytes_of(b"[[tasks]]\nref = 1\n"), "is damaged: [[tasks]] number 1 has no"),
}
REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "of the future": (bytes_of(b"version = 99\n"), "was written by a newer mcptask (format 99"),
    "of another user": (owned_by_another, "is not used: it belongs to another user"),
    "writable by others": (with_mode(0o666), "is not used: other users can write it (mode 0666)"),
    "in a folder of all": (with_mode(0o777, folder=True), "other users can write to its folder"),
    "a link to itself": (instead(lambda path: path.symlink_to(path)), "cannot be read: Too many"),
    "a pipe": (instead(os.mkfifo), "is not a plain file"),
    "a device": (instead(lambda path: path.symlink_to("/dev/zero")), "is not a plain file"),
    "a folder": (instead(Path.mkdir), "is not a plain file"),
    "of 1 GB": (huge, "is larger than 16 MiB"),
}


def seen(path: Path) -> object:
    """What is there, without opening what is no file."""
    found = os.lstat(path)
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) and found.st_size < 2**20 else None
    return found.st_ino, found.st_mode, found.st_size, content


def unwrapped(ran: Ran) -> str:
    return " ".join(ran.err.split())


@pytest.fixture
def as_another(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Root may give files away; anybody else has to be another one than their owner."""

    def become(case: str) -> None:
        me = os.geteuid()
        if case == "of another user" and me != 0:
            monkeypatch.setattr(os, "geteuid", lambda: me + 1)

    return become


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", [*DAMAGED, *REFUSED])
def test_it_is_told_in_a_line_and_nothing_is_sent_or_written(
    on_server: Cli, server: Scripted, case: str, command: str, as_another: Callable[[str], None]
) -> None:
    setup, words = (DAMAGED | REFUSED)[case]
    on_server.state.parent.mkdir(parents=True)
    setup(on_server.state)
    as_another(case)
    before = seen(on_server.state)
    ran = on_server(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert os.path.realpath(on_server.state) in ran.err
    assert words in unwrapped(ran)
    assert "hint: " in ran.err
    assert seen(on_server.state) == before
    assert server.got("tools/call") == []


@pytest.mark.parametrize("case", [*DAMAGED, *REFUSED])
def test_when_it_comes_while_a_call_is_under_way_the_id_is_printed_and_the_file_is_kept(
    on_server: Cli, server: Scripted, case: str, as_another: Callable[[str], None]
) -> None:
    setup, words = (DAMAGED | REFUSED)[case]
    create = server._plan["tools/call"][0]
    left: list[object] = []

    def meanwhile(handler: Any, got: Any) -> None:
        setup(on_server.state)
        as_another(case)
        left.append(seen(on_server.state))
        create(handler, got)

    server.on("tools/call", meanwhile)
    ran = on_server("call", "job", "month=x")
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    if case in REFUSED:
        assert f"warning: task {ID} could not be stored" in ran.err
        assert words in unwrapped(ran)
        assert seen(on_server.state) == left[0]
        return
    # Damaged, it is kept aside, with the last good copy, and the task is in a new one.
    (aside,) = on_server.state.parent.glob("tasks.toml.damaged-1")
    assert f"it is kept as {aside}" in unwrapped(ran)
    assert aside.read_bytes() == left[0][3]  # type: ignore[index]
    assert ID in on_server.state.read_text()


def test_the_last_good_copy_is_named_and_is_good(on_server: Cli) -> None:
    on_server("call", "job", "month=x")
    on_server.state.write_bytes(b"]] nonsense")
    backup = on_server.state.with_name("tasks.toml.bak")
    assert f"{backup} is the last good copy" in unwrapped(on_server("list"))
    on_server.state.write_bytes(backup.read_bytes())
    assert on_server("list").code == 0


MENDED = {
    "numbers that are there twice": (
        TASK + '[[tasks]]\nref = 1\ntask_id = "tsk_0002"\n',
        "number 1 is there twice: the later one is 2 now",
    ),
    "keys that nobody knows": (TASK + 'mood = "ok"\n[odd]\nx = 1\n', ""),
    "values of another kind": (TASK + 'seen_at = "yesterday"\n', ""),
}


@pytest.mark.parametrize("case", MENDED)
def test_what_a_hand_left_is_read_kept_and_told(on_server: Cli, case: str) -> None:
    text, words = MENDED[case]
    on_server.state.parent.mkdir(parents=True)
    on_server.state.write_text(text)
    assert words in unwrapped(on_server("list"))
    assert on_server("call", "job", "month=x").out == f"{ID}\n"
    after = on_server.state.read_text()
    for line in (
        f'"{ID}"',
        *(line for line in text.splitlines() if line.partition(" ")[0] != "ref"),
    ):
        assert line in after


def planted(name: str) -> Callable[[Cli], Path]:
    """A link beside the state file, to something precious."""

    def plant(cli: Cli) -> Path:
        victim = cli.state.parent.parent / "victim"
        cli.state.parent.mkdir(parents=True)
        victim.write_text("precious")
        cli.state.with_name(name).symlink_to(victim)
        return victim

    return plant


@pytest.mark.parametrize(
    "name", ["tasks.toml.lock", "tasks.toml.lock.pid", "tasks.toml.bak", "results", "crash.log"]
)
def test_a_link_that_was_planted_beside_it_is_not_written_through(
    on_server: Cli, name: str
) -> None:
    victim = planted(name)(on_server)
    for _ in range(2):
        ran = on_server("call", "job", "month=x")
        assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert on_server("call", "job", "month=x", "--wait").out == "moved 138, unresolved 4\n"
    assert victim.read_text() == "precious"
    stored = on_server.state.exists()
    assert stored or f"{on_server.state.with_name(name)}" in unwrapped(ran)


def test_a_dangling_link_is_a_file_that_is_yet_to_come(on_server: Cli) -> None:
    target = on_server.state.parent / "elsewhere" / "tasks.toml"
    on_server.state.parent.mkdir(parents=True)
    on_server.state.symlink_to(target)
    assert on_server("list").code == 0
    on_server("call", "job", "month=x")
    assert on_server.state.is_symlink()
    assert ID in target.read_text()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_network_file_system_without_locks_is_used_all_the_same(
    on_server: Cli, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    ran = on_server("call", "job", "month=x", "--wait")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "warning" not in ran.err
    assert on_server("get", "1", "--result").out == "moved 138, unresolved 4\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_in_a_folder_that_may_only_be_read_the_id_is_printed(on_server: Cli) -> None:
    on_server.state.parent.mkdir(parents=True)
    on_server.state.parent.chmod(0o500)
    try:
        ran = on_server("call", "job", "month=x")
    finally:
        on_server.state.parent.chmod(0o700)
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert "Permission denied" in ran.err
