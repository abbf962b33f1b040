"""The user's editor, which gets the terminal for as long as it runs; all else goes on meanwhile."""

import asyncio
import os
import stat
import tempfile
from collections.abc import Sequence

from mcptask.commands._children import command_of
from mcptask.commands.answering.by_hand.keyboard import Keyboard
from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.render.streams import try_write

GRACE = 2.0  # s that an editor gets to put the terminal back, when its question is gone
LARGEST = 10 * 1024 * 1024  # bytes of an answer
_VARIABLES = ("VISUAL", "EDITOR")
# The usual screen, a cursor, no colour: after an editor that could do nothing about it any more.
_AS_BEFORE = "\x1b[?1049l\x1b[?25h\x1b[0m"


def editor_of(env: Env) -> tuple[str, ...] | None:
    """Its words, never for a shell; None where there is none. UsageError where it cannot be run."""
    for name in _VARIABLES:
        if text := env.environ.get(name, "").strip():
            return command_of(f"${name}", text, env.environ, str(env.cwd.absolute()))
    return None


async def edited_text(env: Env, keys: Keyboard, editor: Sequence[str], text: str) -> str:
    """The text as the editor left it. UsageError where nothing came of it.

    The file is nobody else's to read (0600, in a folder 0700), and gone afterwards with all that was put
    beside it.
    """
    name = os.path.basename(editor[0])
    try:
        with tempfile.TemporaryDirectory(prefix="mcptask-", ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "answer.jsonc")
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "w", encoding="utf-8") as file:
                file.write(text)
            with keys.lent():
                code = await _run(env, [*editor, path])
            if code:
                raise UsageError(f"{name} ended with {code}: what it left is not taken")
            data = _read(path, name)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise UsageError(f"the answer has over {LARGEST >> 20} MiB")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UsageError("the answer is not UTF-8 text") from None


def _read(path: str, name: str) -> bytes:
    """What is there now may be anything: a pipe would be waited on for ever."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise UsageError(f"what {name} left is no file")
        with open(number, "rb", closefd=False) as file:
            return file.read(LARGEST + 1)
    finally:
        os.close(number)


async def _run(env: Env, words: Sequence[str]) -> int:
    """On the terminal, also where our stdout is none. Cancelled, it ends the editor."""
    screen = env.stderr.fileno()
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=env.stdin.fileno(),
        stdout=screen,
        stderr=screen,
        cwd=env.cwd,
        env=dict(env.environ),
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            await _end(env, process)


async def _end(env: Env, process: asyncio.subprocess.Process) -> None:
    process.terminate()
    ended = asyncio.ensure_future(process.wait())
    try:
        # No `asyncio.timeout`: in a task that was cancelled, Python 3.11.2 cancels it once more, without why.
        await asyncio.wait((ended,), timeout=GRACE)
    finally:
        if process.returncode is None:
            process.kill()
            try_write(env.stderr, _AS_BEFORE)
        await ended
