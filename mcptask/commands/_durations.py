"""Durations on the command line."""

from mcptask.errors import UsageError
from mcptask.servers import durations


def seconds(text: str) -> float:
    """Seconds, finite and above zero. Raises UsageError that names the accepted forms."""
    value = durations.parse(text)
    if value is None:
        raise UsageError(
            f"{text[:60]!r} is not a duration above zero", hint=f"write {durations.FORMS}"
        )
    return value
