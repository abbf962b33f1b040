"""`python -m mcptask.demo`: the demo server over stdio, or over HTTP with --http."""

import os
import sqlite3
import sys
from pathlib import Path
from typing import NamedTuple

from mcptask.demo.catalog import TOOLS
from mcptask.demo.engine import Engine, build, close

USAGE = """\
usage: mcptask demo [--http HOST:PORT] [--store FILE]

Runs the demo MCP server: on stdin and stdout, or over HTTP.

  --http HOST:PORT  serve http://HOST:PORT/mcp (port 0: any free one); needs mcptask[demo]
  --store FILE      where its tasks are kept; several servers may share one file. Otherwise in
                    {store}
                    (delete that to start afresh)
"""
AT_A_TERMINAL = """\
mcptask demo: speaks MCP on stdin and stdout, which is for programs. Ctrl-C ends it.
For a URL:  mcptask demo --http 127.0.0.1:8000
"""
NO_HOME = "HOME is not set, or is no absolute path"
DEFAULT_HOST = "127.0.0.1"
EXIT_OK, EXIT_USAGE = 0, 2


class UsageError(Exception):
    pass


class NoPlace(Exception):
    """Nothing says where the store is to lie."""


class Options(NamedTuple):
    """`http` is (host, port), None for stdio."""

    store: Path
    http: tuple[str, int] | None = None


def default_store() -> Path:
    """In the user's folder for state, where the tasks of the client are remembered too."""
    folder = _state_folder()
    if not folder.is_absolute():  # the current folder would say which tasks there are
        raise NoPlace(NO_HOME)
    return folder / "demo.sqlite3"


def _state_folder() -> Path:
    """A relative XDG_STATE_HOME is invalid and ignored, as XDG demands. Raises NoPlace without a home."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state) / "mcptask"
    try:
        linux = sys.platform == "linux"
        return Path.home() / ".local" / "state" / "mcptask" if linux else _platform_folder()
    except RuntimeError:
        raise NoPlace(NO_HOME) from None


def _platform_folder() -> Path:
    import platformdirs

    return platformdirs.user_state_path("mcptask", appauthor=False)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"--http takes HOST:PORT, such as 127.0.0.1:8000, not '{text}'")
    return host.strip("[]") or DEFAULT_HOST, int(port)


def usage() -> str:
    try:
        return USAGE.format(store=default_store())
    except NoPlace as error:
        return USAGE.format(store=f"no place yet: {error}")


def parse(argv: list[str]) -> Options:
    """By hand: argparse would cost more than the rest of the start. Raises UsageError."""
    given: dict[str, str] = {}
    rest = list(argv)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name not in ("--http", "--store"):
            raise UsageError(f"unknown argument '{name}'")
        if not equals and not rest:
            raise UsageError(f"{name} needs a value")
        given[name] = value if equals else rest.pop(0)
    store = Path(given["--store"]).expanduser() if given.get("--store") else default_store()
    return Options(store.absolute(), _address(given["--http"]) if "--http" in given else None)


def _serve(engine: Engine, options: Options) -> None:
    if options.http is None:
        from mcptask.demo import stdio

        if sys.stdin.isatty():
            sys.stderr.write(AT_A_TERMINAL)
        return stdio.serve(engine)
    from mcptask.demo import streamable_http

    return streamable_http.serve(engine, *options.http)


def _complain(text: str) -> int:
    sys.stderr.write(f"mcptask demo: {text}\n")
    return EXIT_USAGE


def main(argv: list[str]) -> int:
    """Serves until it is told to stop. Returns the exit code: 0, or 2 with one line on stderr."""
    if {"-h", "--help"} & set(argv):
        sys.stdout.write(usage())
        return EXIT_OK
    try:
        options = parse(argv)
        engine = build(options.store, TOOLS)
    except UsageError as error:
        return _complain(f"{error}\n\n{usage().rstrip()}")
    except NoPlace as error:
        return _complain(f"there is no place for its tasks: {error}; set it, or give --store FILE")
    except (OSError, sqlite3.Error) as error:
        return _complain(f"cannot use the store {options.store}: {error}")
    try:
        _serve(engine, options)
    except ModuleNotFoundError as error:
        return _complain(f"--http needs {error.name}: pip install 'mcptask[demo]'")
    except (OSError, sqlite3.Error) as error:
        return _complain(str(error))
    finally:
        close(engine)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
