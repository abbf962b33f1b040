"""mcptask in-process, as a process and on a terminal, as the tests of whole commands run it."""

from tests.e2e.conftest import cli, cwd, on_server, process, server, start, terminal

__all__ = ["cli", "cwd", "on_server", "process", "server", "start", "terminal"]
