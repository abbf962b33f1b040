"""A form line by line, where no terminal can be read key by key: on a real pseudo-terminal, in-process."""

from __future__ import annotations

import asyncio
import os
import termios
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from mcptask.commands.answering.who import Who
from tests.commands.answering.by_hand import at_a_pty
from tests.commands.answering.by_hand.at_a_pty import (
    ACTION,
    APPROVE,
    COUNT,
    PATIENCE,
    TEXT,
    accepted,
    desk_of,
    form,
    to_open,
)

PROMPT = "› ".encode()


class Desk(at_a_pty.Desk):
    """Each of what is typed at the next prompt."""

    def answer(self, request: dict[str, Any], *typed: str) -> dict[str, Any] | None:
        async def main() -> Any:
            asking = self.asking(request)
            await self.lines(*typed)
            response = await asking
            await self.drained()
            return response

        return asyncio.run(asyncio.wait_for(main(), PATIENCE))

    async def lines(self, *lines: str) -> None:
        for line in lines:
            await self.prompted()
            del self.written[-len(PROMPT) :]  # the next one is another
            self.written += b"> "
            os.write(self.fd, line.encode())

    async def prompted(self) -> None:
        await self.until(lambda: self.written.endswith(PROMPT))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr("mcptask.commands.answering.by_hand.person.reads_keys", lambda env: False)
    with desk_of(60) as any_desk:
        desk = Desk(any_desk.fd, any_desk.env, 60)
        yield desk
        any_desk.fd = desk.fd


@pytest.fixture(params=["the loop", "a thread"])
def any_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the event loop watches no terminal, a thread reads."""

    def none(*_: Any) -> None:
        raise NotImplementedError

    if request.param == "a thread":
        monkeypatch.setattr("asyncio.SelectorEventLoop.add_reader", none)


def test_each_field_is_one_line_and_enter_sends_after_a_last_look_a12_10_a12_12_t20(
    desk: Desk, any_reader: None
) -> None:
    sent = desk.answer(APPROVE, "refund\n", "call them é\n", "\n")
    assert sent == accepted(action="refund", note="call them é")
    assert desk.screen == [
        "◐ studio asks (approve), for reflow_month, task 7:",
        "  What now?",
        "* needed · :d declines · :c cancels the question",
        ":l leaves it for later",
        "  action *  1 waitlist · 2 refund · 3 keep",
        "> refund",
        "  note  text · Enter leaves it out",
        "> call them é",
        "Your answer to approve:",
        "  action  refund",
        "  note    call them é",
        "Enter sends · e edits · d declines · c cancels the question",
        "l leaves it for later",
        ">",
        "Answer given to approve.",
    ]


def test_an_empty_line_is_the_default_or_left_out_but_no_required_value(desk: Desk) -> None:
    request = form("action", action=ACTION, count=COUNT, note=TEXT)
    assert desk.answer(request, "\n", "3\n", "\n", "\n", "\n") == accepted(action="keep", count=5)
    assert "  ! action is needed" in desk.screen


def test_wrong_input_is_told_at_once_and_asked_again_a12_12(desk: Desk) -> None:
    request = form("count", count=COUNT)
    assert desk.answer(request, "2o\n", "12\n", "\x1b[A\n", "7\n", "\n") == accepted(count=7)
    told = "\n".join(desk.screen)
    for words in ("expected an integer", "must be at most 9", "control character"):
        assert words in told


def test_a_list_goes_on_after_a_comma_at_the_end(desk: Desk) -> None:
    request = form("tags", tags={"type": "array", "items": TEXT, "minItems": 3})
    assert desk.answer(request, "a, b\n", "a,\n", "b, c\n", "\n") == accepted(tags=["a", "b", "c"])


def test_editing_starts_from_what_is_there_and_can_leave_it_out(desk: Desk) -> None:
    request = form("action", action=ACTION, note=TEXT, count=COUNT)
    sent = desk.answer(request, "1\n", "x\n", "8\n", "e\n", "2\n", ":x\n", "\n", "\n")
    assert sent == accepted(action="refund", count=8)


def test_what_fits_alone_but_not_together_is_not_sent(desk: Desk) -> None:
    request = form(a=TEXT, b=TEXT)
    request["params"]["requestedSchema"]["minProperties"] = 2
    assert desk.answer(request, "1\n", "\n", "\n", "e\n", "\n", "2\n", "\n") == accepted(
        a="1", b="2"
    )
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
    assert desk.answer(APPROVE, *typed) == response
    assert desk.written.endswith(b"\n")


def test_before_there_is_a_task_l_stops_and_says_that_nothing_is_started_a8_4(desk: Desk) -> None:
    desk.who = Who("studio", "close_room")
    assert desk.answer(APPROVE, ":l\n") is None
    assert ":l stops here, nothing is started" in desk.screen
    assert desk.screen[-1] == "No answer to approve: nothing is started."


def test_d_is_a_value_while_a_text_is_typed(desk: Desk) -> None:
    assert desk.answer(form("a", a=TEXT), "d\n", "\n") == accepted(a="d")


def test_a_form_without_fields_still_needs_a_yes(desk: Desk) -> None:
    assert desk.answer(form(), "\n") == accepted()


def test_a_url_is_shown_whole_and_agreed_to_by_a_word_only_a12_13_s7(desk: Desk) -> None:
    url = "https://good.example@xn--e1afmkfd.example/" + "x" * 100
    assert desk.answer(to_open(url), "\n", "a\n", "y\n") == {"action": "accept"}
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
    assert desk.answer(to_open("javascript:alert(1)"), "y\n", f"{letter}\n") == response


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "x/y"])
def test_another_request_is_shown_and_left_open_a12_10_a12_14_s7(desk: Desk, method: str) -> None:
    assert desk.answer({"method": method, "params": {"maxTokens": 7}}) is None
    told = "\n".join(desk.screen)
    assert method in told
    assert '"maxTokens": 7' in told


def test_a_schema_that_cannot_be_used_is_told_and_the_question_left_open(desk: Desk) -> None:
    request = form(a={"type": "string", "pattern": "(", "default": "x"})
    assert desk.answer(request) is None
    assert "no regular expression" in " ".join(line.strip() for line in desk.screen)


def test_what_was_typed_before_the_question_does_not_answer_it(desk: Desk) -> None:
    os.write(desk.fd, b"\n\n\n")
    assert desk.answer(form(count=COUNT), "3\n", "\n") == accepted(count=3)


@pytest.mark.parametrize("setting", [{"CI": "1"}, {"TERM": "dumb"}], ids=str)
def test_nobody_is_asked_where_nobody_can_type(desk: Desk, setting: dict[str, str]) -> None:
    desk.env = replace(desk.env, environ={**desk.env.environ, **setting})
    assert desk.answer(APPROVE) is None
    assert desk.written == b""


def test_being_cancelled_ends_the_form_at_once_and_leaves_the_terminal_as_it_was(
    desk: Desk, any_reader: None
) -> None:
    before = termios.tcgetattr(desk.env.stdin.fileno())

    async def main() -> None:
        asking = desk.asking(APPROVE)
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
        asking = desk.asking(APPROVE)
        await asyncio.wait_for(desk.prompted(), PATIENCE)
        os.close(desk.fd)
        desk.fd = -1
        return await asyncio.wait_for(asking, PATIENCE)

    assert asyncio.run(main()) is None


def test_the_loop_goes_on_while_a_person_types_a12_7(desk: Desk) -> None:
    async def main() -> Any:
        asking = desk.asking(form("a", a=TEXT))
        await asyncio.wait_for(desk.prompted(), PATIENCE)
        turns = 0
        while turns < 50:
            turns += 1
            await asyncio.sleep(0)
        assert not asking.done()
        await desk.lines("x\n", "\n")
        return await asyncio.wait_for(asking, PATIENCE)

    assert asyncio.run(main()) == accepted(a="x")


def test_every_line_fits_60_columns_and_has_no_colour_code(desk: Desk) -> None:
    words = "a rather long explanation of what is meant here " * 3
    request = form(
        "action",
        message=words,
        action={**ACTION, "description": words},
        when={"type": "string", "format": "date-time", "default": "2026-09-30T14:00:00Z"},
    )
    desk.answer(request, "1\n", "\n", "\n")
    shown = bytes(desk.written).decode().splitlines()
    assert max(map(len, shown)) <= 60
    assert "\x1b" not in "".join(shown)


def test_a_line_that_the_terminal_would_cut_is_refused_whole(desk: Desk) -> None:
    """The kernel keeps 4095 bytes of a line and drops the rest, without a word to anyone."""
    request = form("note", note=TEXT)
    response = desk.answer(request, "x" * 5000 + "\n", "short\n", "\n")
    assert response == {"action": "accept", "content": {"note": "short"}}
    assert any("4094 bytes a line" in line for line in desk.screen)
    response = desk.answer(request, "y" * 4094 + "\n", "\n")
    assert response == {"action": "accept", "content": {"note": "y" * 4094}}
