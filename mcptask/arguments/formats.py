"""`format` of a text, as far as the forms that servers send know it: email, uri, date, date-time."""

import re
from collections.abc import Callable
from datetime import date, datetime
from urllib.parse import urlsplit

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def fits_format(name: object, value: object) -> bool:
    """Does `value` follow the format? What is no text, and a format unknown here, always does."""
    reader = FORMATS.get(name) if isinstance(name, str) else None
    if reader is None or not isinstance(value, str):
        return True
    try:
        return bool(reader(value))
    except ValueError:
        return False


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)


FORMATS: dict[str, Callable[[str], object]] = {
    "email": re.compile(r"[^@\s]+@[^@\s]+").fullmatch,
    "uri": _is_uri,
    "date": lambda text: _DATE.fullmatch(text) and date.fromisoformat(text),
    "date-time": lambda text: _DATE_TIME.fullmatch(text) and datetime.fromisoformat(text.upper()),
}
