"""A form on a real pseudo-terminal, in this process: what is typed, what it becomes, how it is left."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyte
import pytest

from mcptask.commands._asking import ask
from mcptask.env import Env

PATIENCE = 20.0
PROMPT = "› ".encode()
END = "<the end>"


def form(*required: str, message: str = "What now?", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


def to_open(url: str) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "url", "url": url}}


ACTION = {"type": "string", "enum": ["waitlist", "refund", "keep"]}
COUNT = {"type": "integer", "minimum": 0, "maximum": 9, "default": 5}
TEXT = {"type": "string"}
APPROVE = form("action", action=ACTION, note=TEXT)


@dataclass
class Desk:
    """Both ends of a pseudo-terminal: the person's, and an Env on the other."""

    fd: int
    env: Env
    columns: int
    written: bytearray

    @property
    def screen(self) -> list[str]:
        screen = pyte.Screen(self.columns, 60)
        pyte.ByteStream(screen).feed(bytes(self.written))
        return [line.rstrip() for line in screen.display if line.strip()]

    def ask(self, request: dict[str, Any], *typed: str) -> dict[str, Any] | None:
        return asyncio.run(asyncio.wait_for(self.asked(request, typed), PATIENCE))

    async def asked(self, request: dict[str, Any], typed: Sequence[str]) -> dict[str, Any] | None:
        """Each of `typed` at the next prompt."""
        asking = asyncio.create_task(ask(self.env, "studio", "reflow_month", "approve", request))
        await self.type(*typed)
        response = await asking
        await self.drained()
        return response

    async def type(self, *lines: str) -> None:
        for line in lines:
            await self.prompted()
            del self.written[-len(PROMPT) :]  # the next one is another
            self.written += b"> "
            os.write(self.fd, line.encode())

    async def prompted(self) -> None:
        while not self.written.endswith(PROMPT):
            await self.heard()

    async def drained(self) -> None:
        """All that was written: a terminal hands it on in its own time."""
        self.env.stderr.write(END)
        self.env.stderr.flush()
        while not self.written.endswith(END.encode()):
            await self.heard()
        del self.written[-len(END) :]

    async def heard(self) -> None:
        """Whatever was written so far."""
        await asyncio.sleep(0)
        try:
            self.written += os.read(self.fd, 65536)
        except BlockingIOError:
            return


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    columns = getattr(request, "param", 60)
    fd, slave = pty.openpty()
    termios.tcsetwinsize(slave, (60, columns))
    os.set_blocking(fd, False)
    with (
        suppress(OSError),  # what a terminal that is gone did not take
        open(slave, encoding="utf-8", closefd=False) as stdin,
        open(slave, "w", encoding="utf-8") as stderr,
    ):
        env = Env(
            stdin=stdin,
            stdout=io.StringIO(),
            stderr=stderr,
            environ={"TERM": "xterm", "NO_COLOR": "1"},
            cwd=Path(),
        )
        desk = Desk(fd, env, columns, bytearray())
        yield desk
    if desk.fd >= 0:
        os.close(fd)


@pytest.fixture(params=["the loop", "a thread"])
def any_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the event loop watches no terminal, a thread reads."""

    def none(*_: Any) -> None:
        raise NotImplementedError

    if request.param == "a thread":
        monkeypatch.setattr("asyncio.SelectorEventLoop.add_reader", none)


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def test_each_field_is_one_line_and_enter_sends_after_a_last_look_a12_10_a12_12_t20(
    desk: Desk, any_reader: None
) -> None:
    sent = desk.ask(APPROVE, "refund\n", "call them é\n", "\n")
    assert sent == accepted(action="refund", note="call them é")
    assert desk.screen == [
        "◐ studio asks (approve), for reflow_month:",
        "  What now?",
        "* needed · :d declines · :c cancels the question",
        ":l answers later",
        "  action *  1 waitlist · 2 refund · 3 keep",
        "> refund",
        "  note  text · Enter leaves it out",
        "> call them é",
        "Your answer to approve:",
        "  action  refund",
        "  note    call them é",
        "Enter sends · e edits · d declines · c cancels the question",
        "l answers later",
        ">",
    ]


def test_an_empty_line_is_the_default_or_left_out_but_no_required_value(desk: Desk) -> None:
    request = form("action", action=ACTION, count=COUNT, note=TEXT)
    assert desk.ask(request, "\n", "3\n", "\n", "\n", "\n") == accepted(action="keep", count=5)
    assert "  ! action is needed" in desk.screen


def test_wrong_input_is_told_at_once_and_asked_again_a12_12(desk: Desk) -> None:
    request = form("count", count=COUNT)
    assert desk.ask(request, "2o\n", "12\n", "\x1b[A\n", "7\n", "\n") == accepted(count=7)
    told = "\n".join(desk.screen)
    for words in ("expected an integer", "must be at most 9", "control character"):
        assert words in told


def test_a_list_goes_on_after_a_comma_at_the_end(desk: Desk) -> None:
    request = form("tags", tags={"type": "array", "items": TEXT, "minItems": 3})
    assert desk.ask(request, "a, b\n", "a,\n", "b, c\n", "\n") == accepted(tags=["a", "b", "c"])


def test_editing_starts_from_what_is_there_and_can_leave_it_out(desk: Desk) -> None:
    request = form("action", action=ACTION, note=TEXT, count=COUNT)
    sent = desk.ask(request, "1\n", "x\n", "8\n", "e\n", "2\n", ":x\n", "\n", "\n")
    assert sent == accepted(action="refund", count=8)


def test_what_fits_alone_but_not_together_is_not_sent(desk: Desk) -> None:
    request = form(a=TEXT, b=TEXT)
    request["params"]["requestedSchema"]["minProperties"] = 2
    assert desk.ask(request, "1\n", "\n", "\n", "e\n", "\n", "2\n", "\n") == accepted(a="1", b="2")
    assert [line for line in desk.screen if line.startswith("Enter sends")] == [
        "Enter sends · e edits · d declines · c cancels the question"
    ]


@pytest.mark.parametrize(
    ("typed", "response"),
    [
        ([":d\n"], {"action": "decline"}),
        ([":c\n"], {"action": "cancel"}),
        ([":l\n"], None),
        (["\x04"], None),
        (["keep\n", "x\x04\x04", "\x04"], None),  # twice ends a line, once more is the end
        (["keep\n", "\n", "d\n"], {"action": "decline"}),
        (["keep\n", "\n", "C\n"], {"action": "cancel"}),
        (["keep\n", "\n", "what\n", "l\n"], None),
        (["keep\n", "\n", "\x04"], None),
    ],
    ids=str,
)
def test_a_form_can_be_left_at_any_line_a12_12(
    desk: Desk, typed: list[str], response: dict[str, Any] | None
) -> None:
    assert desk.ask(APPROVE, *typed) == response
    assert desk.written.endswith(b"\n")


def test_d_is_a_value_while_a_text_is_typed(desk: Desk) -> None:
    assert desk.ask(form("a", a=TEXT), "d\n", "\n") == accepted(a="d")


def test_a_form_without_fields_still_needs_a_yes(desk: Desk) -> None:
    assert desk.ask(form(), "\n") == accepted()


def test_a_url_is_shown_whole_and_agreed_to_by_a_word_only_a12_13_s7(desk: Desk) -> None:
    url = "https://good.example@xn--e1afmkfd.example/" + "x" * 100
    assert desk.ask(to_open(url), "\n", "a\n", "y\n") == {"action": "accept"}
    assert url in "".join(line.strip() for line in desk.screen)
    told = " ".join(line.strip() for line in desk.screen)
    for words in ("host: xn--e1afmkfd.example", "before the @", "punycode"):
        assert words in told


@pytest.mark.parametrize(
    ("letter", "response"),
    [("n", {"action": "decline"}), ("c", {"action": "cancel"}), ("l", None)],
)
def test_a_url_that_is_none_for_a_browser_can_only_be_refused_a12_13(
    desk: Desk, letter: str, response: Any
) -> None:
    assert desk.ask(to_open("javascript:alert(1)"), "y\n", f"{letter}\n") == response


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "x/y"])
def test_another_request_is_shown_and_left_open_a12_10_a12_14_s7(desk: Desk, method: str) -> None:
    assert desk.ask({"method": method, "params": {"maxTokens": 7}}) is None
    told = "\n".join(desk.screen)
    assert method in told
    assert '"maxTokens": 7' in told


def test_a_schema_that_cannot_be_used_is_told_and_the_question_left_open(desk: Desk) -> None:
    request = form(a={"type": "string", "pattern": "(", "default": "x"})
    assert desk.ask(request) is None
    assert "no regular expression" in " ".join(line.strip() for line in desk.screen)


def test_what_was_typed_before_the_question_does_not_answer_it(desk: Desk) -> None:
    os.write(desk.fd, b"\n\n\n")
    assert desk.ask(form(count=COUNT), "3\n", "\n") == accepted(count=3)


@pytest.mark.parametrize("setting", [{"CI": "1"}, {"TERM": "dumb"}], ids=str)
def test_nobody_is_asked_where_nobody_can_type(desk: Desk, setting: dict[str, str]) -> None:
    desk.env = replace(desk.env, environ={**desk.env.environ, **setting})
    assert desk.ask(APPROVE) is None
    assert desk.written == b""


def test_being_cancelled_ends_the_form_at_once_and_leaves_the_terminal_as_it_was(
    desk: Desk, any_reader: None
) -> None:
    before = termios.tcgetattr(desk.env.stdin.fileno())

    async def main() -> None:
        asking = asyncio.create_task(ask(desk.env, "studio", "t", "approve", APPROVE))
        await asyncio.wait_for(desk.prompted(), PATIENCE)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await desk.drained()

    asyncio.run(main())
    assert desk.written.endswith(PROMPT + b"\r\n")
    assert termios.tcgetattr(desk.env.stdin.fileno()) == before
    left = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    assert all(thread.daemon for thread in left), "the process can exit"
    os.write(desk.fd, b"\n")
    for thread in left:
        thread.join(PATIENCE)


def test_a_terminal_that_goes_away_leaves_the_question_open(desk: Desk, any_reader: None) -> None:
    async def main() -> Any:
        asking = asyncio.create_task(ask(desk.env, "studio", "t", "approve", APPROVE))
        await asyncio.wait_for(desk.prompted(), PATIENCE)
        os.close(desk.fd)
        desk.fd = -1
        return await asyncio.wait_for(asking, PATIENCE)

    assert asyncio.run(main()) is None


def test_the_loop_goes_on_while_a_person_types_a12_7(desk: Desk) -> None:
    async def main() -> Any:
        asking = asyncio.create_task(ask(desk.env, "studio", "t", "approve", form("a", a=TEXT)))
        await asyncio.wait_for(desk.prompted(), PATIENCE)
        turns = 0
        while turns < 50:
            turns += 1
            await asyncio.sleep(0)
        assert not asking.done()
        await desk.type("x\n", "\n")
        return await asyncio.wait_for(asking, PATIENCE)

    assert asyncio.run(main()) == accepted(a="x")


@pytest.mark.parametrize("desk", [60], indirect=True)
def test_every_line_fits_60_columns_and_has_no_colour_code(desk: Desk) -> None:
    words = "a rather long explanation of what is meant here " * 3
    request = form(
        "action",
        message=words,
        action={**ACTION, "description": words},
        when={"type": "string", "format": "date-time", "default": "2026-09-30T14:00:00Z"},
    )
    desk.ask(request, "1\n", "\n", "\n")
    shown = bytes(desk.written).decode().splitlines()
    assert max(map(len, shown)) <= 60
    assert "\x1b" not in "".join(shown)


def test_a_line_that_the_terminal_would_cut_is_refused_whole(desk: Desk) -> None:
    """The kernel keeps 4095 bytes of a line and drops the rest, without a word to anyone."""
    request = form("note", note=TEXT)
    response = desk.ask(request, "x" * 5000 + "\n", "short\n", "\n")
    assert response == {"action": "accept", "content": {"note": "short"}}
    assert any("4094 bytes a line" in line for line in desk.screen)
    response = desk.ask(request, "y" * 4094 + "\n", "\n")
    assert response == {"action": "accept", "content": {"note": "y" * 4094}}
