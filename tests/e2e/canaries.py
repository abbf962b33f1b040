"""Looks for a secret, however it is spelled, in all that a run left behind: what it said, and every file."""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

# As short as what is searched for may be, so that a part of it counts as well.
PART = 8


def spellings(secret: str) -> set[str]:
    """In a URL, in JSON, and inside of Base64, wherever it begins there."""
    found = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    found.add(json.dumps(secret)[1:-1])
    for before, spoilt in ((0, 0), (1, 2), (2, 3)):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = (before + len(secret)) * 8 // 6
            found.add(encode(bytes(before) + secret.encode()).decode()[spoilt:whole])
    return found | {secret[:PART]}


def leaks(secret: str, *said: str, besides: Path | None = None) -> list[str]:
    """Where it is: in what was `said`, in a file under HOME (config, state, cache, log) or `besides` it, or
    in a file's name. The config file is where it was put."""
    spelled = spellings(secret)
    found = [f"said: {text}" for text in said if any(each in text for each in spelled)]
    for path in _files(Path(os.environ["HOME"]), *([besides] if besides else [])):
        held = path.read_bytes().decode("utf-8", "replace") + path.name
        if path.name != "config.toml" and any(each in held for each in spelled):
            found.append(f"{path}: {held[:2000]}")
    return found


def _files(*folders: Path) -> Iterator[Path]:
    return (path for folder in folders for path in folder.rglob("*") if path.is_file())
