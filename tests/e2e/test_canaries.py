"""No secret of either side gets into a trace, or into what is said of an error: each is a canary here."""

import base64
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import Got, Reply, Scripted, completed, created, error, http

SECRETS = {
    "header": "canary-header-1f",
    "bearer": "canary-bearer-2f",
    "config": "canary/config+3f",
    "password": "canary@password-4f",
    "query": "canary query&5f",
    "cookie": "canary-cookie-6f",
    "session": "canary-session-7f",
    "state": "canary-state-8f",
    "env": "canary-env-9f",
    "word": "canary-word-af",
    "path": "canary-path-bf",
    "renewed": "canary-renewed-cf",
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "wire.jsonl"


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def without_secrets(*texts: str) -> None:
    for text in texts:
        assert re.findall(r"canary.{0,20}", text) == []


@pytest.fixture
def studio(cli: Cli, server: Scripted) -> Callable[..., Ran]:
    """A configured server whose every secret is a canary; what is said with -v has none of them."""
    host = server.url.removeprefix("http://").removesuffix("/mcp")
    password, query = quote(SECRETS["password"], safe=""), quote(SECRETS["query"])
    cli.configure(
        f"""
        [servers.studio]
        url = "http://kai:{password}@{host}/${{STUDIO_PATH}}?key={query}"
        headers = {{ X-Studio-Key = "${{STUDIO_KEY}}", Cookie = "sid={SECRETS["cookie"]}; a=b" }}
        [servers.bearer]
        url = "{server.url}"
        bearer_env = "STUDIO_TOKEN"
        """
    )
    cli.environ |= {
        "STUDIO_KEY": SECRETS["config"],
        "STUDIO_TOKEN": SECRETS["bearer"],
        "STUDIO_PATH": SECRETS["path"],
    }

    def run(*words: str) -> Ran:
        ran = cli(*words, "-v", "-H", f"X-Note: {SECRETS['header']}")
        without_secrets(ran.err, ran.out)
        return ran

    return run


def generous(handler: Any, got: Got) -> None:
    """An answer with a cookie, a session id, a new token and a state, in a message of its own shape."""
    asked = {"resultType": "input_required", "requestState": SECRETS["state"]}
    body = json.dumps({"jsonrpc": "2.0", "id": got.id, "result": asked})
    headers = {
        "Set_Cookie": f"sid={SECRETS['cookie']}; Path=/",
        "Mcp_Session_Id": SECRETS["session"],
        "X_Auth_Token": SECRETS["renewed"],
    }
    http(200, body, "application/json", **headers)(handler, got)


@pytest.mark.parametrize("name", ["studio", "bearer"])
def test_no_secret_of_either_side_is_in_the_trace_a8_4_s14(
    studio: Callable[..., Ran], server: Scripted, trace: Path, name: str
) -> None:
    server.on("tools/call", generous, created())
    ran = studio(
        "call", "job", "month=2026-09", "-s", name, "--trace", str(trace), "--wait", "--json"
    )
    assert ran.code == 0
    assert server.got("tools/call")[1].params["requestState"] == SECRETS["state"]
    without_secrets(trace.read_text())
    sent = entries(trace)[0]
    assert sent["headers"]["authorization"] == sent["headers"]["x-note"] == "***"
    assert trace.read_text().count('"requestState": "***"') == 2


def everything(handler: Any, got: Got) -> str:
    """All that a server can know: also what the `Basic` login says, decoded."""
    scheme, _, login = got.headers["authorization"].partition(" ")
    decoded = base64.b64decode(login).decode() if scheme == "Basic" else ""
    return f"got {handler.path} and {json.dumps(dict(got.headers))} {decoded}"


def echo_page(status: int, **headers: str) -> Reply:
    def reply(handler: Any, got: Got) -> None:
        http(status, everything(handler, got), **headers)(handler, got)

    return reply


def echo_error(status: int) -> Reply:
    def reply(handler: Any, got: Got) -> None:
        said = everything(handler, got)
        error(-32603, said, status=status, data={"seen": [said]})(handler, got)

    return reply


def echo_redirect(handler: Any, got: Got) -> None:
    token = got.headers["authorization"].rpartition(" ")[2]
    http(302, Location=f"https://elsewhere.example/{token}?code={token}#{token}")(handler, got)


def echo_challenge(handler: Any, got: Got) -> None:
    token = got.headers["authorization"].rpartition(" ")[2]
    http(401, WWW_Authenticate=f'Bearer error="{token}"')(handler, got)


@pytest.mark.parametrize("name", ["studio", "bearer"])
@pytest.mark.parametrize(
    "reply",
    [
        *(echo_page(status) for status in (200, 400, 401, 404, 500)),
        *(echo_error(status) for status in (200, 401, 500)),
        echo_redirect,
        echo_challenge,
    ],
)
def test_a_server_that_repeats_a_secret_puts_it_into_no_trace_and_no_error_a4_3_s14(
    studio: Callable[..., Ran], server: Scripted, trace: Path, name: str, reply: Reply
) -> None:
    server.always(reply)
    ran = studio("tools", "-s", name, "--trace", str(trace), "--json")
    assert ran.code in (7, 8, 9)
    told = entries(trace)
    assert {entry["kind"] for entry in told} >= {"request", "response"}
    assert "***" in json.dumps([entry for entry in told if entry["direction"] == "in"])
    without_secrets(trace.read_text())


@pytest.mark.parametrize("name", ["studio", "bearer"])
def test_an_error_of_the_tool_call_does_not_repeat_a_secret_either_t11(
    studio: Callable[..., Ran], server: Scripted, trace: Path, name: str
) -> None:
    server.on("tools/call", echo_error(200))
    ran = studio("call", "job", "month=1", "-s", name, "--trace", str(trace), "--json")
    assert ran.code == 4
    problem = ran.document["error"]
    assert problem["message"].startswith("got /")
    assert "***" in problem["message"]
    assert "***" in problem["data"]["seen"][0]
    without_secrets(trace.read_text())


CHILD = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    said = repr((sys.argv, os.environ["STUDIO_TOKEN"], os.environ["DATABASE"]))
    print(said, file=sys.stderr, flush=True)
    print(said, flush=True)
    if "id" in request:
        error = {"code": -32603, "message": said, "data": said}
        answer = {"jsonrpc": "2.0", "id": request["id"], "error": error}
        print(json.dumps(answer), flush=True)
    sys.exit(request.get("method") == "tools/list")
"""


def test_a_child_that_repeats_a_secret_puts_it_into_no_trace_and_no_error_a6_4(
    cli: Cli, trace: Path, tmp_path: Path
) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    cli.configure(
        f"""
        [servers.local]
        command = ["{sys.executable}", "{tmp_path}/child.py", "--token", "{SECRETS["word"]}"]
        env = {{ STUDIO_TOKEN = "{SECRETS["env"]}", DATABASE = "db://me:{SECRETS["env"]}@host/x" }}
        """
    )
    ran = cli("tools", "-s", "local", "-v", "--json", "--trace", str(trace), clock=Clock())
    assert ran.code in (7, 9)
    without_secrets(ran.out, ran.err, trace.read_text())
    told = entries(trace)
    start = next(entry for entry in told if entry["kind"] == "start")
    assert start["command"][-2:] == ["--token", "***"]
    for kind in ("stderr", "noise"):
        assert "***" in next(entry["text"] for entry in told if entry["kind"] == kind)


def test_the_result_of_a_tool_is_not_touched(on_server: Cli, server: Scripted) -> None:
    """Only errors are searched for secrets: what a tool gives is the user's own."""
    server.on("tasks/get", completed(text=f"your header is {SECRETS['header']}"))
    ran = on_server("call", "job", "month=1", "--wait", "-H", f"X-Note: {SECRETS['header']}")
    assert SECRETS["header"] in ran.out
