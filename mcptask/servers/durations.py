"""Durations as people write them, on the command line and in the config file."""

import math
import re

FORMS = "90, 90s, 10m, 2h, 1h30m, 1d or 500ms"

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
# Largest unit first, each at most once; `m` must not eat the m of `ms`.
_UNITS = {"d": 86400.0, "h": 3600.0, r"m(?!s)": 60.0, "s": 1.0, "ms": 0.001}
_PATTERN = re.compile("".join(f"(?:{_NUMBER}{unit})?" for unit in _UNITS))
_PLAIN = re.compile(_NUMBER)


def parse(text: str) -> float | None:
    """Seconds, finite and above zero; None for anything else. A bare number is seconds."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return _usable(float(text))
    match = _PATTERN.fullmatch(text)
    if match is None:
        return None
    parts = zip(match.groups(), _UNITS.values(), strict=True)
    return _usable(sum(float(number) * unit for number, unit in parts if number))


def _usable(seconds: float) -> float | None:
    return seconds if 0 < seconds < math.inf else None
