import json
import stat
from datetime import UTC, datetime, timedelta

import pytest

from mcptask.protocol.verdict import Spoken
from mcptask.store import eras
from mcptask.store.eras import LONGEST_MODERN, LONGEST_OLDER, EraCache

NOON = datetime(2026, 9, 12, 12, tzinfo=UTC)
PLACE = "https://studio.example/mcp?key=secret"
MODERN = Spoken(version="2026-07-28", why="it answered tools/list")
OLDER = Spoken(version="2025-06-18", why="it answered initialize", older=True, silent=True)


@pytest.fixture
def cache(folder):
    return EraCache(folder / "cache")


@pytest.mark.parametrize("spoken", [MODERN, OLDER])
def test_what_was_found_out_is_there_with_its_time_a1_5(cache, spoken):
    cache.save(PLACE, spoken, NOON)
    found = cache.load(PLACE, NOON + timedelta(hours=1))
    assert (found.spoken, found.since) == (spoken, NOON)
    assert cache.load("https://studio.example/other", NOON) is None


@pytest.mark.parametrize(("spoken", "longest"), [(MODERN, LONGEST_MODERN), (OLDER, LONGEST_OLDER)])
def test_an_older_server_is_remembered_for_a_day_and_a_modern_one_for_a_month_a1_5(
    cache, spoken, longest
):
    cache.save(PLACE, spoken, NOON)
    assert longest == timedelta(days=1 if spoken.older else 30)
    assert cache.load(PLACE, NOON + longest - timedelta(seconds=1)) is not None
    assert cache.load(PLACE, NOON + longest) is None
    assert cache.load(PLACE, NOON - timedelta(seconds=1)) is None  # the clock was set back since


def test_the_latest_word_counts_a1_5(cache):
    cache.save(PLACE, OLDER, NOON)
    cache.save(PLACE, MODERN, NOON)
    assert cache.load(PLACE, NOON).spoken == MODERN


def test_the_place_is_readable_nowhere_and_the_file_is_private(cache):
    cache.save(PLACE, MODERN, NOON)
    (file,) = cache.folder.iterdir()
    assert b"secret" not in file.name.encode() + file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    cache.save("caf\udce9", MODERN, NOON)  # a folder whose name is no UTF-8
    assert cache.load("caf\udce9", NOON) is not None


WHOLE = {
    "version": "2026-07-28",
    "why": "it answered",
    "older": False,
    "silent": False,
    "checkedAt": NOON.isoformat(),
}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        *(json.dumps({**WHOLE, name: 5}).encode() for name in WHOLE),
        *(json.dumps({k: v for k, v in WHOLE.items() if k != name}).encode() for name in WHOLE),
        json.dumps({**WHOLE, "checkedAt": "noon"}).encode(),
        json.dumps({**WHOLE, "checkedAt": "2026-09-12T12:00:00"}).encode(),
    ],
)
def test_a_damaged_file_is_a_miss(cache, data):
    cache.save(PLACE, MODERN, NOON)
    (file,) = cache.folder.iterdir()
    file.write_bytes(json.dumps(WHOLE).encode())
    assert cache.load(PLACE, NOON) is not None
    file.write_bytes(data)
    assert cache.load(PLACE, NOON) is None


def test_what_is_too_large_is_not_kept_and_what_was_kept_before_goes(cache):
    cache.save(PLACE, MODERN, NOON)
    large = Spoken(version="2026-07-28", why="x" * eras.LARGEST)
    cache.save(PLACE, large, NOON)
    assert cache.load(PLACE, NOON) is None


def test_a_cache_that_cannot_be_written_is_no_cache(folder):
    (folder / "file").write_text("")
    cache = EraCache(folder / "file")
    cache.save(PLACE, MODERN, NOON)
    assert cache.load(PLACE, NOON) is None


def test_without_a_home_nothing_is_kept():
    cache = EraCache(None)
    cache.save(PLACE, MODERN, NOON)
    assert cache.load(PLACE, NOON) is None


def test_the_number_of_servers_is_bounded(cache, monkeypatch):
    monkeypatch.setattr(eras, "KEPT", 2)
    for place in "abc":
        cache.save(place, MODERN, NOON)
    assert len(list(cache.folder.iterdir())) == 2
