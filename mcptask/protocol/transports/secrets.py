"""The secrets of one server as far as they are known, kept out of what is written and said. Pure.

Whoever knows them makes a `Secrets` (`servers/secrets.py`); transports only ask it to hide them.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from mcptask.protocol.transports.redact import MASK

# Shorter ones are words: hidden wherever they occur they would hide half of what is to be seen.
SHORTEST = 6

# Where an excerpt may have cut a text off, so that only the start of a secret is left of it.
_CUT = "…\n"


@dataclass(frozen=True)
class Secrets:
    """`values` are hidden wherever they occur, longest first; `headers` are the names (lower case) of
    headers whose values are hidden whatever they are.
    """

    values: tuple[str, ...] = ()
    headers: frozenset[str] = frozenset()

    def hide(self, text: str) -> str:
        """`text` with `***` for every secret, and for the start of one that an excerpt cut off."""
        for value in self.values:
            if value[:SHORTEST] in text:
                text = _without_start(text.replace(value, MASK), value)
        return text


def secrets_from(values: Iterable[str], headers: Iterable[str] = ()) -> Secrets:
    """The `Secrets` of these values, also as a server may spell them: in a URL, or in JSON in a string."""
    spelled = {form for value in values for form in _forms(value) if len(form) >= SHORTEST}
    return Secrets(_longest_first(spelled), frozenset(name.lower() for name in headers))


def together(one: Secrets, other: Secrets) -> Secrets:
    return Secrets(
        _longest_first({*one.values, *other.values}),
        one.headers | other.headers,
    )


def rewritten(
    value: Any,
    text: Callable[[str], str],
    fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda fields: fields,
) -> Any:
    """A copy of a JSON value with every string changed, the names of members too, and before that
    every object as `fields` has it.

    A loop, not recursion: how deep a message nests is the server's choice.
    """
    root = [value]
    stack: list[Any] = [root]  # copies whose children are still the originals
    while stack:
        copy = stack.pop()
        for key, child in list(copy.items() if isinstance(copy, dict) else enumerate(copy)):
            if isinstance(child, str):
                copy[key] = text(child)
            elif isinstance(child, Mapping):
                copy[key] = {text(name): member for name, member in fields(child).items()}
                stack.append(copy[key])
            elif isinstance(child, list | tuple):
                copy[key] = list(child)
                stack.append(copy[key])
    return root[0]


def _longest_first(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _forms(value: str) -> Iterator[str]:
    yield value
    yield unquote(value)
    yield from (quote(value), quote(value, safe=""), quote_plus(value))
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield from _in_base64(value)


def _in_base64(value: str) -> Iterator[str]:
    """How it reads inside of Base64, wherever in the encoded text it begins; of both alphabets."""
    data = value.encode("utf-8", "surrogatepass")
    # Bytes in front of it, and the digits that tell of them.
    for before, spoilt in ((0, 0), (1, 2), (2, 3)):
        whole = (before + len(data)) * 8 // 6  # digits of nothing that comes after it
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + data).decode("ascii")[spoilt:whole]


def _without_start(text: str, secret: str) -> str:
    start = rf"{re.escape(secret[:SHORTEST])}[^{_CUT}]{{0,{len(secret)}}}(?=[{_CUT}]|\Z)"
    return re.sub(start, lambda m: MASK if secret.startswith(m[0]) else m[0], text)
