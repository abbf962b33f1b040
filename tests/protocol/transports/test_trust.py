"""Who is believed: the file of an option, a variable, the bundle; and what is said of one that is wrong."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx
import pytest

from mcptask.errors import ConfigError
from mcptask.protocol.transports.trust import Trust, context

TLS = Path(__file__).parents[2] / "tls"
CA = str(TLS / "ca.pem")


def usual() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


def authorities(trust: Trust = Trust(), **environ: str) -> list[str]:  # noqa: B008 (frozen)
    made = context(trust, environ, usual)
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.check_hostname
    return [str(ca["subject"]) for ca in made.get_ca_certs()]


def test_an_option_a_file_of_the_environment_and_the_bundle_in_this_order():
    (named,) = authorities(Trust(CA), SSL_CERT_FILE="/no/such")
    assert "mcptask test ca" in named
    assert authorities(SSL_CERT_FILE=CA, SSL_CERT_DIR="/no/such") == [named]
    assert len(authorities()) > 50


def test_a_folder_of_the_environment_is_looked_into_when_a_server_shows_its_certificate(tmp_path):
    assert authorities(SSL_CERT_DIR=f"/no/such:{tmp_path}") == []


def test_insecure_believes_everybody_and_reads_no_file():
    made = context(Trust(insecure=True), {"SSL_CERT_FILE": "/no/such"}, usual)
    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_NONE, False)


def refused(trust: Trust = Trust(), **environ: str) -> ConfigError:  # noqa: B008 (frozen)
    with pytest.raises(ConfigError) as caught:
        context(trust, environ, usual)
    assert "\n" not in caught.value.message
    return caught.value


def test_a_variable_that_is_wrong_is_named_with_its_file(tmp_path):
    empty = tmp_path / "empty.pem"
    empty.write_text("canary")
    error = refused(SSL_CERT_FILE="/no/such.pem")
    assert error.message.startswith("SSL_CERT_FILE: /no/such.pem cannot be read: No such file")
    assert error.hint == "correct or unset SSL_CERT_FILE"
    assert "SSL_CERT_FILE: " in refused(SSL_CERT_FILE=str(tmp_path)).message
    error = refused(SSL_CERT_FILE=str(empty))
    assert error.message == f"SSL_CERT_FILE: {empty} holds no certificate in PEM form"
    assert refused(SSL_CERT_DIR="/no/such").message == "SSL_CERT_DIR: there is no folder /no/such"
    assert "not a path" in refused(SSL_CERT_FILE="a\0b").message


def test_a_file_of_the_option_is_named_with_it():
    error = refused(Trust("/no/such.pem"))
    assert error.message.startswith("--ca-cert or ca_cert: /no/such.pem cannot be read")
    assert error.hint is None


def test_a_log_of_keys_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "no" / "keys.log"))
    for trust in (Trust(CA), Trust()):
        error = refused(trust)
        assert error.message.startswith("SSLKEYLOGFILE names a file that cannot be written: ")
        assert error.hint == "unset SSLKEYLOGFILE"
