"""What the scripts say of the packages that mcptask needs."""

import ast
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.audit_report import report
from scripts.lowest_versions import lowest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Half of pydantic, in the very version that it asks for.
PARTS = ("pydantic_core",)


def audited(*packages: dict[str, object]) -> tuple[list[str], int]:
    return report("lowest", json.dumps({"dependencies": packages}))


def test_a_known_weakness_fails_and_says_what_mends_it() -> None:
    weak = {"id": "PYSEC-1", "fix_versions": ["1.2", "2.0"]}
    lines, code = audited({"name": "one", "version": "1.1", "vulns": [weak]})
    assert code == 1
    assert "lowest: one 1.1: PYSEC-1, mended in 1.2, 2.0" in lines


def test_what_could_not_be_looked_up_is_never_told_as_fine() -> None:
    unknown = {"name": "two", "skip_reason": "not found"}
    assert audited({"name": "one", "version": "1", "vulns": []}, unknown) == (
        ["lowest: 1 packages audited, 1 not known there"],
        0,
    )
    for lines, code in (audited(unknown), report("lowest", ""), report("lowest", "{}")):
        assert code == 0
        assert "not audited" in lines[0]


def test_every_package_has_a_lowest_version_and_it_is_the_one_that_is_tried() -> None:
    pins = dict(pin.split("==") for pin in lowest(PROJECT))
    for requirement in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["demo"]):
        name, bound = re.findall(r"[\w.-]+", requirement)[:2]
        assert pins.pop(name) == bound
    assert pins == {}


def test_a_package_without_a_lower_bound_is_named() -> None:
    project = {"dependencies": ["one"], "optional-dependencies": {"demo": []}}
    with pytest.raises(ValueError, match="no lower bound: one"):
        lowest(project)


def imported(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def test_all_that_is_imported_is_asked_for_by_name() -> None:
    """A package that only comes along with another may leave with it."""
    asked = {pin.partition("==")[0].replace("-", "_") for pin in lowest(PROJECT)}
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "mcptask").rglob("*.py")]
    foreign = set().union(*map(imported, sources)) - sys.stdlib_module_names
    assert foreign - {"mcptask", *PARTS} == asked
