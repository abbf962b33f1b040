import stat
from datetime import UTC, datetime, timedelta

import pytest

from mcptask.store import toollists
from mcptask.store.toollists import LONGEST, ToolListCache, cache_key

NOON = datetime(2026, 9, 12, 12, tzinfo=UTC)
TOOLS = [{"name": "reflow", "inputSchema": {"type": "object"}}]
KEY = cache_key("https://studio.example/mcp")


@pytest.fixture
def cache(folder):
    return ToolListCache(folder / "cache")


def after(**amount):
    return NOON + timedelta(**amount)


def test_a_list_is_there_until_its_time_is_over(cache):
    cache.save(KEY, TOOLS, 60_000, NOON)
    assert cache.load(KEY, NOON)["tools"] == TOOLS
    assert cache.load(KEY, after(seconds=59.9))["ttlMs"] == 60_000
    assert cache.load(KEY, after(seconds=60)) is None


def test_no_list_holds_for_more_than_a_day_a7_4(cache):
    cache.save(KEY, TOOLS, 10**5000 // 10**4000, NOON)
    assert cache.load(KEY, NOON + LONGEST - timedelta(seconds=1)) is not None
    assert cache.load(KEY, NOON + LONGEST) is None


@pytest.mark.parametrize("ttl_ms", [None, 0, -1, True, 1.5, "60000"])
def test_a_list_without_a_time_is_not_kept_and_the_one_before_goes(cache, ttl_ms):
    cache.save(KEY, TOOLS, 60_000, NOON)
    cache.save(KEY, TOOLS, ttl_ms, NOON)
    assert cache.load(KEY, NOON) is None


def test_a_list_from_the_future_is_not_fresh(cache):
    cache.save(KEY, TOOLS, 60_000, NOON)
    assert cache.load(KEY, after(seconds=-1)) is None


def test_who_asks_is_part_of_the_key_and_readable_nowhere_a7_4(cache):
    key = cache_key("https://studio.example/mcp", "secret")
    assert key != KEY
    assert key != cache_key("https://studio.example/mcp", "other")
    cache.save(key, TOOLS, 60_000, NOON)
    (file,) = cache.folder.iterdir()
    assert b"secret" not in file.name.encode() + file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"tools": 1, "ttlMs": 60000, "receivedAt": "2026-09-12T12:00:00+00:00"}',
        b'{"tools": [], "ttlMs": 60000}',
        b'{"tools": [], "ttlMs": 60000, "receivedAt": "noon"}',
        b'{"tools": [], "ttlMs": 60000, "receivedAt": 12}',
        b'{"tools": [], "ttlMs": 60000, "receivedAt": "2026-09-12T12:00:00"}',
    ],
)
def test_a_damaged_one_is_a_miss(cache, data):
    cache.save(KEY, TOOLS, 60_000, NOON)
    (file,) = cache.folder.iterdir()
    file.write_bytes(data)
    assert cache.load(KEY, NOON) is None


@pytest.mark.parametrize("tools", [[{"x": object()}], [{"name": "x" * toollists.LARGEST}]])
def test_what_is_too_large_or_no_json_is_not_kept(cache, tools):
    cache.save(KEY, tools, 60_000, NOON)
    assert cache.load(KEY, NOON) is None


def test_a_cache_that_cannot_be_written_is_no_cache(folder):
    (folder / "file").write_text("")
    cache = ToolListCache(folder / "file")
    cache.save(KEY, TOOLS, 60_000, NOON)
    assert cache.load(KEY, NOON) is None
    cache.forget(KEY)


def test_without_a_home_nothing_is_kept():
    cache = ToolListCache(None)
    cache.save(KEY, TOOLS, 60_000, NOON)
    assert cache.load(KEY, NOON) is None
    cache.forget(KEY)


def test_the_number_of_lists_is_bounded(cache, monkeypatch):
    monkeypatch.setattr(toollists, "KEPT", 2)
    for server in "abc":
        cache.save(cache_key(server), TOOLS, 60_000, NOON)
    assert len(list(cache.folder.iterdir())) == 2


def test_a_forgotten_list_is_gone(cache):
    cache.save(KEY, TOOLS, 60_000, NOON)
    cache.forget(KEY)
    assert cache.load(KEY, NOON) is None
