"""The documents say what is: every rule, command, option, exit code and file that they name exists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer

from mcptask.cli import COMMANDS, make_app
from mcptask.errors import ExitCode, Interrupted, McptaskError
from mcptask.protocol.outcome import PRECEDENCE, STATUS_EXIT_CODES
from mcptask.render import contract
from mcptask.servers import config

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROTOCOL = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
MARKDOWN = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = [
    path for folder in ("mcptask", "tests") for path in sorted((ROOT / folder).rglob("*.py"))
]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# ── the rules of the wire ──

RULE = re.compile(r"(?<![\w.#/])(?:A\d+(?:\.\d+)?|[ST]\d+|C[23])(?!\w|\.\d)")
RULE_IN_A_NAME = re.compile(r"(?<=_)(?:a\d+(?:_\d+)?|[st]\d+|c[23])(?=_|$)")
SECTIONS = set(re.findall(r"^## ([AC]\d+) ", PROTOCOL, re.MULTILINE))
DEFINED = re.findall(r"^\* \*\*([AST][\d.]+)\*\* ", PROTOCOL, re.MULTILINE)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def cited(source: str) -> Iterator[str]:
    """The rules that comments, docstrings and names of tests mention."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from RULE.findall(token.string)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED):
            yield from RULE.findall(ast.get_docstring(node) or "")
            name = getattr(node, "name", "")
            if name.startswith("test_"):
                yield from (r.upper().replace("_", ".") for r in RULE_IN_A_NAME.findall(name))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_rule_that_is_cited_is_documented(path: Path) -> None:
    unknown = set(cited(path.read_text(encoding="utf-8"))) - {*DEFINED, *SECTIONS}
    assert not unknown, "write it into docs/protocol.md, or correct the number"


def test_citations_are_found_wherever_they_are_written() -> None:
    source = '''
"""A4 and (A10.2), A3.4 to A3.7."""
LIMIT = "A99"  # S8; no rule: C0, A2B, 1.5, v0.A3
def test_a_task_is_lost_a4_3_s10() -> None:
    """T9: kept."""
'''
    assert sorted(cited(source)) == ["A10.2", "A3.4", "A3.7", "A4", "A4.3", "S10", "S8", "T9"]


def test_a_rule_is_documented_once_with_its_strength_and_in_its_section() -> None:
    assert len(DEFINED) == len(set(DEFINED))
    homes = {"S": "C3", "T": "C2"}
    for rule in DEFINED:
        assert homes.get(rule[0], rule.partition(".")[0]) in SECTIONS
        assert re.search(rf"^\* \*\*{rule}\*\* (MUST|SHOULD|MAY|choice)\b", PROTOCOL, re.MULTILINE)


def test_the_rules_refer_to_rules_that_are_there() -> None:
    assert set(RULE.findall(PROTOCOL)) <= {*DEFINED, *SECTIONS}


# ── commands and options ──


def code(text: str) -> Iterator[str]:
    """What stands in code spans and code blocks, line by line."""
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line
        else:
            yield from re.findall(r"`([^`]+)`", line)


def shown_commands(text: str) -> Iterator[tuple[str, str]]:
    """`mcptask NAME …` in code: the name, and what follows it within the same command."""
    for line in code(text):
        for found in re.finditer(
            r"(?<![\w./:-])mcptask ([a-z]\w*)((?:(?! mcptask )[^|;&#$()])*)", line
        ):
            yield found[1], found[2]


COMMAND_TREE = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]
OPTIONS = {
    name: {option for param in command.params for option in param.opts} | {"--help", "-h"}
    for name, command in COMMAND_TREE.items()
}


def test_every_command_is_in_the_readme() -> None:
    assert {name for name, _ in shown_commands(README)} == set(COMMANDS)


@pytest.mark.parametrize("path", MARKDOWN, ids=relative)
def test_every_command_that_a_document_shows_exists_with_its_options(path: Path) -> None:
    for name, rest in shown_commands(path.read_text(encoding="utf-8")):
        assert name in OPTIONS
        own = re.sub(r"\"[^\"]*\"?|'[^']*'?", "''", rest)  # what is quoted is for other programs
        given = set(re.findall(r"(?<=\s)(?:--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])", own))
        assert given <= OPTIONS[name], f"mcptask {name}{rest}"


# mypy --strict, and those of scripts/drill
OF_SCRIPTS = ("--strict", "--runs", "--seed", "--only")


@pytest.mark.parametrize("path", MARKDOWN, ids=relative)
def test_every_option_that_a_document_names_exists(path: Path) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", path.read_text(encoding="utf-8")))
    assert named <= {*set().union(*OPTIONS.values()), "--version", *OF_SCRIPTS}


# ── exit codes ──


def test_the_readme_lists_every_exit_code_and_no_other() -> None:
    rows = re.findall(r"^\| (\d[\d, ]*) \|", README, re.MULTILINE)
    listed = [int(number) for row in rows for number in row.split(",")]
    assert listed == sorted(ExitCode)


def test_the_readme_says_which_exit_code_wins_of_several() -> None:
    order = re.search(r"any of them came to, in this order:\s([\d, ]+);", README)
    assert order is not None
    assert [int(number) for number in order[1].split(",")] == list(PRECEDENCE)


def test_the_readme_says_which_outcome_has_which_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", README, re.MULTILINE)
    told = {(outcome, int(code)) for code, outcome in rows}
    of_errors = {(error.outcome, int(error.exit_code)) for error in errors_of(McptaskError)}
    of_signals = {("interrupted", 130), ("interrupted", 143)}
    of_states = {(str(name), int(code)) for name, code in STATUS_EXIT_CODES.items()}
    assert told == of_errors | of_signals | of_states | {("completed", 0), ("tool_error", 1)}


def errors_of(kind: type[McptaskError]) -> Iterator[type[McptaskError]]:
    """All kinds that have one exit code: that of an interruption depends on the signal."""
    if kind is not Interrupted:
        yield kind
    for below in kind.__subclasses__():
        yield from errors_of(below)


# ── the reference ──


def test_the_reference_lists_every_event_and_no_other() -> None:
    events = {
        str(name)
        for line in get_args(contract.TaskEventLine)
        for name in get_args(get_type_hints(line)["event"])
    }
    assert set(re.findall(r"^\| `([a-z_]+)` \|", section("The documents"), re.MULTILINE)) == events


def test_the_reference_lists_every_key_of_the_config_and_every_wait() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", section("The config file"), re.MULTILINE)
    keys = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    given = re.findall(r"\| `([a-z_]+)` \|$", section("How long it waits"), re.MULTILINE)
    assert keys | set(given) == set(config._SERVER_KEYS)
    for key in config._FILE_KEYS:
        assert f"`{key} = " in section("The config file") or key == "servers"


def section(title: str) -> str:
    """The text below a heading of the reference."""
    return REFERENCE.partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("path", MARKDOWN, ids=relative)
def test_a_link_into_a_document_leads_to_a_heading_of_it(path: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", path.read_text("utf-8")):
        text = ((path.parent / target) if target else path).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}


@pytest.mark.parametrize("path", MARKDOWN, ids=relative)
def test_an_exit_code_that_a_document_names_exists(path: Path) -> None:
    named = re.findall(r"\bexits?(?: with)? (\d+)", path.read_text(encoding="utf-8"))
    assert {int(number) for number in named} <= set(ExitCode)


# ── links and files ──


@pytest.mark.parametrize("path", MARKDOWN, ids=relative)
def test_a_relative_link_leads_to_a_file(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:|#", target):
            assert (path.parent / target.partition("#")[0]).exists(), target


def test_a_file_that_the_guide_for_contributors_names_exists() -> None:
    named = {s for s in code(CONTRIBUTING) if re.fullmatch(r"[\w.]+/[\w./]*|[\w/]+\.(py|md)", s)}
    named |= set(re.findall(r"(?:scripts|\.ci)/\w+", CONTRIBUTING))
    for name in named:
        if not re.search(r"NAME|YYYY", name):
            assert (ROOT / name).exists() or (ROOT / "mcptask" / name).exists(), name


def test_the_readme_names_folders_and_documents_that_exist() -> None:
    for name in re.findall(r"`((?:docs|completions)/[\w.]*)`", README):
        assert (ROOT / name).exists(), name
