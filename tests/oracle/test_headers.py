"""The judge of headers."""

import pytest

from tests.oracle.headers import decoded, violations
from tests.oracle.samples import GOOD, posted, request


@pytest.mark.parametrize("name", ["discover", "list", "call", "get", "update", "cancel"])
def test_headers_that_repeat_the_body_pass_a3_2_a3_3(name: str) -> None:
    assert list(violations(posted(GOOD[name]), GOOD[name])) == []


def test_a_parameter_is_held_against_the_arguments_a3_4() -> None:
    message = request("tools/call", name="t", arguments={"a": {"b": " x"}, "n": 42.0, "y": True})
    right = {"mcp_param_a": "=?base64?IHg=?=", "mcp_param_n": "42", "mcp_param_y": "true"}
    assert list(violations(posted(message, **right), message)) == []
    (told,) = violations(posted(message, mcp_param_a="x"), message)
    assert told == "mcp-param-a is 'x', which no argument is"


WRONG = {
    "mcp_method": ("tasks/cancel", "mcp-method is 'tasks/cancel', where the body has 'tasks/get'"),
    "mcp_name": ("2", "mcp-name is '2', where the body has '1'"),
    "mcp_protocol_version": ("2025-11-25", "mcp-protocol-version"),
    "mcp_session_id": ("1", "mcp-session-id is not for this wire"),
    "last_event_id": ("1", "last-event-id is not for this wire"),
    "origin": ("http://127.0.0.1", "origin is not for this wire"),
    "accept": ("application/json", "accept names"),
    "content_type": ("text/plain", "content-type"),
    "mcp_param_x": ("1", "which no argument is"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_header_that_is_wrong_is_told_a3_2_a3_3_a3_7_a3_8(name: str) -> None:
    value, expected = WRONG[name]
    (told,) = violations(posted(GOOD["get"], **{name: value}), GOOD["get"])
    assert expected in told


@pytest.mark.parametrize("name", ["Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_header_that_is_missing_is_told_a3_2_a3_3(name: str) -> None:
    sent = posted(GOOD["get"])
    del sent[name]
    (told,) = violations(sent, GOOD["get"])
    assert told.startswith(f"{name.lower()} is None, where the body has")


def test_a_name_where_none_belongs_is_told_a3_3() -> None:
    (told,) = violations(posted(GOOD["list"], mcp_name="1"), GOOD["list"])
    assert told == "mcp-name is '1', where the body has None"


def test_initialize_goes_without_the_headers_of_this_wire_a3_8() -> None:
    message = GOOD["initialize"]
    sent = posted(message)
    assert list(violations(sent, message)) == [
        "mcp-protocol-version is not for the older wire",
        "mcp-method is not for the older wire",
    ]
    media = {name: sent[name] for name in ("Content-Type", "Accept")}
    assert list(violations(media, message)) == []


def test_a_value_is_decoded_as_the_specification_says_a3_5() -> None:
    assert decoded("=?base64?w6k=?=") == "é"
    assert decoded("=?BASE64?w6k=?=") == "=?BASE64?w6k=?="
    assert decoded("") == ""
    assert decoded("a b") == "a b"


@pytest.mark.parametrize("value", ["é", " a", "a ", "a\nb", "a\tb"])
def test_a_value_that_no_header_holds_as_it_is_is_refused_a3_5(value: str) -> None:
    with pytest.raises(ValueError, match="may not stand"):
        decoded(value)
