"""A token that expires in the middle: the newer one that the config has by then, or exit 8 and a way back."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcptask.servers import config
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    LONGEST_HOLD,
    Got,
    Reply,
    Scripted,
    completed,
    created,
    http,
    now,
    scripted,
)

EXPIRED = 'Bearer error="invalid_token", error_description="it expired"'
TURNED_AWAY = http(401, WWW_Authenticate=EXPIRED)
TOKENS = ("canary-token-1a", "canary-token-2b", "canary-token-3c")


@dataclass
class Gate:
    """Lets in whoever has the token that is valid now. What it turned away is in `refused`."""

    valid: str = TOKENS[0]
    refused: list[Got] = field(default_factory=list)
    refusal: Reply = TURNED_AWAY

    def __call__(self, reply: Reply, before: Callable[[], object] = lambda: None) -> Reply:
        """`reply` behind this gate; `before` happens before anyone is looked at."""

        def guarded(handler: Any, got: Got) -> None:
            before()
            if got.headers.get("authorization") == f"Bearer {self.valid}":
                reply(handler, got)
            else:
                self.refused.append(got)
                self.refusal(handler, got)

        return guarded


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def studio(cli: Cli, server: Scripted) -> Cli:
    """A configured server, with the first of TOKENS, and its task 1."""
    configured(cli, server, TOKENS[0])
    cli("call", "job", "month=x")
    return cli


def configured(cli: Cli, server: Scripted, token: str, more: str = "") -> Path:
    headers = f'headers = {{ Authorization = "Bearer {token}" }}'
    return cli.configure(f'[servers.studio]\nurl = "{server.url}"\n{headers}\n{more}')


def expire(gate: Gate, valid: str, then: Callable[[], object] = lambda: None) -> Callable[[], None]:
    """From now on another token is valid, and `then` happens."""

    def happens() -> None:
        gate.valid = valid
        then()

    return happens


def status(cli: Cli) -> tuple[str, str | None]:
    (record,) = cli("list", "--json").listed["tasks"]
    return record["status"], record["outcome"]


def test_a_watch_goes_on_with_the_token_that_the_config_has_by_then_a16_1(
    studio: Cli, server: Scripted, gate: Gate
) -> None:
    """Twice: what was renewed may expire as well."""
    expiries = [
        expire(gate, token, lambda token=token: configured(studio, server, token))  # type: ignore[misc]
        for token in TOKENS[1:]
    ]
    working = gate(now("working"))
    polls = [working, gate(now("working"), expiries[0]), working, working]
    server.on("tasks/get", *polls, gate(now("working"), expiries[1]), working, gate(completed()))
    ran = studio("watch", "1")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "401" not in ran.err
    assert [got.headers["authorization"][-2:] for got in gate.refused] == ["1a", "2b"]


def test_a_variable_that_the_config_names_by_then_is_read_a16_1(
    cli: Cli, server: Scripted, gate: Gate
) -> None:
    def bearer(name: str) -> Path:
        return cli.configure(f'[servers.studio]\nurl = "{server.url}"\nbearer_env = "{name}"\n')

    cli.environ |= {"OLD_TOKEN": TOKENS[0], "NEW_TOKEN": TOKENS[1]}
    bearer("OLD_TOKEN")
    cli("call", "job", "month=x")
    expires = expire(gate, TOKENS[1], lambda: bearer("NEW_TOKEN"))
    server.on("tasks/get", gate(now("working")), gate(now("working"), expires), gate(completed()))
    assert cli("watch", "1").code == 0
    assert len(gate.refused) == 1


@pytest.mark.parametrize("refusal", [http(401), TURNED_AWAY, http(403, WWW_Authenticate=EXPIRED)])
def test_without_a_newer_token_the_watch_ends_with_exit_8_and_can_be_resumed_a16_2_a16_5(
    studio: Cli, server: Scripted, gate: Gate, refusal: Reply
) -> None:
    gate.refusal = refusal
    server.on("tasks/get", gate(now("working")), gate(now("working"), expire(gate, TOKENS[1])))
    ran = studio("watch", "1")
    assert ran.code == 8
    assert "with a valid token: mcptask watch 1" in ran.err
    assert "failed" not in ran.err
    assert len(gate.refused) == 1, "what was refused is not sent again"
    assert status(studio) == ("working", None)
    told = studio("watch", "1", "--json").document
    assert (told["outcome"], told["error"]["kind"]) == ("unauthorized", "unauthorized")
    configured(studio, server, TOKENS[1])
    server.on("tasks/get", gate(completed()))
    assert studio("watch", "1").code == 0


def test_the_challenge_is_named_a16_2(studio: Cli, server: Scripted, gate: Gate) -> None:
    server.on("tasks/get", gate(now("working"), expire(gate, TOKENS[1])))
    ran = studio("watch", "1")
    assert "HTTP 401 Unauthorized" in ran.err
    assert "(error=invalid_token, error_description=it expired)" in ran.err


def test_a_newer_token_that_is_refused_as_well_ends_the_watch_a16_1_s9(
    studio: Cli, server: Scripted, gate: Gate
) -> None:
    expires = expire(gate, "none of them", lambda: configured(studio, server, TOKENS[1]))
    server.on("tasks/get", gate(now("working")), gate(now("working"), expires))
    ran = studio("watch", "1")
    assert ran.code == 8
    assert "the credentials were read anew, and these refused as well" in ran.err
    assert "mcptask watch 1" in ran.err
    assert len(gate.refused) == 2
    assert status(studio) == ("working", None)


def test_what_is_forbidden_is_so_with_any_token_a16_1(
    studio: Cli, server: Scripted, gate: Gate
) -> None:
    gate.refusal = http(403, WWW_Authenticate='Bearer error="insufficient_scope", scope="tasks"')
    expires = expire(gate, TOKENS[1], lambda: configured(studio, server, TOKENS[1]))
    server.on("tasks/get", gate(now("working"), expires))
    ran = studio("watch", "1")
    assert ran.code == 8
    assert "error=insufficient_scope, scope=tasks" in ran.err
    assert len(gate.refused) == 1


def test_another_url_in_the_config_is_another_server_and_gets_no_token_a16_1(
    studio: Cli, server: Scripted, gate: Gate
) -> None:
    with scripted() as other:
        moved = expire(gate, TOKENS[1], lambda: configured(studio, other, TOKENS[1]))
        server.on("tasks/get", gate(now("working"), moved))
        assert studio("watch", "1").code == 8
        assert other.requests == []
    assert len(gate.refused) == 1


@pytest.mark.parametrize(
    "text",
    ["[servers.studio", "", '[servers.studio]\nurl = "ftp://x"\n', "[servers]\nstudio = 5\n"],
)
def test_a_config_that_is_broken_by_then_brings_nothing_new_a16_1(
    studio: Cli, server: Scripted, gate: Gate, text: str
) -> None:
    server.on(
        "tasks/get", gate(now("working"), expire(gate, TOKENS[1], lambda: studio.configure(text)))
    )
    ran = studio("watch", "1")
    assert ran.code == 8
    assert "mcptask watch 1" in ran.err


def test_a_variable_that_is_not_there_by_then_brings_nothing_new_a16_1(
    studio: Cli, server: Scripted, gate: Gate
) -> None:
    """Neither to the task whose question is turned away first, nor to one that is asked for later."""
    server.on("tools/call", created("tsk_later"))
    studio("call", "job", "month=x")

    def working(handler: Any, got: Got) -> None:
        slow = 30_000 if got.params["taskId"] == "tsk_later" else 500
        now("working", got.params["taskId"], pollIntervalMs=slow)(handler, got)

    expires = expire(gate, TOKENS[1], lambda: configured(studio, server, "${MISSING}"))
    server.on("tasks/get", gate(working), gate(working), gate(working, expires))
    ran = studio("watch", "--all", "-v")
    assert ran.code == 8
    assert len(gate.refused) == 2
    assert "the variable MISSING is not set" in ran.err


def test_many_tasks_that_are_turned_away_at_once_read_the_config_once_a16_1(
    studio: Cli, server: Scripted, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2, 7):
        server.on("tools/call", created(f"tsk_{number}"))
        studio("call", "job", "month=x")

    def done(handler: Any, got: Got) -> None:
        completed(got.params["taskId"])(handler, got)

    reads: list[object] = []
    read = config.read

    def counted(*more: Any, **named: Any) -> Any:
        reads.append(more)
        return read(*more, **named)

    monkeypatch.setattr(config, "read", counted)
    gate.valid = TOKENS[1]
    server.on("tasks/get", gate(done))
    assert studio("watch", "--all").code == 8
    assert (len(gate.refused), len(reads)) == (6, 2), "read at the start, and once for all of them"
    all_here = threading.Barrier(6, lambda: configured(studio, server, TOKENS[1]))
    behind = gate(done, lambda: all_here.wait(LONGEST_HOLD))
    server.on("tasks/get", *[behind] * 6, gate(done))
    assert studio("watch", "--all").code == 0
    assert (len(gate.refused), len(reads)) == (12, 4)


def test_a_call_that_was_turned_away_is_sent_again_and_makes_one_task_a4_5_s8(
    cli: Cli, server: Scripted, gate: Gate
) -> None:
    configured(cli, server, TOKENS[0])
    expires = expire(gate, TOKENS[1], lambda: configured(cli, server, TOKENS[1]))
    server.on("tools/call", gate(created(), expires))
    server.on("tasks/get", gate(completed()))
    ran = cli("call", "job", "month=x", "--wait")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert len(gate.refused) == 1
    assert len(cli("list", "--json").listed["tasks"]) == 1
    assert cli("list", "--json").listed["calls"] == []


@pytest.mark.parametrize("option", [("--header", "X-Team: north"), ("-v",)])
def test_what_the_command_line_gives_stays_with_the_newer_token_a16_1(
    studio: Cli, server: Scripted, gate: Gate, option: tuple[str, ...]
) -> None:
    expires = expire(gate, TOKENS[1], lambda: configured(studio, server, TOKENS[1]))
    server.on("tasks/get", gate(completed(), expires))
    ran = studio("watch", "1", *option)
    assert ran.code == 0
    named = server.requests[-1].headers.get("x-team")
    assert named == ("north" if "--header" in option else None)
    assert ("read anew" in ran.err) is (option == ("-v",))


def test_neither_token_is_repeated_in_a_trace_or_an_error_s14(
    studio: Cli, server: Scripted, gate: Gate, tmp_path: Path
) -> None:
    """The server repeats all that it was ever sent."""

    def repeats(status: int) -> Reply:
        def reply(handler: Any, got: Got) -> None:
            seen = " and ".join(sorted({each.headers["authorization"] for each in server.requests}))
            http(status, seen, WWW_Authenticate=f'Bearer error="{seen}"')(handler, got)

        return reply

    gate.refusal = repeats(401)
    trace = tmp_path / "wire.jsonl"
    expires = expire(gate, TOKENS[1], lambda: configured(studio, server, TOKENS[1]))
    server.on("tasks/get", gate(repeats(500), expires))
    watch = ("watch", "1", "-v", "--give-up-after", "5s", "--trace", str(trace))
    busy = studio(*watch)
    configured(studio, server, TOKENS[0])
    server.requests.clear()
    expires = expire(gate, "none of them", lambda: configured(studio, server, TOKENS[1]))
    server.on("tasks/get", gate(now("working"), expires))
    turned_away = studio(*watch)
    assert (busy.code, turned_away.code, len(gate.refused)) == (7, 8, 3)
    assert "Bearer *** and Bearer ***" in turned_away.err + trace.read_text()
    for text in (busy.err, turned_away.err, trace.read_text()):
        assert "canary" not in text
