"""The rules of docs/protocol.md, the table of the tests that hold them (README.md), and what tests cite.

    python -m tests.conformance.rules

prints each rule that has no row yet, with the tests that cite it: the table is written by hand, for only
some of those that touch a rule hold it.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
PROTOCOL = TESTS.parent / "docs/protocol.md"
TABLE = Path(__file__).with_name("README.md")

# They need an environment of their own, so an ordinary run of the tests leaves them out.
ELSEWHERE = {"interop", "benchmarks"}

NUMBER, STRENGTH = r"(?:A\d+\.\d+|[ST]\d+)", r"(?:MUST|SHOULD|MAY|choice)"
DEFINITION = re.compile(rf"^\* \*\*({NUMBER})\*\* ({STRENGTH})\b", re.MULTILINE)
ROW = re.compile(rf"^\| ({NUMBER}) \| ({STRENGTH}) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
IN_WORDS = re.compile(rf"(?<![\w.#/]){NUMBER}(?!\w|\.\d)")
IN_A_NAME = re.compile(r"(?<=_)(?:a\d+_\d+|[st]\d+)(?=_|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """One line of the table. `tests` are `folder/test_file.py::test_name`, from `tests/`."""

    rule: str
    strength: str
    words: str
    tests: tuple[str, ...]


def defined(document: str) -> dict[str, str]:
    """Each rule's strength, by its number, in order: the first word, where several cases have their own."""
    return dict(DEFINITION.findall(document))


def rows(table: str) -> list[Row]:
    return [
        Row(rule, strength, words, tuple(re.findall(r"`([^`]+)`", tests)))
        for rule, strength, words, tests in ROW.findall(table)
    ]


def cited(source: str) -> Iterator[tuple[str, set[str]]]:
    """Each test of a module, with the rules that its name or its docstring cites."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = IN_A_NAME.findall(node.name)
            told = IN_WORDS.findall(ast.get_docstring(node) or "")
            if node.name.startswith("test_"):
                yield node.name, {rule.upper().replace("_", ".") for rule in named} | set(told)


def all_tests() -> dict[str, set[str]]:
    """The rules that each test cites, by `folder/test_file.py::test_name`."""
    found: dict[str, set[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        place = path.relative_to(TESTS)
        if not ELSEWHERE & set(place.parts):
            for name, rules in cited(path.read_text(encoding="utf-8")):
                found[f"{place.as_posix()}::{name}"] = rules
    return found


def problems(
    rules: Mapping[str, str], table: list[Row], tests: Mapping[str, set[str]]
) -> Iterator[str]:
    """What keeps the table from saying, of every rule and no other, which test holds it."""
    numbers = [row.rule for row in table]
    for rule in rules:
        if numbers.count(rule) != 1:
            yield f"{rule}: the table has {numbers.count(rule) or 'no'} rows of it"
    for row in table:
        if rules.get(row.rule) != row.strength:
            yield f"{row.rule}: {row.strength}, where docs/protocol.md says {rules.get(row.rule)}"
        if not row.tests:
            yield f"{row.rule}: no test holds it"
        for test in row.tests:
            if test not in tests:
                yield f"{row.rule}: there is no {test}"
            elif row.rule not in tests[test]:
                yield f"{row.rule}: {test} does not cite it, in its name or its docstring"


def main() -> None:
    table = {row.rule for row in rows(TABLE.read_text(encoding="utf-8"))}
    tests = all_tests()
    for rule, strength in defined(PROTOCOL.read_text(encoding="utf-8")).items():
        if rule not in table:
            print(f"| {rule} | {strength} |")
            print(*(f"    {test}" for test, rules in tests.items() if rule in rules), sep="\n")


if __name__ == "__main__":
    main()
