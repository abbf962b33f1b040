"""What is masked in an entry of the trace before it is written."""

import json

import pytest

from mcptask.protocol.transports.secrets import Secrets, secrets_from
from mcptask.protocol.transports.trace import masked_entry, masked_url

NOTHING = Secrets()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/mcp", "https://host/mcp"),
        ("https://me:pw@host/mcp?token=abc&x=", "https://host/mcp?token=***&x=***"),
        ("https://host/mcp?abcdef#frag=abc", "https://host/mcp?***"),
        ("/login?code=abc", "/login?code=***"),
        ("https://host/#access_token=abc", "https://host/"),
        ("http://[broken/x?a=b", "(a URL that cannot be read)?a=***"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url, shown):
    assert masked_url(url) == shown


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "proxy-authorization",
        "cookie",
        "Set-Cookie",
        "mcp-session-id",
        "X-API-Key",
        "X-Auth-Token",
        "x-session-token",
        "authentication-info",
        "x-studio",  # configured by the user
    ],
)
def test_the_value_of_a_header_that_holds_a_credential_is_hidden(name):
    entry = {"headers": {name: "abc", "x-room": "3"}}
    secrets = Secrets(headers=frozenset({"x-studio"}))
    assert masked_entry(entry, secrets) == {"headers": {name: "***", "x-room": "3"}}


@pytest.mark.parametrize("name", ["WWW-Authenticate", "proxy-authenticate"])
def test_a_challenge_is_shown_without_the_secrets_that_it_repeats__A16_2(name):
    entry = {"headers": {name: 'Bearer realm="studio", error="tok-123456"'}}
    masked = masked_entry(entry, secrets_from(["tok-123456"]))
    assert masked == {"headers": {name: 'Bearer realm="studio", error="***"'}}


@pytest.mark.parametrize(
    "place",
    [
        lambda state: {"params": state},
        lambda state: {"result": state},
        lambda state: {"result": {"task": state}},
        lambda state: {"error": {"code": -32603, "message": "no", "data": [state]}},
    ],
)
def test_the_state_of_a_request_is_hidden_wherever_it_is_in_a_message__A8_4(place):
    message = {"id": 1, **place({"requestState": "abc", "a": "kept"})}
    masked = masked_entry({"message": message}, NOTHING)["message"]
    assert masked == {"id": 1, **place({"requestState": "***", "a": "kept"})}
    assert message == {"id": 1, **place({"requestState": "abc", "a": "kept"})}


def test_the_state_of_a_request_is_hidden_in_what_is_no_message_too__A8_4():
    text = 'junk {"requestState" : "a\\"bc", "x": "kept", "requestState":"cut o…'
    masked = masked_entry({"text": text}, NOTHING)["text"]
    assert masked == 'junk {"requestState" : "***", "x": "kept", "requestState":"***'


def test_the_address_of_a_login_page_is_hidden_wherever_it_is_asked_for():
    question = {"mode": "url", "url": "https://host/login?code=abc", "message": "log in"}
    message = {"result": {"inputRequests": {"k": {"params": question}}, "url": "x?kept=1"}}
    masked = masked_entry({"message": message}, NOTHING)["message"]["result"]
    assert masked["inputRequests"]["k"]["params"]["url"] == "https://host/login?code=***"
    assert masked["url"] == "x?kept=1"


def test_a_known_secret_is_hidden_in_every_text_of_an_entry():
    secrets = secrets_from(["tok-123456"])
    entry = {
        "text": "is tok-123456 yours?",
        "message": {"result": {"tok-123456": [{"a": "tok-123456"}, 3, None, ("tok-123456",)]}},
        "command": ["run", "tok-123456"],
        "headers": {"x-echo": "tok-123456"},
    }
    masked = masked_entry(entry, secrets)
    assert "tok-123456" not in json.dumps(masked)
    assert masked["message"] == {"result": {"***": [{"a": "***"}, 3, None, ["***"]]}}


def test_a_command_in_the_trace_has_no_secret():
    entry = {"command": ["run", "--token", "abc", "API_KEY=abc"]}
    assert masked_entry(entry, NOTHING) == {"command": ["run", "--token", "***", "API_KEY=***"]}


def test_a_message_of_any_depth_is_masked():
    deep: dict = {"a": "tok-123456"}
    for _ in range(5000):
        deep = {"a": deep}
    masked = masked_entry({"message": {"result": deep}}, secrets_from(["tok-123456"]))["message"]
    for _ in range(5002):
        masked = masked.get("a", masked.get("result"))
    assert masked == "***"
