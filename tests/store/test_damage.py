"""What the state file may look like when we come."""

import errno
import os
import stat
import subprocess
import sys
import tomllib

import pytest

from mcptask.errors import StateError, StateUnwritable
from mcptask.origin import Origin
from mcptask.protocol.task import Task
from mcptask.store import atomic, lock
from mcptask.store.records import Sighting, State
from mcptask.store.tasks import TaskStore

STUDIO = Origin(server="studio")
ASIDE = "tasks.toml.damaged-1"


def add(store, task_id="tsk_1"):
    task = Task(task_id=task_id, status="working")
    return store.add(task, origin=STUDIO, tool="reflow", protocol=None)


def names(path):
    return sorted(entry.name for entry in path.parent.iterdir())


def put(path, data):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


DAMAGES = [
    (b'version = 1\n[[tasks]]\nref = 1\ntask_id = "ts', "Unterminated string"),
    (b"\x00\x01garbage", "at line 1, column"),
    (b"version = 1\nx = '\xff'\n", "'utf-8' codec can't decode byte 0xff"),
    (b"version = 1\nversion = 1\n", "at line 2"),
    (b"version = 1\n[[tasks]]\nref = 1\n", "no usable task_id"),
    (b"x = " + b"[" * 100_000, "nested too deeply"),
    (b"x = 1" + b"0" * 5000, "digit"),
    (b'{"tasks": []}', "line 1"),
]


@pytest.mark.parametrize(("data", "problem"), DAMAGES)
def test_a_damaged_file_is_named_with_its_fault_when_read_and_not_touched(
    store, path, data, problem
):
    put(path, data)
    with pytest.raises(StateError, match=problem) as caught:
        store.read()
    assert not isinstance(caught.value, StateUnwritable)
    assert str(path) in caught.value.message
    assert path.read_bytes() == data
    assert names(path) == ["tasks.toml"]


@pytest.mark.parametrize(("data", "problem"), DAMAGES)
def test_a_change_keeps_a_damaged_file_aside_and_begins_anew(store, path, data, problem):
    put(path, data)
    record = add(store)
    assert store.read().tasks == (record,)
    assert (path.parent / ASIDE).read_bytes() == data
    assert stat.S_IMODE((path.parent / ASIDE).stat().st_mode) == 0o600
    (warning,) = store.warnings
    assert ASIDE in warning


def test_a_second_damage_gets_a_name_of_its_own(store, path):
    for data in (b"one", b"two", b"three"):
        put(path, data)
        add(store)
    assert (path.parent / ASIDE).read_bytes() == b"one"
    assert (path.parent / "tasks.toml.damaged-2").read_bytes() == b"two"
    assert (path.parent / "tasks.toml.damaged-3").read_bytes() == b"three"


def test_the_last_good_copy_outlives_the_damage(store, path):
    add(store)
    add(store, "tsk_2")
    good = path.with_name("tasks.toml.bak").read_bytes()
    path.write_bytes(b"damaged")
    for name in ("tsk_3", "tsk_4", "tsk_5"):
        add(store, name)
    assert path.with_name(f"{ASIDE}.bak").read_bytes() == good
    assert store.warnings[0].endswith(f"the last good copy as {path.with_name(ASIDE)}.bak")


def test_a_damaged_file_that_nothing_is_written_to_stays_where_it_is(store, path):
    put(path, b"damaged")
    assert (
        store.observe_all(
            {1: Sighting(Task(task_id="tsk_1", status="working"), store.clock.wall())}
        )
        == {}
    )
    assert path.read_bytes() == b"damaged"
    (warning,) = store.warnings
    assert warning.startswith(f"{path} is damaged: Expected '=' after a key")


def test_when_the_damaged_bytes_cannot_be_kept_nothing_is_touched(store, path, monkeypatch):
    put(path, b"damaged")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "write", full)
    with pytest.raises(StateUnwritable, match="No space left"):
        add(store)
    assert path.read_bytes() == b"damaged"


def test_a_newer_format_is_refused_and_never_rewritten(store, path):
    put(path, b"version = 2\n")
    for use in (store.read, lambda: add(store)):
        with pytest.raises(StateError, match="newer mcptask") as caught:
            use()
        assert not isinstance(caught.value, StateUnwritable)
    assert path.read_bytes() == b"version = 2\n"


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_an_empty_file_is_an_empty_state_unless_there_was_more_before(store, path, data):
    put(path, data)
    assert store.read() == State()
    add(store)
    add(store, "tsk_2")
    path.write_bytes(data)
    with pytest.raises(StateError, match="is empty") as caught:
        store.read()
    assert f"{path}.bak is the last good copy" in caught.value.hint
    assert len(tomllib.loads(path.with_name("tasks.toml.bak").read_text())["tasks"]) == 1


def test_windows_line_ends_and_a_byte_order_mark_are_read(store, path):
    add(store)
    put(path, b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert store.read().tasks[0].task_id == "tsk_1"


def test_mended_numbers_are_told_once(store, path):
    put(path, b'[[tasks]]\nref = 1\ntask_id = "a"\n[[tasks]]\nref = 1\ntask_id = "b"\n')
    assert [task.ref for task in store.read().tasks] == [1, 2]
    store.read()
    assert add(store).ref == 3
    assert store.warnings == [f"{path}: number 1 is there twice: the later one is 2 now"]


def test_the_last_good_file_is_kept_private(store, path):
    add(store)
    first = path.read_bytes()
    path.chmod(0o644)
    add(store, "tsk_2")
    backup = path.with_name("tasks.toml.bak")
    assert backup.read_bytes() == first
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert set(names(path)) - {"tasks.toml.lock"} == {"tasks.toml", "tasks.toml.bak"}


def test_a_backup_that_cannot_be_made_is_no_reason_not_to_write(store, path):
    add(store)
    path.with_name("tasks.toml.bak").mkdir()
    add(store, "tsk_2")
    assert len(store.read().tasks) == 2


def test_reading_never_waits_for_the_lock(store, path, monkeypatch):
    record = add(store)
    monkeypatch.setattr(lock, "TIMEOUT", 0.05)
    with lock.locked(path):
        with pytest.raises(StateUnwritable, match=f"process {os.getpid()} has its lock"):
            add(store, "tsk_2")
        assert store.read().tasks == (record,)


def test_reading_loads_nothing_heavy(folder, path, store):
    add(store)
    program = (
        "import sys\nfrom pathlib import Path\nfrom mcptask.env import Clock\n"
        "from mcptask.store.tasks import TaskStore\nimport mcptask.store.paths, mcptask.store.lookup\n"
        f"assert TaskStore(Path({str(path)!r}), Clock()).read().tasks\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {
        "asyncio",
        "filelock",
        "hashlib",
        "json",
        "platformdirs",
        "pydantic",
        "tempfile",
        "tomli_w",
    }
    assert heavy & set(done.stdout.split()) == set()


def test_a_store_that_has_seen_no_file_yet_sees_that_an_empty_one_is_damage(path, fake_time):
    for name in "ab":
        add(TaskStore(path, fake_time.clock), name)
    path.write_bytes(b"")
    with pytest.raises(StateError, match="it is empty"):
        TaskStore(path, fake_time.clock).read()
