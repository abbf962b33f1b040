"""Whatever a server does with its questions and the answers, and whenever a run is killed: no question is
answered twice, none is left unasked, and what was meant for one never goes to another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcptask.protocol.events import Answered
from mcptask.protocol.questions import Name, named
from tests.protocol.questioning import Asked, Course, Fate, Follower, Run, World
from tests.protocol.runs import played

pytestmark = pytest.mark.no_cover

# s: the longest that a question may stay unseen: a safety poll, the faults, the pause after them.
UNSEEN = 160.0
# s that one update may take with its immediate repetitions: it began before the news that it is too late.
ATTEMPTS_TAKE = 14.0
LAST = 200.0  # s: when the last run starts, which nobody kills and in which a person answers everything

moments = st.sampled_from([0.0, 0.5, 1.0, 3.0, 7.0, 20.0, 60.0])
pauses = st.sampled_from([0.05, 1.0, 4.0, 30.0, 144.0])


@st.composite
def questions(draw: st.DrawFn) -> Asked:
    opens = draw(moments)
    fate = draw(st.sampled_from(["stays", "stays", "withdrawn", "becomes", "returns"]))
    withdrawn = opens + draw(pauses) if fate in ("withdrawn", "returns") else None
    becomes = (withdrawn or opens) + draw(pauses) if fate in ("becomes", "returns") else None
    return Asked(
        opens,
        withdrawn,
        becomes,
        late=draw(st.sampled_from([0.0, 0.0, 3.0, 40.0])),
        relisted=draw(st.none() | st.sampled_from([1.0, 20.0])),
        refusals=draw(st.sampled_from([0, 0, 0, 1, 2])),
    )


gives = st.tuples(st.sampled_from([0.0, 0.3, 2.0, 15.0, 1e4]), st.sampled_from([True, True, False]))
followers = st.builds(
    Follower,
    moments,
    st.lists(gives, min_size=1, max_size=3),
    stops=st.sampled_from(["", "", "stop_for_input", "stop_when_answered"]),
    killed_after=st.none() | st.sampled_from([0.3, 1.2, 2.6, 9.0, 50.0]),
    killed_with_claim=st.none() | st.sampled_from([1, 2]),
    by_hand=st.booleans(),
    by_file=st.booleans(),
)
LAST_RUN = Follower(LAST, [(1.0, True)])
LOST = Fate(arrives=False)
fates = st.builds(
    Fate,
    st.sampled_from([0.0, 0.4, 4.0]),
    arrives=st.sampled_from([True, True, True, False]),
    heard=st.sampled_from([True, True, True, False]),
)
worlds = st.builds(
    World,
    st.lists(questions(), min_size=1, max_size=4),
    moments,
    st.lists(followers, min_size=1, max_size=3).map(lambda runs: [*runs, LAST_RUN]),
    st.lists(fates, max_size=6) | st.integers(1, 12).map(lambda count: [LOST] * count),
    st.lists(st.tuples(moments, st.sampled_from([0.5, 8.0, 40.0])), max_size=2),
    st.lists(st.tuples(moments, st.sampled_from([0.5, 2.0, 8.0])), max_size=2),
    st.just([]) | st.lists(st.tuples(moments, st.booleans()), min_size=1, max_size=5).map(sorted),
    st.sampled_from([0.0, 0.04, 1.5]),
)


def only(asked: Sequence[Asked], *others: Follower, **more: Any) -> World:
    """One in which nothing else happens."""
    still: dict[str, Any] = {"fates": [], "away": [], "hidden": [], "pushed": []}
    return World(asked, 0.0, [*others, LAST_RUN], **{**still, **more}, answers_take=0.04)


AT_ONCE = Follower(0.0, [(0.0, True)])
ONCE_ONLY = Follower(0.0, [(0.0, True), (1e4, False)])
LATER = Follower(2.0, [(0.0, True)])
FILE_THEN_FORM = Follower(0.0, [(0.0, True), (1e4, False), (0.0, True)], by_file=True)
BY_FILE = Follower(0.0, [(0.0, True)], by_file=True)
KILLED = Follower(1.0, [(1.0, True)], killed_with_claim=1)


# Noted by a run that died of it; then read by another one that has not heard of the task yet, or hidden.
@example(only([Asked(0.0)], KILLED, Follower(7.0, [(1e4, False)])))
@example(only([Asked(0.0)], KILLED, hidden=[(200.0, 2.0)]))
# Lost until another question is in its place.
@example(only([Asked(0.0, becomes=4.0)], AT_ONCE, fates=[LOST] * 12))
# Under way until another one was answered in its place, from another run.
@example(only([Asked(0.0, becomes=1.0, late=9.0)], AT_ONCE, LATER, fates=[Fate(4.0)]))
@example(only([Asked(60.0, becomes=204.0)], AT_ONCE, fates=[LOST] * 9))
# Two answers from two runs at one moment, the same or not; and the one that goes out is refused.
@example(only([Asked(0.0)], AT_ONCE, AT_ONCE))
@example(only([Asked(0.0)], BY_FILE, BY_FILE))
@example(only([Asked(0.0, refusals=1)], ONCE_ONLY, ONCE_ONLY, fates=[Fate(4.0)]))
# Refused, and put to a person, whose form a node that lags closes: it is a person's still.
@example(only([Asked(0.0, refusals=2)], FILE_THEN_FORM, hidden=[(7.0, 2.0)]))
# Under way for a while, which another run must leave alone.
@example(only([Asked(0.0)], AT_ONCE, Follower(0.0, [(1e4, False)]), fates=[Fate(4.0)]))
@settings(max_examples=200)
@given(worlds)
def test_no_key_is_answered_twice_and_none_is_left_unasked_a12_2_a12_3_a12_5_a12_7_a12_8(
    world: World,
) -> None:
    course = played(world)
    nothing_is_answered_twice(course)
    nothing_goes_to_another_question(course)
    for each in course.runs:
        nothing_is_put_twice(course, each)
        nothing_is_left_unasked(course, each)
        forms_are_closed_in_time(course, each)
        answers_are_told_once(course, each)
    assert course.runs[-1].outcome == "completed", "each answer arrives in the end"


def nothing_is_answered_twice(course: Course) -> None:
    """What goes out again is the same, and was noted before it went out the first time."""
    assert course.empty == 0, "an update without an answer"
    said: dict[Name, list[str]] = defaultdict(list)
    killed = any(each.dead for each in course.runs)
    for sent in course.sent:
        by = sent.response["content"]["by"]
        assert sent.noted or by in said[sent.name]
        # A -32602 is no refusal before `tasks/get` has answered (A12.8); and a run that was killed may have
        # been about to say the same.
        assert not sent.refused or course.world.away or killed
        said[sent.name].append(by)
    heard = all(fate.arrives and fate.heard for fate in course.world.fates)
    calm = heard and not (killed or course.world.away or course.refusals)
    for name, by_whom in said.items():
        times = by_whom if calm else set(by_whom)
        assert len(times) <= 1 + course.refusals.get(name, 0), (name, by_whom)


def nothing_goes_to_another_question(course: Course) -> None:
    for sent in course.sent:
        assert sent.seen is not None, "an answer to what was never asked here"
        asked, since = sent.seen
        assert sent.name[1] == asked or sent.at - since <= ATTEMPTS_TAKE, sent


def nothing_is_put_twice(course: Course, each: Run) -> None:
    """But for what was hidden for a while before it was answered, and what was refused."""
    answered: set[Name] = set()
    under: dict[str, Name] = {}
    for put in each.put:
        assert put.name not in answered or course.refusals.get(put.name)
        assert put.question.changed or under.setdefault(put.name[0], put.name) == put.name
        answered |= {put.name} if put.back is None else set()


def nothing_is_left_unasked(course: Course, each: Run) -> None:
    """Whatever is listed for long while this run goes on was put to somebody there, or claimed anywhere."""
    put = {one.name: one.since for one in reversed(each.put)}
    claimed = {name: when for when, name in reversed(course.claimed)}
    for name, since, till in listed(course, each.follower.starts, each.ended_at or 0.0):
        if till - since >= UNSEEN:
            assert min(put.get(name, till), claimed.get(name, till)) < till, (name, since)


def forms_are_closed_in_time(course: Course, each: Run) -> None:
    for put in each.put:
        assert put.back is None or put.back or each.dead, "and say why"
        if put.till - put.since >= UNSEEN:
            times = listed(course, put.since, put.till)
            assert any(name == put.name and till > put.till - UNSEEN for name, _, till in times)


def answers_are_told_once(course: Course, each: Run) -> None:
    told = Counter(
        key for event in each.events if isinstance(event, Answered) for key in event.keys
    )
    for key, times in told.items():
        asked = course.world.asked[int(key)]
        assert times <= 1 + (asked.becomes is not None) + asked.refusals


def listed(course: Course, since: float, till: float) -> Iterator[tuple[Name, float, float]]:
    """Each question, and from when until when it was listed without a gap, to a second."""
    begun: dict[Name, float] = {}
    at = since
    while at <= till:
        names = named(course.listed(at))
        for gone in begun.keys() - names:
            yield gone, begun.pop(gone), at
        begun = {name: begun.get(name, at) for name in names}
        at += 1.0
    yield from ((name, began, till) for name, began in begun.items())
