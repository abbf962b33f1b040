"""`run`: what asyncio itself would say stays off the terminal."""

import subprocess
import sys

# In a process of its own: pytest catches what is logged in this one.
FORGETFUL = """
import asyncio, gc
from mcptask.commands._run import run

async def fails():
    raise ValueError("canary")

async def work(interruption):
    task = asyncio.ensure_future(fails())
    await asyncio.sleep(0)
    del task
    gc.collect()
    return 7

print(run(work))
"""


def test_an_exception_that_nobody_fetched_puts_nothing_on_the_terminal() -> None:
    ran = subprocess.run([sys.executable, "-c", FORGETFUL], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("7\n", "")
