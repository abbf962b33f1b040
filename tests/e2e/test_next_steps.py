"""What a command says is to be done next, where its server turned it away or was not there at all."""

import re

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import Scripted, http, now

SEEN = r'the last state seen was "working", [\d. ms]+ ago; '
# A command, and its hint while nobody answers.
BACK = {
    "get 1": SEEN + "when the server is back: mcptask get 1",
    "update 1 a=b": SEEN + "when the server is back: mcptask update 1",
    "cancel 1": "when the server is back: mcptask cancel 1",
    "watch 1 --give-up-after 3": "when the server is back: mcptask watch 1",
    "tools": "is the address right, and the server running[?]",
    "call job month=x": "nothing was started",
}


@pytest.fixture
def stored(on_server: Cli) -> Cli:
    """Task 1 is stored, and was working when it was last seen."""
    assert on_server("call", "job", "month=x").code == 0
    return on_server


@pytest.mark.parametrize("line", BACK)
def test_of_a_server_that_is_away_it_is_said_how_to_come_back_a10_6(
    stored: Cli, server: Scripted, line: str
) -> None:
    server.always(http(503))
    ran = stored(*line.split())
    assert ran.code == 7
    assert re.search(f"^hint: {BACK[line]}$", ran.err, re.MULTILINE)


def test_a_call_that_is_turned_away_for_now_says_how_long_to_wait(
    stored: Cli, server: Scripted
) -> None:
    server.on("tools/list", http(429, Retry_After="7"))
    ran = stored("call", "job", "month=x", "--json")
    assert ran.document["error"]["hint"] == "it asks to wait 7 s; nothing was started"


NO_TOKEN = "no token was sent: --bearer-env VAR, or bearer_env in the config"
LINES = ["get 1", "update 1 a=b", "cancel 1", "watch 1", "tools", "call job month=x"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    ("login", "said"),
    [
        ([], NO_TOKEN),
        (["--bearer-env", "T"], "the token of $T was refused"),
        (["-H", "Authorization: Bearer canary"], "the Authorization header was refused"),
    ],
    ids=str,
)
def test_of_a_login_that_is_refused_it_is_said_which_it_was_a16_1(
    stored: Cli, server: Scripted, line: str, login: list[str], said: str
) -> None:
    server.always(http(401))
    ran = stored(*line.split(), *login, T="canary")
    assert ran.code == 8
    assert re.search(f"^hint: {re.escape(said)}(; task 1 was left as it was; .*)?$", ran.err, re.M)
    assert ("left as it was" in ran.err) is line.startswith("watch")
    assert "canary" not in ran.err


@pytest.mark.parametrize("form", [[], ["--json"]], ids=str)
def test_what_ended_the_watch_is_on_stderr_once(
    stored: Cli, server: Scripted, form: list[str]
) -> None:
    server.on("tasks/get", now("working"))
    ran = stored("watch", "1", "--timeout", "3", *form)
    assert ran.code == 124
    assert ran.err.count("the time given for waiting is over") == 1
