"""The entry point. Everything is imported inside `try`, so that Ctrl-C during start-up ends quietly too."""

import gc
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


if __name__ == "__main__":
    sys.exit(main())
