"""`--trace FILE`: what is in it, and where it is written."""

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Cli, Process
from tests.e2e.scripted import Got, Scripted, http, result


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "wire.jsonl"


def entries(path: Path) -> list[dict[str, Any]]:
    text = path.read_text("ascii")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


# ── what is in it ──


def test_every_message_is_written_with_the_time_the_process_and_the_server(
    on_server: Cli, server: Scripted, trace: Path
) -> None:
    on_server("call", "job", "month=2026-09", "--trace", str(trace))
    told = entries(trace)
    assert [entry["seq"] for entry in told] == list(range(1, len(told) + 1))
    assert {(entry["pid"], entry["server"]) for entry in told} == {(os.getpid(), server.name)}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", e["at"]) for e in told)
    assert [(e["direction"], e["kind"]) for e in told] == [
        ("out", "request"),
        ("in", "response"),
        ("in", "message"),
    ] * 2
    sent = [entry["message"]["method"] for entry in told if entry["direction"] == "out"]
    assert sent == [request.method for request in server.requests]


def test_an_answer_names_the_request_that_it_is_to(
    on_server: Cli, server: Scripted, trace: Path
) -> None:
    on_server("call", "job", "month=2026-09", "--trace", str(trace))
    assert [entry.get("to") for entry in entries(trace)] == [None, 1, 1, None, 4, 4]


def test_what_goes_out_is_what_the_server_gets(
    on_server: Cli, server: Scripted, trace: Path
) -> None:
    on_server("call", "job", "month=2026-09", "--trace", str(trace))
    sent = [entry for entry in entries(trace) if entry["kind"] == "request"]
    for entry, got in zip(sent, server.requests, strict=True):
        assert entry["headers"] == {name.lower(): value for name, value in got.headers.items()}
        assert entry["message"]["params"] == got.params
        assert (entry["message"]["id"], entry["url"]) == (got.id, server.url)


def test_an_infinity_and_half_a_character_are_written_as_json(
    on_server: Cli, server: Scripted, trace: Path
) -> None:
    body = '{"jsonrpc":"2.0","id":1,"result":{"tools":[],"x":1e999,"y":"\\ud800"}}'
    server.on("tools/list", http(200, body, "application/json"))
    on_server("tools", "--trace", str(trace))
    assert '"x": 1e999, "y": "\\ud800"' in trace.read_text("ascii")


# ── where it is written ──


def test_the_file_is_readable_while_the_command_runs(
    on_server: Cli, server: Scripted, trace: Path
) -> None:
    seen: list[str] = []

    def reply(handler: Any, got: Got) -> None:
        seen.append(entries(trace)[-1]["message"]["method"])
        result(tools=[])(handler, got)

    server.on("tools/list", reply)
    on_server("tools", "--trace", str(trace))
    assert seen == ["tools/list"]


def test_the_file_is_for_its_owner_only_and_is_appended_to(on_server: Cli, trace: Path) -> None:
    on_server("tools", "--trace", str(trace))
    on_server("tools", "--trace", str(trace))
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    assert [entry["seq"] for entry in entries(trace)] == [1, 2, 3] * 2


def test_processes_at_the_same_time_share_a_file_line_by_line(
    start: Callable[..., Process], server: Scripted, trace: Path
) -> None:
    words = ("tools", "-s", server.url, "--trace", str(trace))
    for process in [start(*words) for _ in range(3)]:
        assert process.end().code == 0
    told = entries(trace)
    for pid in {entry["pid"] for entry in told}:
        assert [entry["seq"] for entry in told if entry["pid"] == pid] == [1, 2, 3]
    assert len(told) == 9


def test_the_variable_names_the_file_and_the_option_wins(
    on_server: Cli, trace: Path, tmp_path: Path
) -> None:
    on_server("tools", MCPTASK_TRACE=str(trace))
    assert len(entries(trace)) == 3
    other = tmp_path / "other.jsonl"
    on_server("tools", "--trace", str(other), MCPTASK_TRACE=str(trace))
    assert (len(entries(other)), len(entries(trace))) == (3, 3)


def test_a_relative_name_counts_from_the_current_folder(on_server: Cli) -> None:
    on_server("tools", "--trace", "here.jsonl")
    assert len(entries(on_server.cwd / "here.jsonl")) == 3


def test_a_link_that_leads_to_itself_is_no_file(on_server: Cli) -> None:
    (on_server.cwd / "round").symlink_to("round")
    ran = on_server("tools", "--trace", "round")
    assert ran.code == 2
    assert "--trace: round cannot be written: Too many levels of symbolic links" in ran.err


@pytest.mark.parametrize("given", ["option", "variable"])
@pytest.mark.parametrize(
    ("name", "why"), [("no/such/folder.jsonl", "No such file"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_opened_is_told_before_anything_is_sent(
    on_server: Cli, server: Scripted, given: str, name: str, why: str
) -> None:
    by_option = given == "option"
    words = ("--trace", name) if by_option else ()
    environ = {} if by_option else {"MCPTASK_TRACE": name}
    ran = on_server("call", "job", "month=2026-09", *words, **environ)
    assert (ran.code, ran.out, server.requests) == (2, "", [])
    assert f"{'--trace' if by_option else 'MCPTASK_TRACE'}: {name} cannot be written" in ran.err
    assert why in ran.err


def test_a_pipe_that_nobody_reads_is_told_and_not_waited_for(
    on_server: Cli, server: Scripted, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    ran = on_server("tools", "--trace", str(tmp_path / "pipe"))
    assert (ran.code, server.requests) == (2, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_costs_the_trace_and_nothing_else(on_server: Cli) -> None:
    ran = on_server("call", "job", "month=2026-09", "--json", "--trace", "/dev/full")
    assert ran.code == 0
    warning = "the trace /dev/full cannot be written any more: No space left on device"
    assert ran.document["warnings"] == [warning]
    assert ran.err.count(warning) == 1


def test_a_line_that_was_written_in_part_is_the_last_one(
    on_server: Cli, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever came after it would be glued to it."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda number, data: write(number, data[:9]))
    ran = on_server("tools", "--json", "--trace", str(trace))
    assert (ran.code, trace.read_bytes()) == (0, b'{"at": "2')
    assert "No space left" in json.loads(ran.out)["warnings"][0]


def test_a_command_that_contacts_nobody_writes_no_trace(
    on_server: Cli, server: Scripted, trace: Path
) -> None:
    on_server("call", "job", "month=2026-09", "--wait")
    on_server("get", "1", "--trace", str(trace))
    on_server("list", "--trace", str(trace))
    assert not trace.exists()


@pytest.mark.parametrize(
    "words",
    [("get", "1", "--refresh"), ("watch", "1"), ("cancel", "1"), ("list", "--refresh"), ("tools",)],
)
def test_every_command_that_speaks_to_a_server_can_be_traced(
    on_server: Cli, trace: Path, words: tuple[str, ...]
) -> None:
    on_server("call", "job", "month=2026-09")
    on_server(*words, "--trace", str(trace))
    assert entries(trace)[0]["kind"] == "request"


@pytest.mark.parametrize("name", ["tasks.toml", "link"])
def test_a_file_that_mcptask_keeps_is_not_traced_into(
    on_server: Cli, server: Scripted, tmp_path: Path, name: str
) -> None:
    state = tmp_path / "tasks.toml"
    (tmp_path / "link").symlink_to(state)
    on_server("call", "job", "month=x", "--state", str(state))
    before = state.read_bytes()
    ran = on_server("tools", "--state", str(state), "--trace", str(tmp_path / name))
    assert ran.code == 2
    assert "name another" in ran.err
    assert state.read_bytes() == before
    assert server.got("tools/list") == server.got("tools/list")[:1]
