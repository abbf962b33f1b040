"""What is wrong with us, not with the command of `--exec`, is not swallowed with the task that runs it."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands.following.exec import Hooks, Run

ONE = Run("task 1", 1, b"", {})


def broken(ref: int) -> None:
    raise ZeroDivisionError


def one_more(hooks: Hooks) -> Any:
    hooks.run(ONE)


def end(hooks: Hooks) -> Any:
    return hooks.finish()


def leave(hooks: Hooks) -> Any:
    return hooks.stop()


@pytest.mark.parametrize("then", [one_more, end, leave])
def test_an_error_of_our_own_in_a_run_comes_out_with_whatever_is_next(
    then: Callable[[Hooks], Any],
) -> None:
    job: Any = SimpleNamespace(warn=lambda text: None)

    async def course() -> None:
        hooks = Hooks(job, ["true"], broken)
        hooks.run(ONE)
        await asyncio.sleep(0)
        with pytest.raises(ZeroDivisionError):
            await then(hooks)

    asyncio.run(course())


def test_one_without_a_number_has_nothing_to_wait_for_in_the_state_file() -> None:
    said: list[str] = []
    job: Any = SimpleNamespace(
        warn=said.append, cwd="/", env=SimpleNamespace(environ={}), say=said.append
    )

    async def course() -> None:
        hooks = Hooks(job, ["/nowhere/at/all"], broken)
        hooks.run(ONE._replace(ref=None))
        await hooks.finish()

    asyncio.run(course())
    assert said == ["--exec for task 1 could not be run: No such file or directory"]
