"""The pages of `tools/list`, gathered into one list (A7.1). Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcptask.errors import ProtocolError
from mcptask.protocol.generations.base import ToolList
from mcptask.protocol.generations.snapshots import LONGEST_MS

MAX_TOOLS = 10_000  # an endless cursor must not be an endless command
TOOLS_A_PAGE = (
    150  # less than that on each is a list without end too: 67 pages, where MAX_TOOLS holds
)
NAMELESS = "the server lists a tool without a name"


@dataclass
class ToolPages:
    """`cursor` asks for the next page; None before the first one, and after the last."""

    cursor: str | None = None
    most: int = MAX_TOOLS
    _tools: list[Mapping[str, Any]] = field(default_factory=list)
    _seen: set[str | None] = field(default_factory=set)
    _count: int = 0
    _warnings: list[str] = field(default_factory=list)
    _ttl_ms: int = LONGEST_MS
    _public: bool = True

    @property
    def params(self) -> dict[str, Any]:
        return {} if self.cursor is None else {"cursor": self.cursor}

    def add(self, page: Mapping[str, Any]) -> bool:
        """Take a page in. Is another one wanted? A cursor that comes twice ends it, as do the bounds."""
        self._tools.extend(_usable(page, self._warnings))
        self._ttl_ms = min(self._ttl_ms, _ttl_of(page))
        self._public = self._public and page.get("cacheScope") == "public"
        cursor = page.get("nextCursor")
        self.cursor = cursor if isinstance(cursor, str) else None  # an empty string is a cursor
        self._count += 1
        ends = self.cursor is None or self.cursor in self._seen
        self._seen.add(self.cursor)
        within = self._count < pages_of(self.most) and len(self._tools) <= self.most
        return not ends and within

    def whole(self) -> ToolList:
        """The list as far as it was read; what had no end is not to be kept."""
        endless = self.cursor is not None or len(self._tools) > self.most
        read = self._tools[: self.most]
        text = f"the server's list of tools is too long: the first {len(read)} were read (--max-tools N)"
        return ToolList(
            tools=tuple(read),
            ttl_ms=0 if endless else self._ttl_ms,
            public=self._public,
            warnings=(*self._warnings, *[text] * endless),
        )


def pages_of(most: int) -> int:
    """How many pages are read, where a list may have `most` tools."""
    return most // TOOLS_A_PAGE + 1


def _usable(page: Mapping[str, Any], warnings: list[str]) -> Iterator[Mapping[str, Any]]:
    tools, kind = page.get("tools"), page.get("resultType")
    if not isinstance(tools, list) or kind not in (None, "complete"):
        raise ProtocolError("the answer to tools/list is no list of tools")
    for tool in tools:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            yield tool
        elif NAMELESS not in warnings:
            warnings.append(NAMELESS)


def _ttl_of(page: Mapping[str, Any]) -> int:
    """How long the page stays fresh, in ms; missing, negative or broken means not at all (A7.4)."""
    ttl: Any = page.get("ttlMs")
    usable = isinstance(ttl, int | float) and not isinstance(ttl, bool) and ttl > 0
    return int(min(ttl, LONGEST_MS)) if usable else 0
