"""What is known to be secret of an endpoint: headers, the URL, the command, its environment."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.protocol.transports.headers import basic
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.secrets import secrets_of

ENVIRON = {
    "TOKEN": "tok-123456",
    "FOLDER": "/home/kai/work",
    "KEY_FILE": "/home/kai/key",
    "PORT": "8080",
}


def hidden(text: str, **endpoint: Any) -> str:
    made = Endpoint(name="studio", source="a test", **endpoint)
    return secrets_of(made, ENVIRON).hide(text)


@pytest.mark.parametrize(
    ("header", "text", "shown"),
    [
        ({"X-Studio": "room-3 north"}, "in room-3 north, north", "in ***, north"),
        ({"Authorization": "Bearer abcdef12"}, "Bearer, abcdef12!", "Bearer, ***!"),
        ({"Authorization": "Bearer abcdef12"}, "it wants Bearer", "it wants Bearer"),
        ({"Authorization": "Bearer abc def"}, "it wants abc def", "it wants ***"),
        ({"X-Custom": "CUSTSECRET"}, "CUSTSECRET", "***"),
        ({"X-Custom": "correcthorsebatterystaple"}, "correcthorsebatterystaple", "***"),
        ({"X-Upstream": "Bearer abcdefgh"}, "Bearer abcdefgh", "Bearer ***"),
        ({"X-Api-Key": "${TOKEN}"}, "tok-123456", "***"),
        ({"Cookie": "sid=abcdef12; theme=darkest"}, "abcdef12 darkest", "*** ***"),
        ({"Authorization": basic("kai:pass%20word")}, "kai pass word", "kai ***"),
        ({"Authorization": "Basic not*base64"}, "not*base64", "***"),
    ],
)
def test_the_values_of_headers_are_secrets(header: dict[str, str], text: str, shown: str) -> None:
    assert hidden(text, url="https://host/mcp", headers=header) == shown


@pytest.mark.parametrize("value", ["protocol", "mcptask", "the north one", "/home/kai/work"])
def test_a_plain_word_in_a_header_that_does_not_sound_secret_is_left_where_it_occurs(
    value: str,
) -> None:
    """Else `X-Kind: protocol` would hide half of what is traced, `protocolVersion` first."""
    text = f"{value}Version of {value}"
    assert hidden(text, url="https://host/mcp", headers={"X-Kind": value}) == text
    assert hidden(value, url="https://host/mcp", headers={"X-Kind-Token": value}) == "***"


def test_the_names_of_configured_headers_are_known_and_the_token_of_a_variable() -> None:
    endpoint = Endpoint(
        name="studio",
        source="a test",
        url="https://host/mcp",
        headers={"X-Studio": "north"},
        bearer_env="TOKEN",
    )
    secrets = secrets_of(endpoint, ENVIRON)
    assert secrets.headers == {"x-studio", "authorization"}
    assert secrets.hide("tok-123456") == "***"


def test_a_variable_that_is_not_set_is_somebody_elses_error() -> None:
    headers = {"X-Studio": "${MISSING}"}
    assert hidden("abcdef12", url="https://host/?a=abcdef12", headers=headers) == "***"


@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("key=abc%2Fdef1&b=2", "abc/def1 abc%2Fdef1 key", "*** *** key"),
        ("abcdef12", "abcdef12", "***"),
        ("a=abc=def1", "abc=def1", "***"),
    ],
)
def test_the_values_of_a_query_are_secrets(query: str, text: str, shown: str) -> None:
    assert hidden(text, url=f"https://host/mcp?{query}") == shown


def test_a_path_out_of_a_variable_is_a_secret_and_the_host_is_none() -> None:
    url, written = "https://tok-123456/a/tok-123456", "https://${TOKEN}/a/${TOKEN}"
    assert hidden("/a/tok-123456", url=url, written=written) == "/a/***"
    host = {"url": "https://tok-123456/a", "written": "https://${TOKEN}/a"}
    assert hidden("https://tok-123456/a", **host) == "https://tok-123456/a"


@pytest.mark.parametrize(
    ("command", "text", "shown"),
    [
        (("run", "--token", "abcdef12"), "abcdef12", "***"),
        (("run", "API_KEY=abcdef12"), "API_KEY abcdef12", "API_KEY ***"),
        (("run", "db://me:abcdef12@host/x"), "db://me:abcdef12@host", "db://***@host"),
        (("run", '{"token": "abcdef12"}'), "abcdef12", "***"),
        (("run", "north-studio"), "north-studio", "north-studio"),
    ],
)
def test_what_looks_secret_in_a_command_is_one(
    command: tuple[str, ...], text: str, shown: str
) -> None:
    assert hidden(text, command=command) == shown


@pytest.mark.parametrize(
    ("env", "text", "shown"),
    [
        ({"STUDIO": "abcdef12"}, "abcdef12", "***"),
        ({"STUDIO": "db://kai@host/x"}, "db://kai@host/x", "***"),
        ({"MODE": "production"}, "in production", "in production"),
        ({"TZ": "Europe/Berlin"}, "Europe/Berlin", "Europe/Berlin"),
        ({"PASSWORD": "correct horse"}, "correct horse", "***"),
        ({"DATABASE": "/home/kai/studio.db"}, "/home/kai/studio.db", "/home/kai/studio.db"),
        ({"DATABASE": "C:\\kai\\studio.db"}, "C:\\kai\\studio.db", "C:\\kai\\studio.db"),
        ({"API_KEY": "/abcdef/12"}, "/abcdef/12", "***"),
    ],
)
def test_the_environment_of_a_child_is_secret_but_for_files_and_words(
    env: dict[str, str], text: str, shown: str
) -> None:
    """An error that names a file must stay one that helps."""
    assert hidden(text, command=("run",), env=env) == shown


def test_what_came_out_of_a_variable_in_a_command_is_secret_but_for_folders() -> None:
    words = ("run", "${TOKEN}", "${FOLDER}", "${MISSING}")
    command = ("run", "tok-123456", "/home/kai/work", "")
    text = "tok-123456 in /home/kai/work"
    assert hidden(text, command=command, written=words) == "*** in /home/kai/work"
