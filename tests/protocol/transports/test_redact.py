"""What is left of an address when its secrets are gone."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcptask.protocol.transports.redact import (
    UNREADABLE,
    bare_url,
    masked,
    shown_command,
    url_parts,
)

ODD = st.text(alphabet="abc:@/?#[]%$ {}\t", max_size=30)


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://studio.example/mcp", "https://studio.example/mcp"),
        ("https://me:secret@host:8443/mcp?key=secret#secret", "https://host:8443/mcp"),
        ("https://a@b:secret@host/p@th", "https://host/p@th"),
        ("https://host?key=secret", "https://host"),
        ("https://host/x?u=http://me:secret@other/", "https://host/x"),
        ("https://${HOST}:${PORT}/mcp", "https://${HOST}:${PORT}/mcp"),
        ("http://me:secret@[::1]:80/x", "http://[::1]:80/x"),
        ("https://[broken:secret@host/", "https://host/"),
        ("me:secret@host/mcp", "host/mcp"),
        ("//me:secret@host/mcp", "//host/mcp"),
        ("https:\t//me:secret@host/", "https://host/"),
        ("https:/me:secret@host/", "host/"),
        ("/@scope/name", "/@scope/name"),
        ("https://me:sec/ret@host/", UNREADABLE),
        ("http://[secret@::1/p?secret", UNREADABLE),
        ("http://host:port/", UNREADABLE),
        ("", ""),
    ],
)
def test_a_url_is_shown_and_stored_without_what_may_be_secret(url: str, bare: str) -> None:
    assert bare_url(url) == bare


def test_a_url_comes_apart_before_its_path() -> None:
    assert url_parts("https://me:secret@host:1/a/b?c") == ("https://host:1", "/a/b")
    assert url_parts("${WHOLE}") == ("", "${WHOLE}")


@given(ODD)
@example("@//[")
def test_stripping_a_url_never_fails_and_is_done_once(url: str) -> None:
    assert bare_url(bare_url(url)) == bare_url(url)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["run", "--token", "canary", "x y"], "run --token *** 'x y'"),
        (["run", "--api-key=canary"], "run '--api-key=***'"),
        (["env", "GH_TOKEN=canary", "run"], "env 'GH_TOKEN=***' run"),
        (["env", "OPENAI_KEY=canary", "run"], "env 'OPENAI_KEY=***' run"),
        (["run", "https://h/mcp?a=1&api_key=canary"], "run 'https://h/mcp?a=1&api_key=***'"),
        (["run", "-H", "Authorization: Bearer canary"], "run -H 'Authorization: ***'"),
        (["run", '{"token":"canary"}'], "run '{\"token\":***'"),
        (["run", "postgres://me:canary@host/db"], "run 'postgres://***@host/db'"),
        (["sh", "-c", "run --token canary\n--more"], "sh -c 'run --token ***'"),
        (["run", "--auth", "--port", "80"], "run --auth --port 80"),
        (["run", "--author", "me", "--keys", "a"], "run --author me --keys a"),
        (["run", "https://auth.example:80/x"], "run https://auth.example:80/x"),
        (["tokenizer", "x"], "tokenizer x"),
        (["run", "--token"], "run --token"),
    ],
)
def test_what_looks_like_a_secret_in_a_command_is_masked(command: list[str], shown: str) -> None:
    assert shown_command(command) == shown
    assert masked(masked(command)) == masked(command)


@given(st.lists(ODD | st.sampled_from(["--token", "token=", "auth: x", "--key"]), max_size=5))
def test_masking_never_fails_keeps_the_number_of_words_and_is_done_once(words: list[str]) -> None:
    once = masked(words)
    assert masked(once) == once
    assert len(once) == len(words)
