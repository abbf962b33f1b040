"""Every rule of the wire has a test: what README.md says of it, held against the rules and the tests."""

import pytest

from tests.conformance.rules import PROTOCOL, TABLE, Row, all_tests, cited, defined, problems, rows

RULES = defined(PROTOCOL.read_text(encoding="utf-8"))
ROWS = rows(TABLE.read_text(encoding="utf-8"))


def test_every_rule_has_a_test_that_cites_it() -> None:
    found = list(problems(RULES, ROWS, all_tests()))
    assert not found, "\n".join(["python -m tests.conformance.rules helps", *found])


def test_the_table_has_the_order_of_the_rules() -> None:
    order = [rule for rule in RULES if rule in {row.rule for row in ROWS}]
    assert [row.rule for row in ROWS if row.rule in RULES] == order


def test_every_line_of_the_table_is_read() -> None:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    assert len(lines) - 2 == len(ROWS)  # without its head


BROKEN = {
    "no row": ([], "A1.2: the table has no rows of it"),
    "two rows": ([("A1.2", "MUST", "a::b")] * 2, "A1.2: the table has 2 rows of it"),
    "another rule": ([("A1.2", "MUST", "a::b"), ("S7", "MUST", "a::b")], "S7: MUST, where"),
    "another strength": ([("A1.2", "MAY", "a::b")], "A1.2: MAY, where docs/protocol.md says MUST"),
    "no test": ([("A1.2", "MUST")], "A1.2: no test holds it"),
    "a test that is gone": ([("A1.2", "MUST", "a::c")], "A1.2: there is no a::c"),
    "a test of another": ([("A1.2", "MUST", "a::d")], "A1.2: a::d does not cite it"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_table_that_does_not_hold_is_told(name: str) -> None:
    table, expected = BROKEN[name]
    made = [Row(rule, strength, "", tests) for rule, strength, *tests in table]
    told = next(problems({"A1.2": "MUST"}, made, {"a::b": {"A1.2", "S7"}, "a::d": {"S7"}}))
    assert told.startswith(expected)


def test_a_table_that_holds_has_no_problem() -> None:
    table = [Row("A1.2", "MUST", "", ("a::b",))]
    assert list(problems({"A1.2": "MUST"}, table, {"a::b": {"A1.2"}})) == []


def test_rules_rows_and_citations_are_read_as_they_are_written() -> None:
    assert defined("* **A1.2** SHOULD (stdio), MAY (HTTP). Text.\n* **S1** choice, but …\n") == {
        "A1.2": "SHOULD",
        "S1": "choice",
    }
    (row,) = rows("| A1.2 | SHOULD | who | `a/b.py::c`, `d.py::e` |\n| no | rule |\n")
    assert row == Row("A1.2", "SHOULD", "who", ("a/b.py::c", "d.py::e"))
    source = 'def test_x_a1_2_s10__A3_5(): "Of A4.3 (T9)."\ndef helper_a9_9(): "A9.8"\n'
    assert dict(cited(source)) == {"test_x_a1_2_s10__A3_5": {"A1.2", "S10", "A3.5", "A4.3", "T9"}}
