"""Hostile text that no server sent: arguments, names of files, variables, and what files hold."""

import json
from pathlib import Path

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import Scripted
from tests.hostile_text.words import ACTING, PRINTABLE, faults, faults_of_json, values

# A name of a file that is not UTF-8 comes in with surrogates of this kind; TOML has none at all.
ARGUMENT = ACTING.replace("\ud800", "\udcff")
WRITTEN = ACTING.replace("\ud800", "")
CALL = ("call", "job", "month=x")
ARGUMENTS = (
    ("{word}",),
    ("list", "--{word}"),
    ("list", "{word}"),
    ("list", "--status", "{word}"),
    ("list", "--server", "{word}"),
    ("list", "--limit", "{word}"),
    ("list", "--config", "{word}"),
    ("list", "--state", "{word}/tasks.toml"),
    *((name, "--", "{word}") for name in ("get", "watch", "cancel", "forget", "tools", "update")),
    ("get", "-s", "http://127.0.0.1:1/{word}", "tsk_1"),
    ("tools", "-s", "{word}"),
    ("tools", "-s", "http://{word}"),
    ("tools", "--stdio", "{word}"),
    ("tools", "--stdio", "'{word}"),
    ("tools", "--trace", "{word}/x"),
    ("tools", "--protocol", "{word}"),
    ("tools", "--bearer-env", "{word}"),
    ("tools", "-H", "{word}"),
    ("tools", "-H", "X: {word}"),
    ("call", "--", "{word}"),
    ("call", "job", "month=x", "{word}=1"),
    ("call", "job", "count={word}"),
    ("call", "job", "month=@{word}"),
    ("call", "job", "options:={word}"),
    ("call", "job", "--args", "{word}"),
    ("call", "job", "--no-validate", "--dry-run", "month={word}"),
    (*CALL, "--wait", "--timeout", "{word}"),
    (*CALL, "--wait", "--on-interrupt", "{word}"),
    (*CALL, "--wait", "--exec", "{word}"),
    (*CALL, "--wait", "--answers", "{word}"),
    (*CALL, "--wait", "--answer-with", "{word}"),
    (*CALL, "--wait", "--root", "{word}"),
    ("update", "last", "{word}=1"),
    ("update", "last", "--key", "{word}", "--accept"),
    ("update", "last", "--responses", "{word}"),
    ("update", "last", "--responses", "@{word}"),
)
VARIABLES = (
    *("MCPTASK_SERVER", "MCPTASK_CONFIG", "MCPTASK_STATE", "MCPTASK_TRACE"),
    *("HTTP_PROXY", "SSL_CERT_FILE", "XDG_STATE_HOME", "XDG_CACHE_HOME", "COLUMNS", "TOKEN"),
)


def check(ran: Ran, *, exact: bool = False) -> None:
    assert faults(ran.err) == [], ran.err
    if ran.out.startswith("{"):
        assert faults_of_json(ran.out) == [], ran.out
        values(ran.out)
    elif not exact:
        assert faults(ran.out) == [], ran.out
    assert ran.code != 70, ran.err


@pytest.mark.parametrize("word", [ARGUMENT, PRINTABLE], ids=["acting", "printable"])
def test_no_argument_acts_or_passes_for_ours_s17(
    on_server: Cli, server: Scripted, word: str
) -> None:
    assert on_server(*CALL).code == 0
    for template in ARGUMENTS:
        command = [part.replace("{word}", word) for part in template]
        # A request that is shown to a pipe is the one that would go out, byte for byte.
        check(on_server(*command), exact="--dry-run" in command)
    check(on_server("get", word, "--json"))
    check(on_server("call", word, "--json"))


@pytest.mark.parametrize("name", VARIABLES)
def test_no_variable_acts_or_passes_for_ours_s17(
    on_server: Cli, server: Scripted, name: str
) -> None:
    word = ARGUMENT.replace("\x00", "")
    for command in (("tools", "-v", "--bearer-env", "TOKEN"), ("list",), (*CALL, "-v", "--json")):
        check(on_server(*command, **{name: word}), exact=True)


# ── what files hold ──────────────────────────────────────────────────────────────────────────────


def toml(text: str) -> str:
    """As a basic string of TOML, which spells what JSON spells."""
    return json.dumps(text)


def state(word: str, url: str) -> str:
    told, where = toml(word), toml(url)
    return f"""
version = 1
next_ref = 9
{told} = {told}
[[tasks]]
ref = 1
task_id = {told}
url = {where}
tool = {told}
status = {told}
status_message = {told}
protocol = {told}
answered = [{told}]
{told} = {told}
[[tasks]]
ref = 2
task_id = "tsk_2"
server = {told}
tool = {told}
status = "working"
created_at = {told}
ttl_ms = {told}
[[tasks]]
ref = 2
task_id = "tsk_3"
command = [{told}, {told}]
cwd = {told}
status = "failed"
[[tasks]]
ref = 4
task_id = "tsk_4"
url = {told}
status = "working"
[[calls]]
ref = 5
tool = {told}
url = {told}
"""


@pytest.mark.parametrize("word", [WRITTEN, PRINTABLE], ids=["acting", "printable"])
def test_a_state_file_that_was_edited_s17(cli: Cli, server: Scripted, word: str) -> None:
    cli.state.parent.mkdir(parents=True)
    commands = (
        ("list",),
        ("list", "--refresh", "-v"),
        ("list", "--json"),
        *((name, ref, *short) for name, *short in WITH_A_TASK for ref in ("1", "2", "3", "4", "5")),
        ("watch", "--all", "-v", "--timeout", "2s"),
        ("get", word),
        ("forget", "1", "2", "3", "4", "5"),
    )
    for command in commands:
        cli.state.write_text(state(word, server.url))
        check(cli(*command))


WITH_A_TASK = (
    ("get", "-v"),
    ("get", "--refresh", "--json"),
    ("watch", "--timeout", "2s"),
    ("update", "--decline"),
    ("cancel",),
)
BROKEN = (
    "version = {word}",
    'version = "{escaped}"',
    "{word}",
    "version = 1\ntasks = {told}",
    "version = 1\n[[tasks]]\ntask_id = 3\n{told} = {told}",
    "version = 1\n[{told}]",
)


@pytest.mark.parametrize("text", BROKEN)
def test_a_state_file_that_cannot_be_read_s17(cli: Cli, text: str) -> None:
    cli.state.parent.mkdir(parents=True)
    for command in (("list",), ("get", "last"), ("list", "--json")):
        cli.state.write_bytes(filled(text))
        check(cli(*command))


CONFIGS = (
    "{word}",
    "default = {told}",
    "{told} = {told}",
    "default = 3\n[servers.{told}]\nurl = {told}",
    "[servers.{told}]\nurl = 'http://127.0.0.1:1/'\n[servers.x]\nurl = {told}",
    "default = {told}\n[servers.{told}]\ncommand = [{told}]\ncwd = {told}\nenv = {{ {told} = {told} }}",
    "[servers.x]\nurl = 'http://127.0.0.1:1'\nheaders = {{ {told} = {told} }}\nbearer_env = {told}",
    "[servers.x]\nurl = 'http://127.0.0.1:1'\ntimeout = {told}",
    "[servers.x]\nurl = 'http://127.0.0.1:1'\n{told} = {told}",
    "[servers.x]\nurl = 'http://127.0.0.1:1/${{{escaped}}}'",
    "[servers.x]\nurl = {told}\ncommand = {told}",
    "[servers.x]\nurl = 'http://127.0.0.1:1'\nprotocol = {told}",
    "servers = {told}",
)


@pytest.mark.parametrize("text", CONFIGS)
def test_a_config_file_s17(cli: Cli, text: str) -> None:
    path = cli.configure("")
    path.write_bytes(filled(text))
    for command in (("servers",), ("tools", "-v"), ("tools", "-s", "x"), (*CALL, "--json")):
        check(cli(*command))


def filled(text: str) -> bytes:
    told = toml(WRITTEN)
    return text.format(word=WRITTEN, told=told, escaped=told[1:-1]).encode()


def test_files_of_answers_and_arguments_s17(
    on_server: Cli, server: Scripted, tmp_path: Path
) -> None:
    """Their names are in what is said of them, and so is what they hold."""
    folder = tmp_path / "error: FORGED \x1b[2J\u202e\nerror: FORGED"
    folder.mkdir()
    for name, text in (
        ("a", WRITTEN),
        ("b", json.dumps({WRITTEN: {WRITTEN: WRITTEN}})),
        ("c", "["),
    ):
        file = folder / name
        file.write_text(text, encoding="utf-8")
        for option in ("--answers", "--args"):
            source = str(file) if option == "--answers" else f"@{file}"
            check(on_server(*CALL[:2], option, source, "--wait", "--timeout", "2s"), exact=False)
        check(on_server("update", "last", "--responses", f"@{file}"))
    on_server("list", "--trace", str(folder / "trace"))
    check(on_server("tools", "-v", "--trace", str(folder)))
