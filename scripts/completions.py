"""Writes completions/ from the real command tree, so that they cannot drift from the CLI.

One function a shell turns the commands into the lines that its template in completion_templates/
has a place for; what never changes is in the template.
"""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from mcptask.cli import make_app
from scripts.command_tree import (
    ANY,
    AT,
    COMMAND,
    FILE,
    NOTHING,
    VARIABLE,
    Command,
    Parameter,
    command_tree,
)

FOLDER = Path(__file__).parent.parent / "completions"
TEMPLATES = Path(__file__).parent / "completion_templates"


def _quoted(text: str, quote: str = "'\\''") -> str:
    """In single quotes; `quote` is how the shell spells a single quote within them."""
    return "'" + text.replace("'", quote) + "'"


def bash(commands: list[Command]) -> list[str]:
    lines = []
    for command in commands:
        values: dict[str, list[str]] = {}
        for option in command.options:
            values.setdefault(option.takes, []).extend(option.names)
        children = " ".join(child.name for child in command.children)
        options = " ".join(name for option in command.options for name in option.names)
        lines += [
            f"        {_quoted(command.path)})",
            f"            commands={_quoted(children)}",
            f"            first={_quoted(command.first)} later={_quoted(command.later)}",
            f"            options={_quoted(options)}",
            "            case $2 in",
            *(
                f"                {' | '.join(names)}) value={_quoted(takes)} ;;"
                for takes, names in values.items()
            ),
            "            esac",
            "            ;;",
        ]
    return lines


def zsh(commands: list[Command]) -> list[str]:
    lines = []
    for command in commands:
        function = "_".join(["_mcptask", *command.path.split()])
        specs = [spec for option in command.options for spec in _zsh_specs(option)]
        for place, argument in enumerate(command.arguments, 1):
            where = "*" if argument.repeatable else place
            specs.append(_quoted(f"{where}:{_zsh_value(argument)}"))
        if command.children:
            rows = [f"{child.name}:{_zsh_text(child.help)}" for child in command.children]
            lines += [f"{function}__commands() {{", "  local -a commands=("]
            lines += [f"    {_quoted(row)}" for row in rows]
            lines += ["  )", "  _describe -t commands command commands", "}", ""]
            specs += [f"'1:command:{function}__commands'", "'*::argument:->argument'"]
        start = f"_mcptask__group {function}" if command.children else "_arguments -s -S"
        lines += [f"{function}() {{", "  " + " \\\n    ".join([start, *specs]), "}", ""]
    return lines[:-1]


def _zsh_text(text: str) -> str:
    return re.sub(r"([\\\[\]:])", r"\\\1", text)


def _zsh_value(parameter: Parameter) -> str:
    takes = parameter.takes
    actions = {
        FILE: "_files",
        AT: "_mcptask__after_at",
        VARIABLE: '_parameters -g "*export*"',
        COMMAND: "_command_names -e",
    }
    words = f"({takes.removeprefix('words ')})" if takes.startswith("words ") else ""
    return f"{_zsh_text(parameter.placeholder)}:{words or actions.get(takes, ' ')}"


def _zsh_specs(option: Parameter) -> list[str]:
    """One for each name, and each ends the offer of all of them."""
    apart = "*" if option.repeatable else f"({' '.join(option.names)})"
    tail = f"[{_zsh_text(option.help)}]" + (f":{_zsh_value(option)}" if option.takes else "")
    joined = {
        name: ("=" if name.startswith("--") else "+") * bool(option.takes) for name in option.names
    }
    return [_quoted(f"{apart}{name}{joined[name]}{tail}") for name in option.names]


def fish(commands: list[Command]) -> list[str]:
    known = " ".join(_fish_text(command.path) for command in commands[1:])
    lines = [f"set --global __mcptask_commands {known}"]
    for command in commands:
        here = f"complete -c mcptask -n {_quoted(f'__mcptask_at {command.path}'.strip())}"
        after = here.replace("__mcptask_at", "__mcptask_right_after")
        lines += ["", f"# mcptask {command.path}".strip()]
        for child in command.children:
            lines.append(f"{here} -a {child.name} -d {_fish_text(child.help)}")
        for option in command.options:
            names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
            values = [_fish_value(option.takes)] if option.takes else []
            lines.append(" ".join([here, *names, *values, "-d", _fish_text(option.help)]))
        if command.first not in (NOTHING, ANY, command.later):
            lines.append(f"{after} {_fish_value(command.first)}")
        if command.later not in (NOTHING, ANY):
            lines.append(f"{here} {_fish_value(command.later)}")
    return lines


def _fish_text(text: str) -> str:
    return _quoted(text.replace("\\", "\\\\"), quote="\\'")


def _fish_value(takes: str) -> str:
    kinds = {
        ANY: "-x",
        FILE: "-r -F",
        AT: "-x -a '(__mcptask_after_at)'",
        VARIABLE: "-x -a '(set --names --export)'",
        COMMAND: "-x -a '(__fish_complete_command)'",
    }
    return kinds.get(takes) or f"-x -a {_fish_text(takes.removeprefix('words '))}"


def powershell(commands: list[Command]) -> list[str]:
    def quoted(text: str) -> str:
        return _quoted(text, quote="''")

    def row(names: Sequence[str], takes: str, text: str) -> str:
        start = f"Names = @({', '.join(map(quoted, names))}); Takes = {quoted(takes)}"
        return f"                @{{ {start}; Help = {quoted(text)} }}"

    lines = []
    for command in commands:
        first, later = quoted(command.first), quoted(command.later)
        lines += [f"        {quoted(command.path)} = @{{ First = {first}; Later = {later}"]
        lines += ["            Commands = @("]
        lines += [row([child.name], NOTHING, child.help) for child in command.children]
        lines += ["            )", "            Options = @("]
        lines += [row(option.names, option.takes, option.help) for option in command.options]
        lines += ["            )", "        }"]
    return lines


SHELLS: dict[str, Callable[[list[Command]], list[str]]] = {
    "mcptask.bash": bash,
    "_mcptask": zsh,
    "mcptask.fish": fish,
    "mcptask.ps1": powershell,
}


def generate(app: typer.Typer) -> dict[str, str]:
    """File name → text, for every shell."""
    commands = command_tree(app)
    templates = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in SHELLS}
    return {
        name: templates[name].replace("@@COMMANDS@@", "\n".join(shell(commands)))
        for name, shell in SHELLS.items()
    }


def main(argv: Sequence[str]) -> int:
    if list(argv) not in ([], ["--check"]):
        print("usage: scripts/completions [--check]", file=sys.stderr)
        return 2
    wanted = {FOLDER / name: text.encode() for name, text in generate(make_app()).items()}
    stale = [path for path in wanted if not path.is_file() or path.read_bytes() != wanted[path]]
    for path in stale:
        if argv:
            print(f"{path.name} is not what the CLI makes of it: run scripts/completions")
        else:
            FOLDER.mkdir(exist_ok=True)
            path.write_bytes(wanted[path])
            print(f"written: {path.name}")
    return 1 if argv and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
