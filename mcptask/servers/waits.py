"""How long a server may take for what: the waits that its config can change (A5.8)."""

from dataclasses import dataclass, fields
from typing import Any

from mcptask.servers import durations


@dataclass(frozen=True, kw_only=True)
class Waits:
    """In seconds; None leaves a wait as it is. The names are the keys of the config."""

    timeout: float | None = None  # silence, before an answer and within it
    connect_timeout: float | None = None  # until the connection stands (HTTP)
    answer_timeout: float | None = None  # one whole answer, however busy its stream is
    probe_timeout: float | None = None  # until `initialize` is tried on a silent program (stdio)
    stop_timeout: float | None = None  # until a program ends by itself; again when told to (stdio)


KEYS = tuple(field.name for field in fields(Waits))
URL_ONLY = ("connect_timeout",)
COMMAND_ONLY = ("probe_timeout", "stop_timeout")


def seconds(value: Any) -> float | None:
    """Seconds of a duration as the config has it, or None; `true` is no number, though Python says so."""
    usable = isinstance(value, int | float | str) and not isinstance(value, bool)
    return durations.parse(str(value)) if usable else None
