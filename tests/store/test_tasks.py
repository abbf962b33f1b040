import pytest

from mcptask.origin import Origin
from mcptask.protocol.questions import Answer
from mcptask.protocol.task import Task
from mcptask.store import atomic
from mcptask.store.edits import KEPT_ENDED
from mcptask.store.lookup import find
from mcptask.store.records import Sighting, State, TaskRecord
from mcptask.store.tasks import TaskStore

STUDIO = Origin(server="studio", bearer_env="STUDIO_TOKEN")
OTHER = Origin(url="https://other.example/mcp")


def task(task_id="tsk_1", status="working", **more) -> Task:
    return Task(task_id=task_id, status=status, **more)


def add(store, one, ref=None, origin=STUDIO, tool="reflow"):
    return store.add(one, origin=origin, tool=tool, protocol="2026-07-28", ref=ref)


def observe(store, ref, seen):
    """The stored task after it was seen like this; None: its server does not know it."""
    return store.observe_all({ref: Sighting(seen, store.clock.wall())}).get(ref)


def test_no_file_is_an_empty_state_and_reading_makes_none(store, path):
    assert store.read() == State()
    assert observe(store, 1, task()) is None
    assert not path.exists()


def test_a_call_leaves_a_mark_and_its_task_takes_the_number(store, fake_time):
    call = store.begin_call(STUDIO, "reflow", "2026-07-28")
    assert (call.ref, call.sent_at, call.tool) == (1, fake_time.wall, "reflow")
    assert store.read().calls == (call,)
    record = add(store, task(), ref=call.ref)
    assert store.read() == State(next_ref=2, tasks=(record,))
    assert record.ref == 1


def test_a_call_that_was_answered_at_once_leaves_nothing_but_its_number(store):
    store.drop_call(store.begin_call(STUDIO, "quick", None).ref)
    assert store.read() == State(next_ref=2)
    assert add(store, task()).ref == 2


def test_numbers_follow_the_order_of_the_calls_whoever_answers_first(store):
    first, second = (store.begin_call(STUDIO, "reflow", None).ref for _ in range(2))
    add(store, task("b"), ref=second)
    add(store, task("a"), ref=first)
    assert [(one.ref, one.task_id) for one in store.read().tasks] == [(1, "a"), (2, "b")]


def test_a_task_that_is_stored_already_is_updated_and_keeps_its_number(store):
    first = add(store, task(), tool="reflow")
    store.acknowledged(first.ref, {"approve": Answer("1")})
    again = store.add(task(status="completed"), origin=STUDIO, tool=None, protocol=None)
    assert (again.ref, again.status, again.tool) == (1, "completed", "reflow")
    assert again.answered == {"approve": Answer("1")}
    assert store.read().tasks == (again,)
    assert add(store, task(), origin=OTHER).ref == 2


def test_a_call_answered_with_a_task_that_still_runs_does_not_double_it(store):
    add(store, task())
    call = store.begin_call(STUDIO, "reflow", None)
    assert add(store, task(), ref=call.ref).ref == 1
    assert store.read().calls == ()


def test_an_id_that_a_server_uses_again_after_the_end_is_a_new_task(store):
    add(store, task(status="completed"))
    call = store.begin_call(STUDIO, "reflow", None)
    record = add(store, task(), ref=call.ref)
    assert (record.ref, record.status, record.ended_at) == (2, "working", None)
    assert store.read().tasks == (record,)


def test_a_number_that_another_task_has_meanwhile_is_not_given_twice(store):
    add(store, task("a"))
    assert add(store, task("b"), ref=1).ref == 2
    assert add(store, task("c"), ref=9).ref == 9
    assert add(store, task("d")).ref == 10


def test_only_news_is_written_and_the_time_of_seeing_once_a_minute(store, path, fake_time):
    add(store, task(status_message="1 of 2"))
    written = path.stat().st_mtime_ns, path.stat().st_ino
    fake_time.forward(seconds=59)
    assert observe(store, 1, task(status_message="1 of 2")).status_message == "1 of 2"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written
    observe(store, 1, task(status_message="2 of 2"))
    assert path.stat().st_ino != written[1]
    assert store.read().tasks[0].seen_at == fake_time.wall
    fake_time.forward(seconds=60)
    assert observe(store, 1, task(status_message="2 of 2")).seen_at == fake_time.wall
    assert store.read().tasks[0].seen_at == fake_time.wall


def test_a_long_watch_reads_the_file_again_only_when_it_is_another_one(
    store, path, fake_time, monkeypatch
):
    add(store, task())
    observe(store, 1, task())
    monkeypatch.setattr("mcptask.store.statefile.loaded", None)
    assert observe(store, 1, task()).ref == 1
    monkeypatch.undo()
    TaskStore(path, fake_time.clock).forget([1])
    assert observe(store, 1, task()) is None


def test_a_record_that_was_never_seen_is_written_at_once(store, path, fake_time):
    store.change(lambda _: State(tasks=(TaskRecord(ref=1, task_id="tsk_1", status="working"),)))
    assert observe(store, 1, task()).seen_at == fake_time.wall


def test_the_end_is_remembered_and_never_taken_back(store, fake_time):
    add(store, task())
    ended = observe(store, 1, task(status="failed", status_message="no room"))
    assert ended.ended_at == fake_time.wall
    fake_time.forward(hours=1)
    assert observe(store, 1, task(status="working")) == ended
    assert store.read().tasks == (ended,)


def test_a_task_that_was_forgotten_meanwhile_stays_forgotten(store):
    add(store, task())
    assert store.forget([1, 7]) == (1,)
    assert observe(store, 1, task(status="completed")) is None
    assert store.read() == State(next_ref=2)


def test_a_lost_task_is_lost_since_the_first_time_until_the_server_knows_it_again(store, fake_time):
    add(store, task())
    since = fake_time.wall
    assert observe(store, 1, None).lost_at == since
    fake_time.forward(seconds=1)
    assert observe(store, 1, None).lost_at == since
    assert store.read().tasks[0].lost_at == since
    assert observe(store, 1, task()).lost_at is None
    assert store.read().tasks[0].lost_at is None
    assert observe(store, 7, None) is None


def test_an_ended_task_that_was_lost_may_be_found_again_too(store):
    ended = add(store, task(status="completed"))
    observe(store, 1, None)
    assert observe(store, 1, task(status="working")) == ended
    assert store.read().tasks == (ended,)


def test_an_id_that_a_server_gives_again_after_losing_it_is_a_new_task(store):
    add(store, task())
    store.acknowledged(1, {"approve": Answer("1")})
    observe(store, 1, None)
    call = store.begin_call(STUDIO, "reflow", None)
    record = add(store, task(), ref=call.ref)
    assert (record.ref, record.answered, record.lost_at) == (2, {}, None)
    assert store.read().tasks == (record,)


def test_forgetting_drops_call_marks_too(store):
    call = store.begin_call(STUDIO, "reflow", None)
    record = add(store, task())
    assert store.forget([record.ref, call.ref, call.ref]) == (1, 2)
    assert store.forget([1]) == ()


def test_a_change_that_changes_nothing_writes_nothing(store, path):
    assert store.change(lambda state: state) == State()
    assert not path.exists()


def test_what_the_change_raises_comes_out_with_nothing_written(store, path):
    add(store, task())
    before = path.read_bytes()

    def fails(state):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.change(fails)
    assert path.read_bytes() == before


def test_live_and_lost_tasks_are_never_dropped_and_ended_ones_only_beyond_the_newest_200(
    store, fake_time
):
    def many(state):
        live = [TaskRecord(ref=ref, task_id=f"l{ref}", status="odd") for ref in range(1, 301)]
        ended = [
            TaskRecord(ref=ref, task_id=f"e{ref}", status="completed", ended_at=None)
            for ref in range(301, 301 + KEPT_ENDED)
        ]
        return State(next_ref=501, tasks=(*live, *ended))

    store.change(many)
    record = add(store, task(status="completed"))
    state = store.read()
    assert len([one for one in state.tasks if one.status == "odd"]) == 300
    ended = [one.ref for one in state.tasks if one.terminal]
    assert ended == [*range(302, 301 + KEPT_ENDED), record.ref]
    observe(store, 302, None)
    for name in "ab":
        add(store, task(name, status="completed"))
    ended = [one.ref for one in store.read().tasks if one.terminal]
    assert ended[:2] == [302, 304]
    assert len(ended) == KEPT_ENDED + 1


@pytest.mark.parametrize(
    "task_id",
    ['"quotes"', "a b", "../../x", "a/b\\c", "two\nlines", "--help", "Ünï🎬", "\ud800", "\x1b]0;"],
)
def test_hostile_ids_survive(store, path, fake_time, task_id):
    add(store, task(task_id))
    assert TaskStore(path, fake_time.clock).read().tasks[0].task_id == task_id
    assert find(store.read(), task_id).ref == 1


def test_what_is_seen_of_several_is_one_change(store, path, fake_time, monkeypatch):
    for name in "abc":
        add(store, task(name))
    written = []
    monkeypatch.setattr("mcptask.store.statefile.atomic.write", _noting(written, path))
    seen = {
        1: Sighting(task("a", status="completed"), fake_time.wall),
        2: Sighting(None, fake_time.wall),
        9: Sighting(task("z"), fake_time.wall),
    }
    after = store.observe_all(seen)
    assert (after[1].status, after[2].lost_at, after.keys()) == (
        "completed",
        fake_time.wall,
        {1, 2},
    )
    assert [one.status for one in store.read().tasks] == ["completed", "working", "working"]
    assert len(written) == 1


def _noting(written, path):
    whole = atomic.write

    def write(target, *more, **named):
        written.extend([target] if target == path else [])
        return whole(target, *more, **named)

    return write


def test_times_of_seeing_are_written_along_with_any_news_and_are_those_of_the_seeing(
    store, path, fake_time
):
    for name in "ab":
        add(store, task(name))
    then = fake_time.wall
    fake_time.forward(seconds=30)
    a_moment_ago = fake_time.wall
    fake_time.forward(seconds=5)
    nothing_new = {1: Sighting(task("a"), a_moment_ago)}
    assert store.observe_all(nothing_new)[1].seen_at == then
    store.observe_all(nothing_new | {2: Sighting(task("b", status_message="x"), fake_time.wall)})
    assert [one.seen_at for one in store.read().tasks] == [a_moment_ago, fake_time.wall]


def test_a_task_that_was_forgotten_meanwhile_makes_no_poll_of_the_others_a_write(
    store, path, fake_time
):
    for name in "ab":
        add(store, task(name))
    TaskStore(path, fake_time.clock).forget([2])
    before = path.read_bytes()
    fake_time.forward(seconds=5)
    both = {ref: Sighting(task(name), fake_time.wall) for ref, name in ((1, "a"), (2, "b"))}
    assert store.observe_all(both).keys() == {1}
    assert path.read_bytes() == before


def test_our_own_writes_are_not_parsed_again_and_those_of_others_are(
    store, path, fake_time, monkeypatch
):
    add(store, task())
    observe(store, 1, task(status_message="1 of 2"))
    with monkeypatch.context() as patch:
        patch.setattr("mcptask.store.statefile.loaded", None)
        for number in range(3):
            assert observe(store, 1, task(status_message=str(number))).status_message == str(number)
        assert store.read().tasks[0].status_message == "2"
    other = TaskStore(path, fake_time.clock)
    other.acknowledged(1, {"approve": Answer("1")})
    assert observe(store, 1, task(status_message="3")).answered == {"approve": Answer("1")}
    assert other.read() == store.read() == TaskStore(path, fake_time.clock).read()
