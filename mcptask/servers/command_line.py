"""Commands of stdio servers as people write them: split like a shell would, never given to a shell."""

import os
import re
import shlex

# Windows paths are full of backslashes, which POSIX rules would eat: there, only quotes count.
_WINDOWS_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')


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
