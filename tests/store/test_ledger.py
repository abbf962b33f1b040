"""What was answered: how the file says it, and what each change makes of it."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.protocol.questions import Answer
from mcptask.store import ledger
from mcptask.store.format import dumps, loads
from mcptask.store.records import State, TaskRecord

YES = {"action": "accept", "content": {"room": "Büro 2"}}
NO = {"action": "decline"}
UNASKED = Answer("no question's")
HEAD = '[[tasks]]\nref = 1\ntask_id = "t"\nstatus = "input_required"\n'

keys = st.sampled_from("abc")
answers = st.builds(
    Answer, st.none() | st.sampled_from(["1", "2"]), st.none() | st.sampled_from([YES, NO])
)
ledgers = st.dictionaries(keys, answers)
sendable = st.builds(Answer, st.sampled_from(["1", "2"]), st.sampled_from([YES, NO]))


def read(text):
    (task,) = loads((HEAD + text).encode())[0].tasks
    return task.answered


def rewritten(text, answered=None):
    """A task's table after it was read and written, with these answers in place of its own."""
    (task,) = loads((HEAD + text).encode())[0].tasks
    return table_of(task.answered if answered is None else answered, task.extra)


def table_of(answered, extra=None):
    task = TaskRecord(
        ref=1, task_id="t", status="input_required", answered=answered, extra=extra or {}
    )
    (table,) = tomllib.loads(dumps(State(tasks=(task,))).decode())["tasks"]
    return {name: table[name] for name in ("answered", "questions") if name in table}


# ── the file ──────────────────────────────────────────────────────────────────────────────────────


def test_the_file_says_what_was_acknowledged_and_what_is_on_its_way_as_people_would_a12_5():
    asked = {"approve": Answer("9f"), "old": Answer(), "rooms": Answer("3c", YES)}
    task = TaskRecord(ref=1, task_id="t", status="input_required", answered=asked)
    assert dumps(State(next_ref=2, tasks=(task,))).decode() == (
        """\
version = 1
next_ref = 2

[[tasks]]
ref = 1
task_id = "t"
status = "input_required"
answered = [
    "approve",
    "old",
]

[tasks.questions.approve]
fingerprint = "9f"

[tasks.questions.rooms]
fingerprint = "3c"
sent = "{\\"action\\":\\"accept\\",\\"content\\":{\\"room\\":\\"Büro 2\\"}}"
"""
    )


def test_a_file_of_an_older_mcptask_lists_keys_alone_a12_5():
    assert read('answered = ["b", "a"]\n') == {"b": Answer(), "a": Answer()}
    assert list(read('answered = ["b", "a"]\n')) == ["b", "a"]
    assert rewritten('answered = ["b", "a"]\n') == {"answered": ["b", "a"]}


def test_an_answer_that_an_older_mcptask_has_sent_meanwhile_is_on_its_way_no_more_a12_5():
    text = f"answered = ['a']\n[tasks.questions.a]\nfingerprint = '1'\nsent = '{json.dumps(NO)}'\n"
    assert read(text) == {"a": Answer("1")}
    assert rewritten(text) == {"answered": ["a"], "questions": {"a": {"fingerprint": "1"}}}


def test_an_answer_may_be_on_its_way_without_a_fingerprint():
    text = f"[tasks.questions.a]\nsent = '{json.dumps(NO)}'\n"
    assert read(text) == {"a": Answer(None, NO)}


@pytest.mark.parametrize(
    "questions",
    [
        "questions = 3\n",
        "questions = ['a']\n",
        "questions = {a = 3}\n",
        "questions = {a = {}}\n",
        "questions = {a = {fingerprint = '1'}}\n",
        "questions = {a = {fingerprint = '1', sent = 'yes'}}\n",
        "questions = {a = {fingerprint = '1', sent = '[1]'}}\n",
        "questions = {a = {fingerprint = '1', sent = '{\"x\": 1e999}'}}\n",
        f"questions = {{a = {{fingerprint = '1', sent = '{'[' * 9999}'}}}}\n",
        "questions = {a = {fingerprint = '1', sent = {action = 'decline'}}}\n",
    ],
)
def test_what_is_no_answer_is_none_and_is_left_where_it_is(questions):
    assert read(questions) == {}
    assert rewritten(questions) == tomllib.loads(questions)
    other = {"b": Answer("1")}
    wanted = tomllib.loads(questions)["questions"]
    wanted = wanted if isinstance(wanted, dict) else {}
    assert rewritten(questions, other) == {
        "answered": ["b"],
        "questions": wanted | {"b": {"fingerprint": "1"}},
    }


def test_what_a_person_wrote_beside_an_answer_survives_until_the_field_has_a_value():
    text = "answered = ['a']\nquestions = {a = {note = 'x', fingerprint = 5}, b = 7}\n"
    assert read(text) == {"a": Answer()}
    assert rewritten(text) == tomllib.loads(text)
    after = {"a": Answer("1"), "b": Answer("2")}
    assert rewritten(text, after)["questions"] == {
        "a": {"note": "x", "fingerprint": "1"},
        "b": {"fingerprint": "2"},
    }


def test_an_answer_that_is_taken_back_leaves_what_a_person_wrote_beside_it():
    text = f"questions = {{a = {{note = 'x', sent = '{json.dumps(NO)}'}}}}\n"
    assert rewritten(text, {}) == {"questions": {"a": {"note": "x"}}}


# ── the changes ───────────────────────────────────────────────────────────────────────────────────


@given(ledgers, st.dictionaries(keys, sendable))
def test_what_is_claimed_is_what_was_not_answered_before_acknowledged_or_not_a12_2(before, wanted):
    after, sent = ledger.claimed(before, wanted)
    for key, answer in wanted.items():
        known = before.get(key)
        if known is None or known.fingerprint not in (None, answer.fingerprint):
            assert after[key] == sent[key] == answer
        else:
            assert after[key] == known
            assert key not in sent
    assert {key: after[key] for key in after if key not in wanted} == {
        key: before[key] for key in before if key not in wanted
    }
    assert sent.keys() <= wanted.keys()
    assert ledger.claimed(after, wanted) == (after, {})


@given(ledgers, ledgers)
def test_what_is_acknowledged_has_no_content_any_more_and_keeps_its_fingerprint_a12_5(
    before, taken
):
    after = ledger.acknowledged(before, taken)
    assert after.keys() == before.keys() | taken.keys()
    for key, answer in after.items():
        another = key in before and before[key].fingerprint not in (
            None,
            taken.get(key, UNASKED).fingerprint,
        )
        assert answer == (
            before[key] if another or key not in taken else Answer(taken[key].fingerprint)
        )


@given(ledgers, ledgers)
def test_what_is_refused_was_never_answered_unless_it_was_acknowledged_a12_8(before, refused):
    after = ledger.unclaimed(before, refused)
    for key, answer in before.items():
        same = key in refused and refused[key].fingerprint == answer.fingerprint
        assert (key in after) == (answer.acknowledged or not same)
    assert after.items() <= before.items()


def test_the_newest_1000_answers_are_kept_a12_5():
    many = {str(number): Answer("1") for number in range(ledger.KEPT)}
    after, sent = ledger.claimed(many, {"new": Answer("1", NO)})
    assert list(after) == [*map(str, range(1, ledger.KEPT)), "new"]
    assert sent == {"new": Answer("1", NO)}
    assert list(ledger.acknowledged(after, {"newer": Answer("1", NO)}))[-2:] == ["new", "newer"]
    again, _ = ledger.claimed(after, {"1": Answer("2", NO)})
    assert next(iter(again)) == "2"
    assert list(again)[-1] == "1"


@pytest.mark.parametrize(
    "response",
    [
        {"content": "x" * ledger.LARGEST},
        {"content": float("nan")},
        {"content": {1, 2}},
    ],
)
def test_an_answer_that_the_file_cannot_hold_is_sent_and_not_kept_a12_8(response):
    before = {"": Answer("0"), "b": Answer("1")}
    wanted = {"": Answer("1", response)}
    after, sent = ledger.claimed(before, wanted)
    assert (after, sent) == ({"b": Answer("1")}, wanted)
    assert ledger.acknowledged(after, sent)[""] == Answer("1")


def test_an_answer_as_large_as_may_be_is_kept_and_older_ones_go_for_it_when_there_is_no_room():
    largest = {"content": "x" * (ledger.LARGEST - len('a{"content":""}'))}
    wanted = {key: Answer("1", largest) for key in "abcd"}
    after, _ = ledger.claimed({"old": Answer("1")}, wanted)
    assert list(after) == [*"abcd"]
    after, _ = ledger.claimed(after, {"ä": Answer("1", NO)})
    assert list(after) == [*"bcd", "ä"]
    larger = {"content": largest["content"] + "x"}
    assert ledger.claimed({}, {"a": Answer("1", larger)})[0] == {}


def test_a_key_of_any_length_takes_its_room_too():
    long = {f"{number:0{ledger.LARGEST}}": Answer("1") for number in range(5)}
    assert list(ledger.acknowledged({}, long)) == list(long)[1:]
    assert ledger.acknowledged({}, {"x" * (ledger.LARGEST + 1): Answer("1")}) == {}
