"""Streamable HTTP: what each answer means (A4.1 to A4.3)."""

import gzip
import json
import zlib

import pytest

from mcptask.errors import (
    Garbled,
    HttpRefused,
    ProtocolError,
    TooLarge,
    Unauthorized,
    Unreachable,
)
from mcptask.protocol.transports.base import Limits

RPC_ERROR = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "said no"}}


# ── JSON and other bodies ──


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_the_type_is_compared_by_its_essence__A4_1(ask, http, kind):
    messages, _ = ask(http.response(body=http.result(ok=1), kind=kind))
    assert messages == [http.result(ok=1)]


@pytest.mark.parametrize("id", ["1", 1])
def test_ids_match_as_text__A5_5(ask, http, id):
    assert ask(http.response(body=http.result(id)))[0] == [http.result(id)]


@pytest.mark.parametrize("id", [None, "server-error", 99])
def test_an_error_needs_no_matching_id_in_a_body_of_its_own__A4_2(ask, http, id):
    error = {**RPC_ERROR, "id": id}
    assert ask(http.response(body=error))[0] == [error]


def test_a_bom_an_array_and_broken_utf_8_are_survived__A15_17(ask, http):
    body = b'\xef\xbb\xbf[{"jsonrpc":"2.0","method":"n"},' + b'{"jsonrpc":"2.0","id":1,"result":'
    messages, _ = ask(http.response(body=body + b'{"text":"\xff"}}]'))
    assert messages == [http.result(text="\ufffd")]


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"x":' + b"9" * 5000 + b"}", b'"text"', b"{}", b"[]"]
)
def test_a_body_that_is_no_answer_is_a_protocol_error__A4_3(failure, http, body):
    error = failure(Garbled, http.response(body=body))
    assert "HTTP 200 OK" in error.message
    assert len(error.message) < 400


def test_the_result_of_another_request_is_a_protocol_error__A4_3(failure, http):
    error = failure(Garbled, http.response(body=http.result(99)))
    assert "no response to request 1" in error.message


def test_a_204_is_a_protocol_error__A4_3(failure, http):
    assert "204" in failure(Garbled, http.response(204, kind=None)).message


def test_a_202_to_a_request_is_a_protocol_error_at_once__A4_3(failure, http):
    async def no_body_ever(seen, reader, writer):
        writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 10\r\n\r\n")
        await reader.read(1)

    assert "202" in failure(ProtocolError, no_body_ever).message


@pytest.mark.parametrize(("kind", "said"), [("text/html", "text/html"), (None, "no content type")])
def test_another_type_is_shown_with_the_start_of_the_body__A4_1(failure, http, kind, said):
    error = failure(Garbled, http.response(body=b"<h1>Hi</h1>\n" * 1000, kind=kind))
    assert said in error.message
    assert "<h1>Hi</h1>" in error.message
    assert len(error.message) < 400


def test_a_body_over_the_bound_is_a_protocol_error__A5_9(failure, http):
    body = http.result(text="x" * 2000)
    limits = Limits(message_bytes=1000)
    assert "1000 bytes" in failure(TooLarge, http.response(body=body), limits=limits).message


# ── compression, which nobody asked for ──


@pytest.mark.parametrize(
    ("coding", "squeeze"),
    [("gzip", gzip.compress), ("X-GZIP", gzip.compress), ("deflate", zlib.compress)],
)
def test_a_compressed_body_is_read_all_the_same(ask, http, coding, squeeze):
    body = squeeze(json.dumps(http.result(text="x" * 200_000)).encode())
    messages, _ = ask(http.response(body=body, content_encoding=coding))
    assert messages == [http.result(text="x" * 200_000)]


def test_the_bound_counts_what_comes_out_of_the_compression__A5_9(failure, http):
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    answer = http.response(body=bomb, content_encoding="gzip")
    assert "over 1000 bytes" in failure(TooLarge, answer, limits=Limits(message_bytes=1000)).message


@pytest.mark.parametrize(
    ("coding", "said"), [("gzip", "damaged"), ("br", "'br'"), ("gzip, gzip", "'gzip, gzip'")]
)
def test_an_unreadable_coding_is_a_protocol_error(failure, http, coding, said):
    answer = http.response(body=http.result(), content_encoding=coding)
    assert said in failure(ProtocolError, answer).message


# ── statuses of 400 and above ──


@pytest.mark.parametrize("status", [400, 404, 405, 408, 425, 500, 502, 503])
@pytest.mark.parametrize("id", [1, None, "other"])
def test_a_json_rpc_error_is_the_answer_whatever_its_status_and_id__A4_2_T10(ask, http, status, id):
    error = {**RPC_ERROR, "id": id}
    assert ask(http.response(status, error, kind="text/plain"))[0] == [error]


def test_an_error_may_lack_its_id_altogether__C2_T11(ask, http):
    error = {"jsonrpc": "2.0", "error": {"code": -32601, "message": "no"}}
    assert ask(http.response(404, error))[0] == [error]


@pytest.mark.parametrize(
    "body", [b"", b"{}", {"error": "text"}, {"error": {"code": 404, "message": "no JSON-RPC"}},
             {**RPC_ERROR, "error": "text"}]
)  # fmt: skip
def test_without_a_json_rpc_error_the_status_speaks__A4_3(failure, http, body):
    assert failure(HttpRefused, http.response(404, body)).status == 404


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 418, 451])
def test_any_other_status_is_refused_with_its_number__A4_3(failure, http, status):
    error = failure(HttpRefused, http.response(status, b"<p>no</p>", kind="text/html"))
    assert error.status == status
    assert "<p>no</p>" in error.message


@pytest.mark.parametrize("status", [401, 403])
def test_401_and_403_name_the_challenge__A16_2(failure, http, status):
    challenge = 'Bearer error="invalid_token", scope="a b", resource_metadata="https://x/y"'
    error = failure(Unauthorized, http.response(status, www_authenticate=challenge))
    assert error.message.endswith("(error=invalid_token, scope=a b)")
    assert error.data == {
        "status": status,
        "error": "invalid_token",
        "scope": "a b",
        "resource_metadata": "https://x/y",
    }


@pytest.mark.parametrize(
    "challenge", ['Basic realm="studio"', 'Bearer resource_metadata="https://x/y"', "Negotiate"]
)
def test_a_challenge_that_says_nothing_to_people_is_named_whole__A16_2(failure, http, challenge):
    error = failure(Unauthorized, http.response(401, www_authenticate=challenge))
    assert error.message.endswith(f"({challenge})")


def test_a_401_stays_one_when_its_body_is_a_json_rpc_error__A1_3(failure, http):
    assert "said no" in failure(Unauthorized, http.response(401, RPC_ERROR)).message


@pytest.mark.parametrize(
    ("status", "wait", "sent"),
    [(408, None, True), (425, None, True), (429, None, False), (429, "7", False),
     (500, None, True), (500, "7", True), (502, None, True), (503, None, True),
     (503, "7", False), (504, None, True), (599, None, True)],
)  # fmt: skip
def test_busy_servers_are_unreachable_for_now__A4_3(failure, http, status, wait, sent):
    headers = {"retry_after": wait} if wait else {}
    error = failure(Unreachable, http.response(status, b"busy", **headers))
    assert error.sent is sent
    assert error.retry_after == (float(wait) if wait else None)


@pytest.mark.parametrize("status", [429, 503])
def test_a_time_to_wait_outranks_a_json_rpc_error__A4_3(failure, http, status):
    error = failure(Unreachable, http.response(status, RPC_ERROR, retry_after="7"))
    assert error.retry_after == 7
    assert "said no" in error.message


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("0", None, 0.0),
        (" 120 ", None, 120.0),
        ("9" * 400, None, 366 * 86400.0),
        ("Tue, 01 Sep 2026 12:01:00 GMT", None, 60.0),
        ("Tue, 01 Sep 2026 12:01:00 GMT", "Tue, 01 Sep 2026 12:00:30 GMT", 30.0),
        ("Tue, 01 Sep 2026 12:01:00 -0000", "nonsense", 60.0),
        ("Tue, 01 Sep 2020 12:00:00 GMT", None, 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None, 366 * 86400.0),
        ("soon", None, None),
        ("-5", None, None),
        ("1.5", None, None),
        ("", None, None),
    ],
)
def test_retry_after_is_read_in_both_forms__A4_3(failure, http, value, date, seconds):
    headers = {"retry_after": value} | ({"date": date} if date else {})
    assert failure(Unreachable, http.response(429, **headers)).retry_after == seconds


def test_a_refusal_counts_even_where_its_body_breaks_off(failure, http):
    async def broken(seen, reader, writer):
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 100\r\n\r\nhalf")
        return False

    assert "502" in failure(Unreachable, broken).message


def test_a_refusal_with_an_endless_body_is_read_to_the_bound_only(failure, http):
    answer = http.response(404, b"x" * 100_000)
    error = failure(HttpRefused, answer, limits=Limits(message_bytes=1000))
    assert error.status == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[" * 150 + b"]" * 150, "nested more than 128 levels deep"),
        (b"[" + b"[]," * 2000 + b"1]", "over 1562 arrays and objects"),
        (b"[" + b"1," * 6000 + b"1]", "over 5000 values"),
    ],
)
def test_what_would_fill_the_memory_is_refused_and_not_asked_for_again__A5_9_S18(
    failure, http, body, said
):
    error = failure(TooLarge, http.response(body=body), limits=Limits(message_bytes=200_000))
    assert said in error.message


def test_a_text_may_be_full_of_commas_and_brackets__A5_9(ask, http):
    text = '[1,2],{\\"a\\"},\\\\' * 2000
    body = b'{"jsonrpc":"2.0","id":1,"result":{"text":"%s"}}' % text.encode()
    (message,), _ = ask(http.response(body=body), limits=Limits(message_bytes=100_000))
    assert message["result"]["text"] == '[1,2],{"a"},\\' * 2000
