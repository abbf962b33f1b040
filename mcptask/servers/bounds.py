"""How much a server may send, as people write it: on the command line and in the config file."""

import re

SIZES = "bytes from 64K to 4G, as 20000000, 64M or 1G (K, M and G are powers of 1024)"
COUNTS = "a number from 1 to 1000000"
LEAST_SIZE, LARGEST_SIZE = 64 * 1024, 4 * 1024**3
LARGEST_COUNT = 1_000_000

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_SIZE = re.compile(r"([0-9]{1,12})([KMG]?)(?:I?B)?", re.ASCII)
_COUNT = re.compile("[0-9]{1,7}", re.ASCII)


def size(value: object) -> int | None:
    """Bytes, between the bounds of SIZES; None for anything else. A bare number is bytes."""
    match = _SIZE.fullmatch(str(value).strip().upper())
    found = int(match[1]) * _UNITS[match[2]] if match else 0
    return found if LEAST_SIZE <= found <= LARGEST_SIZE else None


def count(value: object) -> int | None:
    """Between the bounds of COUNTS; None for anything else."""
    text = str(value).strip()
    found = int(text) if _COUNT.fullmatch(text) else 0
    return found if 1 <= found <= LARGEST_COUNT else None
