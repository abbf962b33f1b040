"""Addresses of servers without their secrets: what may be shown of a URL or a command, and stored. Pure."""

import re
from collections.abc import Sequence

MASK = "***"
UNREADABLE = "(a URL that cannot be read)"

_IGNORED = re.compile(r"[\t\r\n]")  # by everything that reads URLs
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# A name or an address, and a port; either may still be the `${VAR}` of a config file.
_HOST = re.compile(r"(\[[^\[\]@]*\]|(?:\$\{\w*\}|[^:\[\]@])*)(:([0-9]*|\$\{\w*\}))?")

# Texts, which `re` compiles (and keeps) when the first command is masked: 1 ms that few runs need.
_NAME = (
    r"(?i:[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|pwd|api-?_?key"
    r"|[_-]key(?![\w.-])|auth(?!or(?!iz))|bearer|credential)[\w.-]*)"
)
# `--token abc`: the value is the next word.
_OPTION = rf"-{_NAME}"
# `--token=abc`, `API_KEY=abc`, `Authorization: Bearer abc`, `{"token":"abc"}`, `sh -c "run --token abc"`.
_PAIR = rf"(?s)({_NAME}(?:\s*=|:\s+|[\"']\s*:)\s*|(?:^|\s)-{_NAME}\s+).+"
# `postgres://me:abc@host/db`
_LOGIN = r"://[^/\s:@]*:[^/\s]*@"


def bare_url(url: str) -> str:
    """The URL without user, password, query and fragment: all the places where people put secrets.

    Never fails; of what looks broken nothing is left, since a secret may lie anywhere in it.
    """
    return "".join(url_parts(url))


def url_parts(url: str) -> tuple[str, str]:
    """`bare_url` in two: up to the host and port, and the path.

    By hand, because `urlsplit` raises on some malformed URLs and misreads others.
    """
    text = _IGNORED.sub("", url.partition("#")[0].partition("?")[0])
    scheme, mark, rest = text.partition("//")
    if not mark or (scheme and not _SCHEME.fullmatch(scheme)):
        if text.startswith("/") or "@" not in text:
            return "", text
        return url_parts(
            text.rpartition("@")[2]
        )  # which may read as an address of its own: `@//host`
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2]
    if not _HOST.fullmatch(host):
        return UNREADABLE, ""
    return scheme + mark + host, slash + path


def masked(command: Sequence[str]) -> tuple[str, ...]:
    """The words of a command, `***` for what looks like a secret. Once masked, it stays as it is."""
    words: list[str] = []
    hide_next = False
    for word in command:
        if hide_next and not word.startswith("-"):
            words.append(MASK)
            hide_next = False
            continue
        hide_next = re.fullmatch(_OPTION, word) is not None
        word = re.sub(_PAIR, rf"\1{MASK}", word)
        words.append(re.sub(_LOGIN, f"://{MASK}@", word))
    return tuple(words)


def concealed(command: Sequence[str]) -> tuple[str, ...]:
    """What `masked` hides of a command, word by word."""
    hidden = []
    for word, shown in zip(command, masked(command), strict=True):
        if word != shown:
            before, _, after = shown.partition(MASK)
            hidden.append(word[len(before) : len(word) - len(after.rpartition(MASK)[2])])
    return tuple(hidden)


def is_secret_name(name: str) -> bool:
    """Does what has this name look like a secret? A header, a variable, an option."""
    return re.search(rf"{_NAME}|(?i:cookie|session)", name) is not None


def shown_command(command: Sequence[str]) -> str:
    """A command as a person would type it, its secrets masked."""
    import shlex

    return shlex.join(masked(command)).replace(f"'{MASK}'", MASK)
