import base64
import sys
from pathlib import Path
from typing import Any

import pytest

from mcptask.errors import ConfigError, UsageError
from mcptask.origin import Origin
from mcptask.servers.config import Config, ServerConfig
from mcptask.servers.credentials import credentials
from mcptask.servers.endpoint import Endpoint, not_stored, origin_of
from mcptask.servers.resolve import (
    Selection,
    address_of_record,
    endpoint_of_record,
    known,
    resolve,
)
from mcptask.servers.waits import Waits

STUDIO = ServerConfig(
    name="studio",
    url="https://studio.example/mcp",
    bearer_env="STUDIO_TOKEN",
    headers={"X-Team": "${TEAM}"},
    waits=Waits(timeout=60.0),
)
LOCAL = ServerConfig(
    name="local", command=("uvx", "studio-mcp", "${HOME}"), env={"DB": "${HOME}/db"}, cwd="~/work"
)
ENVIRON = {"HOME": "/home/me", "TEAM": "north", "STUDIO_TOKEN": "canary"}
PATH = Path("/etc/mcptask/config.toml")


def config(*servers: ServerConfig, default: str | None = None) -> Config:
    return Config(path=PATH, default=default, servers={server.name: server for server in servers})


BOTH = config(STUDIO, LOCAL)


def resolved(
    server: str | None = None,
    *,
    stdio: str | None = None,
    headers: tuple[str, ...] = (),
    bearer_env: str | None = None,
    given: Config = BOTH,
    environ: dict[str, str] = ENVIRON,
) -> Endpoint:
    selection = Selection(server=server, stdio=stdio, headers=headers, bearer_env=bearer_env)
    return resolve(selection, given, environ, cwd="/here")


def refusal(*args: Any, **more: Any) -> UsageError:
    with pytest.raises(UsageError) as refused:
        resolved(*args, **more)
    return refused.value


@pytest.mark.parametrize(
    ("server", "stdio", "variable", "default", "name", "source"),
    [
        ("local", None, "studio", "studio", "local", "--server names local"),
        (None, "run x", "studio", "studio", "run", "--stdio gives the command"),
        (None, None, "local", "studio", "local", "MCPTASK_SERVER names local"),
        (None, None, "http://h:1/x", "studio", "h:1", "MCPTASK_SERVER gives the URL"),
        (None, None, "", "studio", "studio", f"studio is the default in {PATH}"),
        (None, None, "", "demo", "demo", f"demo is the default in {PATH}"),
    ],
)
def test_the_first_rule_that_matches_wins_and_is_told(
    server: str | None,
    stdio: str | None,
    variable: str,
    default: str | None,
    name: str,
    source: str,
) -> None:
    environ = {**ENVIRON, "MCPTASK_SERVER": variable}
    got = resolved(
        server, stdio=stdio, environ=environ, given=config(STUDIO, LOCAL, default=default)
    )
    assert (got.name, got.source) == (name, source)


def test_the_only_server_needs_no_name() -> None:
    assert resolved(given=config(STUDIO)).source == f"studio is the only server in {PATH}"


def test_no_server_lists_what_is_configured_and_says_what_to_try() -> None:
    assert "configured: studio, local" in refusal().message
    assert "none configured" in refusal(given=Config()).message
    assert refusal().hint == "mcptask call reflow_month --wait -s demo"


def test_two_servers_at_once_are_refused() -> None:
    assert "exclude each other" in refusal("studio", stdio="run").message


@pytest.mark.parametrize(
    ("name", "hint"),
    [("stdio", "'studio'"), ("localhost:8000/mcp", "http://"), ("dmo", "'demo'")],
)
def test_an_unknown_server_lists_the_known_ones_and_the_nearest(name: str, hint: str) -> None:
    error = refusal(name)
    assert "known: studio, local, demo" in error.message
    assert hint in (error.hint or "")


def test_a_configured_url_keeps_its_headers_unexpanded_until_each_call() -> None:
    got = resolved("studio")
    assert (got.server, got.url, got.waits.timeout, got.is_http) == (
        "studio",
        "https://studio.example/mcp",
        60.0,
        True,
    )
    first = credentials(got, ENVIRON)
    assert first == {"X-Team": "north", "Authorization": "Bearer canary"}
    assert credentials(got, {**ENVIRON, "STUDIO_TOKEN": " new\n"})["Authorization"] == "Bearer new"


def test_a_configured_command_is_expanded_and_stays_out_of_the_current_folder() -> None:
    got = resolved("local")
    assert got.command == ("uvx", "studio-mcp", "/home/me")
    assert (got.cwd, got.env, got.is_http) == ("/home/me/work", {"DB": "/home/me/db"}, False)
    assert got.address == "uvx studio-mcp '${HOME}'"
    assert credentials(got, ENVIRON) == {}


@pytest.mark.parametrize(
    ("program", "cwd", "expected"),
    [
        ("uvx", None, "/etc/mcptask"),
        ("./run", None, "/etc/mcptask"),
        ("/bin/run", None, "/etc/mcptask"),
        ("~/run", None, "/etc/mcptask"),
        ("run", "sub", "/etc/mcptask/sub"),
        ("run", "~/sub", "/home/me/sub"),
        ("run", "${WORK}", "/work"),
        ("/bin/run", "/srv", "/srv"),
    ],
)
def test_a_configured_command_runs_in_its_own_folder_or_that_of_the_config(
    program: str, cwd: str | None, expected: str | None
) -> None:
    server = ServerConfig(name="x", command=(program,), cwd=cwd)
    got = resolved("x", given=config(server), environ={**ENVIRON, "WORK": "/work"})
    assert got.cwd == expected


def test_an_unset_variable_is_named_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"servers\.local\.command in .*: the variable HOME"):
        resolved("local", environ={})
    with pytest.raises(ConfigError, match="header X-Team of studio: the variable TEAM"):
        credentials(resolved("studio"), {})


def test_the_demo_is_this_python_and_never_the_current_folder() -> None:
    got = resolved("demo", given=Config())
    assert got.command == (sys.executable, "-P", "-m", "mcptask.demo")
    assert (got.server, got.name, got.cwd, got.env) == ("demo", "demo", None, {})


def test_a_command_given_by_hand_is_split_and_runs_here() -> None:
    got = resolved(stdio="~/bin/run 'two words'")
    assert got.command == ("/home/me/bin/run", "two words")
    assert (got.name, got.server, got.cwd) == ("run", None, "/here")
    assert got.address == "/home/me/bin/run 'two words'"


@pytest.mark.parametrize("text", ["", "  ", "''", "a 'b", "a\0b"])
def test_a_command_that_names_no_program_is_refused(text: str) -> None:
    assert "--stdio" in refusal(stdio=text).message


@pytest.mark.parametrize(
    ("url", "name", "address"),
    [
        ("https://h.example/mcp", "h.example", "https://h.example/mcp"),
        ("HTTP://h.example:80", "h.example:80", "http://h.example:80"),
        ("http://[::1]:8000/x?key=canary#y", "[::1]:8000", "http://[::1]:8000/x"),
        ("https://me:canary@h.example/x", "h.example", "https://h.example/x"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, name: str, address: str) -> None:
    got = resolved(url)
    assert (got.name, got.address, got.server) == (name, address, None)
    assert "canary" not in repr(got)
    assert "#" not in (got.url or "")


def test_user_info_in_a_url_becomes_a_basic_header() -> None:
    got = resolved("https://me:p%40ss${x}@h.example/x?key=1")
    assert got.url == "https://h.example/x?key=1"
    basic = credentials(got, {})["Authorization"].removeprefix("Basic ")
    assert base64.b64decode(basic) == b"me:p@ss${x}"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h",
        "https://",
        "https://:80/x",
        "http://h:port/canary",
        "http://h:99999",
        "http://h:0",
        "http://[::1",
        "http://h/a b",
        "http://h/\n",
        "http:\\\\h://x",
        "://x",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    error = refusal(url)
    assert "canary" not in error.message
    assert error.message.startswith("--server: ")


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("https://studio.example/mcp", "https://studio.example/mcp"),
        ("https://${HOST}/mcp", "https://studio.example/mcp"),
        ("https://studio.example/${SECRET}/mcp", "https://studio.example/…"),
        ("${WHOLE}", "https://studio.example/…"),
        ("https://me:${SECRET}@studio.example/mcp?k=${SECRET}", "https://studio.example/mcp"),
    ],
)
def test_what_came_out_of_a_variable_is_not_shown(written: str, address: str) -> None:
    environ = {
        "HOST": "studio.example",
        "SECRET": "canary",
        "WHOLE": "https://u:canary@studio.example/canary",
    }
    got = resolved("x", given=config(ServerConfig(name="x", url=written)), environ=environ)
    assert got.address == address
    assert "canary" not in repr(got)


def test_credentials_of_the_command_line_win_over_the_config() -> None:
    assert credentials(resolved("studio", headers=("x-team: ${south}",)), ENVIRON) == {
        "x-team": "${south}",
        "Authorization": "Bearer canary",
    }
    assert credentials(resolved("studio", headers=("authorization: Key 1",)), ENVIRON) == {
        "X-Team": "north",
        "authorization": "Key 1",
    }
    other = {**ENVIRON, "OTHER": "other"}
    assert credentials(resolved("studio", bearer_env="OTHER"), other)["Authorization"] == (
        "Bearer other"
    )
    userinfo = resolved("https://a:b@h/", bearer_env="OTHER")
    assert credentials(userinfo, other) == {"Authorization": "Bearer other"}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"headers": ("canary",)}, "'Name: value'"),
        ({"headers": (": canary",)}, "'Name: value'"),
        ({"headers": ("a b: canary",)}, "'Name: value'"),
        ({"headers": ("A: canary\r\nB: x",)}, "line break"),
        ({"headers": ("A: canary€",)}, "non-ASCII"),
        ({"headers": ("A: canary\0",)}, "control"),
        ({"headers": ("A: canary", "a: canary")}, "twice"),
        ({"headers": ("Content-Type: canary",)}, "set by mcptask itself"),
        ({"headers": ("MCP-Protocol-Version: canary",)}, "set by mcptask itself"),
        ({"headers": ("mcp-session-id: canary",)}, "set by mcptask itself"),
        ({"headers": ("Mcp-Param-Owner: canary",)}, "set by mcptask itself"),
        ({"headers": ("Host: canary",)}, "set by mcptask itself"),
        ({"bearer_env": "canary.token"}, "name of an environment variable"),
        ({"headers": ("Authorization: canary",), "bearer_env": "T"}, "exclude each other"),
    ],
)
def test_credentials_that_cannot_be_sent_are_refused_and_not_repeated(
    more: dict[str, Any], says: str
) -> None:
    error = refusal("studio", **more)
    assert says in error.message
    assert "canary" not in f"{error.message}{error.hint}"


def test_headers_for_a_program_are_refused() -> None:
    assert "stdio" in refusal("local", headers=("A: b",)).message
    assert "stdio" in refusal(stdio="run", bearer_env="T").message


@pytest.mark.parametrize(("token", "says"), [(None, "not set"), ("", "empty"), (" \n", "empty")])
def test_a_token_that_is_not_there_is_named_by_its_variable(token: str | None, says: str) -> None:
    environ = {"TEAM": "x"} if token is None else {"TEAM": "x", "STUDIO_TOKEN": token}
    with pytest.raises(UsageError, match=f"STUDIO_TOKEN.*is {says}"):
        credentials(resolved("studio"), environ)


@pytest.mark.parametrize("token", ["canary\nX: y", "canaryé"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(UsageError, match="Authorization") as refused:
        credentials(resolved("studio"), {**ENVIRON, "STUDIO_TOKEN": token})
    assert "canary" not in refused.value.message


@pytest.mark.parametrize("headers", [{"Host": "x"}, {"a b": "x"}, {"A": "1", "a": "2"}])
def test_headers_of_the_config_obey_the_same_rules(headers: dict[str, str]) -> None:
    server = ServerConfig(name="x", url="https://h", headers=headers)
    with pytest.raises(ConfigError, match=r"servers\.x\.headers in"):
        resolved("x", given=config(server))


def of_record(
    selection: Selection = Selection(),  # noqa: B008 - frozen
    **origin: Any,
) -> Endpoint:
    environ = {**ENVIRON, "MCPTASK_SERVER": "demo", "T": "token"}
    return endpoint_of_record(Origin(**origin), selection, BOTH, environ)


def test_the_record_of_a_task_knows_its_server() -> None:
    assert of_record(server="studio").source == "the record of the task names studio"
    assert of_record(server="demo").name == "demo"
    by_url = of_record(url="https://h/x", bearer_env="T")
    assert credentials(by_url, {"T": "token"}) == {"Authorization": "Bearer token"}
    by_command = of_record(command=("run", "x"), cwd="/there")
    assert (by_command.command, by_command.cwd) == (("run", "x"), "/there")


def test_a_server_given_explicitly_overrides_the_record() -> None:
    assert of_record(Selection(server="local"), server="studio").name == "local"
    assert of_record(Selection(stdio="run"), server="studio").cwd is None


def test_a_command_given_again_runs_in_the_folder_of_the_record() -> None:
    """Else it would be another server: a relative path in it means another file."""
    assert of_record(Selection(stdio="run x"), command=("run", "x"), cwd="/there").cwd == "/there"


def test_credentials_given_now_go_to_the_server_of_the_record() -> None:
    given = Selection(headers=("X-Team: south",), bearer_env="T")
    assert credentials(of_record(given, server="studio"), {"T": "token"}) == {
        "X-Team": "south",
        "Authorization": "Bearer token",
    }
    assert not of_record(given, server="local").headers


def test_a_server_that_left_the_config_is_said_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="'gone', which is no longer in") as refused:
        of_record(server="gone")
    assert "--server URL" in (refused.value.hint or "")
    with pytest.raises(UsageError, match="names no server"):
        of_record()


def test_a_record_leads_back_to_the_endpoint_that_it_was_made_of() -> None:
    for made in (
        resolved("studio"),
        resolved("demo"),
        resolved("https://h/x"),
        resolved(stdio="run x"),
    ):
        back = endpoint_of_record(origin_of(made), Selection(), BOTH, ENVIRON)
        assert (back.key, back.address) == (made.key, made.address)
        assert not_stored(made) is None


def test_two_endpoints_are_one_conversation_by_what_they_are_not_by_what_is_shown() -> None:
    first, second = resolved("https://h/x?tenant=1"), resolved("https://h/x?tenant=2")
    assert first.address == second.address
    assert first.key != second.key
    assert resolved(stdio="run --token a").key != resolved(stdio="run --token b").key


def test_a_command_is_recorded_without_its_secret_and_cannot_be_run_from_the_record() -> None:
    made = resolved(stdio="env API_KEY=canary run")
    assert "--stdio again" in (not_stored(made) or "")
    origin = origin_of(made)
    back = endpoint_of_record(origin, Selection(), BOTH, ENVIRON)
    assert (back.lacks_secret, back.address) == (True, made.address)
    assert "canary" not in f"{made!r} {made.address} {not_stored(made)} {origin!r}"
    again = endpoint_of_record(origin, Selection(stdio="env API_KEY=canary run"), BOTH, ENVIRON)
    assert (again.lacks_secret, again.command) == (False, made.command)


def test_a_query_that_is_not_recorded_is_told_and_not_repeated() -> None:
    told = not_stored(resolved("https://h/x?key=canary"))
    assert told is not None
    assert "-s URL again" in told
    assert "canary" not in told


def test_the_address_of_a_record_is_that_of_its_endpoint_and_none_where_it_is_gone() -> None:
    studio = Origin(server="studio")
    assert address_of_record(studio, BOTH, ENVIRON) == "https://studio.example/mcp"
    assert address_of_record(Origin(server="local"), BOTH, ENVIRON) == "uvx studio-mcp '${HOME}'"
    assert address_of_record(Origin(server="local"), BOTH, {}) is None
    assert address_of_record(studio, Config(), ENVIRON) is None


def test_what_can_be_named_is_listed_without_expanding_or_showing_secrets() -> None:
    secret = ServerConfig(name="s", url="https://u:canary@h/${X}?key=canary")
    rows = known(config(secret, LOCAL, default="local"))
    assert [(row.name, row.address, row.default) for row in rows[:2]] == [
        ("s", "https://h/${X}", False),
        ("local", "uvx studio-mcp '${HOME}'", True),
    ]
    assert (rows[2].name, rows[2].source, rows[2].default) == ("demo", "built in", False)
    assert known(config(STUDIO))[0].default
    assert known(config(ServerConfig(name="x", url="http://[x")))[0].address.startswith("(a URL")
