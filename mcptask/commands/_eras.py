"""What is remembered of the revision that a server speaks, and how `-v` tells of it (A1.5)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from mcptask.commands._job import Job
from mcptask.protocol.verdict import Spoken
from mcptask.servers.endpoint import Endpoint
from mcptask.store.eras import EraCache, Remembered
from mcptask.store.paths import cache_folder

# Younger knowledge is not written anew each time that it is confirmed.
RENEWED_AFTER = timedelta(hours=1)


def recall(
    job: Job, endpoint: Endpoint, version: str, *, stored: bool
) -> tuple[Spoken | None, Callable[[Spoken], None]]:
    """What an earlier run has found out about this server, and what keeps the news of this one.

    `stored`: a stored task of the server says that it spoke `version`.
    """
    cache = EraCache(cache_folder(job.env))
    found = cache.load(place_of(endpoint), job.env.clock.wall())
    memory = found.spoken if found else None
    if memory is None and stored:
        memory = Spoken(version=version, why="a stored task says so")
    if memory is not None:
        _explain(job, endpoint, memory, _since(found))

    def learned(spoken: Spoken) -> None:
        nonlocal found, memory
        before, now = memory, job.env.clock.wall()
        if before is None or (before.version, before.older) != (spoken.version, spoken.older):
            _explain(job, endpoint, spoken)
        if found is None or _news(found, spoken) or now - found.since >= RENEWED_AFTER:
            cache.save(place_of(endpoint), spoken, now)
            found, memory = Remembered(spoken, now), spoken

    return memory, learned


def _explain(job: Job, endpoint: Endpoint, spoken: Spoken, since: str = "") -> None:
    job.explain(f"{endpoint.name} speaks MCP {spoken.version}: {spoken.why}{since}")


def _since(found: Remembered | None) -> str:
    if found is None:
        return ""
    return f" (remembered from {found.since.astimezone():%Y-%m-%d %H:%M})"


def _news(found: Remembered, spoken: Spoken) -> bool:
    """Does it say something else? That another request told the same is no news."""
    return replace(spoken, why=found.spoken.why) != found.spoken


def place_of(endpoint: Endpoint) -> str:
    """What tells servers apart: two paths of one host may be two, and one program in two folders."""
    return repr((endpoint.url, endpoint.command, endpoint.cwd, sorted(endpoint.env)))
