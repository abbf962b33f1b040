"""What the judge makes of the files that the suite leaves."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance import judge
from tests.conformance.scenarios import CLIENT

NAME = next(iter(CLIENT))
PASSED = [
    {"id": str(number), "name": f"Check {number}", "status": "SUCCESS"}
    for number in range(CLIENT[NAME].passed)
]
Suite = Callable[[dict[str, str]], None]


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite that leaves these files: folder → what is in its `checks.json`."""

    def leaves(written: dict[str, str]) -> None:
        def run(*argv: str) -> tuple[int, str]:
            for name, text in written.items():
                folder = Path(argv[argv.index("-o") + 1]) / name
                folder.mkdir(parents=True)
                (folder / "checks.json").write_text(text)
            return 0, "what the suite told\n"

        monkeypatch.setattr(judge, "_suite", run)

    return leaves


def test_one_run_is_judged_by_its_checks(suite: Suite, tmp_path: Path) -> None:
    suite({"first": json.dumps(PASSED)})
    assert judge._judge(tmp_path, "", NAME) == ("ok", f"{len(PASSED)}/{len(PASSED)}")


def test_a_run_without_checks_fails(suite: Suite, tmp_path: Path) -> None:
    suite({})
    word, told = judge._judge(tmp_path, "", NAME)
    assert word == "FAILED"
    assert "no check was made" in told


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"first": "[]", "second": "[]"}, "the suite left several: first, second\n"),
        ({"first": '[{"id":'}, "Expecting value"),
    ],
    ids=["several", "cut"],
)
def test_checks_that_cannot_be_told_fail_the_scenario_with_a_sentence(
    suite: Suite, tmp_path: Path, written: dict[str, str], said: str
) -> None:
    suite(written)
    word, told = judge._judge(tmp_path, "", NAME)
    assert word == "FAILED"
    assert said in told
    assert told.endswith("what the suite told")
