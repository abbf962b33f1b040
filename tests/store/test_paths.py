import sys
from pathlib import Path

import pytest

from mcptask.errors import StateError
from mcptask.store import paths


def test_the_state_file_is_the_one_named_on_the_command_line_then_the_variable_then_xdg(make_env):
    everything = {"MCPTASK_STATE": "/v/s.toml", "XDG_STATE_HOME": "/x", "HOME": "/home/me"}
    assert paths.state_file(make_env(**everything), "/o/s.toml") == Path("/o/s.toml")
    assert paths.state_file(make_env(**everything)) == Path("/v/s.toml")
    del everything["MCPTASK_STATE"]
    assert paths.state_file(make_env(**everything)) == Path("/x/mcptask/tasks.toml")


def test_without_variables_linux_gets_the_xdg_defaults(make_env, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    env = make_env(HOME="/home/me")
    assert paths.state_file(env) == Path("/home/me/.local/state/mcptask/tasks.toml")
    assert paths.config_file(env) == Path("/home/me/.config/mcptask/config.toml")
    assert paths.cache_folder(env) == Path("/home/me/.cache/mcptask")


def test_config_and_cache_follow_their_own_variables(make_env):
    env = make_env(HOME="/h", XDG_CONFIG_HOME="/c", XDG_CACHE_HOME="/k", MCPTASK_CONFIG="")
    assert paths.config_file(env) == Path("/c/mcptask/config.toml")
    assert paths.cache_folder(env) == Path("/k/mcptask")
    assert paths.config_file(make_env(MCPTASK_CONFIG="/m.toml")) == Path("/m.toml")
    assert paths.config_file(env, "/o.toml") == Path("/o.toml")


@pytest.mark.parametrize("value", ["", "relative/folder", "."])
def test_an_empty_or_relative_xdg_value_is_ignored(make_env, monkeypatch, value):
    monkeypatch.setattr(sys, "platform", "linux")
    env = make_env(HOME="/h", XDG_STATE_HOME=value)
    assert paths.state_file(env) == Path("/h/.local/state/mcptask/tasks.toml")


def test_a_relative_file_name_counts_from_the_current_folder(make_env, tmp_path):
    assert paths.state_file(make_env(), "s.toml") == tmp_path / "s.toml"
    assert paths.state_file(make_env(MCPTASK_STATE="a/s.toml")) == tmp_path / "a/s.toml"


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_the_state_asks_for_a_name_and_the_rest_is_simply_absent(
    make_env, monkeypatch, environ
):
    monkeypatch.setattr(sys, "platform", "linux")
    env = make_env(**environ)
    with pytest.raises(StateError, match="HOME is not set") as caught:
        paths.state_file(env)
    assert "--state" in caught.value.hint
    assert paths.config_file(env) is None
    assert paths.cache_folder(env) is None


def test_other_systems_ask_platformdirs(make_env, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: Path("/Library/mcptask"))
    assert paths.state_file(make_env(HOME="/h")) == Path("/Library/mcptask/tasks.toml")
    monkeypatch.setattr("platformdirs.user_cache_path", _no_home)
    assert paths.cache_folder(make_env()) is None


def test_a_relative_folder_of_platformdirs_is_ignored_too(make_env, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_, **__: Path("relative"))
    assert paths.config_file(make_env(XDG_CONFIG_HOME="relative")) is None


def _no_home(*_, **__):
    raise RuntimeError("Could not determine home directory.")


def test_results_lie_beside_the_real_file_and_not_beside_a_link_to_it(tmp_path):
    (tmp_path / "link.toml").symlink_to(tmp_path / "real" / "tasks.toml")
    assert paths.results_folder(tmp_path / "link.toml") == tmp_path / "real" / "results"


def test_a_link_to_itself_is_a_path_like_any_other_and_a_null_character_is_not(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert paths.resolved(loop) == loop
    with pytest.raises(StateError, match="cannot be the name of a file"):
        paths.resolved(tmp_path / "a\0b")
