"""What holds for every test: none sees this machine's settings or writes in its home, and all that mcptask
sends in one is held to the official types (tests/oracle)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import hypothesis
import pytest

from tests.oracle.listening import Heard, listening

# A busy machine makes a property slow, not wrong. CI tries the same examples each time, so that what it
# says is about the change; new ones are found where people work.
hypothesis.settings.register_profile(
    "mcptask", deadline=None, derandomize=bool(os.environ.get("CI"))
)
hypothesis.settings.load_profile("mcptask")

XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_STATE_HOME": ".local/state",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": "run",
}
# Each of these changes what mcptask prints or where it looks.
TOLD_BY_THE_MACHINE = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CI", "COLUMNS", "LINES")
# By these a terminal is known, and whatever the tests run in is not the one that they mean.
TERMINALS = (
    *("TMUX", "STY", "ZELLIJ", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_FEATURES"),
    *("LC_TERMINAL", "WT_SESSION", "ConEmuANSI", "KONSOLE_VERSION", "KITTY_WINDOW_ID"),
    *("PTYXIS_VERSION", "VTE_VERSION", "XTERM_VERSION"),
)
# These say which way a request goes, and who is believed on it.
PROXIES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"),
)


# All that is demanded of the coverage is protocol/ and store/, which these do not test: measured, they would
# take twice the time.
UNMEASURED = (
    *("arguments", "commands", "completions", "conformance", "demo", "e2e", "hostile_servers"),
    *("hostile_text", "render"),
)
# … but for those that reach what no test of these two rooms does.
MEASURED = {
    f"test_{name}.py"
    for name in (
        *("answers_in_doubt", "canaries", "command_secrets", "declared", "dry_run", "state_file"),
        *("trace", "unknown_outcome", "update_and_cancel", "waits", "where_credentials_go"),
    )
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        room = item.path.relative_to(Path(__file__).parent).parts[0]
        if room in UNMEASURED and item.path.name not in MEASURED:
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, with the XDG folders inside it; child processes inherit it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name, folder in XDG.items():
        monkeypatch.setenv(name, str(home / folder))
    for name in (*TOLD_BY_THE_MACHINE, *TERMINALS, *PROXIES):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("MCPTASK_")]:
        monkeypatch.delenv(name)
    return home


@pytest.fixture(scope="session")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of files for traces, outside the folders that tests look into."""
    folder = tmp_path_factory.mktemp("traces")
    return (folder / f"{number}.jsonl" for number in count())


@pytest.fixture(autouse=True)
def heard(home: Path, traces: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    """Fails the test that made mcptask send what no client may send."""
    with listening(next(traces), monkeypatch) as heard:
        yield heard
    if heard.faults:
        pytest.fail("\n".join(heard.faults), pytrace=False)
