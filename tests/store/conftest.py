import io
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcptask.env import Clock, Env
from mcptask.store.tasks import TaskStore

NOON = datetime(2026, 9, 12, 12, tzinfo=UTC)


@dataclass
class FakeTime:
    """A wall clock that moves when it is told to."""

    wall: datetime = NOON
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(now=lambda: 0.0, wall=lambda: self.wall)

    def forward(self, **amount: float) -> None:
        self.wall += timedelta(**amount)


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of the test's own."""
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcptask" / "tasks.toml"


@pytest.fixture
def store(path: Path, fake_time: FakeTime) -> TaskStore:
    return TaskStore(path, fake_time.clock)


@pytest.fixture
def make_env(tmp_path: Path):
    def make(**environ: str) -> Env:
        return Env(
            stdin=io.StringIO(),
            stdout=io.StringIO(),
            stderr=io.StringIO(),
            environ=environ,
            cwd=tmp_path,
        )

    return make
