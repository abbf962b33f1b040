"""A question put to the person at the terminal, line by line. The only part that reads the terminal (A12.12).

The terminal stays in its own line mode, so there is nothing to restore when the loop cancels us.
"""

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from mcptask.arguments.fields import is_list, typed
from mcptask.arguments.responses import (
    ACCEPT,
    CANCEL,
    DECLINE,
    content_problem,
    defaults,
    form_of,
    is_url,
    lacking,
    method_of,
)
from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.protocol.addresses import read_address
from mcptask.protocol.schemas import Schema, required, sub
from mcptask.protocol.task import ELICITATION
from mcptask.render import forms
from mcptask.render.streams import try_write

Response = dict[str, Any]

LATER = "later"
_LEAVING = {"d": DECLINE, "c": CANCEL, "l": LATER}
_NO = {"n": DECLINE, "no": DECLINE}  # where the question is whether
_ASIDE = {":d": DECLINE, ":c": CANCEL, ":l": LATER}
_LEFT_OUT = ":x"
_PIECE = 65536
# Bytes of a line that a terminal passes on; it drops the rest without a word (Linux: 4095).
_LONGEST_LINE = 4094


async def ask(
    env: Env, server: str, tool: str, key: str, request: Mapping[str, Any]
) -> Response | None:
    """The response to one question, as a person gives it; None for later, or where nobody can type.

    Wrong input is told at once and asked for again, so an accepted form always fits its schema.
    """
    if not env.interactive:
        return None
    desk = _Desk(env)
    desk.forget_what_was_typed_ahead()
    colour = env.colour(env.stderr)
    desk.show(forms.question_lines(server, tool, key, request, desk.width, colour=colour))
    try:
        if method_of(request) != ELICITATION:
            desk.show(forms.unanswerable_lines(request, desk.width))
            return None
        return await (_consent(desk, request) if is_url(request) else _form(desk, key, request))
    except _Left as left:
        return None if left.how == LATER else {"action": left.how}
    except UsageError as unusable:  # the server's schema
        desk.wrong(unusable)
        return None


class _Left(Exception):
    """The question was left without an answer: DECLINE, CANCEL or LATER."""

    def __init__(self, how: str) -> None:
        self.how = how


async def _form(desk: "_Desk", key: str, request: Mapping[str, Any]) -> Response:
    schema = form_of(request)
    values = await _filled(desk, schema, defaults(schema))
    while True:
        missing = lacking(values, schema)
        problem = f"{missing[0]} is needed" if missing else content_problem(values, schema)
        desk.forget_what_was_typed_ahead()  # the rest of a paste agrees to nothing
        desk.show(forms.review_lines(key, schema, values, desk.width, problem=problem))
        while (word := await desk.choice(_LEAVING)) not in ("", "e"):
            desk.wrong(UsageError("type one of the letters above, or Enter alone"))
        if word == "e":
            values = await _filled(desk, schema, values)
        elif problem is None:
            return {"action": ACCEPT, "content": values}


async def _filled(desk: "_Desk", schema: Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """One line for each field, over the values that there are; in the order of the form."""
    filled = dict(values)
    fields = sub(schema, "properties")
    if fields:
        desk.show(forms.way_out_lines(schema, desk.width))
    for name in fields:
        desk.show(forms.field_lines(name, schema, filled, desk.width))
        await _enter(desk, name, schema, filled)
    return {name: filled[name] for name in fields if name in filled}


async def _enter(desk: "_Desk", name: str, schema: Schema, values: dict[str, Any]) -> None:
    """Lines until one fits; it goes into `values`. Empty: what is there stays."""
    needed, each = name in required(schema), sub(schema, "properties")[name]
    while True:
        try:
            line = await desk.text(name)
            if line.strip() in _ASIDE:
                raise _Left(_ASIDE[line.strip()])
            if line.strip() == _LEFT_OUT and not needed:
                values.pop(name, None)
                return
            if not line.strip() and (name in values or not needed):
                return
            if not line.strip():
                raise UsageError(f"{name} is needed")
            while line.rstrip().endswith(",") and is_list(each, schema):
                line += await desk.text(name)
            values[name] = typed(name, line, schema)
        except UsageError as wrong:
            desk.wrong(wrong)
        else:
            return


async def _consent(desk: "_Desk", request: Mapping[str, Any]) -> Response:
    """A yes in so many letters: Enter alone is none. The address is not opened, here or by us (A12.13)."""
    url = sub(request, "params").get("url")
    address = read_address(url)
    desk.show(forms.address_lines(url, address.host, address.warnings, address.refused, desk.width))
    allowed = ("y", "yes") if address.refused is None else ()
    while await desk.choice(_LEAVING | _NO) not in allowed:
        desk.wrong(UsageError("type one of the letters above"))
    return {"action": ACCEPT}


@dataclass(frozen=True)
class _Desk:
    """Where a person reads (stderr) and types (stdin)."""

    env: Env

    @property
    def width(self) -> int:
        return self.env.width(self.env.stderr) or 80

    def show(self, lines: list[str]) -> None:
        try_write(self.env.stderr, "".join(f"{line}\n" for line in lines))

    def wrong(self, error: UsageError) -> None:
        colour = self.env.colour(self.env.stderr)
        self.show(forms.wrong_lines(error.message, error.hint, self.width, colour=colour))

    async def choice(self, leaving: Mapping[str, str]) -> str:
        """What was typed where a letter is asked for. Raises _Left for the letters that leave."""
        word = (await self.line()).strip().lower().removeprefix(":")
        if word in leaving:
            raise _Left(leaving[word])
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
            raise _Left(LATER)
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
        try:
            piece = os.read(number, _PIECE)
        except BlockingIOError:  # someone else was faster
            return
        except OSError:  # the terminal is gone
            piece = b""
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
