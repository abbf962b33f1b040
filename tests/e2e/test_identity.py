"""Which task, on which server, as whom: names that look alike are never taken for one another."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from mcptask.store import atomic
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    Json,
    Reply,
    Scripted,
    completed,
    created,
    error,
    now,
    result,
    scripted,
)
from tests.e2e.terminal import Terminal
from tests.e2e.test_state_file import read_only

CONFIGS = {
    "two tokens": '[servers.{0}]\nurl = "{1}"\nbearer_env = "{0}"\n',
    "two queries": '[servers.{0}]\nurl = "{1}?key={0}"\n',
}
HOSTILE_ID = "tsk_\x1b[2Jx"


def echoing(reply: Callable[..., Reply]) -> Reply:
    """The reply for whatever task was asked about."""
    return lambda handler, got: reply(task_id=got.params["taskId"])(handler, got)


def working(task_id: str) -> Reply:
    return now("working", task_id)


def call(cli: Cli, server: Scripted, *task_ids: str) -> None:
    for task_id in task_ids:
        server.on("tools/call", created(task_id))
        assert cli("call", "job", "month=x", "-s", server.url).code == 0


def tasks(cli: Cli) -> list[Json]:
    listed: list[Json] = cli("list", "--json").listed["tasks"]
    return listed


# ── as whom ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("command", ["watch --all", "cancel 1 2", "list --refresh"])
@pytest.mark.parametrize("how", CONFIGS)
def test_two_names_of_one_address_are_two_servers(
    cli: Cli, server: Scripted, how: str, command: str
) -> None:
    """Either token, or either query, is a login: what one may see, the other does not know."""
    seen: set[tuple[str, str]] = set()
    cli.configure("".join(CONFIGS[how].format(name, server.url) for name in ("ann", "ben")))
    cli.environ |= {"ann": "ann", "ben": "ben"}

    def owner_only(reply: Reply) -> Reply:
        def answer(handler: object, got: object) -> None:
            token = got.headers.get("authorization", "").removeprefix("Bearer ")  # type: ignore[attr-defined]
            who = token or urlsplit(handler.path).query.removeprefix("key=")  # type: ignore[attr-defined]
            task_id = got.params["taskId"]  # type: ignore[attr-defined]
            seen.add((who, task_id))
            known = task_id == f"tsk_{who}"
            (reply if known else error(-32602, "unknown"))(handler, got)  # type: ignore[arg-type]

        return answer

    for name in ("ann", "ben"):
        server.on("tools/call", created(f"tsk_{name}"))
        assert cli("call", "job", "month=x", "-s", name).code == 0
    server.on("tasks/get", owner_only(echoing(completed)))
    server.on("tasks/cancel", owner_only(result()))
    ran = cli(*command.split())
    assert (ran.code, "warning" in ran.err) == (0, False), ran.err
    assert seen == {("ann", "tsk_ann"), ("ben", "tsk_ben")}
    assert [each["outcome"] for each in tasks(cli)] == ["completed", "completed"]


# ── on which server ──────────────────────────────────────────────────────────────────────────────


def test_tasks_with_one_id_on_two_servers_are_told_apart_when_one_has_ended(
    cli: Cli, server: Scripted
) -> None:
    with scripted() as other:
        server.on("tasks/get", completed(text="the first"))
        other.on("tasks/get", working(ID), completed(text="the second"))
        call(cli, server, ID)
        assert cli("watch", "1").code == 0
        call(cli, other, ID)
        body = cli("watch", "1", "2", "--json").documents
    texts = [each["result"]["content"][0]["text"] for each in body["tasks"]]
    assert [each["ref"] for each in body["tasks"]] == [1, 2]
    assert texts == ["the first", "the second"]
    assert [each["server"]["endpoint"] for each in body["tasks"]] == [server.url, other.url]


@pytest.mark.parametrize(
    ("reply", "code"), [(error(-32602, "unknown"), 6), (completed(), 0)], ids=["lost", "completed"]
)
@pytest.mark.parametrize("command", ["get 1", "watch 1", "cancel 1"])
def test_what_another_server_says_of_an_id_is_not_noted(
    cli: Cli, server: Scripted, command: str, reply: Reply, code: int
) -> None:
    call(cli, server, ID)
    before = cli.state.read_bytes()
    with scripted() as other:
        other.on("tasks/get", reply)
        other.on("tasks/cancel", reply)
        ran = cli(*command.split(), "-s", other.url)
        assert ran.code == code
        assert "task 1 is on another server; nothing is noted" in ran.err
        assert other.requests
    assert cli.state.read_bytes() == before
    assert list(cli.state.parent.rglob("*.json")) == []


# ── which task ───────────────────────────────────────────────────────────────────────────────────


def test_a_number_that_is_another_tasks_id_is_ambiguous_and_a_prefix_settles_it(
    cli: Cli, server: Scripted
) -> None:
    call(cli, server, "2", "tsk_b")
    server.on("tasks/get", echoing(working))
    for command in ("get", "watch", "cancel", "update", "forget"):
        ran = cli(command, "2", *(["a=b"] if command == "update" else []), "--json").document
        assert ran["exitCode"] == 2
        assert "ref:2 is the number, id:2 the id" in ran["error"]["hint"]
        assert [each["ref"] for each in ran["error"]["data"]["candidates"]] == [1, 2]
    assert cli("get", "ref:2", "--json").document["task"]["taskId"] == "tsk_b"
    assert cli("get", "id:2", "--json").document["ref"] == 1
    assert cli("get", "1", "--json").document["task"]["taskId"] == "2"


def test_an_ambiguous_beginning_lists_the_candidates_also_where_a_server_is_named(
    cli: Cli, server: Scripted
) -> None:
    call(cli, server, "tsk_1a", "tsk_1b")
    del server.requests[:]
    ran = cli("get", "tsk_1", "-s", server.url)
    assert ran.code == 2
    assert "1 (tsk_1a), 2 (tsk_1b)" in ran.err
    assert server.requests == []


def test_a_task_named_twice_is_forgotten_once(cli: Cli, server: Scripted) -> None:
    call(cli, server, ID, "tsk_other")
    ran = cli("forget", "1", "1")
    assert ran.code == 0
    assert "Forgot 1 task." in ran.err
    assert [each["ref"] for each in tasks(cli)] == [2]


@pytest.mark.parametrize("kind", [None, "complete"])
@pytest.mark.parametrize(
    ("shape", "task_id"),
    [
        ({"taskId": "t1234", "status": "queued"}, "t1234"),
        ({"task": {"taskId": "t1", "status": "submitted"}}, "t1"),
    ],
    ids=str,
)
def test_a_task_without_its_tag_and_with_a_status_of_its_own_is_stored(
    on_server: Cli, server: Scripted, kind: str | None, shape: Json, task_id: str
) -> None:
    server.on("tools/call", result(**shape, resultType=kind))
    ran = on_server("call", "job", "month=x")
    assert (ran.code, ran.out) == (0, f"{task_id}\n")
    assert [each["taskId"] for each in tasks(on_server)] == [task_id]
    server.on("tasks/get", completed(task_id))
    assert on_server("watch", "1").code == 0


def test_a_task_that_could_not_be_stored_is_found_again_by_its_id_and_its_server(
    cli: Cli, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "make_folder", read_only)
    ran = cli("call", "job", "month=x", "-s", server.url)
    assert f"mcptask watch {ID} -s {server.url}" in ran.err
    words = ran.err.partition("mcptask watch ")[2].split()
    assert cli("watch", *words[:3]).code == 0


def test_an_id_that_would_drive_a_terminal_is_clean_there_and_exact_in_a_pipe(
    terminal: Callable[..., Terminal], server: Scripted
) -> None:
    server.on("tools/call", created(HOSTILE_ID))
    words = ["call", "job", "month=x", "-s", server.url]
    screen = terminal(*words)
    assert screen.end() == 0
    assert b"\x1b[2J" not in screen.raw
    assert any("tsk_" in line for line in screen.lines)
    piped = terminal(*words, piped=True)
    assert piped.end() == 0
    assert piped.piped_out == f"{HOSTILE_ID}\n"
    assert b"\x1b[2J" not in piped.raw
