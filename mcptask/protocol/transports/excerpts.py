"""The start of what a server sent, for a message to a person. Pure, and cheap to import: errors need it."""


def excerpt(data: bytes, length: int = 200) -> str:
    """The start of a body for an error message: about `length` characters, on one line."""
    return shortened(data[: length * 4].decode("utf-8", "replace"), length)


def shortened(text: str, length: int = 200) -> str:
    """The start of a server's text, on one line."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[:length] + "…"
