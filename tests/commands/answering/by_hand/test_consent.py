"""An address to open, and requests that nobody answers by hand, at a pseudo-terminal in this process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcptask.commands.answering.by_hand import browser
from mcptask.protocol.questions import Question
from tests.commands.answering.by_hand.at_a_pty import (
    Desk,
    desk_of,
    form,
    to_open,
)

URL = "https://good.example@xn--e1afmkfd.example/" + "x" * 100


@pytest.fixture
def desk() -> Iterator[Desk]:
    with desk_of(60) as desk:
        yield desk


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "x/y"])
def test_another_request_is_shown_with_what_answers_it_a12_10_a12_14_s7(
    desk: Desk, method: str
) -> None:
    assert desk.ask(Question("k", {"method": method, "params": {"maxTokens": 7}})) is None
    told = " ".join(desk.screen)
    for words in (method, '"maxTokens": 7', "mcptask update 7 --responses"):
        assert words in told
    assert ("--root PATH" in told) == (method == "roots/list")


def test_a_schema_that_cannot_be_used_is_told_and_the_question_left_open(desk: Desk) -> None:
    request = form(a={"type": "string", "pattern": "(", "default": "x"})
    assert desk.ask(request) is None
    assert "no regular expression" in " ".join(line.strip() for line in desk.screen)


def test_a_url_is_shown_whole_and_agreed_to_by_a_letter_only_a12_13_s7(desk: Desk) -> None:
    steps = [("y agrees", "\r"), ("one of these keys", "o"), ("one of these keys", "y")]
    assert desk.ask(to_open(URL), *steps) == {"action": "accept"}
    assert URL in "".join(line.strip() for line in desk.screen)
    told = " ".join(line.strip() for line in desk.screen)
    for words in ("host: xn--e1afmkfd.example", "before the @", "punycode"):
        assert words in told


@pytest.mark.parametrize(
    ("letter", "response"),
    [
        ("n", {"action": "decline"}),
        ("d", {"action": "decline"}),
        ("c", {"action": "cancel"}),
        ("l", None),
    ],
)
def test_a_url_that_is_none_for_a_browser_can_only_be_refused_a12_13(
    desk: Desk, letter: str, response: Any
) -> None:
    opened = opener(desk)
    steps = [("d declines", "y"), ("one of these", "o"), ("one of these", letter)]
    assert desk.ask(to_open("javascript:alert(1)"), *steps) == response
    assert opened == []


def opener(desk: Desk, why: str | None = None) -> list[str]:
    opened: list[str] = []

    async def open_it(url: str) -> str | None:
        opened.append(url)
        return why

    desk.browser = open_it
    return opened


def test_o_opens_it_after_that_yes_and_no_sooner_a12_13(desk: Desk) -> None:
    opened = opener(desk)
    assert desk.ask(to_open(URL), ("y agrees", "y")) == {"action": "accept"}
    assert opened == []
    assert desk.ask(to_open(URL), ("o opens it", "o")) == {"action": "accept"}
    assert opened == [URL]


def test_a_browser_that_cannot_be_opened_is_no_consent_a12_13(desk: Desk) -> None:
    opened = opener(desk, "none was found")
    steps = [
        ("o opens it", "o"),
        ("No browser can be opened here: none was found.", "o"),
        ("one of these", "n"),
    ]
    assert desk.ask(to_open(URL), *steps) == {"action": "decline"}
    assert opened == [URL]


@pytest.mark.parametrize(
    ("environ", "platform", "why"),
    [
        ({}, "linux", "neither $DISPLAY nor $BROWSER is set"),
        ({"DISPLAY": ":0"}, "linux", None),
        ({"WAYLAND_DISPLAY": "w"}, "linux", None),
        ({"BROWSER": "b"}, "linux", None),
        ({}, "darwin", None),
        ({"SSH_TTY": "/dev/pts/1"}, "darwin", "over ssh, neither $DISPLAY nor $BROWSER is set"),
        ({"SSH_CONNECTION": "1 2 3 4", "BROWSER": "b"}, "linux", None),
        ({"SSH_CONNECTION": "1 2 3 4", "DISPLAY": "localhost:10"}, "linux", None),
    ],
    ids=str,
)
def test_a_browser_is_offered_where_there_is_a_screen_else_it_is_told_why_not_a12_13(
    environ: dict[str, str], platform: str, why: str | None
) -> None:
    found = browser.browser_of(environ, platform)
    assert (found if isinstance(found, str) else None) == why


def test_why_no_browser_is_opened_is_told_with_the_address_a12_13(desk: Desk) -> None:
    assert desk.ask(to_open(URL), ("y agrees", "n")) == {"action": "decline"}
    told = " ".join(desk.written.decode().split())
    assert "No browser can be opened here: neither $DISPLAY nor $BROWSER is set." in told


def program(path: Path, body: str) -> str:
    path.write_text(f"#!{sys.executable}\n{body}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_real_browser_gets_the_address_as_one_word_and_no_terminal(tmp_path: Path) -> None:
    told = tmp_path / "told"
    body = f"""import os, sys
print("noise", file=sys.stderr)
open({str(told)!r}, "w").write(f"{{sys.argv[1:]}} {{os.getsid(0)}}")
"""
    # `webbrowser` waits for one that is named with an argument.
    name = program(tmp_path / "browser", body)
    open_it = browser.browser_of({**os.environ, "BROWSER": f"{name} %s"})
    assert not isinstance(open_it, str)
    url = "https://x.example/?a=1&b=$(touch%20x);'"
    assert asyncio.run(open_it(url)) is None
    words, _, session = told.read_text().rpartition(" ")
    assert words == repr([url])
    assert int(session) != os.getsid(0)  # so it has no terminal to read or write


def test_a_browser_that_fails_is_told_and_one_that_stays_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = browser.browser_of(
        {"BROWSER": program(tmp_path / "no", "raise SystemExit(1)") + " %s"}
    )
    assert not isinstance(failing, str)
    assert asyncio.run(failing("https://x.example")) == "none was found, or it failed"
    monkeypatch.setattr(browser, "PATIENCE", 0.0)
    assert asyncio.run(failing("https://x.example")) is None
