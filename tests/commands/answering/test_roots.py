"""`--root`: the folders that a server which asks for roots is told of."""

import asyncio
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from mcptask.commands._job import Job
from mcptask.commands._options import Options
from mcptask.commands.answering.roots import folders, from_roots
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question


def answered(cwd: Path, *given: str, method: str = "roots/list") -> Any:
    env = Env(io.StringIO(), io.StringIO(), io.StringIO(), os.environ, cwd)
    source = from_roots(Job(env, Options(root=given)))

    async def course() -> Any:
        return await source(Who("studio", "scan"), Question("roots", {"method": method}))

    return asyncio.run(course())


def test_roots_are_absolute_uris_in_the_order_of_the_options_each_once_a12_14(
    tmp_path: Path,
) -> None:
    for name in ("b", "a c#?%"):
        (tmp_path / name).mkdir()
    assert answered(tmp_path, "b", "a c#?%", "./b/", str(tmp_path / "b")) == {
        "roots": [
            {"uri": f"{tmp_path.as_uri()}/b", "name": "b"},
            {"uri": f"{tmp_path.as_uri()}/a%20c%23%3F%25", "name": "a c#?%"},
        ]
    }


def test_nothing_else_is_answered_with_them_a12_14(tmp_path: Path) -> None:
    assert answered(tmp_path, ".", method="sampling/createMessage") is None


def test_home_is_expanded_and_the_root_of_all_has_no_name(home: Path, tmp_path: Path) -> None:
    assert answered(tmp_path, "~", "/") == {
        "roots": [{"uri": home.as_uri(), "name": home.name}, {"uri": "file:///"}]
    }


def test_a_link_keeps_its_name_and_what_is_above_it_is_what_the_system_says(
    tmp_path: Path,
) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    (tmp_path / "beside").mkdir()
    found = folders(["link", "beside/..", "link/.."], str(tmp_path))
    assert found == (tmp_path / "link", tmp_path, tmp_path / "real")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_name_that_is_no_text_is_sent_byte_by_byte(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / name).mkdir()
    (root,) = answered(tmp_path, name)["roots"]
    assert root == {"uri": f"{tmp_path.as_uri()}/caf%E9", "name": "caf\ufffd"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("away", "--root names a folder that does not exist: away"),
        ("", "--root names a folder that does not exist: an empty name"),
        ("notes.txt", "--root names a folder, and notes.txt is none"),
    ],
)
def test_what_is_no_folder_is_refused(tmp_path: Path, given: str, why: str) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UsageError, match=why):
        folders([".", given], str(tmp_path))
