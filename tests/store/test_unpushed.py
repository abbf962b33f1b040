"""What is remembered of servers that do not push, and for how long (A11.1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcptask.store.unpushed import LARGEST, Unpushed, UnpushedCache

NOW = datetime(2026, 9, 12, 9, 0, tzinfo=UTC)
PLACE = "https://studio.example/mcp"
WHY = "it does not offer subscriptions"


@pytest.fixture
def cache(tmp_path: Path) -> UnpushedCache:
    return UnpushedCache(tmp_path / "cache")


def test_what_was_found_out_is_there_for_the_next_command_a11_1(cache: UnpushedCache) -> None:
    assert cache.load(PLACE, NOW) is None
    cache.save(PLACE, WHY, NOW)
    assert cache.load(PLACE, NOW + timedelta(hours=23)) == Unpushed(WHY, NOW)
    assert cache.load("https://other.example/mcp", NOW) is None


def test_a_server_is_asked_again_after_a_day_a11_1(cache: UnpushedCache) -> None:
    cache.save(PLACE, WHY, NOW)
    assert cache.load(PLACE, NOW + timedelta(days=1)) is None
    assert cache.load(PLACE, NOW - timedelta(seconds=1)) is None, "a clock that was set back"


def test_the_newest_word_counts_a11_1(cache: UnpushedCache) -> None:
    cache.save(PLACE, WHY, NOW)
    cache.save(PLACE, "it ends each subscription at once", NOW + timedelta(hours=20))
    later = NOW + timedelta(hours=30)
    assert cache.load(PLACE, later) == Unpushed(
        "it ends each subscription at once", NOW + timedelta(hours=20)
    )


def test_the_address_is_readable_nowhere(cache: UnpushedCache) -> None:
    cache.save("https://user:hunter2@studio.example/mcp?key=s3cret", WHY, NOW)
    assert cache.folder is not None
    (file,) = cache.folder.iterdir()
    assert "hunter2" not in file.name + file.read_text()
    assert "studio" not in file.name + file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"why": "no"}',
        '{"checkedAt": "2026-09-12T09:00:00+00:00"}',
        '{"why": "no", "checkedAt": 7}',
        '{"why": "no", "checkedAt": "soon"}',
        '{"why": "no", "checkedAt": "2026-09-12T09:00:00"}',
        '{"why": "' + "x" * LARGEST + '", "checkedAt": "2026-09-12T09:00:00+00:00"}',
    ],
)
def test_a_damaged_file_is_no_memory_and_no_error(cache: UnpushedCache, text: str) -> None:
    cache.save(PLACE, WHY, NOW)
    assert cache.folder is not None
    (file,) = cache.folder.iterdir()
    file.write_text(text)
    assert cache.load(PLACE, NOW) is None


def test_without_a_folder_nothing_is_kept() -> None:
    cache = UnpushedCache(None)
    cache.save(PLACE, WHY, NOW)
    assert cache.load(PLACE, NOW) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    cache = UnpushedCache(tmp_path / "cache")
    cache.save(PLACE, WHY, NOW)
    assert cache.load(PLACE, NOW) is None
