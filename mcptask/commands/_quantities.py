"""Durations, sizes and counts on the command line. Each raises UsageError that names the accepted forms."""

from mcptask.errors import UsageError
from mcptask.servers import bounds, durations


def seconds(text: str) -> float:
    """Seconds, finite and above zero."""
    value = durations.parse(text)
    if value is None:
        raise _not_a("duration above zero", text, durations.FORMS)
    return value


def size(text: str) -> int:
    value = bounds.size(text)
    if value is None:
        raise _not_a("size that can be used", text, bounds.SIZES)
    return value


def count(text: str) -> int:
    value = bounds.count(text)
    if value is None:
        raise _not_a("number that can be used", text, bounds.COUNTS)
    return value


def _not_a(kind: str, text: str, forms: str) -> UsageError:
    return UsageError(f"{text[:60]!r} is not a {kind}", hint=f"write {forms}")
