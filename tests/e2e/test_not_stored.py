"""Of a task that is not stored here, each command that is suggested finds it: it names the server, and the
login as it was given."""

import re
import shlex
import signal
from collections.abc import Callable

import pytest

from tests.e2e.running import Cli, Process, Ran, wait_until
from tests.e2e.scripted import ID, Reply, Scripted, asking, completed, error, http, now
from tests.e2e.several import by_task
from tests.e2e.terminal import Terminal

LOST = error(-32602, "unknown task")
WORKING = now("working", pollIntervalMs=50)
ABOUT_A_TASK = re.compile(r"mcptask (?:watch|get|update|cancel) [^;\n]*")
# A command, what the server says of the task, and the commands that are then shown.
SHOWN: dict[str, tuple[tuple[str, ...], list[Reply], set[str]]] = {
    "a question": (("watch", ID), [asking()], {"watch", "update"}),
    "a question, as data": (("watch", ID, "--json"), [asking()], {"watch", "update"}),
    "a question that is looked at": (("get", ID), [asking()], {"update"}),
    "a wrong answer": (("update", ID, "nonsense=1"), [asking()], {"update"}),
    "no answer": (("update", ID), [asking()], {"update"}),
    "what came of an answer": (("update", ID, "action=keep"), [asking(), WORKING], {"watch"}),
    "the end after an answer": (("update", ID, "action=keep"), [asking(), completed()], {"get"}),
    "an answer to nothing": (("update", ID, "action=keep"), [WORKING], {"get"}),
    "no result yet": (("get", ID, "--result"), [WORKING], {"watch"}),
    "a request to cancel": (("cancel", ID), [WORKING], {"watch"}),
    "a time that is over": (("watch", ID, "--timeout", "3"), [WORKING], {"watch"}),
    "a server that is away": (("watch", ID, "--give-up-after", "3"), [http(503)], {"watch"}),
    "nobody there": (("get", ID), [http(503)], {"get"}),
    "nobody there to answer": (("update", ID, "a=b"), [http(503)], {"update"}),
    "a login that is over": (("watch", ID), [WORKING, http(401)], {"watch"}),
    "a task that is lost": (("watch", ID), [WORKING, LOST], {"watch"}),
    "a breach of the protocol": (("watch", ID), [WORKING, now("completed", "other")], {"get"}),
    "--any": (
        ("watch", "tsk_1", "tsk_2", "--any"),
        [by_task(tsk_1=completed("tsk_1"), tsk_2=now("working", "tsk_2"))],
        {"watch"},
    ),
    "the same trouble of many": (
        ("watch", *(f"tsk_{n}" for n in range(6)), "--timeout", "3"),
        [by_task(**{f"tsk_{n}": now("working", f"tsk_{n}") for n in range(6)})],
        {"watch"},
    ),
}


def shown(ran: Ran) -> list[str]:
    return ABOUT_A_TASK.findall(ran.out.replace('\\"', '"') + "\n" + ran.err)


@pytest.mark.parametrize("case", SHOWN)
def test_each_command_that_is_shown_names_the_server_and_the_token(
    cli: Cli, server: Scripted, case: str
) -> None:
    argv, replies, commands = SHOWN[case]
    server.on("tasks/get", *replies)
    ran = cli(*argv, "-s", server.url, "--bearer-env", "TOKEN", TOKEN="canary")
    found = shown(ran)
    assert commands <= {command.split()[1] for command in found}, ran
    for command in found:
        assert f"-s {server.url} --bearer-env TOKEN" in command
    assert "canary" not in ran.out + ran.err


def test_the_answer_that_is_shown_works_as_it_is(cli: Cli, server: Scripted) -> None:
    server.on("tasks/get", asking(), asking(), now("working"))
    ran = cli("watch", ID, "-s", server.url)
    (line,) = (each for each in shown(ran) if each.startswith("mcptask update"))
    assert cli(*shlex.split(line)[1:]).code == 0
    (sent,) = server.got("tasks/update")
    assert sent.params["inputResponses"]["approve"]["content"] == {"action": "waitlist"}


def test_a_stored_task_is_named_by_its_number_alone(cli: Cli, server: Scripted) -> None:
    cli("call", "job", "month=x", "-s", server.url)
    server.on("tasks/get", WORKING)
    (command,) = shown(cli("watch", "1", "--timeout", "3", "-s", server.url))
    assert command == "mcptask watch 1"


def test_no_header_is_shown(cli: Cli, server: Scripted) -> None:
    server.on("tasks/get", WORKING)
    ran = cli("watch", ID, "--timeout", "3", "-s", server.url, "-H", "X-Key: canary")
    (command,) = shown(ran)
    assert command == f"mcptask watch {ID} -s {server.url} -H …"
    assert "canary" not in ran.err


@pytest.mark.parametrize("hidden", ["?key=canary", "user:canary@"])
def test_a_url_with_a_secret_is_told_in_words(cli: Cli, server: Scripted, hidden: str) -> None:
    server.on("tasks/get", WORKING)
    url = server.url.replace("//", f"//{hidden}") if "@" in hidden else server.url + hidden
    ran = cli("watch", ID, "--timeout", "3", "-s", url)
    (command,) = shown(ran)
    assert command == f"mcptask watch {ID} with the same --server"
    assert "canary" not in ran.err


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("sh -c 'exit 3; exit 4'", """ --stdio 'sh -c '"'"'exit 3; exit 4'"'"''"""),
        ("sh -c 'exit 3' --token canary", " with the same --stdio"),
    ],
)
def test_a_program_is_shown_whole_or_not_at_all(cli: Cli, command: str, where: str) -> None:
    ran = cli("get", ID, "--stdio", command)
    assert (ran.code, "canary" in ran.err) == (7, False)
    assert f"mcptask get {ID}{where}\n" in ran.err


@pytest.mark.parametrize("ids", [("tsk_1",), ("tsk_1", "tsk_2")])
def test_ctrl_c_names_the_server_of_one_task_and_of_several(
    start: Callable[..., Process], server: Scripted, ids: tuple[str, ...]
) -> None:
    server.on("tasks/get", by_task(**{name: now("working", name) for name in ("tsk_1", "tsk_2")}))
    process = start("watch", *ids, "-s", server.url)
    wait_until(lambda: len(server.got("tasks/get")) >= len(ids), "they are followed")
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code == 130
    to_type = f"{' '.join(ids)} -s {server.url}"
    assert shown(ran) == [f"mcptask watch {to_type}", f"mcptask cancel {to_type}"]


def test_the_live_view_names_the_server(
    terminal: Callable[..., Terminal], server: Scripted
) -> None:
    server.on("tasks/get", asking())
    screen = terminal("watch", ID, "-s", server.url, columns=120)
    screen.until(lambda lines: any("Enter goes on" in line for line in lines))
    screen.type("\x1bl")
    seen = screen.until(lambda lines: any("in another terminal" in line for line in lines))
    assert f"mcptask update {ID} action=waitlist -s {server.url}" in " ".join(seen)
    assert f"Ctrl-C leaves it running: mcptask watch {ID} -s {server.url}" in " ".join(seen)
