"""How a subscription ends, or goes dead without a sign, and what comes after (A11.5, A11.8)."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.errors import HttpRefused, Unreachable
from tests.protocol.fakes import ID, done, refused, wire
from tests.protocol.pushing import CUT, END, LISTEN, SILENCE, ack, at, tells, watched
from tests.protocol.virtual import Clocks

OTHER = "tsk_77aa"
TORN_DOWN = {"method": "notifications/cancelled", "params": {"requestId": f"{LISTEN}-2"}}
ENDS = {"a result": END, "cancelled": TORN_DOWN}


@pytest.mark.parametrize("end", [CUT, END, TORN_DOWN, refused(-32603, "restarting")])
def test_a_stream_that_ends_in_the_middle_is_polled_for_and_opened_again_a11_8(end: Any) -> None:
    course = watched(
        gets={0: wire(pollIntervalMs=300)},
        streams=[[ack(), at(20), end], [at(22), ack(), at(50), tells(done()), SILENCE]],
    )
    assert course.listens == [0, 21]
    assert [line.split(":")[0] for line in course.modes] == ["0 pushed", "20 polled", "22 pushed"]
    between = [when for when in course.polls if 20 <= when < 22]
    assert between == [20, 20.3, 20.6, 20.9, 21.2, 21.5, 21.8], "at the interval, from then on"
    assert [when for when in course.polls if when >= 22] == [22], "asked once after the ack (A11.5)"
    assert course.told[ID][-1] == "50 ended completed 0"
    assert course.remarks[1].endswith("; polling, and subscribing again in 1 s")
    assert course.remarks[1].startswith(
        ("the subscription was lost (", "it ended the subscription;")
    )


def test_what_changed_while_there_was_no_stream_is_found_after_the_next_acknowledgement_a11_5() -> (
    None
):
    course = watched(
        gets={0: wire(pollIntervalMs=60_000), 20.5: done()},
        streams=[[ack(), at(20), CUT], [ack(), SILENCE]],
    )
    assert course.told[ID][-1] == "21 ended completed 0", "not a minute later"


def test_the_pauses_grow_up_to_half_a_minute_a11_8() -> None:
    course = watched(gets={0: wire(), 200: done()}, streams=[[CUT]])
    pauses = [b - a for a, b in zip(course.listens, course.listens[1:], strict=False)]
    assert pauses[:12] == pytest.approx(
        [1, 1.5, 2.25, 3.375, 5.0625, 7.594, 11.391, 17.086, 25.629, 30, 30, 30], abs=2e-3
    )
    assert course.polls == list(range(201))
    assert course.modes == ["0 polled: the subscription could not be made (cut off)"]


def test_a_stream_that_held_for_a_minute_was_no_failed_attempt_a11_8() -> None:
    gets = {0: wire(), 400: done()}
    course = watched(gets=gets, streams=[[CUT], [CUT], [ack(), at(100), CUT], [CUT], [CUT]])
    assert course.listens[:5] == [0, 1, 2.5, 101, 102.5]


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("begin", [[], [ack()]], ids=["at once", "after the ack"])
def test_two_streams_that_the_server_ends_at_once_are_enough_a11_8(begin: Any, end: Any) -> None:
    ends = [
        {**end, "params": {"requestId": f"{LISTEN}-{n}"}} if "method" in end else end
        for n in (2, 4)
    ]
    course = watched(gets={0: wire(), 90: done()}, streams=[[*begin, each] for each in ends])
    assert course.listens == [0, 1]
    assert course.modes[-1] == "1 polled: it ends each subscription at once"
    assert course.learned == ["it ends each subscription at once"]
    assert [when for when in course.polls if when > 2] == pytest.approx(
        [course.polls[-1] - n for n in reversed(range(88))]
    )


def test_an_end_that_was_no_servers_will_is_not_counted_a11_8() -> None:
    streams = [[ack(), END], [ack(), CUT], [ack(), END], [ack(), at(30), END], [ack(), END], [CUT]]
    course = watched(gets={0: wire(), 60: done()}, streams=streams)
    assert course.learned == []
    assert len(course.listens) > 6


def test_a_stream_whose_tasks_have_all_ended_is_left_and_not_opened_again_a11_11() -> None:
    """Or a server that ends it then, or acknowledges nothing more, would count as one that does not push."""
    course = watched(
        gets={0: wire()},
        streams=[[ack(), at(5), tells(done()), at(6), END], [ack("none of these")]],
        stays=99,
    )
    assert (course.listens, course.learned, course.left) == ([0], [], [LISTEN])
    assert len(course.remarks) == 1, "that it tells of changes, and nothing of a stream that ended"


def test_nothing_is_opened_again_for_tasks_that_ended_during_the_pause_a11_11() -> None:
    course = watched(
        gets={0: wire(pollIntervalMs=300), 0.5: done()},
        streams=[[CUT], [ack("none of these")]],
        stays=99,
    )
    assert (course.listens, course.learned) == ([0], [])


def test_what_has_left_during_the_pause_is_not_subscribed_to_again_a11_2() -> None:
    gets = {ID: {0: wire(), 10.5: done()}, OTHER: {0: wire(taskId=OTHER), 60: done(taskId=OTHER)}}
    course = watched(
        ids=[ID, OTHER],
        gets=gets,
        streams=[[CUT], [CUT], [CUT], [CUT], [CUT], [ack(OTHER), SILENCE]],
    )
    last = [request for _, request in course.requests if request.method == LISTEN][-1]
    assert last.params["notifications"] == {"taskIds": [OTHER]}
    assert course.told[OTHER][-1].endswith("ended completed 0")


def test_a_server_too_busy_for_a_subscription_gets_none_before_it_wants_one_a10_10() -> None:
    busy = Unreachable("HTTP 429", sent=False, busy=True, retry_after=25.0)
    course = watched(
        gets={0: wire(), 40: done()}, streams=[[busy], [ack(), at(50), tells(done()), SILENCE]]
    )
    assert course.listens == [0, 25]
    assert [when for when in course.polls if when < 25] == list(range(25)), "what must be goes on"


def test_a_server_that_is_too_busy_twice_is_not_asked_again_a11_8_a10_10() -> None:
    """Or each time that it wants to be left alone would keep back the questions as well."""
    busy = Unreachable("HTTP 429", sent=False, busy=True, retry_after=20.0)
    course = watched(gets={0: wire(), 300: done()}, streams=[[busy]])
    assert len(course.listens) == 2
    assert course.modes[-1].endswith("polled: it is too busy for a subscription")
    assert course.learned == [], "it may have time tomorrow"
    assert len([when for when in course.polls if 100 <= when < 200]) >= 90


def test_a_process_that_dies_of_subscriptions_is_not_asked_for_more_a11_8_a6_7() -> None:
    lives = iter(range(100))
    transports: list[Any] = []

    def dying() -> list[Any]:
        transports[0].life = next(lives) + 1
        return [Unreachable("the server's program ended with exit code 1")]

    course = watched(gets={0: wire(), 90: done()}, streams=[dying], reached=transports.append)
    assert len(course.listens) == 2
    assert course.learned == ["its process ends when it is asked for a subscription"]


def test_a_server_that_has_told_of_changes_is_asked_again_tomorrow_a11_1() -> None:
    """A proxy that says 404 during a deployment is no lack of the server's."""
    told = [ack(), at(3), tells(wire(statusMessage="1 of 2")), at(100), CUT]
    course = watched(
        gets={0: wire(), 200: done()}, streams=[told, [HttpRefused("HTTP 404", status=404)]]
    )
    assert len(course.listens) == 2
    assert "refuses subscriptions" in course.modes[-1]
    assert course.learned == []


# ── silent streams ───────────────────────────────────────────────────────────────────────────────


def states(*changes: float) -> dict[float, Any]:
    """Another message from each of these moments on, the last time the end."""
    told = {when: wire(statusMessage=f"from {when:g}") for when in (0.0, *changes[:-1])}
    return {**told, changes[-1]: done()}


def test_a_safety_poll_finds_what_was_not_told_a11_5() -> None:
    course = watched(gets={0: wire(pollIntervalMs=2000), 31: done()}, streams=[[ack(), SILENCE]])
    assert course.polls == [0, 0.1, 30.1, 60.1]
    slow = watched(gets={0: wire(pollIntervalMs=20_000), 31: done()}, streams=[[ack(), SILENCE]])
    assert slow.polls == [0, 0.1, 100.1], "five intervals, where that is longer"


def test_a_change_that_was_not_told_brings_back_polling_until_one_is_told_a11_5() -> None:
    two = wire(statusMessage="2 of 3")
    course = watched(
        gets={0: wire(), 10: wire(statusMessage="1 of 3"), 35: two},
        streams=[[ack(), at(35), tells(two), at(80), tells(done()), SILENCE]],
    )
    assert course.polls == pytest.approx([0, 0.1, 30.1, 31.1, 32.1, 33.1, 34.1, 65])


def test_two_changes_that_were_not_told_are_worth_a_new_stream_a11_5() -> None:
    streams = [[ack(), SILENCE], [ack(), at(50), tells(done()), SILENCE]]
    course = watched(gets=states(10, 33, 900), streams=streams)
    assert course.listens == pytest.approx([0, 34.1])
    assert course.modes[1] == "33.1 polled: it did not tell of a change"
    assert course.told[ID][-1] == "50 ended completed 0"


def test_two_streams_that_tell_nothing_are_enough_a11_5() -> None:
    course = watched(
        gets=states(10, 33, 110, 115, 200, 210, 250, 260, 600), streams=[[ack(), SILENCE]]
    )
    assert len(course.listens) == 2
    assert course.learned == ["it acknowledges a subscription, and does not tell of changes"]
    assert course.told[ID][-1] == "600.1 ended completed 0"


def test_a_stream_that_is_left_in_doubt_says_nothing_about_the_server_a11_5() -> None:
    """Two changes that were not told, too soon for another stream; then the task ended."""
    course = watched(gets=states(10, 33, 40, 64.5, 70), streams=[[ack(), SILENCE]], stays=99)
    assert (len(course.listens), course.learned) == (2, [])


def test_a_stream_that_tells_of_some_changes_is_renewed_once_a_minute_at_most_a11_5() -> None:
    changes = [float(each) for each in range(10, 400, 7)]
    stream = [ack(), tells(wire(statusMessage="one")), SILENCE]
    course = watched(gets=states(*changes), streams=[stream])
    gaps = [b - a for a, b in zip(course.listens, course.listens[1:], strict=False)]
    assert len(gaps) > 2
    assert min(gaps[1:]) >= 60
    assert course.learned == []


def test_a_sleep_is_worth_a_new_stream_a11_5() -> None:
    clocks = Clocks()
    course = watched(
        gets={0: wire()},
        streams=[[ack(), SILENCE], [ack(), at(60), tells(done()), SILENCE]],
        clocks=clocks,
        beside=[clocks.nap(15, 3600)],
    )
    # It is noticed at the next thing that happens: here the alarm of the safety poll.
    assert course.modes[1] == "30.1 polled: the subscription is renewed after a sleep"
    assert course.listens == pytest.approx([0, 31.1])
    assert course.learned == []
