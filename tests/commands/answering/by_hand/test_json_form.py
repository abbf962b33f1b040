"""An answer that is written as JSON, in an editor or pasted, at a pseudo-terminal in this process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcptask.arguments.coerce import from_json
from mcptask.commands.answering.by_hand import editor
from mcptask.commands.answering.by_hand.json_file import begun_content, file_text, read_back
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question
from tests.commands.answering.by_hand.at_a_pty import (
    PATIENCE,
    WHO,
    Desk,
    accepted,
    desk_of,
    form,
    with_environ,
)

ROOM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "seats": {"type": "integer"}},
    "required": ["name"],
}
ROOMS = form(
    "rooms",
    rooms={"type": "array", "items": ROOM, "minItems": 1, "description": "of the\nhouse"},
    note={"type": "string", "default": "hi // there"},
)
SCHEMA = ROOMS["params"]["requestedSchema"]
HALL = {"rooms": [{"name": "Hall"}]}
PASTED = f"\x1b[200~{json.dumps(HALL, indent=1)}\x1b[201~\r"
LAST = ("Enter sends", "\r")


@pytest.fixture
def desk() -> Iterator[Desk]:
    with desk_of(80) as desk:
        yield desk


def edits(desk: Desk, folder: Path, body: str, name: str = "EDITOR") -> Path:
    """The user's editor is a program with this body: `path` is the file, `text` what is in it."""
    program, seen = folder / "my editor", folder / "seen"
    start = f"""import json, os, signal, stat, sys, time
path, seen = sys.argv[-1], {str(seen)!r}
text = open(path).read()
def say(**more):
    told = {{"argv": sys.argv[1:], "path": path, "text": text, **more}}
    open(seen + "~", "w").write(json.dumps(told))
    os.rename(seen + "~", seen)
"""
    program.write_text(f"#!{sys.executable}\n{start}{body}", encoding="utf-8")
    program.chmod(0o755)
    with_environ(desk, **{name: f"'{program}' --wait"}, PATH=os.environ["PATH"])
    return seen


def test_without_an_editor_it_is_pasted_and_held_to_the_schema_a12_12(desk: Desk) -> None:
    steps = [
        ("Enter to paste", "\r"),
        ("an empty line ends it", '{"rooms": [{"name": "H"}]}\r'),
        ("! rooms[0].name: needs at least 2 characters", "\r"),
        ('Enter takes it.\n› {"rooms": [{"name": "H"}]}', '\x15{"rooms": \r\r'),
        ("not valid JSON", "\r"),
        ('Enter takes it.\n› {"rooms":', f"\x15{PASTED}"),
        LAST,
    ]
    assert desk.ask(ROOMS, *steps) == accepted(**HALL)
    told = "\n".join(desk.screen)
    assert "rooms *  a list of at least 1 (a JSON object each)" in told
    assert "    name *  text of at least 2 characters\n    seats  an integer\n" in told
    assert '"note": "hi // there"' in told
    assert "With $EDITOR set, it opens in your editor." in " ".join(told.split())


def test_the_editor_gets_what_is_known_and_gives_the_answer_a12_12(
    desk: Desk, tmp_path: Path
) -> None:
    body = """
mode, parent = os.stat(path).st_mode & 0o777, os.stat(os.path.dirname(path)).st_mode & 0o777
say(mode=mode, parent=parent, tty=[os.isatty(n) for n in range(3)])
open(path + "~", "w").write("a backup")
open(path, "w").write(text.replace(': null', ': "Hall"', 1))
"""
    seen = edits(desk, tmp_path, body)
    before = desk.modes
    response = desk.ask(ROOMS, ("Enter opens my editor", "\r"), LAST)
    assert response == accepted(rooms=[{"name": "Hall"}], note="hi // there")
    told = json.loads(seen.read_text())
    assert told["argv"] == ["--wait", told["path"]]
    assert (told["mode"], told["parent"]) == (0o600, 0o700)
    assert told["tty"] == [True, True, True]
    assert not os.path.exists(os.path.dirname(told["path"]))
    assert "// rooms *  a list of at least 1" in told["text"]
    assert "//     of the house" in told["text"]
    assert desk.modes == before


def test_what_is_wrong_is_told_and_edited_again_and_can_be_edited_after_the_last_look(
    desk: Desk, tmp_path: Path
) -> None:
    body = """
times = open(seen).read() if os.path.exists(seen) else ""
open(seen, "w").write(times + "x")
better = [("null", "7")] if not times else [("7", '"Hall"'), ("hi", "ho")]
for old, new in better:
    text = text.replace(old, new)
open(path, "w").write(text)
"""
    seen = edits(desk, tmp_path, body, "VISUAL")
    with_environ(desk, EDITOR="false")
    steps = [
        ("Enter opens my editor", "\r"),
        ("! rooms[0].name: expected text", "\r"),
        ("Enter sends", "e"),
        ("Enter opens my editor", "\r"),
        LAST,
    ]
    response = desk.ask(ROOMS, *steps)
    assert response == accepted(rooms=[{"name": "Hall"}], note="ho // there")
    assert seen.read_text() == "xxx"
    assert "$EDITOR set" not in desk.written.decode()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit(3)", "my editor ended with 3: what it left is not taken"),
        ("open(path, 'wb').write(b'\\xff')", "not UTF-8"),
        ("os.remove(path)", "No such file"),
        ("os.remove(path); os.mkfifo(path)", "my editor left is no file"),
        ("open(path, 'w').write('[]')", "must be a JSON object"),
        ("open(path, 'w').write(' ' * (10 << 20 | 1))", "over 10 MiB"),
    ],
)
def test_an_editor_that_leaves_no_answer_changes_nothing(
    desk: Desk, tmp_path: Path, body: str, told: str
) -> None:
    edits(desk, tmp_path, body)
    steps = [
        ("Enter opens my editor", "\r"),
        (told, "p"),
        ("\n›", f"\x15{PASTED}"),
        LAST,
    ]
    assert desk.ask(ROOMS, *steps) == accepted(**HALL)


@pytest.mark.parametrize("name", ["no-such-editor", "'unbalanced"])
def test_an_editor_that_cannot_be_run_is_told_and_pasting_is_left(desk: Desk, name: str) -> None:
    with_environ(desk, VISUAL=name)
    steps = [("$VISUAL", "\r"), ("an empty line ends it", PASTED), LAST]
    assert desk.ask(ROOMS, *steps) == accepted(**HALL)


@pytest.mark.parametrize(
    ("at_end", "body"),
    [
        ("terminate", "say(); time.sleep(60)"),
        ("kill", "signal.signal(signal.SIGTERM, signal.SIG_IGN); say(); time.sleep(60)"),
    ],
)
def test_an_editor_is_ended_when_its_question_is_gone_a12_7(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_end: str, body: str
) -> None:
    monkeypatch.setattr(editor, "GRACE", 0.2 if at_end == "kill" else 20.0)
    garble = "import tty; tty.setraw(0); "
    seen = edits(desk, tmp_path, garble + body.replace("say()", "say(pid=os.getpid())"))
    before = desk.modes

    async def main() -> None:
        asking = desk.asking(ROOMS)
        await desk.until("Enter opens my editor")
        desk.type("\r")
        await desk.until(seen.exists)
        asking.cancel("it is over")
        with pytest.raises(asyncio.CancelledError):
            await asking
        await desk.drained()

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
    told = json.loads(seen.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(told["pid"], 0)
    assert not os.path.exists(os.path.dirname(told["path"]))
    assert desk.modes == before
    assert "approve: it is over" in desk.screen


def test_the_loop_goes_on_while_the_editor_is_open_and_ctrl_c_is_its_own_a12_7(
    desk: Desk, tmp_path: Path
) -> None:
    seen = edits(desk, tmp_path, "say(); time.sleep(60)")

    async def main() -> None:
        import signal

        asking = desk.asking(ROOMS)
        await desk.until("Enter opens my editor")
        desk.type("\r")
        await desk.until(seen.exists)
        signal.raise_signal(signal.SIGINT)
        for _ in range(50):
            await asyncio.sleep(0)
        assert not asking.done()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert signal.getsignal(signal.SIGINT) is not None

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_what_was_pasted_is_in_the_editors_file_with_what_is_wrong_first_a12_12(
    desk: Desk, tmp_path: Path
) -> None:
    seen = edits(desk, tmp_path, "say(); open(path, 'w').write(text.replace('H\"', 'Hall\"'))")
    steps = [
        ("p pastes it here", "p"),
        ("an empty line ends it", '{"rooms": [{"name": "H"}]}\r'),
        ("! rooms[0].name", "\r"),
        LAST,
    ]
    assert desk.ask(ROOMS, *steps) == accepted(**HALL)
    lines = json.loads(seen.read_text())["text"].split("\n")
    wrong = 5  # after what vim would obey
    assert lines[wrong].startswith("// ! rooms[0].name: ")
    answer = lines.index('{"rooms": [{"name": "H"}]}')
    assert wrong < answer < lines.index("// The whole schema:")


def test_esc_while_pasting_takes_nothing_and_the_question_can_be_left(desk: Desk) -> None:
    steps = [
        ("Enter to paste", "\r"),
        ("an empty line ends it", "{\r\x1b"),
        ("nothing was taken", "c"),
    ]
    assert desk.ask(ROOMS, *steps) == {"action": "cancel"}


def test_a_remote_reference_is_never_fetched_and_leaves_the_question_open_a12_12(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched(*_: Any, **__: Any) -> None:
        raise AssertionError("fetched")

    monkeypatch.setattr("urllib.request.urlopen", fetched)
    monkeypatch.setattr("socket.create_connection", fetched)
    request = form("room", room={"$ref": "https://x.example/room.json"}, deep={"type": "object"})
    assert desk.ask(request) is None
    assert "is not fetched" in " ".join(line.strip() for line in desk.screen)


# ── the file ─────────────────────────────────────────────────────────────────────────────────────


def test_a_beginning_has_the_defaults_and_null_for_what_only_a_person_knows() -> None:
    assert begun_content(SCHEMA) == {"rooms": [{"name": None}], "note": "hi // there"}
    round_and_round = {"$ref": "#/$defs/Node", "$defs": {"Node": {**ROOM, "required": ["next"]}}}
    round_and_round["$defs"]["Node"]["properties"] = {"next": {"$ref": "#/$defs/Node"}}
    assert "next" in begun_content(round_and_round)
    assert begun_content({"type": "string"}) == {}


def test_what_the_server_says_stays_a_comment_and_out_of_the_editors_settings() -> None:
    evil = "x\n{}\u2028{}\rvim: set exrc:\x1b[2J"
    text = file_text(WHO, Question(evil, form(message=evil, a={"description": evil})), SCHEMA)
    lines = text.split("\n")
    start = lines.index("{")
    assert all(line.startswith("//") and line.isprintable() for line in lines[:start])
    assert from_json("\n".join(line for line in lines if not line.startswith("//")), "it")
    settings = [*lines[:5], *lines[-6:]]  # all that vim looks at
    assert not any("vim:" in line for line in settings)
    with pytest.raises(UsageError):
        read_back(text, SCHEMA)
