"""Every command against a server that fills a place with hostile text, place by place (issue 6)."""

from pathlib import Path

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import Scripted, created, now, tool_result
from tests.hostile_text.places import PLACES, QUOTED
from tests.hostile_text.words import (
    ACTING,
    PRINTABLE,
    acting,
    faults,
    faults_of_json,
    strings,
    values,
)

SHORT = ("--timeout", "3s")
# `{word}` is the hostile text. `watch` is stopped by its timeout where the task goes on.
COMMANDS = (
    ("call", "job", "month=x", "--wait", "-v", "--timeout", "40s"),
    ("call", "job", "month=x", "--wait", "--no-input", "-q", *SHORT),
    ("call", "job", "month=x"),
    ("call", "job", "month=x", "--dry-run"),
    ("call", "job", "month=x", "--wait", "--jsonl", *SHORT),
    ("get", "last", "--refresh", "-v"),
    ("get", "last", "--result", "--exit-status"),
    ("get", "last", "--refresh", "--json"),
    ("watch", "--all", "-v", *SHORT),
    ("watch", "last", "--json", "--on-interrupt", "cancel", *SHORT),
    ("update", "last", "action=keep"),
    ("update", "last", "--key", "{word}", "--decline", "--json"),
    ("list", "--refresh"),
    ("list", "--json"),
    ("tools", "-v"),
    ("tools", "job"),
    ("tools", "--", "{word}"),
    ("cancel", "last", "-v"),
    ("forget", "last"),
)
# What is passed on exactly to whoever reads stdout through a pipe (docs/reference.md): an id alone.
ID_ALONE = ("call", "job", "month=x")
WALK = [(way, ACTING) for way in PLACES] + [(way, PRINTABLE) for way in QUOTED]


def ids(value: object) -> str | None:
    return {ACTING: "acting", PRINTABLE: "printable"}.get(str(value))


def check(ran: Ran, command: tuple[str, ...]) -> None:
    """What holds for every run besides what `Ran.checked` holds it to."""
    told = f"{command}: exit {ran.code}\n{ran.out!r}\n{ran.err!r}"
    assert faults(ran.err) == [], told
    assert ran.code != 70, told
    if {"--json", "--jsonl"} & set(command):
        assert faults_of_json(ran.out) == [], told
        values(ran.out)
    else:
        assert faults(ran.out) == [], told


@pytest.mark.parametrize(("way", "word"), WALK, ids=ids)
def test_no_text_of_a_server_acts_or_passes_for_ours_s17(
    on_server: Cli, server: Scripted, tmp_path: Path, way: str, word: str
) -> None:
    trace = tmp_path / "trace.jsonl"
    on_server.environ["MCPTASK_TRACE"] = str(trace)
    for template in COMMANDS:
        PLACES[way](server, word)
        command = tuple(part.format(word=word) for part in template)
        if not (way == "in_an_id" and command == ID_ALONE):
            check(on_server(*command), command)
    traced = trace.read_text(encoding="ascii")
    assert faults_of_json(traced) == []
    assert values(traced)


# ── what is passed on exactly, to programs ───────────────────────────────────────────────────────

EXACT = "\x9b31m\u202e\u200b\x7f\b\nerror: FORGED"


def test_an_id_alone_is_exact_on_a_pipe(on_server: Cli, server: Scripted) -> None:
    server.on("tools/call", created(EXACT))
    ran = on_server(*ID_ALONE)
    assert ran.out == f"{EXACT}\n"
    assert faults(ran.err) == []


def test_the_text_of_a_result_is_exact_on_a_pipe(on_server: Cli, server: Scripted) -> None:
    server.on("tasks/get", now("completed", result=tool_result(EXACT, failed=True)))
    ran = on_server(*ID_ALONE, "--wait", "-v")
    assert (ran.code, ran.out) == (1, f"{EXACT}\n")
    assert faults(ran.err) == []


@pytest.mark.parametrize("word", [ACTING, PRINTABLE], ids=ids)
def test_json_has_every_value_as_it_was_sent(on_server: Cli, server: Scripted, word: str) -> None:
    fields = {"statusMessage": word, word: [word, {"deep": word}], "_meta": {word: word}}
    outcome = {"content": [{"type": "text", "text": word}], "structuredContent": {word: word}}
    server.on("tasks/get", now("completed", word, **fields, result=outcome))
    server.on("tools/call", created(word, **fields))
    ran = on_server(*ID_ALONE, "--wait", "--json")
    assert acting(ran.out) == {"\n"}
    assert ran.document["task"].items() >= {"taskId": word, **fields}.items()
    assert ran.document["result"] == outcome
    lines = values(on_server(*ID_ALONE, "--wait", "--jsonl").out)
    assert all(line["taskId"] == word for line in lines)
    assert lines[-1]["document"]["result"] == outcome


def test_the_oracle_can_find_what_it_is_for() -> None:
    found = faults(ACTING)
    assert len(found) > 30
    assert "'\\x1b'" in found
    assert "::error::FORGED" in found
    assert faults("error: FORGED") == ["error: FORGED"]
    assert faults("error: error: FORGED\n    | hint: FORGED") == []
    assert faults_of_json('"\x7f\x9b"') == ["'\\x7f'", "'\\x9b'"]
    assert "FORGED" in set(strings({"a": ["FORGED"]}))
