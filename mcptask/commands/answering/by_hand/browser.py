"""Opens an address in the user's browser, by `webbrowser` in a process of its own: neither a browser that
hangs nor what it prints can get in our way, and no shell sees the address."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from mcptask.protocol.transports.programs import absolute_path

# A browser that is started in the foreground is in use for as long as it runs; one that cannot be started
# says so at once.
PATIENCE = 3.0  # s
_PROGRAM = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"

Browser = Callable[[str], Awaitable[str | None]]


def browser_of(environ: Mapping[str, str], platform: str = sys.platform) -> Browser | str:
    """What opens an address: returns why it could not, or None. Where there is no browser, or only one far
    from the person: why not."""
    screen = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    if not (environ.get("BROWSER") or screen):
        if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
            return "over ssh, neither $DISPLAY nor $BROWSER is set"
        if platform not in ("darwin", "win32"):
            return "neither $DISPLAY nor $BROWSER is set"
    words = [sys.executable, "-I", "-c", _PROGRAM]
    return lambda url: _opened([*words, url], environ)


async def _opened(words: list[str], environ: Mapping[str, str]) -> str | None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str | None] = loop.create_future()

    def set_result(why: str | None) -> None:
        if not done.done():
            done.set_result(why)

    def run() -> None:
        why = _problem(words, environ)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(set_result, why)

    # A daemon: a browser that stays in the foreground does not hold up the exit.
    threading.Thread(target=run, daemon=True, name="browser").start()
    try:
        async with asyncio.timeout(PATIENCE):
            return await done
    except TimeoutError:
        return None


def _problem(words: list[str], environ: Mapping[str, str]) -> str | None:
    try:
        run = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # It looks for browsers by itself: not in the current folder (nor for modules: -I).
            env={**environ, "PATH": absolute_path(environ)},
            start_new_session=True,
            check=False,
        )
    except OSError as error:
        return f"it could not be started: {error.strerror}"
    return "none was found, or it failed" if run.returncode else None
