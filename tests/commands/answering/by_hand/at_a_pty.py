"""Both ends of a pseudo-terminal in this process: a person's, and an Env on the other."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyte

from mcptask.commands.answering.by_hand.person import ask
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.protocol.questions import Question

PATIENCE = 20.0
WHO = Who("studio", "reflow_month", "7", "7")
ROWS = 60
END = "<the end>"

ACTION = {"type": "string", "enum": ["waitlist", "refund", "keep"]}
COUNT = {"type": "integer", "minimum": 0, "maximum": 9, "default": 5}
TEXT = {"type": "string"}


def form(*required: str, message: str = "What now?", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


def to_open(url: str) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "url", "url": url}}


APPROVE = form("action", action=ACTION, note=TEXT)


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


@dataclass
class Desk:
    """`written` is all that came to the screen."""

    fd: int
    env: Env
    columns: int
    rows: int = ROWS
    written: bytearray = field(default_factory=bytearray)
    who: Who = WHO
    browser: Any = None
    typed_at: int = 0

    @property
    def screen(self) -> list[str]:
        return [line.rstrip() for line in self._pyte().display if line.strip()]

    @property
    def cursor(self) -> tuple[int, int]:
        """Its row among those with something on them, and its column."""
        screen = self._pyte()
        above = [line for line in screen.display[: screen.cursor.y] if line.strip()]
        return len(above), screen.cursor.x

    def _pyte(self) -> pyte.Screen:
        screen = pyte.Screen(self.columns, self.rows)
        pyte.ByteStream(screen).feed(bytes(self.written))
        return screen

    @property
    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.env.stdin.fileno())

    def asking(self, question: Question | dict[str, Any]) -> asyncio.Task[Any]:
        if not isinstance(question, Question):
            question = Question("approve", question)
        return asyncio.create_task(ask(self.env, self.who, question, self.browser))

    def ask(
        self, question: Question | dict[str, Any], *steps: tuple[str, str]
    ) -> dict[str, Any] | None:
        """Each step: what the screen shows at its end, and what is typed then."""

        async def main() -> Any:
            asking = self.asking(question)
            for shown, keys in steps:
                await self.until(shown, unless=asking)
                self.type(keys)
            response = await asking
            await self.drained()
            return response

        return asyncio.run(asyncio.wait_for(main(), PATIENCE))

    def type(self, keys: str) -> None:
        self.typed_at = len(self.written)
        os.write(self.fd, keys.encode())

    async def until(self, shown: str | Callable[[], bool], unless: Any = None) -> None:
        """The screen has these words, and something was drawn since the last key."""

        def there() -> bool:
            if not isinstance(shown, str):
                return shown()
            return len(self.written) > self.typed_at and shown in "\n".join(self.screen)

        while not there():
            assert unless is None or not unless.done(), "\n".join([shown, *self.screen])
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
        with suppress(BlockingIOError):
            self.written += os.read(self.fd, 65536)


@contextmanager
def desk_of(columns: int, rows: int = ROWS) -> Iterator[Desk]:
    fd, slave = pty.openpty()
    termios.tcsetwinsize(slave, (rows, columns))
    os.set_blocking(fd, False)
    with (
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
        desk = Desk(fd, env, columns, rows)
        try:
            yield desk
        finally:
            with suppress(OSError):  # what a terminal that is gone did not take
                stderr.close()
    if desk.fd >= 0:
        os.close(fd)


def with_environ(desk: Desk, **more: str) -> None:
    desk.env = replace(desk.env, environ={**desk.env.environ, **more})
