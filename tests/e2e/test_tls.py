"""https as a person meets it: whom mcptask believes, what it says where it does not, and how to go on."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import Scripted, asking, scripted

TLS = Path(__file__).parents[1] / "tls"
CA, ANOTHER = str(TLS / "ca.pem"), str(TLS / "another.pem")
UNCHECKED = "its certificate is not checked"


@pytest.fixture
def over_tls() -> Iterator[Callable[[str], Scripted]]:
    """A server with the certificate of this name."""
    with ExitStack() as open_servers:
        yield lambda name: open_servers.enter_context(scripted(certificate=TLS / f"{name}.pem"))


def turned_away(ran: Ran, server: Scripted) -> str:
    """It never was a failed task, and nothing was sent. What was said of it."""
    assert ran.code == 7
    assert server.requests == []
    return ran.err


# ── whom it believes ──


def test_a_server_that_the_named_ca_vouches_for_is_spoken_to(
    cli: Cli, over_tls: Callable[[str], Scripted]
) -> None:
    server = over_tls("good")
    ran = cli("tools", "-s", server.url, "--ca-cert", CA)
    assert (ran.code, ran.err) == (0, "")
    assert len(server.got("tools/list")) == 1


def test_a_path_may_be_relative_to_the_folder_that_one_is_in(
    cli: Cli, over_tls: Callable[[str], Scripted]
) -> None:
    (cli.cwd / "our-ca.pem").write_text(Path(CA).read_text())
    assert cli("tools", "-s", over_tls("good").url, "--ca-cert", "our-ca.pem").code == 0


@pytest.mark.parametrize(
    ("certificate", "said", "hint"),
    [
        ("good", "it is of a CA that is not known here", "--ca-cert FILE"),
        ("self", "self-signed, and nobody vouches for it", "--ca-cert FILE"),
    ],
)
def test_one_that_nobody_here_knows_is_told_with_the_way_out(
    cli: Cli, over_tls: Callable[[str], Scripted], certificate: str, said: str, hint: str
) -> None:
    server = over_tls(certificate)
    told = turned_away(cli("tools", "-s", server.url), server)
    assert f"TLS: certificate not accepted: {said}" in told
    assert hint in told


@pytest.mark.parametrize(
    ("certificate", "said"),
    [("expired", "it has expired"), ("elsewhere", "it is for another host")],
)
def test_a_ca_that_is_trusted_does_not_make_a_wrong_certificate_right(
    cli: Cli, over_tls: Callable[[str], Scripted], certificate: str, said: str
) -> None:
    server = over_tls(certificate)
    told = turned_away(cli("tools", "-s", server.url, "--ca-cert", CA), server)
    assert f"TLS: certificate not accepted: {said}" in told


def test_the_named_ca_stands_instead_of_those_of_the_environment(
    cli: Cli, over_tls: Callable[[str], Scripted]
) -> None:
    server = over_tls("good")
    ran = cli("tools", "-s", server.url, "--ca-cert", ANOTHER, SSL_CERT_FILE=CA)
    assert "not known here" in turned_away(ran, server)
    assert cli("tools", "-s", server.url, SSL_CERT_FILE=CA).code == 0


# ── --insecure ──


@pytest.mark.parametrize("certificate", ["expired", "elsewhere", "self"])
def test_insecure_accepts_any_and_says_so_in_each_run(
    cli: Cli, over_tls: Callable[[str], Scripted], certificate: str
) -> None:
    server = over_tls(certificate)
    for words in (["tools"], ["call", "job", "month=x", "--wait"], ["get", "x-1"]):
        ran = cli(*words, "-s", server.url, "--insecure")
        assert ran.err.count(f"warning: localhost:{server.url[18:-4]}: {UNCHECKED}") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["tools"],
        ["call", "job", "month=x"],
        ["call", "job", "month=x", "--wait"],
        ["call", "job", "month=x", "--dry-run"],
        ["get", "1"],
        ["watch", "1"],
        ["update", "1", "--decline"],
        ["cancel", "1"],
    ],
)
@pytest.mark.parametrize("by", ["option", "config"])
def test_a_program_reads_it_in_the_warnings(
    cli: Cli, over_tls: Callable[[str], Scripted], words: list[str], by: str
) -> None:
    server = over_tls("self")
    given = ["--insecure"] if by == "option" else []
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\n' + "insecure = true\n" * (not given))
    server.on("tasks/get", asking())
    assert cli("call", "job", "month=x", "-s", "studio", *given).code == 0
    more = ["-s", "studio"] if words[0] in ("tools", "call") else []
    ran = cli(*words, *more, *given, "--json")
    assert re.search(rf'"warnings": \[[^\]]*{UNCHECKED}', ran.out), ran.out
    assert UNCHECKED in ran.err


# ── the config ──


def test_the_config_of_a_server_names_its_ca_relative_to_itself(
    cli: Cli, over_tls: Callable[[str], Scripted]
) -> None:
    server = over_tls("good")
    config = cli.configure(f'[servers.studio]\nurl = "{server.url}"\nca_cert = "ca.pem"\n')
    (config.parent / "ca.pem").write_text(Path(CA).read_text())
    assert cli("call", "job", "month=x", "-s", "studio").code == 0
    ran = cli("watch", "1")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert turned_away_by_option(cli, server) == 7


def turned_away_by_option(cli: Cli, server: Scripted) -> int:
    """The command line wins over the config."""
    server.requests.clear()
    ran = cli("tools", "-s", "studio", "--ca-cert", ANOTHER)
    assert server.requests == []
    return ran.code


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('url = "http://host/mcp"\ninsecure = true', "the URL is not https://"),
        ('url = "http://host/mcp"\nca_cert = "x.pem"', "the URL is not https://"),
        ('url = "https://host/mcp"\nca_cert = "x.pem"\ninsecure = true', "keep the one"),
        ('url = "https://host/mcp"\ninsecure = "yes"', "must be true or false"),
        ('url = "https://host/mcp"\nca_cert = ""', "'ca_cert' must be"),
        ('command = ["x"]\ninsecure = true', "only with 'url'"),
        ('command = ["x"]\nca_cert = "x.pem"', "only with 'url'"),
        ('url = "https://host/mcp"\nca_cert = "/no/such.pem"', "/no/such.pem cannot be read"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(cli: Cli, lines: str, said: str) -> None:
    cli.configure(f"[servers.studio]\n{lines}\n")
    ran = cli("tools", "-s", "studio")
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.parametrize("option", [["--insecure"], ["--ca-cert", CA]])
@pytest.mark.parametrize(
    "where", [["-s", "http://127.0.0.1:9/mcp"], ["--stdio", "cat"], ["-s", "demo"]]
)
def test_an_option_that_means_nothing_is_refused(
    cli: Cli, option: list[str], where: list[str]
) -> None:
    ran = cli("tools", *where, *option)
    assert ran.code == 2
    assert f"{option[0]} means nothing for" in ran.err


def test_the_two_exclude_each_other(cli: Cli) -> None:
    ran = cli("tools", "-s", "https://host/mcp", "--insecure", "--ca-cert", CA)
    assert (ran.code, "exclude each other" in ran.err) == (2, True)


# ── coming back ──


@pytest.mark.parametrize(
    ("certificate", "options"), [("self", "--insecure"), ("good", f"--ca-cert {CA}")]
)
def test_the_commands_that_are_suggested_for_a_url_given_by_hand_work_as_they_are(
    cli: Cli, over_tls: Callable[[str], Scripted], certificate: str, options: str
) -> None:
    server = over_tls(certificate)
    server.on("tasks/get", asking())
    ran = cli("call", "job", "month=x", "-s", server.url, *options.split())
    shown = re.findall(r"mcptask (\w+ 1 .*)", ran.err)
    assert shown
    for line in shown:
        assert line.endswith(options)
        ran = cli(*line.split())
        assert "certificate not accepted" not in ran.err
    ran = cli("get", "1", *options.split())
    assert f"mcptask update 1 action=waitlist {options}" in ran.out
    assert cli("get", "1").code == 7, "nothing is remembered of whom to trust"


# ── TLS and none ──


def test_plain_http_behind_https_is_named(cli: Cli, server: Scripted) -> None:
    ran = cli("tools", "-s", server.url.replace("http:", "https:"))
    assert ran.code == 7
    assert "TLS: the server does not speak it there" in ran.err
    assert "http://" in ran.err.partition("hint:")[2]


def test_tls_behind_http_is_named(cli: Cli) -> None:
    """As OpenSSL's own servers and Go's do: an alert, and the end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def alert() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(b"\x15\x03\x01\x00\x02\x02\x46")

        threading.Thread(target=alert, daemon=True).start()
        ran = cli("tools", "-s", f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        listening.shutdown(socket.SHUT_RDWR)
    assert ran.code == 7
    assert "the answer is no HTTP" in ran.err
    assert "https://" in ran.err.partition("hint:")[2]


def test_a_failed_handshake_is_never_a_failed_task_s10(
    cli: Cli, over_tls: Callable[[str], Scripted]
) -> None:
    server = over_tls("self")
    assert cli("call", "job", "month=x", "-s", server.url, "--insecure").code == 0
    ran = cli("watch", "1", "--json")
    assert ran.document["outcome"] == "unreachable"
    assert ran.document["error"]["kind"] == "unreachable"
    assert cli("list", "--json").listed["tasks"][0]["status"] == "working"
