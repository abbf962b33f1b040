"""A bug of ours: the traceback goes to a file, never to the terminal."""

import traceback
from pathlib import Path

from mcptask import __version__
from mcptask.env import Env
from mcptask.errors import McptaskError
from mcptask.store import atomic
from mcptask.store.paths import state_file


def write_report(error: Exception, env: Env) -> Path | None:
    """Write the traceback beside the state file (0600) and return its path; None if that fails too.

    Only code and line numbers: no values, since an exception's text may quote a secret.
    """
    try:
        path = state_file(env).with_name("crash.log")
        atomic.make_folder(path.parent)
        stamp = env.clock.wall().isoformat(timespec="seconds")
        frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
        text = f"{stamp} mcptask {__version__}\n{frames}{type(error).__name__}\n\n"
        with open(atomic.append_to(path), "a") as log:
            log.write(text)
    except (OSError, McptaskError):
        return None
    return path
