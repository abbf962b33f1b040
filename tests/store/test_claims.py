"""Answers in the state file, from several terminals: noted before they are sent, and said once."""

import json
import stat
import subprocess
import sys

import pytest

from mcptask.errors import StateUnwritable
from mcptask.origin import Origin
from mcptask.protocol.questions import Answer
from mcptask.protocol.task import Task
from mcptask.store import atomic
from mcptask.store.records import Sighting, State
from mcptask.store.tasks import TaskStore

STUDIO = Origin(server="studio")
YES = {"action": "accept", "content": {"room": "2"}}
NO = {"action": "decline"}

CLAIM = """
import json, sys
from pathlib import Path
from mcptask.env import Clock
from mcptask.protocol.questions import Answer
from mcptask.store.tasks import TaskStore
store = TaskStore(Path(sys.argv[1]), Clock())
print("ready", flush=True)
sys.stdin.readline()
mine = {"content": sys.argv[2]}
for key in map(str, range(5)):
    print(json.dumps(sorted(store.claim_all(1, {key: Answer("1", mine)}))), flush=True)
"""


def task(status="input_required"):
    return Task(task_id="tsk_1", status=status)


@pytest.fixture
def elsewhere(path, fake_time):
    """The same state file, in another terminal."""
    return TaskStore(path, fake_time.clock)


@pytest.fixture(autouse=True)
def one_task(store):
    store.add(task(), origin=STUDIO, tool="reflow", protocol=None)


def test_an_answer_is_in_the_file_before_it_is_sent_and_its_content_goes_with_the_acknowledgement_a12_8(
    store, path
):
    wanted = {"a": Answer("1", YES)}
    assert store.claim_all(1, wanted) == wanted
    assert "accept" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    store.acknowledged(1, wanted)
    assert "accept" not in path.read_text()
    assert store.ledger(1) == {"a": Answer("1")}


def test_what_one_terminal_has_answered_is_its_own_to_send_a12_2_a12_8(store, elsewhere):
    sent = store.claim_all(1, {"a": Answer("1", YES)})
    second = {"a": Answer("1", NO), "b": Answer("2", NO)}
    assert elsewhere.claim_all(1, second) == {"b": Answer("2", NO)}
    store.acknowledged(1, sent)
    assert elsewhere.claim_all(1, second) == {}
    assert elsewhere.ledger(1) == store.ledger(1) == {"a": Answer("1"), "b": Answer("2", NO)}


def test_a_refused_answer_leaves_the_question_open_to_all_a12_8(store, elsewhere):
    sent = store.claim_all(1, {"a": Answer("1", YES), "b": Answer("2", YES)})
    elsewhere.acknowledged(1, {"b": Answer("2", YES)})
    store.unclaim(1, sent)
    assert elsewhere.ledger(1) == {"b": Answer("2")}
    again = {"a": Answer("1", NO)}
    assert elsewhere.claim_all(1, again) == again


def test_claiming_again_what_is_on_its_way_writes_nothing(store, path):
    store.claim_all(1, {"a": Answer("1", YES)})
    before = path.stat().st_ino
    assert store.claim_all(1, {"a": Answer("1", NO)}) == {}
    assert path.stat().st_ino == before


def test_the_ledger_is_read_again_only_when_the_file_is_another_one_a12_4(
    store, elsewhere, monkeypatch
):
    store.ledger(1)
    monkeypatch.setattr("mcptask.store.statefile.read", None)
    assert store.ledger(1) == {}
    monkeypatch.undo()
    elsewhere.acknowledged(1, {"a": Answer("1", YES)})
    assert store.ledger(1) == {"a": Answer("1")}


def test_a_task_that_was_forgotten_is_answered_and_stays_forgotten(store):
    store.forget([1])
    wanted = {"a": Answer("1", YES)}
    assert store.claim_all(1, wanted) == wanted
    store.acknowledged(1, wanted)
    store.unclaim(1, wanted)
    assert store.ledger(1) == {}
    assert store.read() == State(next_ref=2)


def test_an_answer_that_cannot_be_noted_is_not_to_be_sent(store, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(atomic, "write", full)
    with pytest.raises(StateUnwritable):
        store.claim_all(1, {"a": Answer("1", YES)})
    monkeypatch.undo()
    assert store.ledger(1) == {}


def test_of_an_ended_task_no_answer_that_was_on_its_way_is_kept(store, path, fake_time):
    store.claim_all(1, {"a": Answer("1", YES), "b": Answer("2", YES)})
    store.acknowledged(1, {"b": Answer("2", YES)})
    store.observe_all({1: Sighting(task("working"), fake_time.wall)})
    assert store.ledger(1)["a"] == Answer("1", YES)
    store.observe_all({1: Sighting(task("completed"), fake_time.wall)})
    assert store.ledger(1) == {"b": Answer("2")}
    assert "accept" not in path.read_text()
    store.acknowledged(1, {"a": Answer("1", YES)})
    assert store.ledger(1) == {"a": Answer("1"), "b": Answer("2")}


def test_of_several_processes_that_answer_one_question_one_is_to_send_it_a12_2(store, path):
    names = "pqrs"
    command = [sys.executable, "-c", CLAIM, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    terminals = [subprocess.Popen([*command, name], **pipes) for name in names]
    assert [each.stdout.readline() for each in terminals] == ["ready\n"] * len(names)
    for each in terminals:
        each.stdin.write("\n")
        each.stdin.flush()
    outputs = [each.communicate()[0].splitlines() for each in terminals]
    claimed = {
        name: [key for line in lines for key in json.loads(line)]
        for name, lines in zip(names, outputs, strict=True)
    }
    assert sorted(key for keys in claimed.values() for key in keys) == list("01234")
    for name, keys in claimed.items():
        assert all(store.ledger(1)[key].response == {"content": name} for key in keys)


def test_what_was_said_to_an_older_question_touches_no_answer_to_a_newer_one_a12_3(
    store, elsewhere
):
    older = store.claim_all(1, {"a": Answer("1", YES)})
    newer = elsewhere.claim_all(1, {"a": Answer("2", NO)})
    assert newer == {"a": Answer("2", NO)}
    store.acknowledged(1, older)
    store.unclaim(1, older)
    assert store.ledger(1) == newer
