"""Lets the tests of this room import `render_samples`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
