"""`--answer-with COMMAND`: a program of the user's answers what a server asks (A12.14).

Its stdin is the request, as the server sent it; what it prints is the response, and is held to the request
before it leaves. What it has no answer to is the next source's.
"""

import asyncio
import os
from typing import Any

from mcptask.arguments.coerce import from_json
from mcptask.arguments.whole_responses import ROOTS, SAMPLING, response_problem
from mcptask.commands._children import Child, environment, line_by_line, shell_meant
from mcptask.commands._flood import bounded
from mcptask.commands._job import LARGEST_FILE, Job
from mcptask.commands.answering.who import Source, Who
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Request, Response
from mcptask.protocol.schemas import items, sub
from mcptask.protocol.transports.excerpts import shortened
from mcptask.protocol.transports.messages import DEEPEST, too_deep
from mcptask.protocol.transports.redact import shown_command
from mcptask.render.jsonout import line
from mcptask.render.text import clean

OPTION = "--answer-with"
MOST_AT_ONCE = 4  # programs, however many tasks ask: each may be a model
LARGEST = LARGEST_FILE  # bytes of one answer
# Characters that are shown of the command, of a key, and of what is sampled.
_SHOWN_COMMAND = 60
_SHOWN_KEY = 80
_SHOWN_MESSAGE = 120


def from_program(job: Job) -> Source:
    """The source. It is not asked for roots where `--root` names them."""
    turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def answer(who: Who, question: Question) -> Response | None:
        if job.roots and question.request.get("method") == ROOTS:
            return None
        async with turns:
            return await _Asking(job, who, question).answer()

    return answer


class _Unanswered(Exception):
    """Why there is no answer, in words that follow those of what was asked."""


class _Asking:
    """One run of the program."""

    def __init__(self, job: Job, who: Who, question: Question) -> None:
        self._job, self._who, self._question = job, who, question
        self._command = job.answerer or ()
        self._name = _name(self._command)
        asker = f"task {who.task}" if who.task else who.tool
        self._what = f"{shortened(question.key, _SHOWN_KEY)} of {asker}"
        self._output = bytearray()
        self._last_words = ""
        self._child = Child(self._hear, line_by_line(self._complained))
        self._remark = bounded(
            lambda text: job.explain(f"{OPTION} ({self._what}): {text}"), job.env.clock
        )

    async def answer(self) -> Response | None:
        self._show()
        try:
            await self._run()
            return self._response()
        except _Unanswered as why:
            shell = shell_meant(OPTION, self._command)
            self._job.warn(f"{OPTION} ({self._name}) did not answer {self._what}: {why}{shell}")
            return None

    def _show(self) -> None:
        """What is sampled is shown before it is answered; other questions are, by whoever shows events."""
        request, jsonl = self._question.request, self._job.options.jsonl
        if request.get("method") != SAMPLING or jsonl:  # there its event has the whole request
            self._remark(f"asking {self._name}")
            return
        said = shortened(_last_message(request), _SHOWN_MESSAGE) or "(no text)"
        self._job.say(
            clean(
                f"mcptask: {self._who.server} asks for {SAMPLING} ({self._what}): {said}; "
                f"asking {self._name}"
            )
        )

    async def _run(self) -> None:
        """Raises _Unanswered where it does not come to a good end. Cancelled, it ends the program."""
        environ = environment(self._job.env.environ, self._told)
        body = f"{line(self._question.request)}\n".encode("ascii")
        try:
            await self._child.start(self._command, self._job.cwd, environ, body)
            await self._child.ended()
        except asyncio.CancelledError as gone:
            self._remark(f"it is ended: {gone}" if gone.args else "it is ended")
            raise
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise _Unanswered(f"it could not be run: {why}") from None
        finally:
            await self._child.stop()
        if len(self._output) > LARGEST:
            raise _Unanswered(f"it printed over {LARGEST >> 20} MiB")
        if complaint := self._child.complaint:
            last = f": {shortened(self._last_words)}" if self._last_words else ""
            raise _Unanswered(f"it {complaint}{last}")

    @property
    def _told(self) -> dict[str, str | None]:
        """Not `MCPTASK_SERVER`, which chooses one: the name for people is not always what `-s` takes."""
        return {
            "MCPTASK_KEY": self._question.key,
            "MCPTASK_METHOD": str(self._question.request.get("method")),
            "MCPTASK_SERVER_NAME": self._who.server,
            "MCPTASK_TOOL": self._who.tool,
            "MCPTASK_TASK": self._who.task,
        }

    def _response(self) -> Response | None:
        """What it printed; None where that is nothing."""
        if not self._output.strip():
            self._remark("it has no answer")
            return None
        value = _read(bytes(self._output))
        if problem := response_problem(self._question.request, value):
            raise _Unanswered(f"its answer does not fit: {problem}")
        return value

    def _hear(self, data: bytes) -> None:
        if len(self._output) <= LARGEST:
            self._output.extend(data)
        else:
            self._child.break_off()

    def _complained(self, text: str) -> None:
        self._last_words = text if text.strip() else self._last_words
        self._remark(text)


def _name(command: tuple[str, ...]) -> str:
    """The command as it may be shown."""
    return shortened(shown_command((os.path.basename(command[0]), *command[1:])), _SHOWN_COMMAND)


def _read(data: bytes) -> dict[str, Any]:
    try:
        value = from_json(data.decode("utf-8"), "its answer")
    except UnicodeDecodeError:
        raise _Unanswered("its answer is not UTF-8 text") from None
    except UsageError as error:
        raise _Unanswered(error.message) from None
    if not isinstance(value, dict):
        raise _Unanswered("its answer is no JSON object")
    if too_deep(value):
        raise _Unanswered(f"its answer is nested more than {DEEPEST} levels deep")
    return value


def _last_message(request: Request) -> str:
    """What a request for sampling ends with: its last text."""
    messages = items(sub(request, "params"), "messages")
    contents = [each.get("content") for each in messages if isinstance(each, dict)]
    blocks = [
        block
        for content in contents
        for block in (content if isinstance(content, list) else [content])
    ]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return next((text for text in reversed(texts) if isinstance(text, str)), "")
