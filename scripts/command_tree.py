"""The command tree of the CLI, read from Typer, with what could complete each word of it.

Nothing here knows a command or an option by name: what completes a value is told by its placeholder
in the help (`FILE`, `leave|cancel`), so an unknown placeholder completes to nothing.
"""

import re
from dataclasses import dataclass
from typing import Any

import typer

from mcptask.protocol.task import Status

# What completes a value. NOTHING: a flag has no value; ANY: only the user knows it; AT: a file after
# an @; otherwise "words " and the words themselves.
NOTHING, ANY, FILE, AT, VARIABLE, COMMAND = "", "any", "file", "@file", "variable", "command"
PLACEHOLDERS = {
    "FILE": FILE,
    "JSON|@FILE|-": AT,
    "ARG": AT,
    "FIELD=VALUE": AT,
    "VAR": VARIABLE,
    "COMMAND": COMMAND,
    "STATUS": f"words {' '.join(Status)}",
    "NAME|URL": "words demo",
    "TASK": "words last",
}


@dataclass(frozen=True)
class Parameter:
    """An option, or, without names, an argument."""

    names: tuple[str, ...]
    help: str
    placeholder: str
    takes: str
    repeatable: bool


@dataclass(frozen=True)
class Command:
    path: str  # "servers add"; that of mcptask itself is ""
    help: str
    options: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]
    children: tuple["Command", ...]

    @property
    def name(self) -> str:
        return self.path.rpartition(" ")[2]

    @property
    def first(self) -> str:
        """What completes the word right after the command."""
        return self.arguments[0].takes if self.arguments else NOTHING

    @property
    def later(self) -> str:
        """What completes the words after that one."""
        goes_on = len(self.arguments) > 1 or any(a.repeatable for a in self.arguments)
        return self.arguments[-1].takes if goes_on else NOTHING


def command_tree(app: typer.Typer) -> list[Command]:
    """Every command that a user may see, groups before what is in them, mcptask itself first."""
    return _with_children(_command(typer.main.get_command(app), "", None))


def _with_children(command: Command) -> list[Command]:
    return [command, *(c for child in command.children for c in _with_children(child))]


def _command(command: Any, path: str, parent: Any) -> Command:
    settings = {"info_name": path or "mcptask", "parent": parent, **command.context_settings}
    context = command.context_class(command, **settings)
    seen = [p for p in command.get_params(context) if not getattr(p, "hidden", False)]
    return Command(
        path=path,
        help=command.get_short_help_str(limit=200) or path,
        options=tuple(_option(p) for p in seen if p.param_type_name == "option"),
        arguments=tuple(_argument(p) for p in seen if p.param_type_name == "argument"),
        children=tuple(
            _command(child, f"{path} {name}".strip(), context)
            for name, child in getattr(command, "commands", {}).items()
            if not child.hidden
        ),
    )


def _option(option: Any) -> Parameter:
    # Long ones first; sorted, since the two names of help come in another order in each process.
    names = (*option.opts, *option.secondary_opts)
    names = tuple(sorted(names, key=lambda name: (not name.startswith("--"), name)))
    placeholder = option.metavar or option.name.upper()
    takes = NOTHING if option.is_flag or option.count else _takes(option.type, placeholder)
    return Parameter(
        names, option.help or names[0], placeholder, takes, option.multiple or option.count
    )


def _argument(argument: Any) -> Parameter:
    placeholder = (argument.metavar or argument.name.upper()).removesuffix("...").strip("[]")
    takes = _takes(argument.type, placeholder)
    return Parameter((), argument.help or "", placeholder, takes, argument.nargs == -1)


def _takes(kind: Any, placeholder: str) -> str:
    if choices := getattr(kind, "choices", ()):
        return f"words {' '.join(map(str, choices))}"
    if re.fullmatch(r"[a-z0-9_-]+(\|[a-z0-9_-]+)+", placeholder):  # leave|cancel: to be typed so
        return f"words {placeholder.replace('|', ' ')}"
    return PLACEHOLDERS.get(placeholder, ANY)
