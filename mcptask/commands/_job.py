"""One run of one command: the world, the options, and what several steps of it need, each made once."""

import errno
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.render.text import clean
from mcptask.store import paths

if TYPE_CHECKING:
    from mcptask.arguments.answers import Answers
    from mcptask.commands._options import Options
    from mcptask.commands.answering.sources import Sources
    from mcptask.origin import Origin
    from mcptask.render.report import Reporter
    from mcptask.servers.config import Config
    from mcptask.servers.endpoint import Endpoint
    from mcptask.servers.resolve import Selection
    from mcptask.store.outcomes import OutcomeStore
    from mcptask.store.tasks import TaskStore

# One file of arguments or answers, in bytes: what is longer would not fit into a message either (A5.9).
LARGEST_FILE = 10 * 1024 * 1024


@dataclass
class Job:
    """`warnings` gathers what the document lists under that name; `warn` says it on stderr as well.
    `deadline` is when `--timeout` ends all waiting, on the clock's `now`; it counts from the start."""

    env: Env
    options: "Options"
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        timeout = self.options.timeout
        self.reporter: Reporter | None = None
        self.deadline = None if timeout is None else self.env.clock.now() + timeout

    @cached_property
    def store(self) -> "TaskStore":
        from mcptask.store.tasks import TaskStore

        path = paths.state_file(self.env, self.options.state)
        return TaskStore(path, self.env.clock, told=self.warn)

    @cached_property
    def config(self) -> "Config":
        from mcptask.servers.config import read

        path = paths.config_file(self.env, self.options.config)
        return read(path, must_exist=bool(self.options.config))

    def reporter_for(self, *, several: bool = False) -> "Reporter":
        """The reporter of this run, made when the first event is to be shown."""
        if self.reporter is None:
            from mcptask.commands._reporters import make_reporter

            self.reporter = make_reporter(self.env, self.options, several=several)
        return self.reporter

    @cached_property
    def outcomes(self) -> "OutcomeStore":
        from mcptask.store.outcomes import OutcomeStore

        return OutcomeStore(paths.results_folder(self.store.path))

    @property
    def selection(self) -> "Selection":
        from mcptask.servers.resolve import Selection

        o = self.options
        return Selection(
            server=o.server,
            stdio=o.stdio,
            headers=o.header,
            bearer_env=o.bearer_env,
            ca_cert=o.ca_cert and os.path.join(self.cwd, os.path.expanduser(o.ca_cert)),
            insecure=o.insecure,
        )

    def endpoint(self) -> "Endpoint":
        """The server that the options, the environment or the config name."""
        from mcptask.servers.resolve import resolve

        endpoint = resolve(self.selection, self.config, self.env.environ, cwd=self.cwd)
        self.explain(f"{endpoint.name}: {endpoint.source}")
        return endpoint

    def endpoint_of(self, origin: "Origin") -> "Endpoint":
        """The server of a stored task."""
        from mcptask.servers.resolve import endpoint_of_record

        endpoint = endpoint_of_record(origin, self.selection, self.config, self.env.environ)
        self.explain(f"{endpoint.name}: {endpoint.source}")
        return endpoint

    @property
    def by_hand(self) -> bool:
        """Is there a person at a terminal who can be asked, and no program that reads?"""
        wanted = self.options.format == "text" and not self.options.no_input
        return wanted and self.env.interactive

    @cached_property
    def hook(self) -> tuple[str, ...] | None:
        """The command of `--exec`, in words. UsageError where it cannot be run."""
        return self._command("--exec", self.options.exec)

    @cached_property
    def answerer(self) -> tuple[str, ...] | None:
        """The same of `--answer-with`."""
        return self._command("--answer-with", self.options.answer_with)

    def _command(self, option: str, text: str | None) -> tuple[str, ...] | None:
        if text is None:
            return None
        from mcptask.commands._children import command_of

        return command_of(option, text, self.env.environ, self.cwd)

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders of `--root`. UsageError where one of them is none."""
        if not self.options.root:
            return ()
        from mcptask.commands.answering.roots import folders

        return folders(self.options.root, self.cwd)

    @cached_property
    def answers(self) -> "Answers | None":
        """What `--answers` holds. UsageError where it cannot be read."""
        source = self.options.answers
        if source is None:
            return None
        from mcptask.arguments.answers import read_answers

        text = self.stdin_text if source == "-" else self.file_text(source)
        return read_answers(text, source)

    @cached_property
    def sources(self) -> "Sources":
        """Whoever answers in this run."""
        from mcptask.commands.answering.sources import Sources

        return Sources(self)

    @property
    def tells(self) -> bool:
        """Is anyone to be told when a task ends or asks?"""
        return self.options.notify or self.options.exec is not None

    def check_telling(self, wait: bool) -> None:
        """UsageError where nothing would come of `--notify` or `--exec`."""
        if self.tells and not wait:
            raise UsageError(
                "--notify and --exec tell of a task that is followed", hint="add --wait"
            )

    @cached_property
    def stdin_text(self) -> str:
        try:
            return self.env.stdin.read()
        except (OSError, UnicodeError) as error:
            raise UsageError(f"standard input cannot be read: {error}") from error

    def read_stdin_early(self, *arguments: str | None) -> None:
        """Read stdin now if one of these names it: inside the event loop no signal could end the reading."""
        if not any(map(names_stdin, arguments)):
            return
        if self.options.answers == "-":
            raise UsageError("--answers - and the arguments both want standard input")
        self.stdin_text  # noqa: B018 - reading it is the point

    def file_text(self, path: str) -> str:
        """The text of a file that an option names. UsageError where it cannot be read."""
        try:
            return self.read_file(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise UsageError(f"{path} cannot be read: {why}") from error

    def read_file(self, path: str) -> str:
        """The text of a file that the command line names; `~` is ours to expand after `@`.

        Raises OSError, also for one of over LARGEST_FILE bytes, and ValueError where it is no UTF-8.
        """
        with (self.env.cwd / os.path.expanduser(path)).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise OSError(errno.EFBIG, f"it has over {LARGEST_FILE >> 20} MiB")
        return data.decode("utf-8")

    @property
    def cwd(self) -> str:
        return str(self.env.cwd.absolute())

    def explain(self, text: str) -> None:
        """A line for -v."""
        if self.options.verbose:
            self._say(f"mcptask: {clean(text)}")

    def warn(self, text: str) -> None:
        """Something that a person should know once: on stderr, and in the document."""
        if self.list_warning(text) and not self.options.quiet:
            self._say(f"warning: {clean(text)}")

    def list_warning(self, text: str) -> bool:
        """For the document only; False where it is listed already."""
        new = text not in self.warnings
        self.warnings.extend([text] if new else [])
        return new

    def say(self, text: str) -> None:
        """A remark for a person, unless --quiet."""
        if not self.options.quiet:
            self._say(text)

    def _say(self, line: str) -> None:
        """A line on stderr, cleaned; above the live view, where there is one."""
        if self.reporter is not None:
            self.reporter.note(line)
            return
        from mcptask.render.rows import tell

        tell(self.env.stderr, clean(line))


def names_stdin(argument: str | None) -> bool:
    return argument is not None and (argument in ("-", "@-") or argument.endswith("=@-"))


def check_options(options: "Options") -> None:
    """UsageError for two that cannot both be meant."""
    if options.json and options.jsonl:
        raise UsageError("--json and --jsonl exclude each other")
    if options.accept_defaults and options.decline_all:
        raise UsageError("--accept-defaults and --decline-all exclude each other")
