"""The revisions of the protocol that mcptask speaks: the one place where another is added."""

from collections.abc import Callable, Mapping

from mcptask.protocol.generations.base import Generation
from mcptask.protocol.generations.v2026_07_28 import V20260728

# What makes a generation takes `call_wait`: see `V20260728`.
REVISIONS: Mapping[str, Callable[..., Generation]] = {V20260728.version: V20260728}

NEWEST = max(REVISIONS)
