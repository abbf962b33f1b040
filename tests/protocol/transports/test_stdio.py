"""A server as a child process: its start, its lines, its death (A6)."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcptask.errors import ConfigError, ProtocolError, TooLarge, Unreachable, UsageError
from mcptask.protocol.transports import stdio
from mcptask.protocol.transports.base import Limits
from mcptask.protocol.transports.stdio import StdioTransport

ANSWER = {"jsonrpc": "2.0", "id": "$id", "result": {}}
SILENT = []


def child(code):
    """A child that runs this Python."""
    return [sys.executable, "-I", "-S", "-c", code]


ECHO = child(
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    print(json.dumps({'jsonrpc': '2.0', 'id': m.get('id'), 'result': m}), flush=True)\n"
)


@asynccontextmanager
async def started(command, **options):
    transport = StdioTransport(command, **{"environ": os.environ, **options})
    try:
        yield transport
    finally:
        await transport.close()


def ask(command, *requests, **options):
    """Put the requests one after the other; what the last one brought."""

    async def main():
        async with started(command, **options) as transport:
            got = []
            for request in requests:
                got = [message async for message in transport.exchange(request)]
            return got

    return asyncio.run(main())


def failure(kind, command, *requests, **options):
    with pytest.raises(kind) as caught:
        ask(command, *requests, **options)
    return caught.value


# ── starting ──


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-program-at-all"], "does not exist: no-such-program-at-all"),
        (["./no-such-program"], "does not exist"),
        (["/no/such/program"], "does not exist"),
        ([], "empty"),
        ([""], "empty"),
        ([sys.executable, "a\0b"], "cannot be run"),
    ],
)
def test_a_command_that_does_not_exist_is_a_config_error(request_, command, said):
    assert said in failure(ConfigError, command, request_()).message


def test_a_folder_that_does_not_exist_is_a_config_error(request_, tmp_path):
    error = failure(ConfigError, ECHO, request_(), cwd=str(tmp_path / "missing"))
    assert "missing" in error.message


def test_a_file_that_may_not_run_was_not_sent_anything(request_, tmp_path):
    (tmp_path / "server").write_text("#!/bin/sh\n")
    error = failure(Unreachable, ["./server"], request_(), cwd=str(tmp_path))
    assert error.sent is False
    assert "not executable" in error.message


def test_a_file_that_the_system_cannot_run_was_not_sent_anything(request_, tmp_path):
    program = tmp_path / "server"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    error = failure(Unreachable, [str(program)], request_())
    assert error.sent is False
    assert "cannot be run" in error.message


def test_a_relative_command_is_found_from_the_servers_folder(request_, tmp_path):
    program = tmp_path / "my server"
    program.write_text(f"#!/bin/sh\nexec {' '.join(map(repr, ECHO[:3]))} {json.dumps(ECHO[4])}\n")
    program.write_text("#!/bin/sh\nread line\n"
                       """echo '{"jsonrpc":"2.0","id":1,"result":{"cwd":"'"$PWD"'"}}'\n""")  # fmt: skip
    program.chmod(0o755)
    (message,) = ask(["./my server"], request_(), cwd=str(tmp_path))
    assert os.path.samefile(message["result"]["cwd"], tmp_path)


def test_nothing_runs_before_the_first_exchange():
    asyncio.run(StdioTransport(["no-such-program-at-all"], environ={}).close())


def test_the_child_gets_our_environments_minimum_and_its_own__A6_4(request_):
    code = (
        "import json, os; input(); "
        "print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': dict(os.environ)}))"
    )
    (message,) = ask(
        child(code),
        request_(),
        environ={"PATH": "/bin", "HOME": "/h", "SECRET": "x", "LC_ALL": "C", "TERM": "() { :; }"},
        env={"A": "b"},
    )
    seen = message["result"]
    assert seen.items() >= {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "A": "b"}.items()
    assert not {"SECRET", "TERM"} & seen.keys()


def test_only_one_child_is_started_for_exchanges_at_once(request_, all_of):
    async def main():
        async with started(child(
            "import json, os, sys\n"
            "for line in sys.stdin:\n"
            "    id = json.loads(line)['id']\n"
            "    print(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': os.getpid()}), flush=True)\n"
        )) as transport:  # fmt: skip
            got = await asyncio.gather(*(all_of(transport, request_(id=i)) for i in range(5)))
            assert len({messages[0]["result"] for messages in got}) == 1

    asyncio.run(main())


# ── lines ──


def test_a_message_is_one_line_of_ascii__A6_1(request_, scripted_child):
    command, sent = scripted_child([ANSWER])
    params = {"text": "a\nb\u2028c\ud800"}
    ask(command, request_(params=params))
    assert sent() == [{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}]


@pytest.mark.parametrize(
    "output",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{}}\r\n',
        b'\n\r\n  \n{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'Server v1.0 started\n{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'log: {"jsonrpc":"2.0","id":1,"error":{}}\n{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'\xff\xfe\x00\n{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]\n',
    ],
)
def test_what_real_servers_print_is_survived__A6_1_A6_2(request_, output):
    code = f"import sys; input(); sys.stdout.buffer.write({output!r})"
    assert ask(child(code), request_()) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_a_long_line_is_no_problem_below_the_bound(request_):
    (message,) = ask(ECHO, request_(params={"text": "x" * 3_000_000}))
    assert len(message["result"]["params"]["text"]) == 3_000_000


def test_a_line_over_the_bound_is_a_protocol_error_and_the_server_lives_on__A6_2(request_, all_of):
    async def main():
        async with started(ECHO, limits=Limits(message_bytes=1000)) as transport:
            with pytest.raises(ProtocolError, match="1000 bytes"):
                await all_of(transport, request_(params={"text": "x" * 2000}))
            (message,) = await all_of(transport, request_(id=2))
            assert message["id"] == 2

    asyncio.run(main())


def test_an_answer_that_is_nested_too_deeply_is_told_at_once__A6_2_S18(request_, all_of):
    async def main():
        async with started(ECHO) as transport:
            with pytest.raises(TooLarge, match="nested more than 128 levels deep"):
                await all_of(
                    transport, request_(params={"text": json.loads("[" * 200 + "]" * 200)})
                )
            (message,) = await all_of(transport, request_(id=2))
            assert message["id"] == 2

    asyncio.run(main())


def test_a_value_without_a_json_form_is_a_usage_error(request_):
    failure(UsageError, ECHO, request_(params={"x": {1, 2}}))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([1, "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "_meta",
                         "progressToken"]) | st.text(max_size=3), inner, max_size=5),
    max_leaves=8).map(lambda v: json.dumps(v).encode()), max_size=5))  # fmt: skip
def test_whatever_a_server_prints_is_a_message_or_a_remark(request_, lines):
    transport = StdioTransport(["unused"], environ={})
    transport._open["1"] = stdio._Open(request_(params={"_meta": {"progressToken": 1}}))
    for line in lines:
        transport._line(line)
    inbox = transport._open["1"].inbox
    while not inbox.empty():
        message = inbox.get_nowait()
        assert message["jsonrpc"] == "2.0"


# ── dying ──


def test_the_death_of_the_server_tells_the_exit_code_and_its_last_words__A6_7(request_):
    lines = []
    code = (
        "import sys; input(); [print('line', i, file=sys.stderr) for i in range(50)]; sys.exit(3)"
    )
    error = failure(Unreachable, child(code), request_(), on_stderr=lines.append)
    assert error.sent is True
    assert "exited with code 3" in error.message
    assert "line 49" in error.message
    assert "line 29" not in error.message
    assert lines == [f"line {i}" for i in range(50)]


def test_a_signal_is_named(request_):
    code = "import os; input(); os.kill(os.getpid(), 9)"
    assert "killed by signal 9" in failure(Unreachable, child(code), request_()).message


def test_a_server_that_closes_its_output_is_gone(request_):
    code = "import os, time; input(); os.close(1); time.sleep(60)"
    error = failure(Unreachable, child(code), request_(), grace=0.2)
    assert "closed its output" in error.message


def test_a_server_that_leaves_its_pipes_to_a_grandchild_is_gone(request_):
    code = (
        "import os, subprocess, sys; input()\n"
        "subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)'])\n"
        "os._exit(4)"
    )
    assert "code 4" in failure(Unreachable, child(code), request_(), grace=0.2).message


def test_stderr_is_drained_and_its_last_line_needs_no_end(request_):
    code = (
        "import sys; input(); sys.stderr.write('x' * 1_000_000 + '\\nlast words')\n"
        "sys.stderr.flush(); sys.exit(1)"
    )
    lines = []
    error = failure(Unreachable, child(code), request_(), on_stderr=lines.append)
    assert lines == ["(a very long line)", "last words"]
    assert "last words" in error.message
