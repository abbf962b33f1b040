"""Answers to what a task asks: `mcptask update TASK [FIELD=VALUE…]` → the responses of `tasks/update`.

Only a form or a URL (`elicitation/create`) can be answered in fields; any other request by
`--responses`. Nothing is opened, shown or sent here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcptask.arguments.coerce import quoted
from mcptask.arguments.parse import Files, Given, hinted, pairs, value_of
from mcptask.arguments.validation import problem
from mcptask.errors import UsageError
from mcptask.nearest import nearest
from mcptask.protocol.schemas import describe, required, sub

ACCEPT, DECLINE, CANCEL = "accept", "decline", "cancel"
ELICITATION = "elicitation/create"
ANY_JSON = "--responses sends any JSON"
_MESSAGE_LENGTH = 80
_HOLD_FIELDS = ("properties", "$defs", "definitions")


# The command that answers one question: of its key, the request, and how many questions are open.
AnswerLine = Callable[[str, Any, int], str]


@dataclass(frozen=True)
class _Question:
    key: str
    request: Any
    line: str


def responses_to(
    requests: Mapping[str, Any],
    fields: list[str],
    key: str | None,
    action: str,
    raw_responses: str | None,
    *,
    read_file: Callable[[str], str],
    read_stdin: Callable[[], str],
    answer_line: AnswerLine,
) -> dict[str, dict[str, Any]]:
    """Key → response, for the open `requests` (the task's inputRequests, as the server sent them).

    `action` is `accept`, `decline` or `cancel`; `raw_responses` is `--responses`, sent as it is.
    Raises UsageError, with the command to type as its hint, for every answer that does not fit.
    """
    files = Files(read_file, read_stdin)
    if raw_responses is not None:
        if fields or key is not None or action != ACCEPT:
            raise UsageError(
                "--responses is the whole answer: no field, --key, --decline, --cancel"
            )
        return _whole(files.whole(raw_responses, "--responses"), requests)
    question = _question(requests, key, answer_line)
    if _method(question.request) != ELICITATION:
        raise UsageError(
            f"{question.key} asks for {_method(question.request)}, which has no fields and cannot be"
            " declined",
            hint=question.line,
        )
    if action in (DECLINE, CANCEL):
        if fields:
            raise UsageError(f"--{action} takes no fields", hint=question.line)
        return {question.key: {"action": action}}
    if _is_url(question.request):
        if fields:
            raise UsageError(
                f"{question.key} asks to open a URL: it has no fields", hint=question.line
            )
        return {question.key: {"action": ACCEPT}}
    return {question.key: {"action": ACCEPT, "content": _content(question, pairs(fields, files))}}


def _is_url(request: Any) -> bool:
    """Does this elicitation ask to open a URL? No `mode` means a form."""
    return sub(request, "params").get("mode") == "url"


def _defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Field → the default that the form gives, `false` and 0 too; one that breaks its own schema is none."""
    # Without what only holds for all fields together, but still with what a `$ref` may point at.
    each_alone = {key: schema[key] for key in _HOLD_FIELDS if key in schema}
    found = {}
    for name, each in sub(schema, "properties").items():
        default = each.get("default") if isinstance(each, dict) else None
        if default is None:
            continue
        if problem({name: default}, each_alone, "", formats=True, way_out=ANY_JSON) is None:
            found[name] = default
    return found


def _method(request: Any) -> str:
    method = request.get("method") if isinstance(request, dict) else None
    return method if isinstance(method, str) else "something unknown"


def _whole(given: dict[str, Any], requests: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    for key, response in given.items():
        if requests and key not in requests:
            raise UsageError(
                f"the task does not ask {quoted(key)}; open: {', '.join(requests)}",
                hint=nearest(key, requests),
            )
        if not isinstance(response, dict):
            raise UsageError(f"--responses: the response of {quoted(key)} must be a JSON object")
    if not given:
        raise UsageError("--responses holds no response")
    return given


def _question(requests: Mapping[str, Any], key: str | None, answer_line: AnswerLine) -> _Question:
    if not requests:
        raise UsageError("the task asks nothing now")
    if key is None and len(requests) > 1:
        asked = "; ".join(f"{each} ({_message(request)})" for each, request in requests.items())
        first, request = next(iter(requests.items()))
        raise UsageError(
            f"the task asks several things, so --key is needed: {asked}",
            hint=answer_line(first, request, len(requests)),
        )
    if key is None:
        (key,) = requests
    if key not in requests:
        raise UsageError(
            f"the task does not ask {quoted(key)}; open: {', '.join(requests)}",
            hint=nearest(key, requests),
        )
    return _Question(key, requests[key], answer_line(key, requests[key], len(requests)))


def _message(request: Any) -> str:
    message = sub(request, "params").get("message") if isinstance(request, dict) else None
    text = " ".join(message.split()) if isinstance(message, str) else _method(request)
    return text if len(text) <= _MESSAGE_LENGTH else text[:_MESSAGE_LENGTH] + "…"


def _content(question: _Question, given: dict[str, list[Given]]) -> dict[str, Any]:
    """The form's values: what was given, else the defaults; an optional left empty is left out."""
    schema = sub(sub(question.request, "params"), "requestedSchema")
    names = sub(schema, "properties")
    for name in given:
        if names and name not in names:
            raise UsageError(
                f"{question.key} has no field {quoted(name)}: it has {', '.join(names)}",
                hint=nearest(name, names) or question.line,
            )
    content = _defaults(schema)
    for name, values in given.items():
        if _is_left_empty(values) and name not in required(schema):
            content.pop(name, None)
            continue
        with hinted(question.line):
            content[name] = value_of(name, values, names.get(name), schema, strict=True)
    missing = [name for name in required(schema) if name not in content]
    if missing:
        what = ", ".join(f"{name} ({describe(names.get(name), schema)})" for name in missing)
        raise UsageError(f"{question.key} needs {what}", hint=question.line)
    if found := problem(content, schema, "", formats=True, way_out=ANY_JSON):
        raise UsageError(found.removeprefix(": "), hint=question.line)
    return content


def _is_left_empty(values: list[Given]) -> bool:
    """`note=`: an optional field that is empty is not sent, neither as "" nor as null."""
    return len(values) == 1 and values[0].value in ("", None)
