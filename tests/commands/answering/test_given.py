"""`--answers`, `--accept-defaults`, `--decline-all`: what answers a question without a person."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from mcptask.arguments.answers import read_answers
from mcptask.commands.answering.given import (
    accepting_defaults,
    declining_all,
    from_file,
    told_unused,
)
from mcptask.commands.answering.who import Source, Who
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question

TASK = Who("studio", "reflow_month", "7", "7")
BEFORE = Who("studio", "close_room")
COUNT = {"type": "integer", "minimum": 1}
TEXT = {"type": "string"}
SAMPLING = {"method": "sampling/createMessage", "params": {"maxTokens": 9}}
URL = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x.example/"}}
ODD = {"method": "elicitation/create", "params": {"mode": "voice", "message": "?"}}


def form(properties: Any, *required: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}}


def answer(source: Source, request: Any, key: str = "approve", who: Who = TASK) -> Any:
    async def ask() -> Any:
        return await source(who, Question(key, request))

    return asyncio.run(ask())


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


# ── --answers ──


def test_one_file_serves_many_tasks_one_question_at_a_time_a12_6() -> None:
    told: list[str] = []
    said: list[str] = []
    answers = read_answers('count = 3\nlogin = "decline"\nwho = "Ada"\nrest = 1', "a.toml")
    source = from_file(answers, told.append, said.append)
    other = Who("elsewhere", "scan", "9", "9")
    assert answer(source, form({"count": COUNT}, "count")) == accepted(count=3)
    assert answer(source, form({"count": COUNT}, "count"), who=other) == accepted(count=3)
    assert answer(source, URL, "login", BEFORE) == {"action": "decline"}
    assert answer(source, SAMPLING) is None
    assert said == [
        "mcptask: approve of task 7: answered from a.toml",
        "mcptask: approve of task 9: answered from a.toml",
        "mcptask: login of close_room: answered from a.toml",
    ]
    assert told == []
    told_unused(answers, told.append)
    assert told == ["a.toml: nothing asked for who, rest"]


def test_nothing_is_told_of_a_file_that_was_used_up() -> None:
    told: list[str] = []
    answers = read_answers("count = 3", "a.toml")
    answer(from_file(answers, told.append, print), form({"count": COUNT}, "count"))
    told_unused(answers, told.append)
    assert told == []


def test_a_file_without_any_answer_is_told_as_such() -> None:
    told: list[str] = []
    told_unused(read_answers("# later", "a.toml"), told.append)
    assert told == ["a.toml holds no answer"]


@pytest.mark.parametrize(
    ("make", "request_", "says"),
    [
        (partial(accepting_defaults, print), form({}), "its defaults are accepted"),
        (declining_all, URL, "declined"),
    ],
)
def test_what_is_answered_in_a_persons_name_is_said_with_harmless_words(
    make: Callable[..., Source], request_: Any, says: str
) -> None:
    said: list[str] = []
    answer(make(said.append), request_, "a\x1b[2J", Who("s", "t\n", "\x9b7"))
    assert said == [f"mcptask: a\\x1b[2J of task \\x9b7: {says}"]
    answer(make(said.append), SAMPLING)
    assert len(said) == 1


@pytest.mark.parametrize(("who", "whose"), [(TASK, "task 7: "), (BEFORE, "")])
def test_what_an_entry_lacks_is_told_with_its_task_a12_6(who: Who, whose: str) -> None:
    told: list[str] = []
    source = from_file(read_answers('note = "x"', "a.toml"), told.append, told.append)
    request = form({"action": TEXT, "note": TEXT}, "action")
    assert answer(source, request, who=who) is None
    assert told == [f"{whose}a.toml: approve lacks action (text)"]
    assert answer(source, form({"other": TEXT}), "next", who) is None
    assert len(told) == 1


def test_an_entry_that_does_not_fit_is_refused_with_its_task_and_what_may_be_meant() -> None:
    source = from_file(read_answers("approve = { cuont = 3 }", "a.toml"), print, print)
    request = form({"count": COUNT}, "count")
    with pytest.raises(UsageError) as refused:
        answer(source, request)
    says = "a.toml: approve has no field 'cuont': it has count"
    assert refused.value.message == f"task 7: {says} (did you mean 'count'?)"
    with pytest.raises(UsageError) as refused:
        answer(source, request, who=BEFORE)
    assert refused.value.message == says
    assert refused.value.hint == "did you mean 'count'?"
    unfit = from_file(read_answers("count = 0", "a.toml"), print, print)
    with pytest.raises(UsageError, match=r"^task 7: a\.toml: approve: count: .*at least 1$"):
        answer(unfit, request)


# ── --accept-defaults ──


def test_a_form_that_its_defaults_fill_is_accepted() -> None:
    source = accepting_defaults(print, print)
    request = form(
        {"count": {**COUNT, "default": 3}, "yes": {"default": False}, "n": TEXT}, "count"
    )
    assert answer(source, request) == accepted(count=3, yes=False)
    assert answer(source, form({"note": TEXT})) == accepted()
    assert answer(source, form({})) == accepted()


@pytest.mark.parametrize(
    "request_",
    [
        form({"count": COUNT}, "count"),
        form({"count": {**COUNT, "default": 0}}, "count"),
        form({"count": {**COUNT, "default": 3}, "note": TEXT}, "count", "note"),
        form({"count": {**COUNT, "default": 3}}, minProperties=2),
        form({}, "ghost"),
    ],
)
def test_a_form_that_its_defaults_do_not_fill_is_left(request_: Any) -> None:
    told: list[str] = []
    assert answer(accepting_defaults(told.append, told.append), request_) is None
    assert told == []


@pytest.mark.parametrize("request_", [URL, ODD, SAMPLING, {"method": "roots/list"}, {}])
@pytest.mark.parametrize("more", [{}, {"requestedSchema": {"type": "object", "properties": {}}}])
def test_nothing_but_a_form_is_agreed_to_by_default_a12_13_a12_14_s7(
    request_: Any, more: Any
) -> None:
    told: list[str] = []
    request = {**request_, "params": {**request_.get("params", {}), **more}}
    assert answer(accepting_defaults(told.append, told.append), request) is None
    assert told == []


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (
            {"properties": {"a": {"type": "string", "pattern": "(", "default": "x"}}},
            "the schema has",
        ),
        (None, "the form has no schema"),
        (["properties"], "the form has no schema"),
    ],
)
def test_a_form_whose_schema_is_unusable_is_left_and_told(schema: Any, why: str) -> None:
    told: list[str] = []
    request = {"method": "elicitation/create", "params": {"requestedSchema": schema}}
    assert answer(accepting_defaults(told.append, told.append), request) is None
    assert len(told) == 1
    assert told[0].startswith(f"task 7: approve has no defaults to accept: {why}")


# ── --decline-all ──


@pytest.mark.parametrize("request_", [form({"a": TEXT}, "a"), URL, form(None)])
def test_each_form_and_each_url_is_declined(request_: Any) -> None:
    assert answer(declining_all(print), request_) == {"action": "decline"}


@pytest.mark.parametrize("request_", [SAMPLING, {"method": "roots/list"}, {"method": "x/y"}, ODD])
def test_what_cannot_be_declined_is_left_a12_11(request_: Any) -> None:
    assert answer(declining_all(print), request_) is None
