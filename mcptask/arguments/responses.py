"""Answers to what a task asks: `mcptask update TASK [FIELD=VALUE…]` → the responses of `tasks/update`.

Only a form or a URL (`elicitation/create`) can be answered in fields; any other request by
`--responses`. Nothing is opened, shown or sent here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcptask.arguments.coerce import quoted
from mcptask.arguments.parse import Files, Given, hinted, pairs, value_of
from mcptask.arguments.validation import problem
from mcptask.errors import UsageError
from mcptask.nearest import nearest
from mcptask.protocol.addresses import read_address
from mcptask.protocol.schemas import describe, required, sub
from mcptask.protocol.task import ELICITATION

ACCEPT, DECLINE, CANCEL = "accept", "decline", "cancel"
ANY_JSON = "--responses sends any JSON"
_MESSAGE_LENGTH = 80
# What an answer may be refused by, without any content; neither says that the task is to end.
REFUSALS = (DECLINE, CANCEL)
_EMPTY = ("", None)
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
    _check(question, fields, action)
    if action in REFUSALS or is_url(question.request):
        return {question.key: {"action": action}}
    return {question.key: {"action": ACCEPT, "content": _content(question, pairs(fields, files))}}


def _check(question: _Question, fields: list[str], action: str) -> None:
    """Raises UsageError where no such answer can be given to a request of this kind."""
    key, method = question.key, method_of(question.request)
    form_or_url = method == ELICITATION
    opens = form_or_url and is_url(question.request)
    why = read_address(sub(question.request, "params").get("url")).refused if opens else None
    table = (  # the first that is so counts
        (
            not form_or_url,
            f"{key} asks for {method}, which has no fields and cannot be declined",
            question.line,
        ),
        (fields and action in REFUSALS, f"--{action} takes no fields", question.line),
        (fields and opens, f"{key} asks to open a URL: it has no fields", question.line),
        (why and action == ACCEPT, f"{key}: {why}", ANY_JSON),
    )
    for applies, message, hint in table:
        if applies:
            raise UsageError(message, hint=hint)


def is_url(request: Any) -> bool:
    """Does this elicitation ask to open a URL? No `mode` means a form."""
    return sub(request, "params").get("mode") == "url"


def method_of(request: Any) -> str:
    """What a request asks for. An elicitation that is neither a form nor a URL is none that is known."""
    method = request.get("method") if isinstance(request, dict) else None
    if not isinstance(method, str):
        return "something unknown"
    params = request.get("params")
    if method == ELICITATION and not isinstance(params, dict):
        return f"{method} without parameters"
    if method == ELICITATION and params.get("mode") not in (None, "form", "url"):
        return f"{method} of an unknown mode"
    return method


def form_of(request: Any) -> dict[str, Any]:
    """The schema that the content of the answer has to follow."""
    return sub(sub(request, "params"), "requestedSchema")


def defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Field → the default that the form gives, `false` and 0 too; one that breaks its own schema is none."""
    found = {}
    for name, each in sub(schema, "properties").items():
        default = each.get("default") if isinstance(each, dict) else None
        if default is not None and field_problem(name, default, schema) is None:
            found[name] = default
    return found


def field_problem(name: str, value: Any, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with one field's value, or None. Raises UsageError for a schema that is unusable."""
    # Without what only holds for all fields together, but still with what a `$ref` may point at.
    each_alone = {key: schema[key] for key in _HOLD_FIELDS if key in schema}
    return problem({name: value}, each_alone, "", formats=True)


def filled(values: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form's content: its defaults with the values over them. An optional field that is given empty is
    left out, sent neither as "" nor as null."""
    needed = required(schema)
    dropped = {name for name in values if name not in needed and values[name] in _EMPTY}
    content = {**defaults(schema), **values}
    return {name: value for name, value in content.items() if name not in dropped}


def lacking(content: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The required fields without a value: `action (one of waitlist, refund, keep)`."""
    names = sub(schema, "properties")
    missing = [name for name in required(schema) if name not in content]
    return [f"{name} ({describe(names.get(name), schema)})" for name in missing]


def content_problem(content: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a whole content, or None. Raises UsageError for a schema that is unusable."""
    found = problem(content, schema, "", formats=True)
    return None if found is None else found.removeprefix(": ")


def problem_of(content: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Why a form's content cannot go like this: what is needed, else what does not fit; or None."""
    missing = lacking(content, schema)
    return f"{missing[0]} is needed" if missing else content_problem(content, schema)


def _whole(given: dict[str, Any], requests: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    for key, response in given.items():
        if requests and key not in requests:
            raise not_asked(key, requests)
        if not isinstance(response, dict):
            raise UsageError(f"--responses: the response of {quoted(key)} must be a JSON object")
    if not given:
        raise UsageError("--responses holds no response")
    return given


def not_asked(key: str, requests: Mapping[str, Any]) -> UsageError:
    """The error for a key that is not among the open questions."""
    return UsageError(
        f"the task does not ask {quoted(key)}; open: {', '.join(requests)}",
        hint=nearest(key, requests),
    )


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
        raise not_asked(key, requests)
    return _Question(key, requests[key], answer_line(key, requests[key], len(requests)))


def _message(request: Any) -> str:
    message = sub(request, "params").get("message") if isinstance(request, dict) else None
    text = " ".join(message.split()) if isinstance(message, str) else method_of(request)
    return text if len(text) <= _MESSAGE_LENGTH else text[:_MESSAGE_LENGTH] + "…"


def _content(question: _Question, given: dict[str, list[Given]]) -> dict[str, Any]:
    schema = form_of(question.request)
    names = sub(schema, "properties")
    if unknown := unknown_field(question.key, given, schema):
        unknown.hint = unknown.hint or question.line
        raise unknown
    values: dict[str, Any] = {}
    for name, each in given.items():
        if _is_left_empty(each) and name not in required(schema):
            values[name] = None
            continue
        with hinted(question.line):
            values[name] = value_of(name, each, names.get(name), schema, strict=True)
    with hinted(ANY_JSON):
        content = filled(values, schema)
    if missing := lacking(content, schema):
        raise UsageError(f"{question.key} needs {', '.join(missing)}", hint=question.line)
    with hinted(ANY_JSON):
        found = content_problem(content, schema)
    if found:
        raise UsageError(found, hint=question.line)
    return content


def unknown_field(key: str, given: Iterable[str], schema: Mapping[str, Any]) -> UsageError | None:
    """The error for a name that the form does not list; None where all are, or it lists none at all."""
    names = sub(schema, "properties")
    for name in given:
        if names and name not in names:
            return UsageError(
                f"{key} has no field {quoted(name)}: it has {', '.join(names)}",
                hint=nearest(name, names),
            )
    return None


def _is_left_empty(values: list[Given]) -> bool:
    """`note=`"""
    return len(values) == 1 and values[0].value in _EMPTY
