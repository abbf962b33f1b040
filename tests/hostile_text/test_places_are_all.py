"""What the walk could miss, held against the code: who writes for people, and what is read of a task.

It cannot see a text that is put into a message in a new way, nor a new branch of one that is there: whoever
adds one adds a place to `places.py`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import mcptask
from mcptask.protocol.generations.snapshots import FIELDS
from tests.hostile_text import places

PACKAGE = Path(mcptask.__file__).parent
WRITES = {"print", "echo", "try_write", "tell", "write"}
# Whatever these write has been cleaned by `render/text.py`, and where: that of the others, above them.
WRITERS = {
    "__main__.main": "the version",
    "cli._print_version": "the version",
    "cli._unwritable": "error_lines",
    "commands._deliver._print_data": "JSON",
    "commands._deliver._print_results": "result_text, the tables; an id and a result exactly, to a pipe",
    "commands._deliver._print_words": "clean; the errors by error_lines and parting_lines",
    "commands._job._say": "clean",
    "commands.answering.by_hand.editor._end": "words of ours",
    "commands.answering.by_hand.keyboard": "codes of ours",
    "commands.answering.by_hand.line_mode": "forms, unmistaken",
    "commands.answering.by_hand.paper._write": "lines of forms and entries, marked",
    "commands.answering.by_hand.person.ask": "flat, unmistaken",
    "commands.following.telling": "flat, in a notification",
    "render.jsonlines": "JSON; a note by clean",
    "render.lines.note": "clean",
    "render.lines._write": "question, fields, flat, after a prefix",
    "render.live._write": "frames, marked; a note by clean",
    "render.rows.tell": "of whoever calls it",
    "render.streams": "of whoever calls it",
}
# They write files, the state, and to their children.
NOT_FOR_PEOPLE = (
    "store.",
    "demo.",
    "protocol.",
    "commands._tracing",
    "commands._crash",
    "commands._children",
    "commands.following.batches",
    "commands.answering.desk",
)


def writers() -> Iterator[str]:
    """`module.function` of everything that calls something that writes."""
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            named = isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            if named and any(map(_writes, ast.walk(function))):
                yield f"{module}.{function.name}"


def _writes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Attribute):  # of a stream
        of = ast.unparse(called.value)
        return called.attr in WRITES | {"writelines"} and ("std" in of or of == "typer")
    return isinstance(called, ast.Name) and called.id in WRITES


def test_whoever_writes_for_people_is_known() -> None:
    found = {each for each in writers() if not each.startswith(NOT_FOR_PEOPLE)}
    known = {each for each in found if each in WRITERS or each.rpartition(".")[0] in WRITERS}
    assert found - known == set()
    used = {
        name
        for name in WRITERS
        if any(each == name or each.startswith(f"{name}.") for each in found)
    }
    assert set(WRITERS) - used == set()


def test_every_field_that_is_read_of_a_task_is_a_place() -> None:
    source = Path(places.__file__).read_text(encoding="utf-8")
    read = set(_names(FIELDS)) | {"taskId", "status"}
    assert {name for name in read if name not in source} == set()


def _names(value: object) -> Iterator[str]:
    """The names on the wire: those in camel case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _names(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _names(each)
