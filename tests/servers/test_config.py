import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ConfigError
from mcptask.servers.command_line import split
from mcptask.servers.config import Config, read
from mcptask.servers.expansion import expand, home, literal
from mcptask.servers.waits import Waits

STUDIO = """
default = "studio"
store_results = false
[servers.studio]
url = "https://studio.example/mcp"
bearer_env = "STUDIO_TOKEN"
headers = { X-Team = "${TEAM}" }
timeout = "60s"
[servers.local]
command = ["uvx", "studio-mcp"]
env = { STUDIO_DB = "${HOME}/studio.db" }
cwd = "~/studio"
[servers.text]
command = "run 'two words' x"
timeout = 1.5
"""


def config(tmp_path: Path, text: str | bytes) -> Config:
    path = tmp_path / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    return read(path)


def refusal(tmp_path: Path, text: str | bytes) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        config(tmp_path, text)
    assert str(tmp_path / "config.toml") in refused.value.message
    return refused.value


def test_a_config_is_read_and_nothing_in_it_is_expanded(tmp_path: Path) -> None:
    got = config(tmp_path, STUDIO)
    studio, local, text = got.servers.values()
    assert (got.default, got.store_results, got.path) == (
        "studio",
        False,
        tmp_path / "config.toml",
    )
    assert (studio.url, studio.bearer_env, studio.waits.timeout, dict(studio.headers)) == (
        "https://studio.example/mcp",
        "STUDIO_TOKEN",
        60.0,
        {"X-Team": "${TEAM}"},
    )
    assert (local.command, dict(local.env), local.cwd, local.waits) == (
        ("uvx", "studio-mcp"),
        {"STUDIO_DB": "${HOME}/studio.db"},
        "~/studio",
        Waits(),
    )
    assert (text.command, text.waits.timeout) == (("run", "two words", "x"), 1.5)


@pytest.mark.parametrize("text", ["", "  \n", "# nothing\n", b"\xef\xbb\xbf# BOM\r\n"])
def test_an_empty_file_is_an_empty_config(tmp_path: Path, text: str | bytes) -> None:
    got = config(tmp_path, text)
    assert not got.servers
    assert got.store_results


def test_a_missing_file_is_an_empty_config_unless_it_was_named(tmp_path: Path) -> None:
    assert read(tmp_path / "none.toml") == Config(path=tmp_path / "none.toml")
    assert read(None) == Config()
    with pytest.raises(ConfigError, match="there is no config file"):
        read(tmp_path / "none.toml", must_exist=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a =", "not valid TOML: Invalid value (at end of document)"),
        ("x = " + "[" * 20_000, "deeply"),
        (b"a = '\xff'", "line 1: not UTF-8"),
        ("colour = 1", "unknown key 'colour'"),
        ("store_results = 'yes'", "'store_results' must be true or false"),
        ("default = 3", "'default' must be text"),
        ("servers = 3", "'servers' must be tables"),
        ("[servers]\nx = 3", "'servers' must be tables"),
        ("[servers.a]\nulr = 'x'", "[servers.a]"),
        ("[servers.a]", "'url' or 'command' is missing"),
        ("[servers.a]\nurl = 'x'\ncommand = 'y'", "both"),
        ("[servers.a]\nurl = 3", "'url' must be text"),
        ("[servers.a]\ncommand = [1]", "'command' must be a list of texts"),
        ("[servers.a]\ncommand = []", "names no program"),
        ("[servers.a]\ncommand = ''", "names no program"),
        ('[servers.a]\ncommand = "it\'s"', "no closing quotation"),
        ('[servers.a]\ncommand = "a\\u0000"', "NUL"),
        ("[servers.a]\ncommand = 'y'\nenv = { a = 1 }", "'env' must be a table of texts"),
        ("[servers.a]\ncommand = 'y'\nenv = { 'a=b' = 'x' }", "cannot be one"),
        ("[servers.a]\ncommand = 'y'\nheaders = { a = 'b' }", "'headers': only with 'url'"),
        ("[servers.a]\nurl = 'x'\ncwd = '/'", "'cwd': only with 'command'"),
        ("[servers.a]\nurl = 'x'\nbearer_env = 'ey.J0'", "name of the variable"),
        (
            "[servers.a]\nurl = 'x'\nbearer_env = 'T'\nheaders = { AUTHORIZATION = 'b' }",
            "both 'bearer_env' and 'headers' with Authorization",
        ),
        ("[servers.a]\nurl = 'x'\ntimeout = '0'", "'timeout' must be a duration"),
        ("[servers.a]\nurl = 'x'\ntimeout = true", "'timeout' must be a duration"),
        ("[servers.a]\nurl = 'x'\ntimeout = inf", "'timeout' must be a duration"),
        ("[servers.a]\nurl = 'x'\ntimeout = []", "'timeout' must be a duration"),
        ("[servers.demo]\nurl = 'x'", "reserved"),
        ("[servers.-a]\nurl = 'x'", "'-' in front"),
        ("[servers.'http://x']\nurl = 'x'", "'://'"),
        ("default = 'b'\n[servers.a]\nurl = 'x'", "default names 'b'"),
        ("x = '" + "a" * 1024 * 1024 + "'", "larger than 1 MiB"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_place(
    tmp_path: Path, text: str | bytes, says: str
) -> None:
    assert says in refusal(tmp_path, text).message


def test_an_unknown_key_gets_the_nearest_one(tmp_path: Path) -> None:
    assert refusal(tmp_path, "[servers.a]\nulr = 'x'").hint == "did you mean 'url'?"
    assert "default, store_results, servers" in (refusal(tmp_path, "zzz = 1").hint or "")
    assert refusal(tmp_path, "default = 'stdio'\n[servers.studio]\nurl = 'x'").hint


@pytest.mark.parametrize(
    "text",
    [
        "[servers.a]\nurl = 'https://canary@x'\nbearer_env = 'canary-1'",
        "[servers.a]\nurl = ['canary']",
        "[servers.a]\nheaders = 'canary'",
        "[servers.a]\nurl = 'x'\nheaders = { A = ['canary'] }",
        "[servers.a]\nurl = 'x'\nurl = 'canary'",
        "[servers.a]\nurl = 'x'\ntimeout = 'canary'",
    ],
)
def test_no_value_comes_back_in_a_message(tmp_path: Path, text: str) -> None:
    error = refusal(tmp_path, text)
    assert "canary" not in f"{error.message} {error.hint}"


def test_no_value_shows_in_a_repr(tmp_path: Path) -> None:
    assert "studio.example" not in repr(config(tmp_path, STUDIO))
    assert "${" not in repr(config(tmp_path, STUDIO))


posix = pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")


@posix
@pytest.mark.parametrize("mode", [0o622, 0o602, 0o666])
def test_a_config_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "config.toml"
    path.write_text(STUDIO)
    path.chmod(mode)
    with pytest.raises(ConfigError, match="other users can write it") as refused:
        read(path)
    assert refused.value.hint == f"chmod go-w {path}"


@posix
def test_a_config_is_refused_for_the_folder_that_its_link_leads_to(tmp_path: Path) -> None:
    real, link = tmp_path / "shared" / "config.toml", tmp_path / "config.toml"
    real.parent.mkdir()
    real.write_text(STUDIO)
    link.symlink_to(real)
    assert read(link).default == "studio"
    real.parent.chmod(0o777)
    with pytest.raises(ConfigError, match="other users can write to its folder") as refused:
        read(link)
    assert refused.value.hint == f"chmod go-w {real.parent}"


@posix
@pytest.mark.parametrize(("me", "refused"), [(0, False), (12345, True)])
def test_a_config_of_another_user_is_refused_but_not_that_of_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, me: int, refused: bool
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(STUDIO)
    path.chmod(0o644)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: me if owner == 0 else owner + me)
    if owner == 0 or not me:
        assert read(path).default == "studio"
        return
    with pytest.raises(ConfigError, match="belongs to another user"):
        read(path)


@posix
def test_a_folder_and_a_path_through_a_file_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "x", Path("a\0b")):
        with pytest.raises(ConfigError):
            read(path)
    assert read(Path("/dev/null")).servers == {}


def test_no_content_means_no_pydantic(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from mcptask.servers.config import read\n"
        "import mcptask.servers.resolve\n"
        "read(pathlib.Path(sys.argv[1]))\n"
        "print({'pydantic', 'asyncio', 'httpx', 'tomllib', 'difflib'} & set(sys.modules))\n"
    )
    path = str(tmp_path / "none.toml")
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


ENVIRON = {"A": "1", "EMPTY": "", "NESTED": "${A}", "HOME": "/home/me"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x${A}y${A}", "x1y1"),
        ("${EMPTY}", ""),
        ("${NESTED}", "${A}"),
        ("$A $ $$ pa$$word $", "$A $ $$ pa$$word $"),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
    ],
)
def test_variables_are_expanded_once_and_a_plain_dollar_is_itself(text: str, expected: str) -> None:
    assert expand(text, ENVIRON, "here") == expected


@pytest.mark.parametrize("text", ["${NONE}", "${}", "${A", "${A:-x}", "${ A}", "${"])
def test_a_variable_that_is_not_set_is_named_with_its_place(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^servers\.a\.url in f: ") as refused:
        expand(text, ENVIRON, "servers.a.url in f")
    assert text != "${NONE}" or "NONE is not set" in refused.value.message


@given(st.text())
def test_literal_text_survives_the_expansion(text: str) -> None:
    assert expand(literal(text), {}, "here") == text


@given(st.text(alphabet="${}AB ", max_size=12))
def test_expansion_gives_text_or_a_config_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert isinstance(expand(text, {"A": "1"}, "here"), str)


def test_the_home_folder_is_the_one_of_the_environment() -> None:
    assert home("~/x", ENVIRON) == "/home/me/x"
    assert home("~", ENVIRON) == "/home/me"
    assert home("~other/x", ENVIRON) == "~other/x"
    assert home("~/x", {}) == "~/x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r'"C:\a b\x.exe" --flag "two words"', (r"C:\a b\x.exe", "--flag", "two words")),
        (r"C:\a\b.exe x", (r"C:\a\b.exe", "x")),
        ("it's", ("it's",)),
    ],
)
def test_on_windows_backslashes_are_kept(text: str, words: tuple[str, ...]) -> None:
    assert split(text, windows=True) == words


@pytest.mark.parametrize("windows", [True, False])
def test_an_open_quote_is_refused_everywhere(windows: bool) -> None:
    with pytest.raises(ValueError, match="no closing quotation"):
        split('a "b', windows=windows)
