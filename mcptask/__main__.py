"""The entry point. Everything is imported inside `try`, so that Ctrl-C during start-up ends quietly too."""

import gc
import os
import sys


def main() -> int:
    """Run the command line of this process; returns the exit code."""
    try:
        if sys.argv[1:] in (["--version"], ["-V"]):
            # Before anything is imported: scripts ask for the version, and it must cost nothing.
            from mcptask import __version__

            try:
                print(f"mcptask {__version__}", flush=True)
                return 0
            except OSError:
                pass  # the long way round knows what to do with a stdout like this
        # Thousands of objects that all stay: looking through them again and again finds nothing.
        gc.set_threshold(20_000)
        from mcptask.cli import run
        from mcptask.env import process_env

        return run(sys.argv[1:], process_env())
    except KeyboardInterrupt:
        return 130
    finally:
        # The process ends: to look for garbage among all that was imported costs 90 ms and frees nothing.
        gc.freeze()


def _leave_out_the_current_folder() -> None:
    """`python -m` puts it in front of all else on the path: an `httpx.py` that lies there would be ours. From
    what Python itself looks for until it is here, a `mcptask/` above all, only `python -P -m` keeps it out.
    """
    try:
        put_there = not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]
    except OSError:  # the folder is gone, and then it is not put there
        return
    if put_there:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_the_current_folder()
    sys.exit(main())
