"""The pretend studio computes what it says, the same for everyone."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.demo.studio import (
    BOOKINGS,
    BY_NAME,
    ROOMS,
    Booking,
    bookings_of,
    days_in,
    opening_hours,
    reflow,
)

MONTHS = st.builds("{:04}-{:02}".format, st.integers(1, 9999), st.integers(1, 12))
CLOSED = st.frozensets(st.sampled_from([room.name for room in ROOMS]))


def check_layout(month: str, laid: list[Booking]) -> None:
    """Capacity, opening hours, no overlaps."""
    for booking in laid:
        room = BY_NAME[booking.room]
        opens, closes = opening_hours(room, month, booking.day)
        assert 1 <= booking.day <= days_in(month)
        assert opens <= booking.start < booking.end <= closes
        assert 1 <= booking.people <= room.capacity
    for one, other in combinations(laid, 2):
        if (one.room, one.day) == (other.room, other.day):
            assert one.end <= other.start or other.end <= one.start


@settings(max_examples=25)
@given(MONTHS)
def test_every_month_has_142_bookings_that_could_be_made(month: str) -> None:
    booked = bookings_of(month)
    assert [booking.number for booking in booked] == list(range(1, BOOKINGS + 1))
    check_layout(month, list(booked))


@settings(max_examples=25)
@given(MONTHS, CLOSED)
def test_a_reflow_keeps_to_the_open_rooms_and_loses_no_booking(
    month: str, closed: frozenset[str]
) -> None:
    laid = reflow(month, closed)
    assert {booking.number for booking in laid} == set(range(1, BOOKINGS + 1))
    placed = [booking for booking in laid if booking.room]
    assert not closed & {booking.room for booking in placed}
    check_layout(month, placed)


@settings(max_examples=60)
@given(MONTHS)
def test_without_studio_b_four_bookings_fit_nowhere_in_any_month(month: str) -> None:
    lost = {
        booking.number for booking in reflow(month, frozenset({"studio-b"})) if not booking.room
    }
    assert len(lost) == 4
    largest = max(room.capacity for room in ROOMS if room.name != "studio-b")
    people = {b.people for b in bookings_of(month) if b.number in lost}
    assert min(people) > largest


@pytest.mark.parametrize("month", ["2026-02", "2028-02", "2026-09", "9999-12"])
def test_with_all_rooms_open_nothing_moves(month: str) -> None:
    assert reflow(month, frozenset()) == bookings_of(month)


def test_with_all_rooms_closed_nothing_fits() -> None:
    assert not any(booking.room for booking in reflow("2026-09", frozenset(BY_NAME)))


def test_a_booking_whose_room_is_open_stays_where_it_is() -> None:
    booked = {booking.number: booking for booking in bookings_of("2026-09")}
    for booking in reflow("2026-09", frozenset({"studio-b"})):
        was = booked[booking.number]
        if was.room != "studio-b":
            assert booking == was
