"""What must hold after a run of the drill, by the witness's log and the bytes of the state file alone.

Nothing of mcptask's is used here: neither its reader nor its idea of what it did.
"""

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
ID = re.compile(r"tsk_\d+_\d+")
# What a client may exit with when its server was killed, its disk is full, or nothing happened to it.
SENSIBLE = frozenset({0, 3, 7, 9})


@dataclass(frozen=True)
class Ran:
    """One client process. `who` as the witness knows it; `acknowledged`: the (task, key) pairs that the state
    file called acknowledged before it began. `code` is None where we killed it."""

    who: str
    argv: tuple[str, ...]
    code: int | None
    out: str = ""
    err: str = ""
    acknowledged: frozenset[tuple[str, str]] = frozenset()


def violations(
    log: Sequence[Json], data: bytes | None, runs: Sequence[Ran], *, full: bool = False
) -> list[str]:
    """What is wrong, in words. `full`: there was no room to note anything, so what was printed counts."""
    try:
        state = stored(data)
    except ValueError as error:
        return [f"the state file does not parse: {error}"]
    return [
        *_broken_refs(state),
        *_lost(log, state, runs, full),
        *_answered_twice(log, runs),
        *(each for ran in runs for each in _badly_ended(ran)),
    ]


def stored(data: bytes | None) -> Json:
    """The state file's own words. ValueError where it is none."""
    return {} if data is None else tomllib.loads(data.decode())


def acknowledged(state: Json) -> frozenset[tuple[str, str]]:
    return frozenset(
        (task["task_id"], key)
        for task in state.get("tasks", [])
        for key in task.get("answered", [])
    )


def _broken_refs(state: Json) -> Iterator[str]:
    refs = [each["ref"] for each in (*state.get("tasks", []), *state.get("calls", []))]
    if len(set(refs)) < len(refs) or any(ref >= state["next_ref"] for ref in refs):
        yield f"the numbers are not what they should be: {refs}, next {state.get('next_ref')}"


def _lost(log: Sequence[Json], state: Json, runs: Sequence[Ran], full: bool) -> Iterator[str]:
    there = {task["task_id"] for task in state.get("tasks", [])}
    printed = {found for ran in runs for found in ID.findall(ran.out)}
    # A call that is waited for has its result on stdout: the warning tells the id.
    told = {found for ran in runs if "--wait" in ran.argv for found in ID.findall(ran.err)}
    created = {each["call"]: each["task"] for each in log if each["saw"] == "created"}
    gave = {each["call"]: each["what"] for each in log if each["saw"] == "gave"}
    missing: Counter[str] = Counter()
    for each in log:
        if each["saw"] != "call" or gave.get(each["call"]) in ("result", "questions"):
            continue
        task = created.get(each["call"])
        if task in there:
            continue
        if not full:
            missing[each["tool"]] += 1
        elif gave.get(each["call"]) == "task" and task not in (printed | told):
            yield f"task {task} was neither stored nor printed, on a full disk"
    marks = Counter(call.get("tool") for call in state.get("calls", []))
    for tool, count in missing.items():
        if count > marks[tool]:
            yield f"{count} calls of {tool} have neither a task nor a mark, but for {marks[tool]}"
    if not full and printed - there:
        yield f"printed, and not stored: {sorted(printed - there)}"


def _answered_twice(log: Sequence[Json], runs: Sequence[Ran]) -> Iterator[str]:
    acked = {each["n"] for each in log if each["saw"] == "acked"}
    known = {ran.who: ran.acknowledged for ran in runs}
    updates: defaultdict[tuple[str, str], list[Json]] = defaultdict(list)
    for each in log:
        if each["saw"] == "update":
            updates[each["task"], each["key"]].append(each)
    for question, sent in updates.items():
        if len({json.dumps(each["body"], sort_keys=True) for each in sent}) > 1:
            yield f"{question} got different answers: {[each['body'] for each in sent]}"
        for number, again in enumerate(sent[1:], 1):
            if question in known.get(again["who"], ()):
                yield f"{question} was answered again, and its acknowledgement was stored before"
            heard = (one for one in sent[:number] if one["who"] == again["who"])
            if any(one["n"] in acked for one in heard):
                yield f"{question} was answered again by one that had the acknowledgement"


def _badly_ended(ran: Ran) -> Iterator[str]:
    name = " ".join(ran.argv)
    if "Traceback" in ran.out + ran.err:
        yield f"{name}: a traceback: {ran.err[-300:]}"
    if ran.code is not None and ran.code not in SENSIBLE:
        yield f"{name}: exit {ran.code}: {ran.err[-300:]}"
