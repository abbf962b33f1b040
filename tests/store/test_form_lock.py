import errno
import fcntl
import os
import stat
import subprocess
import sys

import pytest

from mcptask.store import atomic
from mcptask.store.form_lock import held

HOLD = """
import sys, time
from pathlib import Path
from mcptask.store import atomic
from mcptask.store.form_lock import held
with held(Path(sys.argv[1]), int(sys.argv[2])) as mine:
    print(mine, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def path(folder):
    return folder / "tasks.toml"


@pytest.fixture
def terminal(path):
    """Another process that has the form of task 7 open, until it is told to close it."""
    command = [sys.executable, "-c", HOLD, str(path), "7"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def is_mine(path, ref):
    with held(path, ref) as mine:
        return mine


def failing(code):
    def flock(*_):
        raise OSError(code, os.strerror(code))

    return flock


def test_one_terminal_has_the_form_of_a_task_and_others_those_of_other_tasks_a12_2(path, terminal):
    assert not is_mine(path, 7)
    assert is_mine(path, 8)
    terminal.communicate("\n")
    assert is_mine(path, 7)


def test_the_form_of_a_killed_process_is_free_a12_2(path, terminal):
    terminal.kill()
    terminal.wait()
    assert is_mine(path, 7)
    assert list(path.with_name("tasks.toml.forms").iterdir()) == []


def test_one_process_has_a_form_once_and_those_of_several_tasks(path):
    with held(path, 7) as first, held(path, 7) as second, held(path, 8) as other:
        assert (first, second, other) == (True, False, True)
        assert not is_mine(path, 8)
    assert is_mine(path, 7)


def test_whoever_is_refused_takes_nothing_from_whoever_has_it(path):
    with held(path, 7):
        assert not is_mine(path, 7)
        assert not is_mine(path, 7)


def test_an_error_inside_comes_out_and_lets_go(path):
    with pytest.raises(ZeroDivisionError), held(path, 7):
        _ = 1 / 0
    assert is_mine(path, 7)


def test_the_file_is_private_lies_beside_the_state_file_and_goes_with_the_form(path):
    link = path.with_name("link.toml")
    link.symlink_to(path)
    folder = path.with_name("tasks.toml.forms")
    before = os.umask(0)
    try:
        with held(link, 7):
            assert stat.S_IMODE((folder / "7").stat().st_mode) == 0o600
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert not is_mine(path, 7)
    finally:
        os.umask(before)
    assert list(folder.iterdir()) == []


def test_the_folder_of_the_state_file_need_not_be_there(path):
    assert is_mine(path.parent / "new" / "tasks.toml", 7)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO, errno.ENOSYS])
def test_where_there_are_no_locks_everybody_may_ask_and_nobody_is_warned(
    path, monkeypatch, code, recwarn
):
    monkeypatch.setattr(fcntl, "flock", failing(code))
    with held(path, 7) as first, held(path, 7) as second:
        assert (first, second) == (True, True)
    assert not recwarn.list


def test_where_no_folder_can_be_made_everybody_may_ask(path):
    path.with_name("tasks.toml.forms").write_text("in the way")
    with held(path, 7) as first, held(path, 7) as second:
        assert (first, second) == (True, True)


def test_the_file_goes_while_it_is_still_held_so_that_no_two_hold_one_of_that_name(
    path, monkeypatch
):
    remove, seen = atomic.remove, []

    def removing(file):
        seen.append(is_mine(path, 7))
        remove(file)

    monkeypatch.setattr(atomic, "remove", removing)
    with held(path, 7):
        pass
    assert seen == [False]


def test_a_link_in_the_place_of_the_folder_is_not_followed(path):
    victim = path.with_name("victim")
    victim.mkdir()
    (victim / "7").write_text("precious")
    path.with_name("tasks.toml.forms").symlink_to(victim)
    with held(path, 7) as mine:
        assert mine
    assert (victim / "7").read_text() == "precious"
