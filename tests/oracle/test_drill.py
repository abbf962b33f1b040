"""The oracle of the kill drill catches a client that loses something, or says something twice."""

from dataclasses import replace

import pytest

from tests.drills.oracle import Ran, violations

TASK = "tsk_1_2"
CALL = {"saw": "call", "call": "1", "tool": "asks", "who": "0"}
CREATED = {"saw": "created", "call": "1", "task": TASK, "asks": True}
GAVE = {"saw": "gave", "call": "1", "what": "task", "task": TASK}
UPDATE = {"saw": "update", "n": "1", "task": TASK, "key": "one", "body": {"say": "A"}, "who": "1"}
ACKED = {"saw": "acked", "n": "1"}
AGAIN = {**UPDATE, "n": "2"}
STORED = f'next_ref = 2\n[[tasks]]\nref = 1\ntask_id = "{TASK}"\n'
MARKED = 'next_ref = 2\n[[calls]]\nref = 1\ntool = "asks"\n'
CALLED = Ran("0", ("call", "asks"), 0, out=f"{TASK}\n")
KILLED = replace(CALLED, code=None, out="")
UPDATED = Ran("1", ("update", "1", "say=A"), 0)
KNOWING = replace(UPDATED, acknowledged=frozenset({(TASK, "one")}))


@pytest.mark.parametrize(
    ("log", "state", "ran"),
    [
        ([], None, KILLED),
        ([CALL], MARKED, KILLED),
        ([CALL, CREATED], MARKED, KILLED),
        ([CALL, CREATED, GAVE], STORED, CALLED),
        ([CALL, {**GAVE, "what": "result"}], None, KILLED),
        ([CALL, CREATED, GAVE, UPDATE, ACKED], STORED, UPDATED),
        ([CALL, CREATED, GAVE, UPDATE, AGAIN], STORED, UPDATED),
        ([CALL, CREATED, GAVE, UPDATE, ACKED, {**AGAIN, "who": "2"}], STORED, UPDATED),
    ],
)
def test_what_an_honest_client_leaves_is_found_right(log, state, ran):
    assert violations(log, state and state.encode(), [ran]) == []


@pytest.mark.parametrize(
    ("log", "state", "ran", "said"),
    [
        ([CALL], None, KILLED, "neither a task nor a mark"),
        ([CALL, CREATED, GAVE], "next_ref = 2\n", KILLED, "neither a task nor a mark"),
        ([CALL, CREATED, CALL | {"call": "2"}], MARKED, KILLED, "2 calls of asks"),
        ([CALL, CREATED, GAVE], MARKED, CALLED, "printed, and not stored"),
        ([], "next_ref = ", KILLED, "does not parse"),
        ([], "next_ref = \udcff", KILLED, "does not parse"),
        ([], STORED.replace("= 2", "= 1"), KILLED, "the numbers"),
        ([], STORED + MARKED.partition("\n")[2], KILLED, "the numbers"),
        ([UPDATE, {**AGAIN, "body": {"say": "B"}, "who": "2"}], STORED, UPDATED, "different"),
        ([UPDATE, ACKED, AGAIN], STORED, UPDATED, "had the acknowledgement"),
        ([{**UPDATE, "who": "0"}, ACKED, AGAIN], STORED, KNOWING, "was stored before"),
        ([], None, replace(CALLED, code=70, out=""), "exit 70"),
        ([], None, replace(KILLED, err="Traceback (most recent"), "a traceback"),
    ],
)
def test_what_a_broken_client_leaves_is_caught(log, state, ran, said):
    data = None if state is None else state.encode(errors="surrogateescape")
    found = violations(log, data, [ran])
    assert len(found) == 1
    assert said in found[0]


def test_on_a_full_disk_the_id_must_be_told_by_a_waiting_call_on_stderr_too():
    log = [CALL, CREATED, GAVE]
    assert violations(log, None, [CALLED], full=True) == []
    assert violations(log, None, [replace(KILLED, err=TASK)], full=True) != []
    waited = replace(KILLED, argv=("call", "--wait", "asks"), err=f"{TASK} could not be stored")
    assert violations(log, None, [waited], full=True) == []
