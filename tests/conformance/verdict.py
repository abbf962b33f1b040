"""Did a scenario go as demanded? Pure: counts the checks that the suite wrote down."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.conformance.scenarios import REVISION, Scenario

Check = Mapping[str, Any]
# INFO is the suite talking to itself. Any status that is not known here is a failure.
HARMLESS = frozenset({"SUCCESS", "SKIPPED", "INFO"})
LONGEST_DETAILS = 2000  # characters of one check: some hold whole schemas


@dataclass(frozen=True)
class Run:
    """What one run of the suite left. `complaints`: what our driver wrote to stderr."""

    exit_code: int
    checks: Sequence[Check]
    complaints: str = ""


def named(checks: Iterable[Check], status: str) -> list[str]:
    return [check["name"] for check in checks if check["status"] == status]


def faults(demanded: Scenario, run: Run) -> list[str]:
    """Why the scenario did not pass; nothing where it did.

    The exit code alone says little: the suite ends with 0 where nothing was checked, where checks were
    skipped, and in one scenario although the client failed.
    """
    found = [_told(check) for check in run.checks if check["status"] not in HARMLESS]
    passed = len(named(run.checks, "SUCCESS"))
    if passed != demanded.passed:
        found.append(f"{passed} checks passed, {demanded.passed} are demanded")
    if not passed and not demanded.note:
        found.append("no check was made")
    skipped = frozenset(named(run.checks, "SKIPPED"))
    found += [f"skipped: {name}" for name in sorted(skipped - demanded.skipped)]
    found += [f"no longer skipped: {name}" for name in sorted(demanded.skipped - skipped)]
    if run.complaints:
        found.append(f"the driver says: {run.complaints.strip()}")
    if run.exit_code:
        found.append(f"the suite ended with exit code {run.exit_code}")
    return found


def _told(check: Check) -> str:
    why = check.get("errorMessage") or check.get("description", "")
    details = json.dumps(check.get("details", {}), ensure_ascii=False)[:LONGEST_DETAILS]
    return f"{check['status']} {check['name']} ({check['id']}): {why}\n      {details}"


def unaccounted(listed: str, known: Iterable[str], left_out: Iterable[str]) -> list[str]:
    """What the suite's `list` shows for our revision or an extension, and no table mentions; and what
    the tables mention in vain."""
    names = [_name(line) for line in listed.splitlines() if _ours(line)]
    known, left_out = set(known), set(left_out)
    found = [
        f"{name} is in no table of scenarios.py"
        for name in names
        if name not in known and not any(fnmatchcase(name, pattern) for pattern in left_out)
    ]
    idle = [pattern for pattern in left_out if not any(fnmatchcase(n, pattern) for n in names)]
    return found + [f"{pattern} leaves nothing out" for pattern in sorted(idle)]


def _ours(line: str) -> bool:
    """`  - NAME [REVISION,…]` or `  - NAME [extension]`."""
    head, bracket, versions = line.strip().rpartition("[")
    applies = {REVISION, "extension"} & set(versions.rstrip("]").split(","))
    return head.startswith("- ") and bool(bracket) and bool(applies)


def _name(line: str) -> str:
    return line.split()[1]
