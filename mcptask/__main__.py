"""The entry point. Everything is imported inside `try`, so that Ctrl-C during start-up ends quietly too."""

import sys


def main() -> int:
    """Run the command line of this process; returns the exit code."""
    try:
        if sys.argv[1:] in (["--version"], ["-V"]):
            # Before anything is imported: scripts ask for the version, and it must cost nothing.
            from mcptask import __version__

            print(f"mcptask {__version__}")
            return 0
        from mcptask.cli import run
        from mcptask.env import process_env

        return run(sys.argv[1:], process_env())
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
