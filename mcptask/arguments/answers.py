"""`--answers FILE`: what to answer when a tool or a task asks. TOML, or the same as a JSON object:

    approve = { action = "keep" }     the question with the key `approve`
    note = "call them first"          every question whose form has a field `note`
    login = "decline"                 no, or "cancel"; a question that asks to open a URL: "accept" too;
                                      a field's value only where the field offers that word as a choice
    [[match]]                         the rest, by a regular expression that is found in the message
    message = "How many"
    answer = { count = 3 }

An entry's own values go before those of the top level, and these before the form's defaults. What an entry
answers does not depend on what was asked before or is asked beside it. Nothing is asked, shown or sent here,
and no value changes its type.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from mcptask.arguments.coerce import from_json, quoted
from mcptask.arguments.limit import cpu_limit
from mcptask.arguments.responses import (
    ACCEPT,
    REFUSALS,
    content_problem,
    filled,
    form_of,
    is_url,
    lacking,
    method_of,
    unknown_field,
)
from mcptask.arguments.whole_responses import response_problem
from mcptask.errors import UsageError
from mcptask.protocol.addresses import read_address
from mcptask.protocol.schemas import offered, sub
from mcptask.protocol.task import ELICITATION

Response = dict[str, Any]

WORDS = (ACCEPT, *REFUSALS)
MATCH = "match"
_MATCH_HAS = {"message", "answer"}
_SECONDS = 3.0  # of computing for one search in a message


@dataclass(frozen=True)
class _Match:
    """One `[[match]]`. `answer` is a table, or one of REFUSALS."""

    pattern: re.Pattern[str]
    answer: Any

    @property
    def label(self) -> str:
        return f"[[match]] {quoted(self.pattern.pattern)}"

    def fits(self, request: Mapping[str, Any]) -> bool:
        message = sub(request, "params").get("message")
        try:
            with cpu_limit(_SECONDS):
                return isinstance(message, str) and bool(self.pattern.search(message))
        except TimeoutError:
            raise UsageError(f"{self.label} takes too long to search in the message") from None


@dataclass
class Answers:
    """A file of answers. `entries` is its top level, without the matches."""

    name: str
    entries: Mapping[str, Any]
    matches: tuple[_Match, ...]
    _used: set[str] = field(default_factory=set)
    _incomplete: dict[str, str] = field(default_factory=dict)

    def to(self, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Response]:
        """Key → response, for those of the open questions that the file answers in full.

        Raises UsageError, which names the file, the question and the field, for a value that does not fit.
        """
        self._incomplete.clear()
        found = {}
        for key, request in requests.items():
            with _named(self.name):
                self._used |= {key} & self.entries.keys()  # looked at, whatever comes of it
                response = self._response(key, request)
            if response is not None:
                found[key] = response
        return found

    @property
    def empty(self) -> bool:
        return not (self.entries or self.matches)

    def unused(self) -> tuple[str, ...]:
        """The entries that no question has asked for so far."""
        labels = (*self.entries, *(match.label for match in self.matches))
        return tuple(label for label in dict.fromkeys(labels) if label not in self._used)

    def incomplete(self) -> tuple[str, ...]:
        """Why a question of the last `to` is open, though it has an entry: `approve lacks action (text)`."""
        return tuple(f"{key} lacks {what}" for key, what in self._incomplete.items())

    def _response(self, key: str, request: Mapping[str, Any]) -> Response | None:
        if method_of(request) != ELICITATION:
            return self._whole_result(key, request)
        return self._url(key, request) if is_url(request) else self._form(key, request)

    def _whole_result(self, key: str, request: Mapping[str, Any]) -> Response | None:
        own = self.entries.get(key)
        if own in WORDS:
            raise UsageError(
                f"{key} asks for {method_of(request)}, which cannot be accepted or declined",
                hint=f"give the whole result object: {key} = {{ … }}",
            )
        if not isinstance(own, dict):
            return None
        if found := response_problem(request, self._use(key)):
            raise UsageError(f"{key} asks for {method_of(request)}: {found}")
        return dict(own)

    def _url(self, key: str, request: Mapping[str, Any]) -> Response | None:
        """Consent is what the entry of this key says, and nothing else ever (A12.13)."""
        own = self.entries.get(key)
        if isinstance(own, dict):
            raise UsageError(
                f"{key} asks to open a URL: it has no fields",
                hint=f'write {key} = "accept", "decline" or "cancel"',
            )
        if own == ACCEPT and (why := read_address(sub(request, "params").get("url")).refused):
            raise UsageError(f'{key} = "accept": {why}')
        if own in WORDS:
            return {"action": self._use(key)}
        match = self._match(request, words_only=True)
        return None if match is None else {"action": match.answer}

    def _form(self, key: str, request: Mapping[str, Any]) -> Response | None:
        schema, own = form_of(request), self.entries.get(key)
        fields = sub(schema, "properties")
        if key in self.entries and key not in fields and own != ACCEPT:
            self._check(key, own)
        if own == ACCEPT and key not in fields:
            raise UsageError(
                f'{key} = "accept" is for a question that asks to open a URL; this one has a form',
                hint=f"write {key} = {{ {' = …, '.join(fields)} = … }}" if fields else None,
            )
        if isinstance(own, dict) or own in REFUSALS:
            answer = self._use(key)
        else:
            match = self._match(request)
            answer = None if match is None else match.answer
        if answer in REFUSALS:
            return {"action": answer}
        loose = self._loose(schema)
        if answer is None and not loose:
            return None
        return self._accepted(key, {**loose, **(answer or {})}, schema)

    def _check(self, key: str, own: Any) -> None:
        """An entry under a question's own key that is no answer is a slip, and told as one."""
        if not isinstance(own, dict) and own not in REFUSALS:
            raise UsageError(
                f"{key} is asked, and this is no answer to it",
                hint=f'write {key} = {{ field = value }}, "decline" or "cancel"',
            )

    def _accepted(
        self, key: str, values: Mapping[str, Any], schema: Mapping[str, Any]
    ) -> Response | None:
        if unknown := unknown_field(key, values, schema):
            raise unknown
        with _named(key):
            content = filled(values, schema)
            if missing := lacking(content, schema):
                self._incomplete[key] = ", ".join(missing)
                return None
            if found := content_problem(content, schema):
                raise UsageError(found)
        return {"action": ACCEPT, "content": content}

    def _loose(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the top level that a form asks for. A word that refuses a question is one only where
        the field offers it."""
        return {
            name: self._use(name)
            for name, asked in sub(schema, "properties").items()
            if name in self.entries
            and not isinstance(value := self.entries[name], dict)
            and (value not in REFUSALS or value in (each.value for each in offered(asked, schema)))
        }

    def _match(self, request: Mapping[str, Any], *, words_only: bool = False) -> _Match | None:
        for match in self.matches:
            if (not words_only or match.answer in REFUSALS) and match.fits(request):
                self._used.add(match.label)
                return match
        return None

    def _use(self, name: str) -> Any:
        self._used.add(name)
        return self.entries[name]


def read_answers(text: str, name: str) -> Answers:
    """The text of a file of answers; `name` is what the user calls it (`-`: standard input), and tells
    JSON from TOML by its end, else the text does. Raises UsageError."""
    shown = "standard input" if name == "-" else name
    with _named(shown):
        entries = _json(text) if _is_json(text, name) else _toml(text)
        matches = tuple(map(_read_match, _match_entries(entries.pop(MATCH, []))))
    return Answers(shown, entries, matches)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Whatever is wrong inside is told with the name of the file, or of the question."""
    try:
        yield
    except UsageError as error:
        error.message = f"{name}: {error.message}"
        raise


def _is_json(text: str, name: str) -> bool:
    if name.lower().endswith((".json", ".toml")):
        return name.lower().endswith(".json")
    return text.lstrip("\ufeff \t\r\n").startswith("{")  # no TOML document does


def _json(text: str) -> dict[str, Any]:
    value = from_json(text, "the answers")
    if not isinstance(value, dict):
        raise UsageError("the answers must be a JSON object")
    return value


def _toml(text: str) -> dict[str, Any]:
    try:
        entries: dict[str, Any] = _plain(tomllib.loads(text.removeprefix("\ufeff")))
    except RecursionError:
        raise UsageError("the TOML is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"not valid TOML: {error}") from None
    return entries


def _plain(value: Any) -> Any:
    """The value as JSON has it. ValueError for a number that JSON lacks."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is no JSON number")
    return value


def _match_entries(given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise UsageError(
            "match is a reserved word: it holds the [[match]] entries",
            hint="a question whose key is match is answered by its message, or by its fields",
        )
    return given


def _read_match(given: Mapping[str, Any]) -> _Match:
    if given.keys() != _MATCH_HAS or not isinstance(given["message"], str):
        raise UsageError('each [[match]] has a message = "regular expression" and an answer')
    answer = given["answer"]
    if not isinstance(answer, dict) and answer not in REFUSALS:
        raise UsageError(
            f"[[match]] {quoted(given['message'])}: the answer must be a table of fields, "
            '"decline" or "cancel"'
        )
    try:
        return _Match(re.compile(given["message"]), answer)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(
            f"[[match]] {quoted(given['message'])} is no regular expression: {error}"
        ) from None
