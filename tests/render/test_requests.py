"""How `--dry-run` shows a request."""

from mcptask.render.requests import request_text

MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "é\x1b\x7f"}}
LINE = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\u00e9\\u001b\\u007f"}}'
STDIO = {"transport": "stdio", "message": MESSAGE}
HTTP = {
    "transport": "http",
    "method": "POST",
    "url": "https://host/mcp?key=***",
    "headers": {"host": "host", "x-note": "\x1b[2J"},
    "message": MESSAGE,
}


def test_over_stdio_it_is_the_line_that_would_go_out() -> None:
    assert request_text([STDIO, STDIO], terminal=False) == f"{LINE}\n{LINE}"


def test_over_http_it_is_the_request_line_the_headers_and_the_body() -> None:
    assert request_text([HTTP], terminal=False) == (
        f"POST https://host/mcp?key=***\nhost: host\nx-note: \\x1b[2J\n\n{LINE}"
    )


def test_a_terminal_gets_the_json_laid_out_and_nothing_that_could_drive_it() -> None:
    text = request_text([STDIO], terminal=True)
    assert '  "method": "tools/call",\n' in text
    assert '"name": "\\u00e9\\u001b\\u007f"' in text
    assert text.replace("\n", "").isprintable()


def test_several_requests_over_http_are_apart() -> None:
    first, second = request_text([HTTP, HTTP], terminal=False).split(f"{LINE}\n\n")
    assert first + LINE == second
