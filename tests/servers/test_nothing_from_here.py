"""What the current folder has no say in: where the demo has its modules from, and what `~` is."""

from types import SimpleNamespace

import pytest

from mcptask.servers import configured
from mcptask.servers.config import Config
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.resolve import Selection, resolve


def endpoint(environ: dict[str, str], **selected: str) -> Endpoint:
    return resolve(Selection(**selected), Config(), environ, cwd="/here")  # type: ignore[arg-type]


def test_the_demo_has_its_modules_from_where_we_have_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"PYTHONPATH": "/lib/mine", "PYTHONHOME": "", "PYTHONSTARTUP": "/x", "TOKEN": "x"}
    assert endpoint(environ, server="demo").env == {"PYTHONPATH": "/lib/mine"}
    flags = SimpleNamespace(ignore_environment=1)
    monkeypatch.setattr(configured, "sys", SimpleNamespace(flags=flags))
    assert endpoint(environ, server="demo").env == {}


@pytest.mark.parametrize("home", ["", "relative", "./.", "~"])
def test_without_an_absolute_home_a_tilde_is_no_folder(home: str) -> None:
    assert endpoint({"HOME": home}, stdio="~/run x").command == ("~/run", "x")
    assert endpoint({"HOME": "/h"}, stdio="~/run x").command == ("/h/run", "x")
