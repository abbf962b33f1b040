"""Writing to streams that may be gone or may not know every character. Decides nothing about content."""

from typing import TextIO


def encodable(text: str, stream: TextIO) -> str:
    """The text with what the stream cannot encode (a lone surrogate, `✓` in ASCII) as backslash escapes."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def write(stream: TextIO, text: str) -> None:
    """Data: written and flushed. A closed pipe or a full disk is the caller's to handle (`OSError`)."""
    stream.write(encodable(text, stream))
    stream.flush()


def try_write(stream: TextIO, text: str) -> bool:
    """Progress: written and flushed if it can be. A lost terminal must not end the watch."""
    try:
        write(stream, text)
    except (OSError, ValueError):  # broken, or closed meanwhile
        return False
    return True
