"""A token, given in each way that there is, in each command, however that ends: it is in no file but the
config, in nothing that is said, and in no list of processes."""

import base64
import json
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from urllib.parse import quote

import pytest

from mcptask.env import Clock
from tests.e2e.canaries import leaks
from tests.e2e.running import Cli, Process, Ran, wait_until
from tests.e2e.scripted import Got, Reply, Scripted, asking, completed, created, error, held, http

# With signs that a URL, JSON and both alphabets of Base64 spell in their own way.
SECRET = "canary-7f/+?>~Zx9"
IN_URL = quote(SECRET, safe="")


@dataclass(frozen=True)
class Way:
    """How the secret is given. `{at}` is the server's host and port."""

    words: tuple[str, ...] = ("-s", "http://{at}/mcp")
    config: str = ""
    variable: str = ""
    value: str = SECRET


STUDIO = ("-s", "studio")
TABLE = '[servers.studio]\nurl = "http://{at}/mcp"\n'
OVER_HTTP = {
    "header": Way(("-s", "http://{at}/mcp", "-H", f"Authorization: Bearer {SECRET}")),
    "header of another name": Way(("-s", "http://{at}/mcp", "-H", f"X-Note: {SECRET}")),
    "bearer_env": Way(("-s", "http://{at}/mcp", "--bearer-env", "TOKEN"), variable="TOKEN"),
    "config headers": Way(STUDIO, TABLE + f'headers = {{ X-Key = "{SECRET}" }}'),
    "config headers by variable": Way(STUDIO, TABLE + 'headers = { X-Key = "${TOKEN}" }', "TOKEN"),
    "config bearer_env": Way(STUDIO, TABLE + 'bearer_env = "TOKEN"', "TOKEN"),
    "user": Way(("-s", f"http://kai:{IN_URL}@{{at}}/mcp")),
    "config user": Way(STUDIO, TABLE.replace("{at}", f"kai:{IN_URL}@{{at}}")),
    "query": Way(("-s", f"http://{{at}}/mcp?key={IN_URL}")),
    "config query": Way(STUDIO, TABLE.replace("/mcp", f"/mcp?{IN_URL}")),
    "config query by variable": Way(STUDIO, TABLE.replace("/mcp", "/mcp?k=${TOKEN}"), "TOKEN", IN_URL),
    "MCPTASK_SERVER": Way((), "", "MCPTASK_SERVER", f"http://kai:x@{{at}}/mcp?key={IN_URL}"),
}  # fmt: skip


@dataclass
class Studio:
    """Runs commands with the secret given in one way, and keeps all that is said."""

    cli: Cli
    way: Way
    at: str
    trace: Path
    said: list[str]

    def __call__(self, command: str, *more: str, at: str = "") -> Ran:
        words = [word.replace("{at}", at or self.at) for word in self.way.words]
        self.cli.configure(self.way.config.replace("{at}", at or self.at))
        if self.way.variable:
            value = self.way.value.replace("{at}", at or self.at)
            self.cli.environ[self.way.variable] = value
        name = command.partition(" ")[0]
        reach = [] if name in ("list", "servers") else words
        trace = [] if name == "servers" else ["--trace", str(self.trace)]
        ran = self.cli(*command.split(), "-v", *trace, *reach, *more)
        self.said += [ran.out, ran.err]
        return ran

    @property
    def leaks(self) -> list[str]:
        return leaks(SECRET, *self.said, besides=self.trace.parent)


@pytest.fixture(params=OVER_HTTP.values(), ids=OVER_HTTP)
def studio(
    cli: Cli, server: Scripted, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Studio]:
    studio = Studio(cli, request.param, server.name, cli.cwd / "wire.jsonl", [])
    yield studio
    assert studio.leaks == []


def test_in_every_command_that_ends_well_s14(studio: Studio, server: Scripted) -> None:
    server.on("tasks/get", asking(), asking(), completed())
    for command in (
        "call job month=x --dry-run",
        "call job month=x",
        "get 1 --json",
        "update 1 action=keep --dry-run --key approve --json",
        "update 1 action=keep --jsonl",
        "cancel 1 --json",
        "watch 1 --jsonl",
        "call job month=x --wait --json",
        "tools --json",
        "tools job",
        "list --refresh",
        "list --json",
        "servers --json",
    ):
        assert studio(command).code in (0, 3), command
    # It was sent, or all of this would say nothing.
    assert len(server.got("tools/call")) == 2
    assert "***" in studio.trace.read_text()


def everything(handler: object, got: Got) -> str:
    """All that a server can know and repeat, as it came and encoded once more."""
    path = getattr(handler, "path", "")
    known = [path, *got.headers.values(), *(v.rpartition(" ")[2] for v in got.headers.values())]
    login = got.headers.get("authorization", "")
    if login.startswith("Basic "):
        known.append(base64.b64decode(login[6:]).decode())
    encoded = [base64.b64encode(text.encode()).decode() for text in known]
    return json.dumps([known, encoded, [quote(text, safe="") for text in known]])


def page(status: int, kind: str = "text/html") -> Reply:
    return lambda handler, got: http(status, everything(handler, got), kind)(handler, got)


def told(status: int, code: int = -32603) -> Reply:
    def reply(handler: object, got: Got) -> None:
        said = everything(handler, got)
        error(code, said, status=status, data={"seen": [said], said[:40]: 1})(handler, got)

    return reply


def moved(handler: object, got: Got) -> None:
    said = quote(everything(handler, got))
    http(302, Location=f"https://kai:{said}@elsewhere.example/x?{said}#{said}")(handler, got)


def challenged(handler: object, got: Got) -> None:
    said = everything(handler, got).replace('"', "'")
    http(401, WWW_Authenticate=f'Bearer error="x", error_description="{said}"')(handler, got)


OUTCOMES: dict[str, Reply] = {
    **{f"page {status}": page(status) for status in (200, 401, 403, 404, 500, 503)},
    **{f"error {status}": told(status) for status in (200, 400, 401, 403, 500)},
    "garbage": page(200, "application/json"),
    "an endless line of it": page(200, "text/event-stream"),
    "moved": moved,
    "challenged": challenged,
}


def test_however_a_server_that_repeats_it_refuses_s14(studio: Studio, server: Scripted) -> None:
    assert studio("call job month=x").code == 0
    commands = cycle(["tools --json", "get 1 --refresh", "cancel 1"])
    for name, reply in OUTCOMES.items():
        server.always(reply)
        command = next(commands)
        assert studio(command).code in (2, 4, 6, 7, 8, 9), f"{command}: {name}"
    assert "***" in studio.trace.read_text()


def test_where_no_server_is_to_be_had_s14(studio: Studio, server: Scripted) -> None:
    assert studio("tools", at="127.0.0.1:1").code == 7
    # No TLS there: the secret is not sent, and the way is still told of.
    studio.way = Way(
        tuple(word.replace("http:", "https:") for word in studio.way.words),
        studio.way.config.replace("http:", "https:"),
        studio.way.variable,
        studio.way.value.replace("http:", "https:"),
    )
    assert studio("tools").code == 7
    assert server.requests == []


def test_in_a_bug_of_ours_and_its_log_s14(
    studio: Studio, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bug(*args: object, **more: object) -> None:
        raise RuntimeError(f"{SECRET} {args} {more}")

    monkeypatch.setattr("mcptask.protocol.transports.http_client.encoded", bug)
    monkeypatch.setattr("tests.e2e.running.EXIT_CODES", {70})
    ran = studio("tools")
    assert "crash.log" in ran.err


# ── stdio ──

CHILD = """
import base64, json, os, sys
from urllib.parse import quote
known = [*sys.argv, os.environ.get("STUDIO_KEY", ""), os.environ.get("DATABASE", "")]
said = json.dumps([known, [base64.b64encode(k.encode()).decode() for k in known], [quote(k) for k in known]])
for line in sys.stdin:
    request = json.loads(line)
    print(said, file=sys.stderr, flush=True)
    print(said, flush=True)
    if "id" in request:
        error = {"code": -32603, "message": said, "data": {"seen": said}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
    sys.exit(request.get("method") == "tools/list")
"""
BY_STDIO = {
    "config env": 'env = { STUDIO_KEY = "{secret}", DATABASE = "db://me:{secret}@host/x" }',
    "config env by variable": 'env = { STUDIO_KEY = "${TOKEN}", DATABASE = "${TOKEN}" }',
}


@pytest.mark.parametrize("way", ["--stdio", *BY_STDIO])
def test_over_stdio_with_a_child_that_repeats_it_a6_4_s14(
    cli: Cli, tmp_path: Path, way: str
) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    child = [sys.executable, str(tmp_path / "child.py")]
    trace = cli.cwd / "wire.jsonl"
    cli.environ["TOKEN"] = SECRET
    if way == "--stdio":
        line = ["env", f"STUDIO_KEY={SECRET}", *child, "--token", SECRET, f"--password={SECRET}"]
        words = ["--stdio", shlex.join(line)]
    else:
        env = BY_STDIO[way].replace("{secret}", SECRET)
        cli.configure(f"[servers.local]\ncommand = {json.dumps(child)}\n{env}\n")
        words = ["-s", "local"]
    said = []
    for command in ("tools", "call job month=x --no-validate", "get x-1234", "tools --dry-run"):
        for more in ([], ["--json"]):
            ran = cli(*command.split(), *more, "-v", *words, "--trace", str(trace), clock=Clock())
            said += [ran.out, ran.err]
    assert "***" in trace.read_text()
    assert leaks(SECRET, *said, besides=cli.cwd) == []


# ── processes ──


def command_lines(pid: int) -> list[str]:
    """Of this process and of all under it, as `ps` shows them to everybody."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(stat[1]), (entry / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile
    family = {pid}
    for _ in parents:
        family |= {child for child, (parent, _) in parents.items() if parent in family}
    return [parents[each][1].decode() for each in family if each in parents]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
@pytest.mark.parametrize("way", ["bearer_env", "config headers", "config user", "stdio env"])
def test_it_is_in_no_list_of_processes_and_ctrl_c_shows_nothing_s14(
    cli: Cli,
    start: Callable[..., Process],
    server: Scripted,
    gate: threading.Event,
    way: str,
) -> None:
    # `cat` repeats what is asked, and so never answers.
    silent = '[servers.studio]\ncommand = ["cat"]\nenv = { STUDIO_KEY = "${TOKEN}" }\n'
    given = Way(STUDIO, silent, "TOKEN") if way == "stdio env" else OVER_HTTP[way]
    cli.configure(given.config.replace("{at}", server.name))
    words = [word.replace("{at}", server.name) for word in given.words]
    server.always(held(gate, created()))
    process = start("tools", "-v", *words, TOKEN=SECRET)
    process.hear("studio: " if "studio" in words else "gives the URL")
    if way == "stdio env":
        wait_until(lambda: len(command_lines(process.popen.pid)) > 1, "no child")
    else:
        wait_until(lambda: server.requests, "nothing sent")
    lines = command_lines(process.popen.pid)
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code in (130, -2)
    assert leaks(SECRET, ran.out, ran.err, *lines, besides=cli.cwd) == []
