import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from mcptask.errors import StateUnwritable
from mcptask.store import lock
from mcptask.store.lock import locked

HOLD = """
import sys, time
from pathlib import Path
from mcptask.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(folder):
    return folder / "tasks.toml"


@pytest.fixture
def holder(path):
    """A process that holds the lock."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(lock, "TIMEOUT", 0.05)


@pytest.fixture(params=[errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def no_kernel_locks(monkeypatch, request):
    def unsupported(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", unsupported)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_one_at_a_time_threads_too(path):
    inside, most = [], []

    def work():
        for _ in range(5):
            with locked(path):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20


def test_a_lock_that_is_held_too_long_says_by_whom(path, holder, impatient):
    with pytest.raises(StateUnwritable) as caught, locked(path):
        pass
    assert caught.value.message == (
        f"{path} cannot be written: process {holder.pid} has its lock, which was not free for 0.05 s"
    )


@pytest.mark.parametrize("signature", [None, b"", b"what?\n", b"\xff"])
def test_a_holder_that_cannot_be_told_is_not_guessed(path, impatient, signature):
    with locked(path):
        file = path.with_name("tasks.toml.lock.pid")
        file.unlink() if signature is None else file.write_bytes(signature)
        with pytest.raises(StateUnwritable, match="another mcptask has its lock"), locked(path):
            pass


def test_while_others_get_their_changes_in_we_wait_on_but_not_for_ever(
    path, holder, impatient, monkeypatch
):
    marks = iter("abccd")
    monkeypatch.setattr(lock.statefile, "mark", lambda _: next(marks))
    with pytest.raises(StateUnwritable), locked(path):
        pass
    assert list(marks) == ["d"]
    monkeypatch.setattr(lock, "ROUNDS", 2)
    marks = iter("abcd")
    with pytest.raises(StateUnwritable), locked(path):
        pass


def test_the_lock_of_a_killed_process_is_free(path, holder):
    holder.kill()
    holder.wait()
    with locked(path):
        assert path.with_name("tasks.toml.lock.pid").read_text() == f"{os.getpid()}\n"


def test_the_lock_file_is_private_and_no_link_is_followed(path):
    before = os.umask(0)
    try:
        with locked(path):
            modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {0o600}
    other = path.with_name("other")
    other.with_name("other.lock").symlink_to(path.with_name("victim"))
    with pytest.raises(StateUnwritable, match="is a symbolic link") as caught, locked(other):
        pass
    assert caught.value.hint == f"rm {other}.lock"
    assert not path.with_name("victim").exists()


def test_a_full_disk_does_not_keep_us_from_locking(path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lock.atomic, "write", full)
    with locked(path):
        pass


def test_an_error_inside_lets_go_of_the_lock(path, impatient):
    with pytest.raises(ZeroDivisionError), locked(path):
        _ = 1 / 0
    with locked(path):
        pass


def test_an_unexpected_error_of_the_kernel_comes_out(path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(OSError, match="I/O"), locked(path):
        pass


def test_where_the_file_system_has_no_locks_a_marker_does(path, no_kernel_locks, impatient):
    with locked(path):
        assert path.with_name("tasks.toml.locked").exists()
        with (
            pytest.raises(StateUnwritable, match=f"process {os.getpid()} has") as caught,
            locked(path),
        ):
            pass
        assert caught.value.hint.endswith(f"here or elsewhere: rm {path}.locked")
    with locked(path):
        pass
    assert set(names(path.parent)) <= {"tasks.toml.lock"}


def test_a_marker_whose_process_is_gone_is_broken(path, no_kernel_locks):
    forsake = (
        "import os, sys, filelock\n"
        "lock = filelock.SoftFileLock(sys.argv[1], mode=0o600)\nlock.acquire()\nos._exit(0)"
    )
    marker = path.with_name("tasks.toml.locked")
    subprocess.run([sys.executable, "-c", forsake, str(marker)], check=True)
    assert marker.exists()
    with locked(path):
        pass
    assert not marker.exists()
