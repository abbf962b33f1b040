import errno
import os
import re
import stat
import time
from pathlib import Path

import pytest

from mcptask.store import atomic


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_files_are_0600_and_new_folders_0700_under_every_umask(folder, umask):
    file = folder / "a" / "b" / "file"
    atomic.write(file, b"one")
    atomic.write(file, b"two", durable=False)
    assert file.read_bytes() == b"two"
    assert (mode(file), mode(file.parent), mode(file.parent.parent)) == (0o600, 0o700, 0o700)
    assert names(file.parent) == ["file"]


def test_a_file_to_append_to_is_0600_if_it_is_new_and_as_it_was_if_not(folder, umask):
    for text in (b"one", b"two"):
        number = atomic.append_to(folder / "new")
        os.write(number, text)
        os.close(number)
    (folder / "old").write_bytes(b"")
    (folder / "old").chmod(0o640)
    (folder / "link").symlink_to(folder / "target")
    for name in ("old", "link"):
        os.close(atomic.append_to(folder / name))
    assert (folder / "new").read_bytes() == b"onetwo"
    assert (mode(folder / "new"), mode(folder / "old")) == (0o600, 0o640)
    assert mode(folder / "target") & 0o077 == 0


def test_a_pipe_reads_as_empty_and_holds_nobody_up(folder):
    os.mkfifo(folder / "pipe")
    with atomic.opened(folder / "pipe") as file:
        assert file.read() == b""


def test_a_folder_that_is_there_keeps_its_mode(folder):
    folder.chmod(0o755)
    atomic.write(folder / "file", b"")
    assert mode(folder) == 0o755


def test_a_file_in_the_place_of_the_folder_is_an_error(folder):
    (folder / "a").write_text("")
    for file in ("a/file", "a/b/file"):
        with pytest.raises(OSError, match=r"exists|directory"):
            atomic.write(folder / file, b"")


def test_a_folder_that_somebody_makes_at_the_same_moment_is_fine(folder, monkeypatch):
    real = os.mkdir

    def too_late(*arguments):
        real(*arguments)
        raise FileExistsError

    monkeypatch.setattr(os, "mkdir", too_late)
    atomic.make_folder(folder / "a" / "b")
    assert (folder / "a" / "b").is_dir()


def test_a_drive_that_is_not_there_is_an_error_and_no_endless_search(monkeypatch):
    root = Path("/")
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    monkeypatch.setattr(Path, "mkdir", lambda self, *_, **__: made.append(self))
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    made = []
    atomic.make_folder(root / "a")
    assert made == [root / "a"]


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_after_an_error_the_old_file_is_there_and_no_temporary_one(folder, monkeypatch, broken):
    file = folder / "file"
    file.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(OSError, match="No space"):
        atomic.write(file, b"new")
    assert file.read_bytes() == b"old"
    assert names(folder) == ["file"]


def test_a_sharing_error_of_windows_is_waited_for(folder, monkeypatch):
    pauses = []
    real, failures = os.replace, [32, 5]

    def shared(source, target):
        if failures:
            error = PermissionError(errno.EACCES, "in use")
            error.winerror = failures.pop()
            raise error
        real(source, target)

    monkeypatch.setattr(os, "replace", shared)
    monkeypatch.setattr(time, "sleep", pauses.append)
    atomic.write(folder / "file", b"new")
    assert pauses == [atomic.SHARING_PAUSE] * 2
    failures.extend([32] * 100)
    with pytest.raises(PermissionError):
        atomic.write(folder / "file", b"newer")
    assert (folder / "file").read_bytes() == b"new"
    assert len(failures) == 100 - atomic.SHARING_TRIES


def test_a_permission_that_is_really_missing_is_not_waited_for(folder, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "replace", refused)
    monkeypatch.setattr(time, "sleep", None)
    with pytest.raises(PermissionError):
        atomic.write(folder / "file", b"")


def test_only_the_newest_files_are_kept(folder):
    for age in range(5):
        (folder / f"{age}.json").write_text("")
        os.utime(folder / f"{age}.json", (1000 - age, 1000 - age))
    (folder / "10.json").write_text("")
    os.utime(folder / "10.json", (1, 1))
    ours = re.compile(r"[0-9]\.json")
    atomic.keep_newest(folder, ours, 2)
    assert names(folder) == ["0.json", "1.json", "10.json"]
    atomic.keep_newest(folder / "missing", ours, 2)


def test_a_folder_that_cannot_be_synced_is_no_error(folder, monkeypatch):
    atomic.sync_folder(folder / "missing")

    def unsupported(_):
        raise OSError(errno.EINVAL, "not here")

    monkeypatch.setattr(os, "fsync", unsupported)
    atomic.sync_folder(folder)


def test_the_folders_that_were_made_are_on_the_disk_too(folder, monkeypatch):
    synced = []
    monkeypatch.setattr(atomic, "sync_folder", synced.append)
    atomic.write(folder / "a" / "b" / "file", b"")
    assert synced == [folder, folder / "a", folder / "a" / "b"]


def test_what_a_killed_process_left_goes_an_hour_later_and_nothing_else_does(folder):
    ours, other = re.compile(r"file(\.bak)?"), folder / "file"
    left = [".file.abcd_123.tmp", ".file.bak.abcdefgh.tmp"]
    kept = [".file.young_12.tmp", ".mine.abcdefgh.tmp", ".file.notes.tmp", "file.abcdefgh.tmp"]
    for name in (*left, *kept, other.name):
        (folder / name).write_text("")
        if "young" not in name:
            os.utime(folder / name, (1, 1))
    atomic.sweep(folder, ours)
    assert set(names(folder)) == {*kept, other.name}
    atomic.sweep(folder / "not there", ours)


def test_what_a_killed_write_left_is_called_as_the_sweep_knows_it(folder, monkeypatch):
    def killed(*_):
        raise SystemExit

    monkeypatch.setattr(atomic, "replace", killed)
    monkeypatch.setattr(atomic, "remove", lambda _: None)
    with pytest.raises(SystemExit):
        atomic.write(folder / "file", b"")
    (left,) = names(folder)
    os.utime(folder / left, (1, 1))
    atomic.sweep(folder, re.compile("file"))
    assert names(folder) == []
