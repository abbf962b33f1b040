"""A form that is filled in: its state, and what each key makes of it. Pure, but for computing (A12.12).

A field's value is held to the schema when the field is left forwards, so at the end all of them fit.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mcptask.arguments.fields import typed
from mcptask.arguments.form_fields import as_typed, options_of
from mcptask.arguments.responses import field_problem
from mcptask.commands.answering.by_hand.keys import ESCAPE, Key
from mcptask.commands.answering.by_hand.line import TextLine, begun, edited, window
from mcptask.commands.answering.by_hand.pick import Pick, picked
from mcptask.commands.answering.by_hand.terminal import ENTER, LATER, LEAVING
from mcptask.errors import UsageError
from mcptask.protocol.schemas import Schema, required, sub
from mcptask.render import entries, forms
from mcptask.render.ink import Line

Entry = TextLine | Pick


class Form(NamedTuple):
    """`entries` and `values` by field, `at` the place of the field that is filled in. `values` has what each
    entry stood for when it was last right; what is left out is in neither the values nor the answer.

    `asked` is on after Esc, `left` once it was said how the question is left.
    """

    schema: Schema
    names: tuple[str, ...]
    entries: Mapping[str, Entry]
    values: Mapping[str, Any]
    at: int = 0
    wrong: tuple[str, str | None] | None = None
    asked: bool = False
    left: str | None = None

    @property
    def name(self) -> str:
        return self.names[self.at]

    @property
    def done(self) -> bool:
        return self.at == len(self.names)

    @property
    def content(self) -> dict[str, Any]:
        return {name: self.values[name] for name in self.names if name in self.values}


def begin(schema: Schema, values: Mapping[str, Any]) -> Form:
    """At the first field; `values` stand in the entries, ready to be changed."""
    fields = sub(schema, "properties")
    known = {name: values[name] for name in fields if name in values}
    each = {name: _entry(fields[name], schema, name in known, known.get(name)) for name in fields}
    return Form(schema, tuple(fields), each, known)


def _entry(field: Any, root: Schema, there: bool, value: Any) -> Entry:
    options = options_of(field, root)
    if options is None:
        return begun(as_typed(value)) if there else TextLine()
    chosen = value if options.several and isinstance(value, list) else [value] if there else []
    places = [
        n for n, each in enumerate(options.choices) if any(_same(each.value, v) for v in chosen)
    ]
    at = places[0] if places else None
    if options.several:
        return Pick(options.choices, several=True, at=at or 0, chosen=frozenset(places))
    return Pick(options.choices, at=at)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def pressed(form: Form, key: Key) -> Form:
    """The form after the key."""
    if form.asked:
        return _leaving(form, key)
    entry = form.entries[form.name]
    if key.name == ESCAPE:
        return form._replace(asked=True)
    if key.name == "end of input" and not (isinstance(entry, TextLine) and entry.text):
        return form._replace(left=LATER)
    if key.name in (ENTER, "tab"):
        return _onwards(form)
    if key.name == "back tab" or (key.name == "up" and isinstance(entry, TextLine)):
        return form._replace(at=max(form.at - 1, 0), wrong=None)
    if key.name in ("backspace", "delete") and _is_empty(entry):
        form = form._replace(values={n: v for n, v in form.values.items() if n != form.name})
    changed: Entry | None
    if isinstance(entry, Pick):
        changed = picked(entry, key)
    else:
        changed = edited(entry, Key("delete") if key.name == "end of input" else key)
    if changed is None:
        return form
    typed_so_far = changed.unknown if isinstance(changed, Pick) else ""
    wrong = (_unknown(typed_so_far), None) if typed_so_far else None
    return form._replace(entries={**form.entries, form.name: changed}, wrong=wrong)


def _unknown(word: str) -> str:
    return f"no choice begins with {word!r}"


def _leaving(form: Form, key: Key) -> Form:
    if key.name == "end of input":
        return form._replace(left=LATER)
    if (how := LEAVING.get(key.text.lower())) is not None:
        return form._replace(left=how)
    return form._replace(asked=key.name not in (ENTER, ESCAPE))


def _onwards(form: Form) -> Form:
    """To the next field, if this one's entry is right."""
    name, values = form.name, dict(form.values)
    try:
        found = _value(form)
    except UsageError as wrong:
        return form._replace(wrong=(wrong.message, wrong.hint))
    values.pop(name, None)
    values |= found
    return form._replace(values=values, at=form.at + 1, wrong=None)


def _value(form: Form) -> dict[str, Any]:
    """The name and the value; {} for what is left out."""
    name, entry = form.name, form.entries[form.name]
    if isinstance(entry, Pick) and entry.unknown:
        raise UsageError(_unknown(entry.unknown), hint="Backspace takes it back")
    if _is_untouched(form):
        return {name: form.values[name]}  # as it was, even if nobody could have typed it
    if _is_empty(entry) and name not in required(form.schema):
        return {}
    if _is_empty(entry) and not (isinstance(entry, Pick) and entry.several):
        raise UsageError(f"{name} is needed")
    return {name: _typed(form, entry)}


def _is_empty(entry: Entry) -> bool:
    if isinstance(entry, TextLine):
        return not entry.text.strip()
    return not (entry.places or entry.unknown)


def _is_untouched(form: Form) -> bool:
    """Does the entry still stand for the value that the field has?"""
    name = form.name
    if name not in form.values:
        return False
    each = sub(form.schema, "properties")[name]
    return _held(form.entries[name]) == _held(_entry(each, form.schema, True, form.values[name]))


def _held(entry: Entry) -> str | list[int]:
    return entry.text if isinstance(entry, TextLine) else entry.places


def _typed(form: Form, entry: Entry) -> Any:
    name = form.name
    if isinstance(entry, TextLine):
        return typed(name, entry.text, form.schema)
    values = [entry.options[place].value for place in entry.places]
    value = values if entry.several else values[0]
    if found := field_problem(name, value, form.schema):
        raise UsageError(found)
    return value


# ── the form as lines ────────────────────────────────────────────────────────────────────────────


def drawn(
    form: Form, width: int, high: int, *, started: bool = True
) -> tuple[list[Line], tuple[int, int] | None]:
    """Its lines, and where the cursor stands. `started`: there is a task already."""
    place = entries.layout(form.schema, width)
    name, entry = form.name, form.entries[form.name]
    shown, column = _shown(form, entry, place)
    if form.asked:
        known, ways = [], entries.ways_out(width, started=started)
    else:
        known = entries.below(sub(form.schema, "properties")[name], _facts(form), form.wrong, place)
        ways = entries.ways_on(width, first=not form.at, started=started)
    active = entries.active_lines(name, shown, known, place)
    before = [_other(form, each, place, to_come=False) for each in form.names[: form.at]]
    after = [_other(form, each, place, to_come=True) for each in form.names[form.at + 1 :]]
    lines, row = entries.frame(before, active, after, ways, high)
    return lines, None if form.asked else (row + _row(entry, shown), place.indent + column)


def _row(entry: Entry, shown: list[Line]) -> int:
    marks = [n for n, line in enumerate(shown) if any(entries.PROMPT in part.text for part in line)]
    return marks[0] if marks and isinstance(entry, Pick) else 0


def _shown(form: Form, entry: Entry, place: entries.Layout) -> tuple[list[Line], int]:
    if isinstance(entry, TextLine):
        text, column = window(entry, place.entry)
        return entries.text_entry(text), column + len(entries.PROMPT)
    chosen = entry.chosen if entry.several else None
    return entries.pick_entry(entry.options, entry.at, chosen, place), 0


def _facts(form: Form) -> list[str]:
    each, entry = sub(form.schema, "properties")[form.name], form.entries[form.name]
    empty, text = _is_empty(entry), isinstance(entry, TextLine)
    if isinstance(entry, TextLine):
        facts = entries.facts_of_text(each, form.schema)
    else:
        facts = entries.facts_of_pick(
            each, form.schema, entry.options, entry.at, several=entry.several
        )
    if form.name in required(form.schema):
        return facts
    untouched = empty and _is_untouched(form)
    return [*facts, *entries.if_empty(empty=empty, untouched=untouched, text=text)]


def _other(form: Form, name: str, place: entries.Layout, *, to_come: bool) -> Line:
    entry, each = form.entries[name], sub(form.schema, "properties")[name]
    if name in form.values:
        text = forms.shown(form.values[name], name, form.schema)
        known = each.get("default") if to_come and isinstance(each, dict) else None
        if known is not None and _same(known, form.values[name]):
            text += " (default)"
    elif to_come and isinstance(entry, Pick):
        text = entries.choices_in_brief(entry.options)
    elif to_come:
        text = forms.expected_words(each, form.schema)
    else:
        text = forms.LEFT_OUT
    return entries.other_line(name, text, place, dim=to_come and name not in form.values)
