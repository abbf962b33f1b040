"""Plain aligned tables for `list`, `tools` and `servers`. No Rich: these commands start fast.

With a width (a terminal) cells are cut to fit, marked by an ellipsis; without one (a pipe) nothing is cut.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcptask.render.cells import cell_width, normal, pad, shorten, shorten_middle
from mcptask.render.questions import field, json_word
from mcptask.render.style import look, paint
from mcptask.render.text import clean, first_line, flat, humane, leading, unmistaken

_GAP = "  "


@dataclass(frozen=True, slots=True)
class TaskRow:
    """`age` in seconds since it was created; None where nobody knows. `status` may be an outcome's name."""

    ref: int
    task_id: str
    tool: str | None
    server: str
    status: str
    age: float | None
    message: str | None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A `tools/call` without an answer; `age` in seconds since it was sent."""

    ref: int | None
    tool: str
    server: str
    age: float | None


@dataclass(frozen=True, slots=True)
class ToolRow:
    name: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ServerRow:
    """`source` says which rule would choose it, in a few words."""

    name: str
    endpoint: str
    source: str
    default: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """`least`: columns it keeps when the table is too wide; None = it is never cut."""

    title: str
    least: int | None = None
    middle: bool = False
    right: bool = False


_TASKS = (
    Column("REF", right=True),
    Column("TASK", least=9, middle=True),
    Column("TOOL", least=6),
    Column("SERVER", least=6),
    Column("STATE"),
    Column("AGE", right=True),
    Column("MESSAGE", least=8),
)
_TOOLS = (Column("TOOL", least=20), Column("DESCRIPTION", least=20))
_ARGUMENTS = (
    Column("ARGUMENT", least=12),
    Column("TYPE", least=8),
    Column("DEFAULT", least=8),
    Column("DESCRIPTION", least=20),
)
_NARROWEST = (
    20  # columns: below that a text wrapped is worse to read than a text cut by the terminal
)
_SERVERS = (
    Column("SERVER", least=12),
    Column("ENDPOINT", least=20, middle=True),
    Column("FROM", least=10),
)


def task_table(
    tasks: Sequence[TaskRow],
    calls: Sequence[CallRow] = (),
    *,
    width: int | None = None,
    colour: bool = False,
) -> list[str]:
    """The stored tasks, and the calls whose answer never came, in the order given."""
    rows = [_task_cells(row) for row in tasks] + [_call_cells(row) for row in calls]
    lines = table(_TASKS, rows, width)
    if not colour:
        return lines
    looks = [look(row.status) for row in tasks]
    marks = [(f"{style.glyph} {style.word}", style.colour) for style in looks]
    painted = [
        line.replace(mark, paint(mark, name, True), 1)
        for line, (mark, name) in zip(lines[1:], marks, strict=False)
    ]
    return [*lines[:1], *painted, *lines[1 + len(painted) :]]


def tool_table(tools: Sequence[ToolRow], *, width: int | None = None) -> list[str]:
    """Each tool with the first line of its description."""
    cells = [(leading(row.name), first_line(row.description or "")) for row in tools]
    return table(_TOOLS, cells, width)


def argument_table(schema: Mapping[str, Any], *, width: int | None = None) -> list[str]:
    """What a tool's `inputSchema` asks for; `*` marks what is required. Empty if it takes nothing."""
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not properties:
        return []
    names = required if isinstance(required, list) else []
    cells = [
        _argument_cells(name, value, schema, name in names) for name, value in properties.items()
    ]
    lines = table(_ARGUMENTS, cells, None)
    fits = width is None or all(cell_width(line) <= width for line in lines)
    # What an argument is called and how it is written must never be cut.
    return lines if fits else [line for row in cells for line in _argument_block(row, width or 0)]


def _argument_block(cells: Sequence[str], width: int) -> list[str]:
    """One argument on lines of its own: `month *  string`, and what it is about below it."""
    name, kind, default, about = cells
    head = f"{name}  {kind}" + (f", default {default}" if default else "")
    width, indent = max(width, _NARROWEST), "    "
    return [
        *textwrap.wrap(head, width, subsequent_indent=indent),
        *textwrap.wrap(about, width, initial_indent=indent, subsequent_indent=indent),
    ]


def tool_details(
    tool: ToolRow, schema: Mapping[str, Any], *, width: int | None = None
) -> list[str]:
    """What `tools NAME` prints: the whole description, then the arguments."""
    about = [
        unmistaken(part)
        for line in (tool.description or "").splitlines()
        # One column is for the mark of what is not to be taken for a line of ours.
        for part in (
            textwrap.wrap(leading(line), max(width - 1, _NARROWEST)) if width else [leading(line)]
        )
    ]
    arguments = argument_table(schema, width=width) or ["It takes no arguments."]
    legend = ["", "* required"] if any(" *" in line for line in arguments) else []
    return [leading(tool.name), *about, "", *arguments, *legend]


def server_table(servers: Sequence[ServerRow], *, width: int | None = None) -> list[str]:
    """The servers known, the default one marked."""
    cells = [
        (
            leading(row.name) + (" (default)" if row.default else ""),
            clean(row.endpoint),
            clean(row.source),
        )
        for row in servers
    ]
    return table(_SERVERS, cells, width)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], width: int | None) -> list[str]:
    """Lines of aligned cells under their titles; cells must be clean. No rows give no lines."""
    cells = [[normal(cell) for cell in row] for row in rows]
    if not cells:
        return []
    titled = [[column.title for column in columns], *cells]
    needed = [max(cell_width(row[index]) for row in titled) for index in range(len(columns))]
    widths = _fitted(columns, needed, width)
    return [_line(columns, row, widths) for row in titled]


def _line(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for column, cell, width in zip(columns, row, widths, strict=True):
        cut = shorten_middle(cell, width) if column.middle else shorten(cell, width)
        cells.append(pad(cut, width, right=column.right))
    return _GAP.join(cells).rstrip()


def _fitted(columns: Sequence[Column], needed: Sequence[int], width: int | None) -> list[int]:
    """Takes a column at a time from the widest cell that may still give, until the line fits."""
    widths = list(needed)
    if width is None:
        return widths
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    while excess > 0:
        giving = [
            index
            for index, column in enumerate(columns)
            if column.least is not None and widths[index] > column.least
        ]
        if not giving:
            break
        widest = max(giving, key=lambda index: widths[index])
        taken = min(excess, max(1, widths[widest] - _next(widths, giving, widest)))
        taken = min(taken, widths[widest] - (columns[widest].least or 0))
        widths[widest] -= taken
        excess -= taken
    return widths


def _next(widths: Sequence[int], giving: Sequence[int], widest: int) -> int:
    return max((widths[index] for index in giving if index != widest), default=0)


def _task_cells(row: TaskRow) -> tuple[str, ...]:
    style = look(row.status)
    return (
        str(row.ref),
        clean(row.task_id),
        clean(row.tool or "–"),
        clean(row.server),
        f"{style.glyph} {style.word}",
        _age(row.age),
        flat(row.message or ""),
    )


def _call_cells(row: CallRow) -> tuple[str, ...]:
    return (
        str(row.ref) if row.ref is not None else "–",
        "–",
        clean(row.tool),
        clean(row.server),
        "? no answer",
        _age(row.age),
        "sent; whether it became a task is not known",
    )


def _argument_cells(
    name: str, schema: Any, root: Mapping[str, Any], required: bool
) -> tuple[str, ...]:
    values = schema if isinstance(schema, Mapping) else {}
    described = {key: value for key, value in values.items() if key not in _OWN_COLUMN}
    default = json_word(values["default"]) if "default" in values else ""
    about = first_line(str(values.get("description") or values.get("title") or ""))
    return leading(name) + (" *" if required else ""), field(described, root), default, about


# Keys of an argument's schema that have a column of their own.
_OWN_COLUMN = frozenset({"default", "description", "title"})


def _age(seconds: float | None) -> str:
    return "–" if seconds is None else humane(seconds // 1, units=1)
