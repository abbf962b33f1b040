"""What a person is told of an address before agreeing to it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.protocol.addresses import read_address


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://x.example/a?b#c", "x.example"),
        ("HTTP://X.example:8080", "x.example"),
        ("https://[::1]/", "::1"),
    ],
)
def test_a_plain_address_has_its_host_and_no_remarks_a12_13(url: str, host: str) -> None:
    address = read_address(url)
    assert (address.host, address.warnings, address.refused) == (host, (), None)


@pytest.mark.parametrize(
    ("url", "host", "says"),
    [
        ("https://good.example@evil.example/", "evil.example", "'good.example' before the @"),
        ("https://a:b@c@evil.example/", "evil.example", "'a:b@c' before the @"),
        ("https://xn--e1afmkfd.example/", "xn--e1afmkfd.example", "shown as пример.example"),
        ("https://xn--a.example/", "xn--a.example", "other letters"),
        ("https://пример.example/", "пример.example", "xn--e1afmkfd.example"),
        (f"https://{'ä' * 70}.example/", f"{'ä' * 70}.example", "no valid name"),
    ],
)
def test_what_deceives_the_eye_is_pointed_out_a12_13(url: str, host: str, says: str) -> None:
    address = read_address(url)
    assert (address.host, address.refused) == (host, None)
    assert any(says in warning for warning in address.warnings)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("javascript:alert(1)", "not javascript"),
        ("file:///etc/passwd", "not file"),
        ("//x.example/", "http and https"),
        ("https:///path", "no host"),
        ("https://good.example\\@evil.example/", "backslash"),
        ("https://x.example/\x1b[2J", "invisible"),
        ("https://x.ex\u200bample/", "invisible"),
        ("https://x.example/a b", "space"),
        ("https://[x", "cannot be read"),
        ("https://x.example:99999/", "cannot be read"),
        ("", "no address"),
        (None, "no address"),
        (["https://x.example/"], "no address"),
    ],
)
def test_nobody_may_agree_to_what_is_no_sound_web_address_a12_13(url: Any, says: str) -> None:
    assert says in str(read_address(url).refused)


@given(st.text() | st.from_regex(r"\Ahttps?://.{0,40}\Z"))
def test_whatever_stands_there_is_read(url: str) -> None:
    address = read_address(url)
    assert address.refused or address.host
