"""One run of one command: the world, the options, and what several steps of it need, each made once."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.render.text import clean
from mcptask.store import paths

if TYPE_CHECKING:
    from mcptask.commands._options import Options
    from mcptask.render.report import Reporter
    from mcptask.servers.config import Config
    from mcptask.servers.resolve import Endpoint, Selection
    from mcptask.store.outcomes import OutcomeStore
    from mcptask.store.records import Origin
    from mcptask.store.tasks import TaskStore


@dataclass
class Job:
    """`warnings` gathers what the document lists under that name; `warn` says it on stderr as well."""

    env: Env
    options: "Options"
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def store(self) -> "TaskStore":
        from mcptask.store.tasks import TaskStore

        return TaskStore(paths.state_file(self.env, self.options.state), self.env.clock)

    @cached_property
    def config(self) -> "Config":
        from mcptask.servers.config import read

        path = paths.config_file(self.env, self.options.config)
        return read(path, must_exist=bool(self.options.config))

    @cached_property
    def reporter(self) -> "Reporter":
        from mcptask.commands._reporters import make_reporter

        return make_reporter(self.env, self.options)

    @property
    def lines(self) -> int:
        """How many JSON lines were printed so far."""
        return getattr(self.reporter, "printed", 0) if self.options.jsonl else 0

    @cached_property
    def outcomes(self) -> "OutcomeStore":
        from mcptask.store.outcomes import OutcomeStore

        return OutcomeStore(paths.results_folder(self.store.path))

    @property
    def selection(self) -> "Selection":
        from mcptask.servers.resolve import Selection

        o = self.options
        return Selection(server=o.server, stdio=o.stdio, headers=o.header, bearer_env=o.bearer_env)

    def endpoint(self) -> "Endpoint":
        """The server that the options, the environment or the config name."""
        from mcptask.servers.resolve import resolve

        endpoint = resolve(self.selection, self.config, self.env.environ, cwd=self.cwd)
        self.explain(f"{endpoint.name}: {endpoint.source}")
        return endpoint

    def endpoint_of(self, origin: "Origin") -> "Endpoint":
        """The server of a stored task."""
        from mcptask.servers.resolve import endpoint_of_record

        endpoint = endpoint_of_record(
            origin.server,
            origin.url,
            origin.command,
            origin.cwd,
            origin.bearer_env,
            self.selection,
            self.config,
            self.env.environ,
        )
        self.explain(f"{endpoint.name}: {endpoint.source}")
        return endpoint

    @property
    def told(self) -> bool:
        """Has a reporter written what happened in lines that stay?"""
        return getattr(self.__dict__.get("reporter"), "stays", False)

    def read_file(self, path: str) -> str:
        """The text of a file that an argument names; `~` is ours to expand after `@`."""
        return Path(path).expanduser().read_text(encoding="utf-8")

    @property
    def cwd(self) -> str:
        return str(self.env.cwd.absolute())

    def explain(self, text: str) -> None:
        """A line for -v."""
        if self.options.verbose:
            self._say(f"mcptask: {clean(text)}")

    def warn(self, text: str) -> None:
        """Something that a person should know once: on stderr, and in the document."""
        if text in self.warnings:
            return
        self.warnings.append(text)
        if not self.options.quiet:
            self._say(f"warning: {clean(text)}")

    def seconds(self, name: str) -> float | None:
        """The duration that an option gives, in seconds."""
        from mcptask.commands._durations import seconds

        text = getattr(self.options, name)
        return None if text is None else seconds(text)

    def say(self, text: str) -> None:
        """A remark for a person, unless --quiet."""
        if not self.options.quiet:
            self._say(text)

    def _say(self, line: str) -> None:
        """A line on stderr; above the live view, where there is one."""
        note = getattr(self.__dict__.get("reporter"), "note", None)
        if note is not None:
            note(line)
            return
        from mcptask.render.streams import try_write

        try_write(self.env.stderr, line + "\n")


def check_formats(options: "Options") -> None:
    if options.json and options.jsonl:
        raise UsageError("--json and --jsonl exclude each other")
