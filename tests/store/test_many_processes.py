"""Several processes on one file: nothing is lost, and a reader without the lock always finds it whole.

MCPTASK_TEST_WRITERS and MCPTASK_TEST_CHANGES make it harder than the ten seconds of the default.
"""

import os
import random
import subprocess
import sys
import time
import tomllib

WRITERS = int(os.environ.get("MCPTASK_TEST_WRITERS", "16"))
CHANGES = int(os.environ.get("MCPTASK_TEST_CHANGES", "50"))

WRITE = """
import sys
from pathlib import Path
from mcptask.env import Clock
from mcptask.protocol.task import Task
from mcptask.origin import Origin
from mcptask.store.tasks import TaskStore
store = TaskStore(Path(sys.argv[1]), Clock())
here = Origin(server="studio")
for number in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}-{number}"
    if number % 2:
        record = store.add(Task(task_id=name, status="working"), origin=here, tool="t", protocol="p")
    else:
        call = store.begin_call(here, "t", "p")
        print("begun", name, flush=True)
        task = Task(task_id=name, status="working")
        store.add(task, origin=here, tool="t", protocol="p", ref=call.ref)
    print("stored", name, flush=True)
"""


def start(path, name, changes):
    command = [sys.executable, "-c", WRITE, str(path), str(name), str(changes)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_every_change_of_every_process_is_there_and_the_file_is_whole_at_every_moment(path, store):
    writers = [start(path, name, CHANGES) for name in range(WRITERS)]
    looks = most = 0
    while any(writer.poll() is None for writer in writers):
        there = len(store.read().tasks)  # raises for what is not whole
        assert there >= most
        most = there
        if looks % 10 == 0 and path.exists():
            tomllib.loads(path.read_text())
        looks += 1
        time.sleep(0.05)
    for writer in writers:
        writer.stdout.close()
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    state = store.read()
    expected = {f"{name}-{number}" for name in range(WRITERS) for number in range(CHANGES)}
    assert {task.task_id for task in state.tasks} == expected
    assert len({task.ref for task in state.tasks}) == len(expected)
    assert state.calls == ()
    assert looks > 5


def test_a_writer_killed_at_any_moment_leaves_a_whole_file_and_what_it_had_stored(path, store):
    chance = random.Random(22)
    for run in range(5):
        with start(path, run, 1000) as writer:
            writer.stdout.readline()
            time.sleep(chance.random() * 0.03)
            writer.kill()
            said = [line.split() for line in writer.stdout.read().splitlines()]
        tomllib.loads(path.read_text())
        state = store.read()
        there = {task.task_id for task in state.tasks}
        assert {words[1] for words in said if words[:1] == ["stored"] and len(words) == 2} <= there
        begun = [words[1] for words in said if words[:1] == ["begun"] and len(words) == 2]
        assert all(name in there for name in begun) or state.calls
    assert store.begin_call(state.tasks[0].origin, "t", "p").ref == state.next_ref
