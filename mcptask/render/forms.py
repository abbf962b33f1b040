"""A question as a form at the terminal, line by line: who asks, each field, the last look (A12.12, A12.13).

Lines only: reads nothing, decides nothing. Whatever the server wrote is cleaned, and stands indented, so
that no line of ours begins with it. `width` is in columns.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcptask.protocol.questions import Question
from mcptask.protocol.schemas import (
    Choice,
    Schema,
    alternatives,
    countable,
    describe,
    kind,
    offered,
    required,
    sub,
)
from mcptask.protocol.task import Status
from mcptask.render.answer_line import serving_option
from mcptask.render.cells import cell_width, pad, shorten
from mcptask.render.parts import flow, wrapped
from mcptask.render.questions import Request, bounds, described, json_word
from mcptask.render.style import look, paint
from mcptask.render.text import clean, clean_block, clean_json, flat

PROMPT = "› "
_MOST_MESSAGE_LINES = 60
_MOST_DESCRIPTION_LINES = 4
_MOST_PARAMETER_LINES = 12
_MOST_CHOICES = 200
_MOST_FIELD_LINES = 20
_MOST_JSON_LINES = 1000
LEFT_OUT = "(left out)"
# How a question was left → what became of it. Before there is a task, nothing can wait.
_LEFT = {"decline": "no (declined)", "cancel": "neither yes nor no (cancelled)"}


def question_lines(
    server: str, tool: str, task: str, question: Question, width: int, *, colour: bool
) -> list[str]:
    """`◐ studio asks (approve), for reflow_month, task 7:` and the whole message below it. `task` is what to
    call it, and empty where there is none yet.
    """
    asks = look(Status.INPUT_REQUIRED)
    whose = f"for {flat(tool)}" + (f", task {flat(task)}" if task else "")
    first, *rest = wrapped(
        f"{asks.glyph} {flat(server)} asks ({flat(question.key)}), {whose}:", width - 2, 9
    )
    message = str(sub(question.request, "params").get("message") or "")
    return [
        first.replace(asks.glyph, paint(asks.glyph, asks.colour, colour), 1),
        *_indented(rest),
        *_past_lines(server, question, width, colour=colour),
        *_indented(block(message, width - 2, _MOST_MESSAGE_LINES)),
    ]


def _past_lines(server: str, question: Question, width: int, *, colour: bool) -> list[str]:
    """What was under this key before (A12.3, A12.8)."""
    told = []
    if question.changed:
        told.append("under this key was another question before: this is a new one, read it anew")
    if question.refused is not None:
        told.append(f"{server} refused the last answer: {question.refused}")
    return [each for text in told for each in wrong_lines(text, None, width, colour=colour)]


def leaving(*, started: bool) -> tuple[str, ...]:
    """How a question is left. Before a task was `started`, nothing can wait for an answer."""
    later = "l leaves it for later" if started else "l stops here, nothing is started"
    return ("d declines", "c cancels the question", later)


def leaving_lines(width: int, *, started: bool) -> list[str]:
    """What that means."""
    if started:
        after = "Left for later, nothing is sent and the task waits; Ctrl-C does the same, and ends mcptask."
    else:
        after = "Stopping here, by l or Ctrl-C, sends nothing and starts nothing."
    told = f"Declining says no, cancelling neither yes nor no: both are answers, and go at once. {after}"
    return told_lines(told, width)


def left_lines(key: str, how: str, width: int, *, started: bool) -> list[str]:
    """What stays of a question that was left: `how` is `decline`, `cancel` or anything else for later."""
    if how in _LEFT:
        return answer_head("Answer given to", key, f": {_LEFT[how]}.", width)
    why = "left for later" if started else "nothing is started"
    return answer_head("No answer to", key, f": {why}.", width)


def way_out_lines(schema: Schema, width: int, *, started: bool) -> list[str]:
    """What can be typed instead of any field's value."""
    needed = ["* needed"] if required(schema) else []
    # While a field is typed, `d` alone may be its text.
    return flow([*needed, *(f":{way}" for way in leaving(started=started))], width, cut=False)


def field_lines(name: str, schema: Schema, values: Mapping[str, Any], width: int) -> list[str]:
    """`action *  1 waitlist · 2 refund · 3 keep`, and below it what the server says about the field.

    `schema` is the form's, `values` what its fields have so far.
    """
    needed, each = name in required(schema), sub(schema, "properties").get(name)
    facts = [*_expected(each, schema), *_if_empty(name, each, schema, values, needed=needed)]
    title = clean(name) + (" *" if needed else "")
    first, *rest = flow([f"{title}  {facts[0]}", *facts[1:]], width - 4, cut=False)
    about = described(each) if isinstance(each, dict) else ""
    below = [*rest, *block(about, width - 4, _MOST_DESCRIPTION_LINES)]
    return [f"  {first}", *(f"    {line}" for line in below)]


def wrong_lines(message: str, hint: str | None, width: int, *, colour: bool) -> list[str]:
    """What is wrong with the line that was typed, below it."""
    first, *rest = wrapped(f"! {flat(message)}", width - 4, 9)
    lines = [f"  {paint('!', 'red', colour)}{first[1:]}", *(f"    {line}" for line in rest)]
    return lines + [f"    {line}" for line in (wrapped(flat(hint), width - 4, 4) if hint else ())]


def review_lines(schema: Schema, values: Mapping[str, Any], width: int) -> list[str]:
    """All fields of an answer, before it goes."""
    names = {name: clean(name) for name in dict.fromkeys([*sub(schema, "properties"), *values])}
    column = min(max(map(cell_width, names.values()), default=0), width // 3)
    lines = [] if names else ["  (no fields)"]
    for name, title in names.items():
        value = shown(values[name], name, schema) if name in values else LEFT_OUT
        first, *rest = wrapped(value, max(width - column - 4, 8), 40)
        lines.append(f"  {pad(shorten(title, column), column)}  {first}")
        lines += [f"  {' ' * column}  {line}" for line in rest]
    return lines


def json_review_lines(values: Mapping[str, Any], width: int) -> list[str]:
    """The same for an answer that was written as JSON."""
    text = clean_json(json.dumps(values, ensure_ascii=False, indent=2))
    return _indented(block(text, width - 2, _MOST_JSON_LINES))


def answer_head(words: str, key: str, end: str, width: int) -> list[str]:
    """`Your answer to approve:`"""
    head, *more = wrapped(f"{words} {flat(key)}{end}", width - 2, 4)
    return [head, *_indented(more)]


def review_ways(*, edits: bool, problem: str | None = None) -> list[str]:
    """What can be done with an answer, but for leaving its question."""
    return [*(() if problem else ("Enter sends",)), *(("e edits",) if edits else ())]


def json_lines(fields: Iterable[str], begun: str, width: int, *, editor: bool) -> list[str]:
    """What is known of an answer that is more than a form: its fields, and how it begins."""
    told = "This answer has fields inside fields: it is written as JSON."
    if not editor:
        told += " With $EDITOR set, it opens in your editor."
    about = block("\n".join(fields), width - 2, _MOST_FIELD_LINES)
    begins = block(begun, width - 2, _MOST_FIELD_LINES)
    return [
        *told_lines(told, width),
        *_indented(about),
        *told_lines("It begins like this; null is to be filled in:", width),
        *_indented(begins),
    ]


def told_lines(text: str, width: int) -> list[str]:
    return wrapped(text, width, _MOST_FIELD_LINES)


def json_ways(editor: str | None) -> list[str]:
    """How it can be written; `editor` is the program's name."""
    if editor is None:
        return ["Enter to paste or type it here"]
    return [f"Enter opens {clean(editor)}", "p pastes it here"]


def address_lines(
    url: object, host: str, warnings: Sequence[str], refused: str | None, width: int
) -> list[str]:
    """The whole address on one line, however long it is, so that it can be copied; then its host."""
    lines = [f"  {clean(url)}"] if isinstance(url, str) else []
    lines += _indented(wrapped(f"host: {clean(host)}", width - 2, 9)) if host else []
    told = [*warnings, *([f"{refused}, so nobody can agree to it here"] if refused else [])]
    return lines + [each for text in told for each in wrong_lines(text, None, width, colour=False)]


def no_browser_lines(why: str | None, width: int) -> list[str]:
    """`why` an address cannot be opened from here."""
    if why is None:
        return []
    told = f"No browser can be opened here: {flat(why)}. Open it yourself, here or elsewhere, and say so:"
    first, *rest = told_lines(told, width - 2)
    return [first, *_indented(rest)]


def address_ways(*, allowed: bool, browser: bool) -> list[str]:
    """What can be agreed to. `browser`: the address can be opened from here."""
    if not allowed:
        return []
    if browser:
        return ["o opens it in the browser", "y agrees, and you open it yourself"]
    return ["y agrees to open it"]


def unanswerable_lines(request: Request, to_type: str, width: int) -> list[str]:
    """A request of another kind, as it came, and what answers it. `to_type` is the task's, or empty."""
    method = flat(str(request.get("method")))
    lines = _indented(wrapped(method, width - 2, 4))
    if parameters := sub(request, "params"):
        text = clean_json(json.dumps(parameters, ensure_ascii=False, indent=2, default=str))
        lines += _indented(block(text, width - 2, _MOST_PARAMETER_LINES))
    served = serving_option(request)
    told = f"It cannot be answered by hand at the terminal. With {served} mcptask answers it"
    if to_type:
        told += f"; any answer is sent with: mcptask update {to_type} --responses JSON"
    return lines + wrapped(told, width, 6)


def block(text: str, width: int, most: int) -> list[str]:
    """Text of several lines, wrapped; blank lines at its ends are dropped."""
    lines = [
        piece
        for line in clean_block(text).expandtabs(4).strip("\n ").split("\n")
        for piece in wrapped(line.rstrip(), width, most)
    ]
    more = len(lines) - most
    if more > 1:  # a single one takes no more room than the word of it
        lines[most:] = [f"… and {more} more lines"]
    return lines if any(lines) else []


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def expected_words(schema: Any, root: Schema) -> str:
    words = clean(describe(schema, root))
    return "yes or no" if words == "true or false" else words


def _expected(schema: Any, root: Schema) -> list[str]:
    """The choices with their numbers, else what to type in words."""
    options = offered(schema, root)
    lists = [each for each in alternatives(schema, root) if kind(each) == "array"]
    facts = [expected_words(schema, root)]
    if options:
        numbers = countable(options)
        facts = [
            (f"{place} " if numbers else "") + choice(option)
            for place, option in enumerate(options[:_MOST_CHOICES], 1)
        ]
        facts += [f"and {len(options) - _MOST_CHOICES} more"] * (len(options) > _MOST_CHOICES)
        facts += bounds(lists[0]) if lists else []
    return [*facts, *(["several with commas"] if lists else [])]


def _if_empty(
    name: str, each: Any, root: Schema, values: Mapping[str, Any], *, needed: bool
) -> list[str]:
    """What Enter alone does, and how a field that has a value is left out."""
    if name not in values:
        return [] if needed else ["Enter leaves it out"]
    takes = f"Enter takes {shorten(shown(values[name], name, root), 30)}"
    return [takes] if needed else [takes, ":x leaves it out"]


def shown(value: Any, name: str, root: Schema) -> str:
    """A value as people know it: by its title, where it is a choice; a list with commas."""
    each = sub(root, "properties").get(name)
    if isinstance(value, list):
        return ", ".join(_item(part, each, root) for part in value) or "(an empty list)"
    return _item(value, each, root)


def _item(value: Any, schema: Any, root: Schema) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == "":
        return "(an empty text)"
    for option in offered(schema, root):
        if option.value == value:
            return choice(option)
    return json_word(value)


def choice(option: Choice) -> str:
    """`On hold (waitlist)`"""
    word = json_word(option.value)
    return word if flat(option.title) == word else f"{flat(option.title)} ({word})"
