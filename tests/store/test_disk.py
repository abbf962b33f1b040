"""What the disk may refuse, and what the state file may be other than a file."""

import errno
import os
import resource
import signal
from dataclasses import replace

import pytest

from mcptask.errors import StateError, StateUnwritable
from mcptask.origin import Origin
from mcptask.protocol.task import Task
from mcptask.store import atomic, statefile
from mcptask.store.records import State
from mcptask.store.tasks import TaskStore

STUDIO = Origin(server="studio")


def add(store, task_id="tsk_1"):
    task = Task(task_id=task_id, status="working")
    return store.add(task, origin=STUDIO, tool="reflow", protocol=None)


def names(path):
    return sorted(entry.name for entry in path.parent.iterdir())


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_disk_that_fails_in_the_middle_leaves_the_old_file_and_nothing_else(
    store, path, monkeypatch, broken
):
    add(store)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(
        StateUnwritable, match=r"tasks\.toml cannot be written: No space left"
    ) as caught:
        add(store, "tsk_2")
    assert "--state" in caught.value.hint
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [name for name in names(path) if name.endswith(".tmp")] == []


def test_a_limit_on_the_size_of_files_is_a_full_disk(store, path):
    add(store)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        with pytest.raises(StateUnwritable, match="File too large"):
            add(store, "tsk_2")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [name for name in names(path) if name.endswith(".tmp")] == []


def test_a_file_in_the_place_of_the_folder_is_said(folder, fake_time):
    (folder / "mcptask").write_text("")
    store = TaskStore(folder / "mcptask" / "tasks.toml", fake_time.clock)
    with pytest.raises(StateUnwritable, match="cannot be read: Not a directory"):
        store.read()
    with pytest.raises(StateUnwritable, match="cannot be written: "):
        add(store)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_plain_file_is_never_opened_or_replaced(folder, fake_time, kind):
    path = folder / "thing"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    store = TaskStore(path, fake_time.clock)
    with pytest.raises(StateError, match="not a plain file"):
        store.read()
    if kind != "device":
        with pytest.raises(StateError, match="not a plain file"):
            add(store)
    assert not path.is_file()


@pytest.mark.parametrize("owner", ["root", None])
def test_a_file_that_may_not_be_read_says_whose_it_is(store, path, monkeypatch, owner):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    def name(_):
        return owner or {}["nobody has this number"]

    add(store)
    monkeypatch.setattr(atomic, "opened", refused)
    monkeypatch.setattr(type(path), "owner", name)
    with pytest.raises(StateUnwritable, match="cannot be read: Permission denied") as caught:
        store.read()
    assert caught.value.hint.startswith(
        "it belongs to root; name" if owner else "name another file"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_said(store, path):
    add(store)
    path.parent.chmod(0o500)
    try:
        with pytest.raises(StateUnwritable, match="Permission denied"):
            add(store, "tsk_2")
    finally:
        path.parent.chmod(0o700)


def test_a_linked_state_file_stays_a_link(folder, fake_time):
    real, link = folder / "disk" / "tasks.toml", folder / "tasks.toml"
    link.symlink_to(real)
    store = TaskStore(link, fake_time.clock)
    assert store.read() == State()
    add(store)
    add(store, "tsk_2")
    assert link.is_symlink()
    assert len(TaskStore(real, fake_time.clock).read().tasks) == 2
    assert names(link) == ["disk", "tasks.toml"]


def test_a_link_to_itself_is_an_error_with_a_reason(folder, fake_time):
    loop = folder / "loop"
    loop.symlink_to(loop)
    store = TaskStore(loop, fake_time.clock)
    for use in (store.read, lambda: add(store)):
        with pytest.raises(StateUnwritable, match="symbolic links"):
            use()


def test_what_cannot_be_written_again_is_refused_before_anything_is_touched(store, path):
    add(store)
    before = path.read_bytes()
    with pytest.raises(StateError, match=r"cannot be written anew: .* digits"):
        store.change(lambda state: replace(state, extra={"hex": 0x10**5000}))
    assert path.read_bytes() == before
    assert set(names(path)) - {"tasks.toml.lock"} == {"tasks.toml"}


def test_a_later_write_sweeps_what_killed_ones_left_beside_the_state_file(store, path):
    add(store)
    old = [
        ".tasks.toml.abcdefgh.tmp",
        ".tasks.toml.bak.abcdefgh.tmp",
        ".tasks.toml.lock.pid.abcdefgh.tmp",
    ]
    for name in (*old, ".tasks.toml2.abcdefgh.tmp"):
        (path.parent / name).write_text("")
        os.utime(path.parent / name, (1, 1))
    add(store, "tsk_2")
    assert [name for name in names(path) if name.endswith(".tmp")] == [".tasks.toml2.abcdefgh.tmp"]


def test_a_file_beyond_the_limit_is_neither_read_whole_nor_made(store, path, monkeypatch):
    add(store)
    before = path.read_bytes()
    monkeypatch.setattr(statefile, "LARGEST", len(before) + 10)
    with pytest.raises(StateUnwritable, match="it would be larger than 16 MiB") as caught:
        add(store, "tsk_2")
    assert caught.value.hint == "mcptask forget --ended makes room"
    assert path.read_bytes() == before
    os.truncate(path, 2**30)
    asked = []
    real = atomic.opened

    class Watched:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def fileno(self):
            return self.file.fileno()

        def read(self, size):
            asked.append(size)
            return self.file.read(size)

    monkeypatch.setattr(atomic, "opened", lambda path: Watched(real(path)))
    for use in (store.read, lambda: add(store, "tsk_2")):
        with pytest.raises(StateError, match="is larger than 16 MiB: not used"):
            use()
    assert asked == [len(before) + 11] * 2
    assert path.stat().st_size == 2**30


@pytest.mark.parametrize("place", ["file", "folder", "folder of nothing yet"])
def test_a_file_that_others_could_have_written_is_refused_and_not_touched(store, path, place):
    add(store)
    before = path.read_bytes()
    if place == "folder of nothing yet":
        path.unlink()
    (path if place == "file" else path.parent).chmod(0o777)
    for use in (store.read, lambda: add(store, "tsk_2")):
        with pytest.raises(StateError, match="other users can write") as caught:
            use()
        assert not isinstance(caught.value, StateUnwritable)
        assert caught.value.hint.startswith("chmod go-w ")
    assert not path.exists() or path.read_bytes() == before


def test_a_file_that_others_can_read_is_private_again_after_a_change(store, path):
    add(store)
    path.chmod(0o644)
    assert len(store.read().tasks) == 1
    add(store, "tsk_2")
    assert path.stat().st_mode & 0o777 == 0o600
