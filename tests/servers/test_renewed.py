"""The credentials that the config has by now for a server that was chosen before (A16.1)."""

from pathlib import Path
from typing import Any

import pytest

from mcptask.errors import ConfigError
from mcptask.servers.config import Config, ServerConfig
from mcptask.servers.credentials import credentials
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.resolve import Selection, renewed, resolve

URL = "https://studio.example/mcp"
ENVIRON = {"OLD": "old", "NEW": "new", "HOST": "studio.example"}


def config(**server: Any) -> Config:
    studio = ServerConfig(name="studio", **({"url": URL} | server))
    return Config(path=Path("/etc/mcptask/config.toml"), servers={"studio": studio})


def sent(selection: Selection, before: Config, now: Config) -> dict[str, str]:
    """What goes out by `now` to the server that was chosen by `before`."""
    chosen = resolve(selection, before, ENVIRON)
    return credentials(renewed(chosen, selection, now, ENVIRON), ENVIRON)


OLD = config(bearer_env="OLD")


@pytest.mark.parametrize(
    ("now", "authorization"),
    [
        (config(bearer_env="NEW"), "Bearer new"),
        (config(headers={"Authorization": "Bearer ${NEW}"}), "Bearer new"),
        (config(headers={"Authorization": "Bearer literal"}), "Bearer literal"),
        (config(url="https://kai:pass@studio.example/mcp"), "Basic a2FpOnBhc3M="),
        (config(url="https://${HOST}/mcp", bearer_env="NEW"), "Bearer new"),
        (config(url="https://elsewhere.example/mcp", bearer_env="NEW"), "Bearer old"),
        (config(url="https://studio.example/other", bearer_env="NEW"), "Bearer old"),
        (config(url=None, command=("studio-mcp",)), "Bearer old"),
        (Config(), "Bearer old"),
    ],
)
def test_the_config_has_the_word_as_long_as_it_is_about_the_same_url_a16_1(
    now: Config, authorization: str
) -> None:
    assert sent(Selection(server="studio"), OLD, now) == {"Authorization": authorization}


def test_what_the_command_line_gave_still_wins_a16_1() -> None:
    now = config(bearer_env="NEW", headers={"X-Team": "south", "X-Room": "3"})
    by_hand = Selection(server="studio", headers=("X-Team: north",), bearer_env="OLD")
    assert sent(by_hand, OLD, now) == {
        "X-Team": "north",
        "X-Room": "3",
        "Authorization": "Bearer old",
    }


def test_nothing_but_the_credentials_changes_a16_1() -> None:
    chosen = resolve(Selection(), OLD, ENVIRON)
    now = config(bearer_env="NEW", protocol="2025-11-25")
    found = renewed(chosen, Selection(), now, ENVIRON)
    assert (found.protocol, found.source, found.key) == (None, chosen.source, chosen.key)


def test_a_server_that_is_not_of_the_config_keeps_what_it_has_a16_1() -> None:
    by_hand = Selection(server=URL, headers=("X-Team: north",))
    assert sent(by_hand, OLD, config(bearer_env="NEW")) == {"X-Team": "north"}
    demo = Endpoint(name="demo", server="demo", command=("demo",), source="a test")
    assert renewed(demo, Selection(), OLD, ENVIRON) is demo


def test_a_url_that_cannot_be_made_any_more_is_the_configs_fault_a16_1() -> None:
    with pytest.raises(ConfigError):
        sent(Selection(), OLD, config(url="https://${MISSING}/mcp"))
