"""The pretend studio: rooms, a month of bookings, and the month laid out again without some rooms.

Everything is computed, nothing is drawn by lot: the same month gives the same bookings on every
machine and in every process, which is what lets a job go on elsewhere.
"""

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

BOOKINGS = 142
# Every so many bookings a whole orchestra comes, which only the largest room can hold.
ORCHESTRA_EVERY = 36
ORCHESTRA_AT = 17


class Room(NamedTuple):
    """`weekdays` and `weekend` are the opening hours: from, until (hours of the day)."""

    name: str
    capacity: int
    weekdays: tuple[int, int]
    weekend: tuple[int, int]


ROOMS = (
    Room("studio-a", 16, (9, 22), (9, 21)),
    Room("studio-b", 30, (8, 23), (9, 20)),
    Room("studio-c", 8, (10, 20), (10, 19)),
    Room("studio-d", 12, (9, 21), (9, 19)),
)
BY_NAME = {room.name: room for room in ROOMS}
LARGEST = "studio-b"


class Booking(NamedTuple):
    """`day` of the month, `start` and `hours` in whole hours; `number` counts from 1."""

    number: int
    room: str
    day: int
    start: int
    hours: int
    people: int

    @property
    def end(self) -> int:
        return self.start + self.hours


def days_in(month: str) -> int:
    year, number = int(month[:4]), int(month[5:])
    return 31 if number == 12 else (date(year, number + 1, 1) - date(year, number, 1)).days


def opening_hours(room: Room, month: str, day: int) -> tuple[int, int]:
    weekend = date(int(month[:4]), int(month[5:]), day).weekday() >= 5
    return room.weekend if weekend else room.weekdays


def _noise(month: str) -> Iterator[int]:
    """Small numbers without end, the same for the same month (a linear congruential generator)."""
    value = int(month[:4]) * 12 + int(month[5:])
    while True:
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        yield value >> 40


def _starts(
    room: Room, month: str, taken: list[Booking], booking: Booking, wish: int
) -> Iterator[int]:
    """The hours at which `booking` can begin in `room`: open, and free of `taken`; those nearest
    to `wish` first."""
    opens, closes = opening_hours(room, month, booking.day)
    busy = [other for other in taken if other.room == room.name and other.day == booking.day]
    for start in sorted(range(opens, closes - booking.hours + 1), key=lambda at: abs(at - wish)):
        end = start + booking.hours
        if all(end <= other.start or start >= other.end for other in busy):
            yield start


@lru_cache(maxsize=32)
def bookings_of(month: str) -> tuple[Booking, ...]:
    """The month as it was booked, all rooms open: always BOOKINGS of them, in order of days."""
    noise, days = _noise(month), days_in(month)
    laid: list[Booking] = []
    for index in range(BOOKINGS):
        orchestra = index % ORCHESTRA_EVERY == ORCHESTRA_AT
        room = BY_NAME[LARGEST] if orchestra else ROOMS[index % len(ROOMS)]
        people = 18 + next(noise) % 13 if orchestra else 1 + next(noise) % min(room.capacity, 16)
        wish, hours = 9 + next(noise) % 10, 1 + next(noise) % 2
        plan = Booking(index + 1, room.name, 1 + index * days // BOOKINGS, wish, hours, people)
        laid.append(plan._replace(start=next(_starts(room, month, laid, plan, wish))))
    return tuple(laid)


def _place(booking: Booking, month: str, open_rooms: list[Room], laid: list[Booking]) -> Booking:
    """The booking with its new room and hour: where it was if that is open, else the smallest
    room that holds its people, on the same day, nearest to its hour. Room "" if there is none."""
    rooms = [room for room in open_rooms if room.capacity >= booking.people]
    rooms.sort(key=lambda room: (room.name != booking.room, room.capacity, room.name))
    places = [
        (abs(start - booking.start), order, start, room.name)
        for order, room in enumerate(rooms)
        for start in _starts(room, month, laid, booking, booking.start)
    ]
    if not places:
        return booking._replace(room="")
    _, _, start, name = min(places)
    return booking._replace(room=name, start=start)


@lru_cache(maxsize=32)
def reflow(month: str, offline_rooms: frozenset[str]) -> tuple[Booking, ...]:
    """The whole month laid out again with these rooms closed: every booking gets its place again,
    first those whose room is open (they keep it), then the others; room "" fits nowhere."""
    open_rooms = [room for room in ROOMS if room.name not in offline_rooms]
    laid: list[Booking] = []
    for booking in sorted(bookings_of(month), key=lambda each: each.room in offline_rooms):
        placed = _place(booking, month, open_rooms, laid)
        laid.append(placed)
    return tuple(laid)
