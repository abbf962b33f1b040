"""The judge of the official suite believes no exit code: it counts."""

from typing import Any

import pytest

from tests.conformance import client
from tests.conformance.scenarios import CLIENT, LEFT_OUT, SERVER, Scenario
from tests.conformance.verdict import Run, faults, unaccounted


def check(name: str, status: str, **more: Any) -> dict[str, Any]:
    return {"id": name.lower(), "name": name, "status": status, **more}


PASSED = [check("One", "SUCCESS"), check("Two", "SUCCESS")]
SKIPPED = check("Three", "SKIPPED")
TWO = Scenario(2)


def test_a_scenario_passes_with_exactly_the_checks_that_are_demanded() -> None:
    assert faults(TWO, Run(0, PASSED)) == []


def test_what_the_suite_tells_for_information_is_no_check() -> None:
    assert faults(TWO, Run(0, [*PASSED, check("Request", "INFO")])) == []


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (Run(0, []), "no check was made"),
        (Run(0, [SKIPPED]), "no check was made"),
        (Run(0, PASSED[:1]), "1 checks passed, 2 are demanded"),
        (Run(0, [*PASSED, check("Three", "SUCCESS")]), "3 checks passed, 2 are demanded"),
        (Run(0, [*PASSED, SKIPPED]), "skipped: Three"),
        (Run(1, PASSED), "the suite ended with exit code 1"),
        (Run(0, PASSED, "exit code 2 where 0 was expected\n"), "the driver says: exit code 2"),
        (Run(0, [*PASSED, check("Three", "FAILURE", errorMessage="no id")]), "no id"),
        (Run(0, [*PASSED, check("Three", "WARNING", description="a hint")]), "a hint"),
        (Run(0, [*PASSED, check("Three", "PONDERED")]), "PONDERED Three"),
    ],
)
def test_anything_else_fails_although_the_suite_may_end_with_0(run: Run, said: str) -> None:
    assert any(said in fault for fault in faults(TWO, run))


def test_a_check_that_must_be_skipped_and_is_not_is_told() -> None:
    demanded = Scenario(2, frozenset({"Three"}))
    assert faults(demanded, Run(0, [*PASSED, SKIPPED])) == []
    assert faults(demanded, Run(0, PASSED)) == ["no longer skipped: Three"]


def test_a_scenario_without_a_check_fails_unless_the_table_says_why() -> None:
    run = Run(0, [SKIPPED])
    assert faults(Scenario(0, frozenset({"Three"})), run) == ["no check was made"]
    assert faults(Scenario(0, frozenset({"Three"}), note="a placeholder"), run) == []


def test_the_tables_must_account_for_all_that_the_suite_lists_for_our_revision() -> None:
    listed = """Server scenarios (test against a server):
  - ping [2025-06-18,2025-11-25]
  - tools-list [2025-06-18,2026-07-28]
  - tasks-lifecycle [extension]
  - auth/basic [2026-07-28]
"""
    assert unaccounted(listed, {"tools-list", "tasks-lifecycle"}, {"auth/*"}) == []
    assert unaccounted(listed, {"tools-list"}, {"auth/*", "prompts-*"}) == [
        "tasks-lifecycle is in no table of scenarios.py",
        "prompts-* leaves nothing out",
    ]


def test_each_scenario_for_clients_has_its_commands() -> None:
    assert client.SCENARIOS.keys() == CLIENT.keys()


def test_no_scenario_is_in_two_tables_and_each_one_left_out_has_a_reason() -> None:
    assert CLIENT.keys().isdisjoint(SERVER)
    assert all(LEFT_OUT.values())


def test_only_a_placeholder_of_the_suite_may_go_without_a_check() -> None:
    noted = [name for name, demanded in (CLIENT | SERVER).items() if demanded.note]
    assert noted == ["tasks-status-notifications"]
