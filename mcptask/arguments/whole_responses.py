"""Does a whole response fit the request that it answers? What a program says is held to this.

What else the response holds is passed on: later revisions add to these types.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mcptask.arguments.responses import (
    ACCEPT,
    REFUSALS,
    content_problem,
    form_of,
    is_url,
    method_of,
    unknown_field,
)
from mcptask.errors import UsageError
from mcptask.protocol.addresses import read_address
from mcptask.protocol.schemas import sub
from mcptask.protocol.task import ELICITATION

SAMPLING = "sampling/createMessage"
ROOTS = "roots/list"

Request = Mapping[str, Any]
Response = Mapping[str, Any]

_ROLES = ("user", "assistant")
# A block's type → the texts that it must have. Others are the server's to judge.
_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
}


def response_problem(request: Request, response: Response) -> str | None:
    """What is wrong with it, in words, or None. Of an unknown method any object will do."""
    check = _CHECKS.get(method_of(request))
    return check(request, response) if check else None


def _elicited(request: Request, response: Response) -> str | None:
    """A12.12, A12.13"""
    action = response.get("action")
    if action not in (ACCEPT, *REFUSALS):
        return "action must be accept, decline or cancel"
    if action == ACCEPT and not is_url(request):
        return _form_problem(request, response.get("content"))
    if "content" in response:
        return f"{action} has no content" + (" where a URL is asked for" if is_url(request) else "")
    if action == ACCEPT:
        return read_address(sub(request, "params").get("url")).refused
    return None


def _form_problem(request: Request, content: Any) -> str | None:
    if not isinstance(content, dict):
        return "accept needs a content, an object with the form's fields"
    schema = form_of(request)
    try:
        unknown = unknown_field("the form", content, schema)
        return unknown.message if unknown else content_problem(content, schema)
    except UsageError as error:  # of a schema that cannot be used, nothing is known to fit
        return error.message


def _sampled(request: Request, response: Response) -> str | None:
    """A12.14"""
    content = response.get("content")
    blocks = content if isinstance(content, list) else [content]
    table = (  # the first that is so counts
        (response.get("role") not in _ROLES, "role must be user or assistant"),
        (not blocks, "content must not be empty"),
        (not all(map(_is_block, blocks)), "content must be a block such as {type: text, text: …}"),
        (not isinstance(response.get("model"), str), "model must be a text"),
        (not isinstance(response.get("stopReason", ""), str), "stopReason must be a text"),
    )
    return next((problem for applies, problem in table if applies), None)


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return all(isinstance(block.get(name), str) for name in _BLOCKS.get(block["type"], ()))


def _listed(request: Request, response: Response) -> str | None:
    """A12.14"""
    roots = response.get("roots")
    if not isinstance(roots, list) or not all(map(_is_root, roots)):
        return "roots must be a list of {uri: file://…, name: …}"
    return None


def _is_root(root: Any) -> bool:
    if not isinstance(root, dict) or not isinstance(root.get("name", ""), str):
        return False
    uri = root.get("uri")
    return isinstance(uri, str) and uri.startswith("file://")


_CHECKS: Mapping[str, Callable[[Request, Response], str | None]] = {
    ELICITATION: _elicited,
    SAMPLING: _sampled,
    ROOTS: _listed,
}
