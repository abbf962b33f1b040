"""`did you mean …?`, for every name that people can mistype."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """A hint `did you mean …?` for a word that is none of `known`, or None."""
    import difflib

    by_fold = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), by_fold, n=2, cutoff=0.6)
    names = " or ".join(repr(by_fold[name]) for name in close)
    return f"did you mean {names}?" if names else None
