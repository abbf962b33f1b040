"""Whose word counts on a server's certificate: the options', then the config's."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcptask.errors import ConfigError, UsageError
from mcptask.protocol.transports.trust import Trust
from mcptask.servers.config import Config, ServerConfig
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.resolve import Selection
from mcptask.servers.trusting import configured_trust, with_trust

URL = "https://host/mcp"
ENVIRON = {"CAS": "/etc/cas", "HOME": "/home/kai"}


def configured(url: str = URL, path: Path | None = Path("/etc/mcptask.toml"), **given) -> Trust:
    return configured_trust(ServerConfig(name="studio", **given), url, Config(path=path), ENVIRON)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ca.pem", "/etc/ca.pem"),
        ("~/ca.pem", "/home/kai/ca.pem"),
        ("${CAS}/ca.pem", "/etc/cas/ca.pem"),
    ],
)
def test_a_path_of_the_config_is_relative_to_it_and_may_hold_variables(written, meant):
    assert configured(ca_cert=written) == Trust(meant)


def test_a_config_without_a_file_has_no_folder():
    assert configured(path=None, ca_cert="ca.pem") == Trust("ca.pem")


def test_a_server_without_a_word_on_it_is_trusted_like_any_other():
    assert configured() == configured(url="http://host/mcp") == Trust()
    assert configured(insecure=True) == Trust(insecure=True)


@pytest.mark.parametrize("given", [{"ca_cert": "x.pem"}, {"insecure": True}])
def test_without_tls_there_is_nobody_to_trust(given):
    with pytest.raises(ConfigError, match=rf"servers.studio.{next(iter(given))} in .*not https://"):
        configured("http://host/mcp", **given)


def chosen(url: str | None = URL, **given) -> Trust:
    endpoint = Endpoint(name="studio", source="a test", url=url, trust=Trust("/config.pem"))
    return with_trust(endpoint, Selection(**given)).trust


def test_the_options_win_over_the_config():
    assert chosen() == Trust("/config.pem")
    assert chosen(ca_cert="/option.pem") == Trust("/option.pem")
    assert chosen(insecure=True) == Trust(insecure=True)


@pytest.mark.parametrize("given", [{"ca_cert": "/x.pem"}, {"insecure": True}])
@pytest.mark.parametrize(
    ("url", "why"), [("http://host/mcp", "is not https"), (None, "runs over stdio")]
)
def test_an_option_that_means_nothing_is_refused(given, url, why):
    with pytest.raises(UsageError, match=why):
        chosen(url, **given)


def test_both_at_once_are_refused():
    with pytest.raises(UsageError, match="exclude"):
        chosen(ca_cert="/x.pem", insecure=True)
