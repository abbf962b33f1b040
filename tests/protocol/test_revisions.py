"""The table of the revisions that mcptask speaks."""

import pytest

from mcptask.protocol.generations.revisions import NEWEST, REVISIONS


@pytest.mark.parametrize("version", REVISIONS)
def test_each_revision_is_made_by_its_own_generation_a1_2(version: str) -> None:
    assert REVISIONS[version](call_wait=7.0).version == version


def test_the_newest_revision_is_the_one_to_begin_with_a1_2() -> None:
    assert NEWEST == "2026-07-28"
