"""What may be on a terminal: our own codes and no others, and no line that passes for ours."""

import re

from tests.e2e.terminal import Terminal
from tests.hostile_text.words import acting, forged

# Colours; to move up, down, right; to clear to the end of a line, or of all below; the cursor, and pastes.
_OURS = re.compile(r"\x1b\[(?:[0-9;]*m|\d*[ABC]|[KJ]|\?25[hl]|\?2004[hl])")


def faults_on(screen: Terminal) -> list[str]:
    """All that was ever written to it, and all that was ever seen on it."""
    written = _OURS.sub("", screen.raw.decode())
    acts = [ascii(c) for c in sorted(acting(written) - {"\r", "\n"})]
    seen = {line for lines in screen.seen for line in forged(lines)}
    # No CI system reads a terminal.
    return [*acts, *(line for line in seen if not line.startswith(("::", "##")))]
