"""Commands of stdio servers as text.

Split like a shell would, never given to a shell; shown without what looks like a secret.
"""

import os
import re
import shlex
from collections.abc import Sequence

# Windows paths are full of backslashes, which POSIX rules would eat: there, only quotes count.
_WINDOWS_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')

_SECRET = re.compile(r"(?i)(token|secret|passw(or)?d|api-?_?key|auth|bearer|credential)")
MASK = "***"


def split(text: str, *, windows: bool = os.name == "nt") -> tuple[str, ...]:
    """The words of `text`. Raises ValueError, in words for a person, when a quote is left open."""
    if not windows:
        try:
            return tuple(shlex.split(text))
        except ValueError as error:
            raise ValueError(str(error)[:1].lower() + str(error)[1:]) from None
    if text.count('"') % 2:
        raise ValueError("no closing quotation")
    return tuple(word.replace('"', "") for word in _WINDOWS_WORD.findall(text))


def shown(command: Sequence[str]) -> str:
    """The command for display: what follows options such as `--token`, `--api-key=` is masked."""
    words: list[str] = []
    hide_next = False
    for word in command:
        option, equals, _ = word.partition("=")
        secret = bool(_SECRET.search(option)) and (word.startswith("-") or bool(equals))
        if hide_next and not word.startswith("-"):
            word = MASK
        elif secret and equals:
            word = f"{option}={MASK}"
        hide_next = secret and not equals
        words.append(word)
    return shlex.join(words).replace(f"'{MASK}'", MASK)
