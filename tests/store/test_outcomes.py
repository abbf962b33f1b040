import errno
import os
import stat

import pytest

from mcptask.origin import Origin
from mcptask.protocol.task import Task
from mcptask.store import atomic, outcomes
from mcptask.store.outcomes import OutcomeStore

STUDIO = Origin(server="studio")


@pytest.fixture
def kept(folder):
    return OutcomeStore(folder / "results")


def ended(task_id="tsk_1", **raw) -> Task:
    return Task(task_id=task_id, status="completed", raw={"taskId": task_id, **raw})


def save(kept: OutcomeStore, *tasks: Task) -> int:
    return kept.save_all([(task, STUDIO) for task in tasks])


def test_an_outcome_comes_back_as_the_server_sent_it(kept):
    raw = {"result": {"content": [{"text": "\ud800 é"}], "n": 10**400, "f": 0.1}, "_meta": None}
    assert save(kept, ended(**raw))
    assert kept.load(STUDIO, "tsk_1") == {"taskId": "tsk_1", **raw}
    assert kept.load(Origin(server="other"), "tsk_1") is None
    assert kept.load(STUDIO, "tsk_2") is None


@pytest.mark.parametrize("task_id", ["../../x", "a\nb", "", "\ud800", "x" * 5000])
def test_an_id_never_names_a_file_outside(kept, folder, task_id):
    assert save(kept, ended(task_id))
    assert kept.load(STUDIO, task_id) == {"taskId": task_id}
    assert [entry.name for entry in folder.iterdir()] == ["results"]


def test_outcomes_are_private(kept):
    save(kept, ended())
    (file,) = kept.folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700


def test_one_that_is_too_large_is_not_kept_and_takes_the_old_one_with_it(kept):
    save(kept, ended())
    assert not save(kept, ended(text="x" * outcomes.LARGEST))
    assert kept.load(STUDIO, "tsk_1") is None
    assert list(kept.folder.iterdir()) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b'{"taskId": "tsk_1", "task": 5}',
        b'{"taskId": "no", "task": {}}',
        b"[" * 100_000,
        b" " * (outcomes.LARGEST + 1),
    ],
)
def test_a_damaged_one_is_a_miss(kept, data):
    save(kept, ended())
    (file,) = kept.folder.iterdir()
    file.write_bytes(data)
    assert kept.load(STUDIO, "tsk_1") is None


@pytest.mark.parametrize("raw", [{"x": object()}, {"n": 10**5000}])
def test_what_is_no_json_is_not_kept(kept, raw):
    assert not save(kept, ended(**raw))


def test_a_full_disk_is_told_and_no_more(kept, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not save(kept, ended())
    assert list(kept.folder.iterdir()) == []


def test_only_the_newest_are_kept(kept, monkeypatch):
    monkeypatch.setattr(outcomes, "KEPT", 3)
    monkeypatch.setattr(atomic.os, "fsync", lambda _: None)
    for number in range(5):
        save(kept, ended(str(number)))
        os.utime(kept._file(STUDIO, str(number)), (number, number))
    there = [number for number in range(5) if kept.load(STUDIO, str(number))]
    assert there == [2, 3, 4]


def test_a_forgotten_outcome_is_gone(kept):
    save(kept, ended())
    kept.forget(STUDIO, "tsk_1")
    kept.forget(STUDIO, "tsk_1")
    assert kept.load(STUDIO, "tsk_1") is None


def test_of_several_the_newest_200_stay_and_what_cannot_be_kept_keeps_no_other_back(kept):
    tasks = [ended(str(number)) for number in range(outcomes.KEPT + 5)]
    save(kept, ended("earlier"))
    large = ended("large", text="x" * outcomes.LARGEST)
    assert save(kept, *tasks, large) == outcomes.KEPT - 1
    assert len(list(kept.folder.iterdir())) == outcomes.KEPT
    assert kept.load(STUDIO, tasks[-1].task_id) == {"taskId": tasks[-1].task_id}
    assert kept.load(STUDIO, "large") is None


def test_nobody_waits_for_the_disk(kept, monkeypatch):
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    save(kept, ended("a"), ended("b"))
    assert not synced


@pytest.mark.parametrize("wrong", ["file", "folder", "pipe"])
def test_one_that_others_could_have_written_is_a_miss(kept, wrong):
    save(kept, ended())
    (file,) = kept.folder.iterdir()
    if wrong == "pipe":
        file.unlink()
        os.mkfifo(file)
    else:
        (file if wrong == "file" else kept.folder).chmod(0o777)
    assert kept.load(STUDIO, "tsk_1") is None


def test_files_of_somebody_elses_in_the_same_folder_are_left_alone(kept):
    kept.folder.mkdir()
    for number in range(outcomes.KEPT + 5):
        (kept.folder / f"results-{number}.json").touch()
        os.utime(kept.folder / f"results-{number}.json", (1, 1))
    save(kept, ended())
    assert len(list(kept.folder.iterdir())) == outcomes.KEPT + 6
