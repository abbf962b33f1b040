"""A question put to the person line by line, for terminals that cannot be read key by key (Windows; A12.12).

The terminal stays in its own line mode, so there is nothing to restore when the loop cancels us.
"""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from mcptask.arguments.fields import is_list, typed
from mcptask.arguments.responses import (
    ACCEPT,
    DECLINE,
    defaults,
    form_of,
    is_url,
    method_of,
    problem_of,
)
from mcptask.commands.answering.by_hand.browser import Browser
from mcptask.commands.answering.by_hand.keyboard import read_now
from mcptask.commands.answering.by_hand.terminal import LATER, LEAVING, LeftError
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.protocol.addresses import read_address
from mcptask.protocol.questions import Question, Request, Response
from mcptask.protocol.schemas import Schema, required, sub
from mcptask.protocol.task import ELICITATION
from mcptask.render import forms
from mcptask.render.parts import flow
from mcptask.render.streams import try_write
from mcptask.render.text import unmistaken

_NO = {"n": DECLINE, "no": DECLINE}  # where the question is whether
_ASIDE = {f":{letter}": how for letter, how in LEAVING.items()}
_LEFT_OUT = ":x"
# Bytes of a line that a terminal passes on; it drops the rest without a word (Linux: 4095).
_LONGEST_LINE = 4094


async def ask(env: Env, who: Who, question: Question, browser: Browser | str) -> Response | None:
    """As `person.ask`, for a terminal at which somebody types."""
    terminal, request = _LineTerminal(env, started=bool(who.task)), question.request
    terminal.forget_what_was_typed_ahead()
    colour = env.colour(env.stderr)
    terminal.show(
        forms.question_lines(
            who.server, who.tool, who.task, question, terminal.width, colour=colour
        )
    )
    try:
        if method_of(request) != ELICITATION:
            terminal.show(forms.unanswerable_lines(request, who.to_type, terminal.width))
            return None
        if is_url(request):
            return await _consent(terminal, question, browser)
        return await _form(terminal, question.key, request)
    except LeftError as left:
        terminal.show(
            forms.left_lines(question.key, left.how, terminal.width, started=terminal.started)
        )
        return None if left.how == LATER else {"action": left.how}
    except UsageError as unusable:  # the server's schema
        terminal.wrong(unusable)
        return None


async def _form(terminal: "_LineTerminal", key: str, request: Request) -> Response:
    schema = form_of(request)
    values = await _filled(terminal, schema, defaults(schema))
    while True:
        problem = problem_of(values, schema)
        terminal.forget_what_was_typed_ahead()  # the rest of a paste agrees to nothing
        terminal.show(forms.answer_head("Your answer to", key, ":", terminal.width))
        terminal.show(forms.review_lines(schema, values, terminal.width))
        if problem:
            terminal.wrong(UsageError(problem))
        edits = bool(values or sub(schema, "properties"))
        terminal.offer(forms.review_ways(edits=edits, problem=problem))
        while (word := await terminal.choice(LEAVING)) not in ("", "e"):
            terminal.wrong(UsageError("type one of the letters above, or Enter alone"))
        if word == "e":
            values = await _filled(terminal, schema, values)
        elif problem is None:
            terminal.given(key)
            return {"action": ACCEPT, "content": values}


async def _filled(
    terminal: "_LineTerminal", schema: Schema, values: Mapping[str, Any]
) -> dict[str, Any]:
    """One line for each field, over the values that there are; in the order of the form."""
    filled = dict(values)
    fields = sub(schema, "properties")
    if fields:
        terminal.show(forms.way_out_lines(schema, terminal.width, started=terminal.started))
    for name in fields:
        terminal.show(forms.field_lines(name, schema, filled, terminal.width))
        await _enter(terminal, name, schema, filled)
    return {name: filled[name] for name in fields if name in filled}


async def _enter(
    terminal: "_LineTerminal", name: str, schema: Schema, values: dict[str, Any]
) -> None:
    """Lines until one fits; it goes into `values`. Empty: what is there stays."""
    needed, each = name in required(schema), sub(schema, "properties")[name]
    while True:
        try:
            line = await terminal.text(name)
            if line.strip() in _ASIDE:
                raise LeftError(_ASIDE[line.strip()])
            if line.strip() == _LEFT_OUT and not needed:
                values.pop(name, None)
                return
            if not line.strip() and (name in values or not needed):
                return
            if not line.strip():
                raise UsageError(f"{name} is needed")
            while line.rstrip().endswith(",") and is_list(each, schema):
                line += await terminal.text(name)
            values[name] = typed(name, line, schema)
        except UsageError as wrong:
            terminal.wrong(wrong)
        else:
            return


async def _consent(
    terminal: "_LineTerminal", question: Question, browser: Browser | str
) -> Response:
    """A yes in so many letters: Enter alone is none (A12.13)."""
    url = sub(question.request, "params").get("url")
    address = read_address(url)
    terminal.show(
        forms.address_lines(url, address.host, address.warnings, address.refused, terminal.width)
    )
    allowed = address.refused is None
    while True:
        opens = allowed and not isinstance(browser, str)
        why = browser if allowed and isinstance(browser, str) else None
        terminal.show(forms.no_browser_lines(why, terminal.width))
        terminal.offer(forms.address_ways(allowed=allowed, browser=opens))
        word = await terminal.choice({**LEAVING, **_NO})
        failed = None
        if word == "o" and allowed and not isinstance(browser, str):
            failed = await browser(str(url))
        if failed is not None:
            browser = failed
        elif allowed and (word in ("y", "yes") or (word == "o" and opens)):
            terminal.given(question.key)
            return {"action": ACCEPT}
        else:
            terminal.wrong(UsageError("type one of the letters above"))


@dataclass(frozen=True)
class _LineTerminal:
    """Where a person reads (stderr) and types (stdin). `started`: there is a task already."""

    env: Env
    started: bool

    @property
    def width(self) -> int:
        return self.env.width(self.env.stderr) or 80

    def show(self, lines: list[str]) -> None:
        try_write(self.env.stderr, "".join(f"{unmistaken(line)}\n" for line in lines))

    def given(self, key: str) -> None:
        self.show(forms.answer_head("Answer given to", key, ".", self.width))

    def offer(self, ways: list[str]) -> None:
        """What can be typed: these, and what leaves the question."""
        self.show(flow([*ways, *forms.leaving(started=self.started)], self.width, cut=False))

    def wrong(self, error: UsageError) -> None:
        colour = self.env.colour(self.env.stderr)
        self.show(forms.wrong_lines(error.message, error.hint, self.width, colour=colour))

    async def choice(self, leaving: Mapping[str, str]) -> str:
        """What was typed where a letter is asked for. Raises LeftError for the letters that leave."""
        word = (await self.line()).strip().lower().removeprefix(":")
        if word in leaving:
            raise LeftError(leaving[word])
        return word

    async def text(self, name: str) -> str:
        """One line of a field's value. Raises UsageError for one that the terminal may have cut."""
        line = await self.line()
        if len(line.encode(errors="surrogateescape")) > _LONGEST_LINE:
            raise UsageError(f"{name}: a terminal takes {_LONGEST_LINE} bytes a line, no more")
        return line

    async def line(self) -> str:
        """One line without its end. Ctrl-D, or a terminal that is gone, is an answer for later."""
        try_write(self.env.stderr, forms.PROMPT)
        line = None
        try:
            line = await _read_line(self.env.stdin)
        finally:
            if line is None:  # what comes next starts on a line of its own
                try_write(self.env.stderr, "\n")
        if line is None:
            raise LeftError(LATER)
        return line

    def forget_what_was_typed_ahead(self) -> None:
        """An Enter that was meant for something else must not agree to a form that nobody has seen."""
        try:
            import termios
        except ImportError:  # Windows
            return
        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(self.env.stdin.fileno(), termios.TCIFLUSH)


async def _read_line(stdin: TextIO) -> str | None:
    """One line from a terminal in line mode, while the event loop goes on; None at its end."""
    got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    try:
        data = await _by_the_loop(stdin.fileno(), got)
    except NotImplementedError:  # Windows: its loop watches no terminal
        data = await _by_a_thread(stdin, got)
    if not data:
        return None
    return data.decode(stdin.encoding, "surrogateescape").rstrip("\r\n")


async def _by_the_loop(number: int, got: "asyncio.Future[bytes]") -> bytes:
    loop = asyncio.get_running_loop()
    line = bytearray()

    def readable() -> None:
        piece = read_now(number)
        if piece is None:
            return
        line.extend(piece)
        if (not piece or piece.endswith(b"\n")) and not got.done():
            got.set_result(bytes(line))

    loop.add_reader(number, readable)
    try:
        return await got
    finally:
        loop.remove_reader(number)


async def _by_a_thread(stdin: TextIO, got: "asyncio.Future[bytes]") -> bytes:
    """The raw stream has no lock, so a daemon thread that still waits on it does not hold up the exit."""
    loop = asyncio.get_running_loop()
    raw = getattr(stdin.buffer, "raw", stdin.buffer)

    def read() -> None:
        line = b""
        with suppress(OSError, ValueError):  # the terminal is gone
            line = raw.readline()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if got.done() else got.set_result(line))

    threading.Thread(target=read, daemon=True).start()
    return await got
