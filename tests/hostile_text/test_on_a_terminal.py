"""The same on a real terminal, where a control character would act: what is written, and what is seen."""

import signal
from collections.abc import Callable

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import Json, Scripted, asking, created, now, question, tool_result
from tests.e2e.several import by_task, failed
from tests.e2e.terminal import Terminal
from tests.hostile_text.places import PLACES, address, form
from tests.hostile_text.screens import faults_on
from tests.hostile_text.words import ACTING, BYTES, PRINTABLE, acting, faults_of_json

Start = Callable[..., Terminal]
TEXTS = [ACTING, PRINTABLE]
FORM_KEY = "approve"


def ids(value: object) -> str | None:
    return {ACTING: "acting", PRINTABLE: "printable"}.get(str(value))


@pytest.mark.parametrize("setting", [{}, {"TERM": "dumb"}], ids=["live", "dumb"])
@pytest.mark.parametrize("word", TEXTS, ids=ids)
def test_a_call_that_is_followed_and_its_result_s17(
    terminal: Start, server: Scripted, word: str, setting: dict[str, str]
) -> None:
    server.on("tools/call", created(statusMessage=word))
    ended = now("completed", statusMessage=word, result=tool_result(word, failed=True))
    server.on("tasks/get", now(word, statusMessage=word), now("working", statusMessage=word), ended)
    words = ("call", "job", "month=x", "--wait", "-v", "-s", server.url)
    screen = terminal(*words, columns=60, **setting)
    assert screen.end() == 1
    assert faults_on(screen) == []
    # Of a result, too, no line passes for ours; and markup is only text.
    assert "\\error: FORGED" in "\n".join(screen.lines)
    assert "[/x]" in "".join(screen.lines)


@pytest.mark.parametrize("word", TEXTS, ids=ids)
def test_a_board_of_several_s17(
    terminal: Start, server: Scripted, on_server: Cli, word: str
) -> None:
    for task_id in (word, "tsk_2", "tsk_3"):
        server.on("tools/call", created(task_id))
        on_server("call", "job", "month=x", "--json")
    plans = {
        word: now("completed", word, result=tool_result(word)),
        "tsk_2": now(word, "tsk_2", statusMessage=word),
        "tsk_3": failed("tsk_3", word),
    }
    server.on("tasks/get", by_task(**plans))
    screen = terminal("watch", "--all", "--timeout", "1s", columns=60)
    assert screen.end() in (4, 124)  # whether or not the first answers came in time
    assert faults_on(screen) == []


@pytest.mark.parametrize("way", ["in_an_id", "in_several_questions", "in_a_tool", "in_a_result"])
def test_tables_and_details_s17(
    terminal: Start, server: Scripted, on_server: Cli, way: str
) -> None:
    PLACES[way](server, ACTING)
    on_server("call", "job", "month=x", "--no-validate", "--json")
    commands = {
        "in_an_id": [("list",), ("get", "last"), ("call", "job", "month=x", "-s", server.url)],
        "in_several_questions": [("get", "last"), ("watch", "last", "--no-input")],
        "in_a_tool": [("tools", "-s", server.url), ("tools", "job", "-s", server.url)],
        "in_a_result": [("get", "last"), ("get", "last", "--result")],
    }
    for command in commands[way]:
        PLACES[way](server, ACTING)
        screen = terminal(*command, columns=60)
        screen.end()
        assert faults_on(screen) == [], command
        assert "FORGED" in "".join(screen.lines) or command == ("list",), command


# ── questions that are put to the person ─────────────────────────────────────────────────────────


def ask(server: Scripted, on_server: Cli, request: Json, key: str = FORM_KEY) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking(**{key: request}))


def offers(screen: Terminal, words: str = "later") -> None:
    screen.until(lambda lines: any(words in line for line in lines[-8:]))


QUESTIONS: dict[str, Callable[[str], Json]] = {
    "a form": lambda word: question(word, action=field(word), **{word: field(word)}),
    "fields in fields": form,
    "an address": lambda word: {"method": "elicitation/create", "params": address(word)},
    "sampling": lambda word: {
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": word, "content": {"type": "text", "text": word}}]},
    },
    "an unknown method": lambda word: {"method": word, "params": {word: word}},
}


def field(word: str) -> Json:
    return {"type": "string", "title": word, "description": word, "enum": ["keep", word]}


@pytest.mark.parametrize("key", [FORM_KEY, ACTING], ids=["a key", "a hostile key"])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_what_is_asked_s17(
    terminal: Start, server: Scripted, on_server: Cli, kind: str, key: str
) -> None:
    ask(server, on_server, QUESTIONS[kind](ACTING), key)
    screen = terminal("update", "last", columns=60)
    if kind not in ("sampling", "an unknown method"):
        offers(screen)
        screen.type("\x1b" if kind == "a form" else "l")
        if kind == "a form":
            offers(screen, "Enter goes back")
            screen.type("l")
    screen.end()
    assert faults_on(screen) == []
    assert "FORGED" in "".join(screen.lines)


def test_an_answer_that_is_refused_in_hostile_words_s17(
    terminal: Start, server: Scripted, on_server: Cli
) -> None:
    ask(server, on_server, form(PRINTABLE))
    PLACES["in_what_refuses_an_answer"](server, ACTING)
    screen = terminal("update", "last", "action=keep", columns=60)
    screen.end()
    assert faults_on(screen) == []
    assert "FORGED" in "".join(screen.lines)


# ── leaving, and what a trace shows ──────────────────────────────────────────────────────────────


def test_an_id_adds_no_line_to_what_is_said_at_ctrl_c_s17(
    terminal: Start, server: Scripted
) -> None:
    server.on("tasks/get", now("working", PRINTABLE))
    screen = terminal("watch", PRINTABLE, "-s", server.url, columns=200)
    screen.until(lambda lines: any("● working" in line for line in lines))
    screen.send(signal.SIGINT)
    assert screen.end() == 130
    assert faults_on(screen) == []
    assert sum(line.lstrip().startswith("cancel it: mcptask") for line in screen.lines) == 1
    assert not any(line.lstrip().startswith("resume: mcptask") for line in screen.lines)


def test_a_trace_can_be_shown_on_a_terminal_s17(
    terminal: Start, server: Scripted, on_server: Cli
) -> None:
    trace = on_server.cwd / "trace.jsonl"
    for way in ("in_a_result", "in_a_stream", "in_a_body", "in_a_reason_and_headers"):
        PLACES[way](server, ACTING)
        on_server("call", "job", "month=x", "--wait", "--timeout", "3s", "--trace", str(trace))
        on_server("tools", "--trace", str(trace))
    assert faults_of_json(trace.read_text(encoding="ascii")) == []
    assert BYTES.decode("latin-1")[:14] in trace.read_text(encoding="ascii")
    screen = terminal(command=["cat", str(trace)], columns=200)
    assert screen.end() == 0
    assert acting(screen.raw.decode()) == {"\r", "\n"}
