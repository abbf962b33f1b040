"""The terminal of a form: taken, given back whatever happens, and never answering by itself."""

from __future__ import annotations

import asyncio
import os
import queue
import select
import signal
import termios
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from mcptask.commands.answering.by_hand import keyboard
from tests.commands.answering.by_hand.at_a_pty import (
    APPROVE,
    COUNT,
    PATIENCE,
    TEXT,
    Desk,
    accepted,
    desk_of,
    form,
    to_open,
)

GONE = "studio no longer asks it: it was answered in another terminal"


@pytest.fixture
def desk() -> Iterator[Desk]:
    with desk_of(60) as desk:
        yield desk


def run(main: Any) -> Any:
    return asyncio.run(asyncio.wait_for(main, PATIENCE))


def test_it_is_read_key_by_key_with_signals_on_and_put_back_at_the_end(desk: Desk) -> None:
    before = desk.modes

    async def main() -> list[Any]:
        asking = desk.asking(APPROVE)
        await desk.until("Esc declines")
        meanwhile = desk.modes
        desk.type("\x04")
        await asking
        await desk.drained()
        return meanwhile

    local = run(main())[3]
    assert not local & (termios.ICANON | termios.ECHO)
    assert local & termios.ISIG
    assert desk.modes == before
    assert bytes(desk.written).count(b"\x1b[?2004h") == 1
    assert desk.written.rstrip().endswith(b"\x1b[?2004l")


@pytest.mark.parametrize(
    "request_", [APPROVE, to_open("https://x.example"), form(a={"type": "object"})], ids=str
)
def test_a_question_that_is_gone_closes_its_form_and_says_why_a12_7(
    desk: Desk, request_: dict[str, Any]
) -> None:
    before = desk.modes

    async def main() -> Any:
        asking = desk.asking(request_)
        await desk.until("c cancels the question" if request_ is not APPROVE else "Esc declines")
        asking.cancel(GONE)
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await asking
        await desk.drained()
        return cancelled.value.args

    assert run(main()) == (GONE,)
    assert desk.screen[-2:] == [
        "approve: studio no longer asks it: it was answered in",
        "another terminal",
    ]
    assert desk.modes == before


def test_a_signal_says_nothing_of_the_question_and_puts_the_terminal_back(desk: Desk) -> None:
    before = desk.modes

    async def main() -> None:
        asking = desk.asking(APPROVE)
        await desk.until("Esc declines")
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await desk.drained()

    run(main())
    assert "approve:" not in "\n".join(desk.screen)
    assert desk.modes == before
    assert desk.cursor[1] == 0


def test_a_bug_of_ours_puts_it_back_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.modes

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("mcptask.commands.answering.by_hand.person.drawn", broken)
    with pytest.raises(ZeroDivisionError):
        desk.ask(APPROVE)
    assert desk.modes == before


def test_what_was_typed_before_the_question_does_not_answer_it(desk: Desk) -> None:
    os.write(desk.fd, b"\n\n\n7\n")
    assert desk.ask(form(count=COUNT), ("› 5", "\x7f3\r"), ("Enter sends", "\r")) == accepted(
        count=3
    )


@pytest.mark.parametrize(
    ("request_", "ahead", "last"),
    [
        (form(count=COUNT), "\r\r\r", "Enter sends"),
        (form(a=TEXT), "one\rtwo\r\r", "Enter sends"),
    ],
    ids=str,
)
def test_the_rest_of_what_was_typed_agrees_to_no_last_look(
    desk: Desk, request_: dict[str, Any], ahead: str, last: str
) -> None:
    async def main() -> Any:
        asking = desk.asking(request_)
        await desk.until("Esc declines")
        desk.type(ahead)
        await desk.until(last)
        for _ in range(50):
            await asyncio.sleep(0)
        assert not asking.done()
        desk.type("d")
        return await asking

    assert run(main()) == {"action": "decline"}


def test_what_the_terminal_still_holds_is_forgotten_too(desk: Desk) -> None:
    async def main() -> str:
        async with keyboard.keyboard(desk.env, lambda: None) as keys:
            await keys.ready()
            os.write(desk.fd, b"y\r")
            select.select([desk.env.stdin], [], [], PATIENCE)
            keys.forget()
            os.write(desk.fd, b"n")
            return (await keys.key()).text

    assert run(main()) == "n"


def test_a_y_that_was_typed_ahead_agrees_to_no_address_a12_13(desk: Desk) -> None:
    os.write(desk.fd, b"yyyy\noooo\n")
    assert desk.ask(to_open("https://x.example"), ("y agrees", "n")) == {"action": "decline"}


def test_a_paste_of_several_lines_stays_in_its_field(desk: Desk) -> None:
    steps = [
        ("action", "keep\r"),
        ("note      ›", "\x1b[200~one\ntwo\n\x1b[201~\r"),
        ("Enter sends", "\r"),
    ]
    assert desk.ask(APPROVE, *steps) == accepted(action="keep", note="one two")


def test_ctrl_z_gives_it_back_and_the_form_is_drawn_again_below(desk: Desk) -> None:
    before = desk.modes
    stopped: list[list[Any]] = []

    async def main() -> Any:
        asking = desk.asking(APPROVE)
        await desk.until("Esc declines")
        desk.type("k")
        await desk.until("› 3 keep")

        def stop() -> None:
            stopped.append(desk.modes)
            os.write(desk.env.stderr.fileno(), b"$ fg\r\n")

        handler: Any = signal.getsignal(signal.SIGTSTP)
        handler.shown[-1].aside(stop)
        await desk.until("$ fg")
        await desk.until(lambda: "\n".join(desk.screen).count("› 3 keep") == 2)
        assert "\n".join(desk.screen).count("What now?") == 2
        desk.type("\r\r")
        await desk.until("Enter sends")
        desk.type("\r")
        return await asking

    assert run(main()) == accepted(action="keep")
    assert stopped == [before]
    assert desk.modes == before


def test_in_the_background_a_form_waits_and_touches_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreground = False
    monkeypatch.setattr(keyboard, "in_foreground", lambda fd: foreground)
    monkeypatch.setattr(keyboard, "LOOK_EVERY", 0.0)
    before = desk.modes

    async def main() -> Any:
        nonlocal foreground
        asking = desk.asking(APPROVE)
        for _ in range(50):
            await asyncio.sleep(0)
        with suppress(BlockingIOError):
            raise AssertionError(os.read(desk.fd, 1))
        assert desk.modes == before
        foreground = True
        await desk.until("Esc declines")
        desk.type("\x04")
        return await asking

    assert run(main()) is None


def test_an_editor_of_a_run_that_ignores_ctrl_c_ignores_it_too(desk: Desk) -> None:
    before = signal.getsignal(signal.SIGINT)

    async def main() -> Any:
        keys = keyboard.Keyboard(desk.env, lambda: None)
        with keys.lent():
            return signal.getsignal(signal.SIGINT)

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert run(main()) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        signal.signal(signal.SIGINT, signal.default_int_handler)
        assert run(main()) not in (signal.SIG_IGN, signal.default_int_handler)
        assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_resize_draws_the_form_again(desk: Desk) -> None:
    async def main() -> Any:
        asking = desk.asking(APPROVE)
        await desk.until("Esc declines")
        termios.tcsetwinsize(desk.fd, (24, 40))
        signal.raise_signal(signal.SIGWINCH)
        drawn = len(desk.written)
        await desk.until(lambda: len(desk.written) > drawn)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await desk.drained()
        return bytes(desk.written[drawn:])

    again = run(main())
    assert b"* needed" in again
    lines = again.decode().replace("\r", "").split("\n")
    assert max(map(len, lines[1:-2])) < 40


def test_a_terminal_that_goes_away_leaves_the_question_open(desk: Desk) -> None:
    async def main() -> Any:
        asking = desk.asking(APPROVE)
        await desk.until("Esc declines")
        os.close(desk.fd)
        desk.fd = -1
        return await asking

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) is None


def test_the_loop_goes_on_while_a_person_types_a12_7(desk: Desk) -> None:
    async def main() -> Any:
        asking = desk.asking(form("a", a=TEXT))
        await desk.until("Esc declines")
        for _ in range(50):
            await asyncio.sleep(0)
        assert not asking.done()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_what_was_dropped_after_it_was_seen_is_not_waited_for(desk: Desk) -> None:
    """A flush between the loop's look and our reading must not stop everything else."""
    number, found = desk.env.stdin.fileno(), queue.Queue[bytes | None]()

    def read() -> None:
        threading.Thread(target=lambda: found.put(keyboard.read_now(number)), daemon=True).start()

    desk.type("seen\n")
    assert select.select([number], [], [], PATIENCE)[0]
    termios.tcflush(number, termios.TCIFLUSH)
    read()
    assert found.get(timeout=PATIENCE) is None
    desk.type("kept\n")
    assert select.select([number], [], [], PATIENCE)[0]
    read()
    assert found.get(timeout=PATIENCE) == b"kept\n"
