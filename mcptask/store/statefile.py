"""The state file itself: read whole, written whole. No lock and no meaning: those are `tasks`' business."""

import os
import re
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from mcptask.errors import StateError, StateUnwritable
from mcptask.store import atomic
from mcptask.store.format import Texts, loaded, written
from mcptask.store.records import State
from mcptask.untrusted import objection

# The whole file, in bytes: tens of thousands of tasks. A larger one is neither read nor written.
LARGEST = 16 * 1024 * 1024
TOO_LARGE = f"larger than {LARGEST // 1024 // 1024} MiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One look at the file: its bytes (none where there is no file), and what they say.

    `damage` is what is wrong with it; the state is empty then.
    """

    data: bytes = b""
    state: State
    warnings: tuple[str, ...] = ()
    damage: str | None = None
    texts: Texts = field(default_factory=dict)  # of its records, as they are there


def read(path: Path, known: Reading | None = None) -> Reading:
    """StateUnwritable where it cannot be read; StateError for a newer format, or what is no file.

    `known` is an earlier look: the same bytes are not parsed again, which takes most of the time.
    """
    data = _bytes(path)
    if data is None:
        return Reading(state=State())
    if not data.strip():
        # `mktemp` makes empty files, and so do people; where there was more before, something broke.
        damage = "it is empty" if backup_of(path).exists() else None
        return Reading(data=data, state=State(), damage=damage)
    if known is not None and known.data == data:
        return known
    try:
        state, warnings, texts = loaded(data)
    except RecursionError:
        return Reading(data=data, state=State(), damage="it is nested too deeply")
    except StateError as error:  # a newer format
        raise StateError(f"{path} cannot be used: {error.message}", hint=error.hint) from None
    except ValueError as error:
        return Reading(data=data, state=State(), damage=str(error))
    told = tuple(f"{path}: {text}" for text in warnings)
    return Reading(data=data, state=state, warnings=told, texts=texts)


def mark(path: Path) -> tuple[int, int, int] | None:
    """What differs from one file at `path` to the next; None where there is none to see."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def write(path: Path, state: State, before: Reading) -> Reading:
    """Replaces the file, and keeps the one that was good until now as `….bak`; returns what a look at
    the new one would. OSError."""
    try:
        data, texts = written(state, before.texts)
    except (ValueError, RecursionError) as error:
        raise StateError(f"{path} cannot be written anew: {error}") from error
    if len(data) > LARGEST:
        hint = "mcptask forget --ended makes room"
        raise StateUnwritable(f"{path} cannot be written: it would be {TOO_LARGE}", hint=hint)
    if before.data and before.damage is None:
        with suppress(OSError):  # no reason not to write
            atomic.write(backup_of(path), before.data, durable=False)
    atomic.write(path, data)
    atomic.sweep(
        path.parent, re.compile(rf"{re.escape(path.name)}(\.bak|\.lock\.pid|\.damaged-\d+)?")
    )
    return Reading(data=data, state=state, texts=texts)


def set_aside(path: Path, data: bytes) -> Path:
    """Keeps damaged bytes under a name that nothing else has, and beside it the last good copy. OSError.

    A copy and not a rename: a reader without the lock must find a file at every moment. The backup does
    move, since the next two changes would replace it by what begins anew.
    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    atomic.write(aside, data)
    with suppress(OSError):
        os.replace(backup_of(path), backup_of(aside))
    return aside


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + ".bak")


def damaged(path: Path, damage: str) -> StateError:
    hint = "mend it, or move it away"
    if backup_of(path).exists():
        hint += f"; {backup_of(path)} is the last good copy"
    return StateError(f"{path} is damaged: {damage}", hint=hint)


def unusable(path: Path, error: OSError, doing: str) -> StateUnwritable:
    """The operating system's refusal in our words."""
    hint = "name another file with --state FILE or MCPTASK_STATE"
    if sys.platform != "win32" and isinstance(error, PermissionError):
        with suppress(OSError, KeyError):  # no file there, or of a user without a name
            hint = f"it belongs to {path.owner()}; {hint}"
    return StateUnwritable(f"{path} cannot be {doing}: {error.strerror or error}", hint=hint)


def _bytes(path: Path) -> bytes | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opened, a device or a pipe may do anything
            raise StateError(f"{path} is not a plain file", hint="name one with --state FILE")
        # Checked and read through one descriptor, so that the file checked is the file read.
        with atomic.opened(path) as file:
            _refuse_what_others_can_write(path, os.fstat(file.fileno()))
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            hint = "move it away, or name another with --state FILE"
            raise StateError(f"{path} is {TOO_LARGE}: not used", hint=hint)
        return data
    except FileNotFoundError:
        _refuse_what_others_can_write(path, None)
        return None
    except OSError as error:
        raise unusable(path, error, "read") from error


def _refuse_what_others_can_write(path: Path, status: os.stat_result | None) -> None:
    refusal = objection(path, status)
    if refusal is not None:
        raise StateError(refusal[0], hint=refusal[1])
