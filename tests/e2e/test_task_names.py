"""Which server, which task: the order of precedence, and the spellings of TASK."""

import shlex

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import ID, Scripted, completed, created, scripted

ODD_IDS = [
    'it\'s "quoted"',
    "with space and\ttab",
    "a/b/../c?d=e#f",
    "-leading-dash",
    "--json",
    "two\nlines",
    "tâche-1 ✓",
    " padded ",
    "=?base64?QQ==?=",
    "$(reboot)`x`",
    "\x1b[2J\u202e",
    "x" * 3000,
]


# ── TASK ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["1", ID, ID[:4], ID[:10], "last"])
def test_a_task_is_named_by_number_id_prefix_or_last(on_server: Cli, text: str) -> None:
    on_server("call", "job", "month=x")
    for command in ("get", "watch", "cancel"):
        assert on_server(command, text, "--json").document["ref"] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2", "no task '2' is stored"),
        ("tsk_9", "no task 'tsk_9' is stored"),
        ("tsk", "needs 4 characters"),
        ("", "no task '' is stored"),
        ("LAST", "no task 'LAST' is stored"),
    ],
)
def test_an_unknown_task_is_a_usage_error(on_server: Cli, text: str, told: str) -> None:
    on_server("call", "job", "month=x")
    ran = on_server("get", text)
    assert ran.code == 2
    assert told in ran.err
    assert "mcptask list" in ran.err


def test_an_ambiguous_beginning_lists_the_candidates(on_server: Cli, server: Scripted) -> None:
    for name in ("tsk_1a", "tsk_1b", "other"):
        server.on("tools/call", created(name))
        on_server("call", "job", "month=x")
    ran = on_server("get", "tsk_")
    assert ran.code == 2
    assert "1 (tsk_1a), 2 (tsk_1b)" in ran.err
    told = on_server("get", "tsk_1", "--json").document["error"]["data"]["candidates"]
    assert [each["taskId"] for each in told] == ["tsk_1a", "tsk_1b"]


def test_an_id_that_is_not_stored_works_with_a_server(cli: Cli, server: Scripted) -> None:
    body = cli("get", ID, "-s", server.url, "--json").document
    assert (body["ref"], body["outcome"]) == (None, "completed")
    assert cli("watch", ID, "-s", server.url).out == "moved 138, unresolved 4\n"
    assert cli("list", "--json").listed["tasks"] == []
    assert cli("get", ID).code == 2


@pytest.mark.parametrize("task_id", ODD_IDS, ids=ascii)
def test_any_id_can_be_stored_sent_and_named_again(
    on_server: Cli, server: Scripted, task_id: str
) -> None:
    server.on("tools/call", created(task_id))
    server.on("tasks/get", completed(task_id))
    body = on_server("call", "job", "month=x", "--json").document
    assert body["task"]["taskId"] == task_id
    assert on_server("get", "1", "--json").document["task"]["taskId"] == task_id
    assert on_server("get", "--json", "--refresh", "--", task_id).document["ref"] == 1
    assert {got.params["taskId"] for got in server.got("tasks/get")} == {task_id}
    for command in ("list", "get 1", "watch 1"):
        said = on_server(*command.split())
        assert said.code == 0
        assert "\u202e" not in said.out + said.err


@pytest.mark.parametrize("task_id", ODD_IDS, ids=ascii)
def test_the_id_on_stdout_is_one_line(on_server: Cli, server: Scripted, task_id: str) -> None:
    """id=$(mcptask call …) must give back what names the task, wherever a line can hold it."""
    server.on("tools/call", created(task_id))
    server.on("tasks/get", completed(task_id))
    if "\x1b" in task_id or "\n" in task_id:
        pytest.skip("no line can hold it as it is; the number names it as well")
    assert on_server("call", "job", "month=x").out == f"{task_id}\n"


def test_commands_to_copy_are_quoted_for_a_shell(cli: Cli, server: Scripted) -> None:
    """A task that is not stored has no number, so its id is in the line to type."""
    task_id = "it's $(reboot)"
    server.on("tools/call", created(task_id))
    cli("call", "job", "month=x", "-s", server.url)
    cli("forget", "1")
    ran = cli("watch", task_id, "-s", server.url, "--timeout", "0.001")
    words = [shlex.split(line.partition("mcptask watch")[2]) for line in ran.err.splitlines()]
    assert all(not line or line[0] == task_id for line in words)


# ── the server ───────────────────────────────────────────────────────────────────────────────────


def test_the_first_match_names_the_server(cli: Cli) -> None:
    with scripted() as a, scripted() as b, scripted() as c:
        cli.configure(
            f'default = "b"\n[servers.a]\nurl = "{a.url}"\n[servers.b]\nurl = "{b.url}"\n'
        )

        def asked(*words: str, **environ: str) -> str:
            for each in (a, b, c):
                del each.requests[:]
            assert cli("tools", *words, **environ).code == 0
            return "".join(n for n, each in zip("abc", (a, b, c), strict=True) if each.requests)

        assert asked("-s", c.url, MCPTASK_SERVER="a") == "c"
        assert asked("-s", "b", MCPTASK_SERVER="a") == "b"
        assert asked(MCPTASK_SERVER="a") == "a"
        assert asked(MCPTASK_SERVER=c.url) == "c"
        assert asked() == "b"
        cli.configure(f'[servers.a]\nurl = "{a.url}"\n')
        assert asked() == "a"
        cli.configure(f'[servers.a]\nurl = "{a.url}"\n[servers.b]\nurl = "{b.url}"\n')
        ran = cli("tools")
        assert ran.code == 2
        assert "a, b" in ran.err
        assert "mcptask call reflow_month --wait -s demo" in ran.err


def test_an_unknown_server_names_the_nearest(cli: Cli) -> None:
    cli.configure('[servers.studio]\nurl = "https://studio.example/mcp"\n')
    ran = cli("tools", "-s", "studoi")
    assert ran.code == 2
    assert "studio" in ran.err.partition("hint:")[2]


def test_servers_lists_each_with_its_source_and_no_secret(cli: Cli) -> None:
    path = cli.configure('[servers.studio]\nurl = "https://me:s3cret@studio.example/mcp?key=k3y"\n')
    ran = cli("servers")
    assert ran.code == 0
    assert "studio" in ran.out
    assert str(path) in ran.out
    assert "built in" in ran.out
    assert "s3cret" not in ran.out + cli("servers", "--json").out
    assert "k3y" not in ran.out


@pytest.mark.parametrize("how", ["header", "bearer_env", "config"])
def test_secrets_reach_the_server_and_nothing_else(cli: Cli, server: Scripted, how: str) -> None:
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\nbearer_env = "TOKEN"\n')
    words = {
        "header": ["-s", server.url, "-H", "Authorization: Bearer s3cret"],
        "bearer_env": ["-s", server.url, "--bearer-env", "TOKEN"],
        "config": ["-s", "studio"],
    }[how]
    cli.environ["TOKEN"] = "s3cret"
    ran = cli("call", "job", "month=x", "--wait", "-v", *words)
    assert ran.code == 0
    assert {got.headers["authorization"] for got in server.requests} == {"Bearer s3cret"}
    files = [path for path in cli.state.parent.rglob("*") if path.is_file()]
    assert files
    assert not any(b"s3cret" in path.read_bytes() for path in files)
    assert "s3cret" not in ran.out + ran.err


def test_tools_lists_them_and_shows_the_arguments_of_one(on_server: Cli) -> None:
    assert on_server("tools").out.split() == ["TOOL", "DESCRIPTION", "job", "A", "job."]
    ran = on_server("tools", "job")
    for word in ("month *", "count", "integer", "rooms", "A job."):
        assert word in ran.out
    ran = on_server("tools", "jop")
    assert ran.code == 2
    assert "did you mean 'job'?" in ran.err
