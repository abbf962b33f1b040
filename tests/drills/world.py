"""One run's world: folders of its own, a witness over HTTP or stdio, and mcptask as a process in it."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.drills.oracle import Json, Ran, acknowledged, stored
from tests.drills.witness import read_log

ROOT = Path(__file__).parents[2]
WITNESS = Path(__file__).with_name("witness.py")
PATIENCE = 60.0  # s: no client may take longer, whatever is done to it
LIMITED = (
    "import os, resource, sys; n = int(sys.argv[1]); "
    "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]; "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (n, hard)); os.execv(sys.argv[2], sys.argv[2:])"
)


class World:
    """`close` ends what is left in it."""

    def __init__(self, folder: Path, transport: str) -> None:
        self.folder = folder
        self.log = folder / "witness.jsonl"
        self.state = folder / "state" / "mcptask" / "tasks.toml"
        self.ran: list[Ran] = []
        self.room: int | None = None  # bytes that a file of the next client may have
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0
        for name, answer in (("first", "A"), ("second", "B")):
            lines = [f'{key} = {{ say = "{answer}" }}' for key in ("one", "two")]
            (folder / f"{name}.toml").write_text("\n".join(lines) + "\n")
        self._witness = [sys.executable, "-I", "-S", str(WITNESS), "--log", str(self.log)]
        self.over_http = transport == "http"
        if self.over_http:
            self.start_server()

    # ── the server ──

    def start_server(self) -> None:
        before = len(self.saw("ready"))
        self._server = subprocess.Popen([*self._witness, "--http", str(self._port)])
        self.until(lambda: len(self.saw("ready")) > before, "the witness is ready")
        self._port = self.saw("ready")[-1]["port"]

    def kill_server(self) -> None:
        """The one that runs now: over stdio the client's latest child."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None
        elif ready := self.saw("ready"):
            with suppress(ProcessLookupError):
                os.kill(ready[-1]["pid"], signal.SIGKILL)

    @property
    def where(self) -> list[str]:
        if self.over_http:
            return ["-s", f"http://127.0.0.1:{self._port}/mcp"]
        return ["--stdio", shlex.join(self._witness)]

    def saw(self, what: str) -> list[Json]:
        return [each for each in read_log(self.log) if each["saw"] == what]

    # ── the client ──

    def start(self, *argv: str) -> "Client":
        return Client(self, argv, len(self.ran))

    def run(self, *argv: str) -> Ran:
        return self.start(*argv).end()

    def quiet(self) -> None:
        """Until the witnesses of clients that are gone are gone too: what they still do is in the log."""
        own = self._server.pid if self._server else None
        pids = {each["pid"] for each in self.saw("ready")} - {own}
        self.until(lambda: not any(map(running, pids)), "the old witnesses are gone")
        last = -1.0
        while (size := self._size()) != last:
            last = size
            time.sleep(0.05)

    def _size(self) -> float:
        return self.log.stat().st_size if self.log.exists() else 0

    def until(self, true: Callable[[], Any], what: str, patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not true():
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited in vain: {what}")
            time.sleep(0.003)

    def bytes(self) -> bytes | None:
        return self.state.read_bytes() if self.state.exists() else None

    def content(self) -> Json:
        with suppress(ValueError):
            return stored(self.bytes())
        return {}

    def leftovers(self) -> list[Path]:
        return list(self.state.parent.glob("**/.*.tmp"))

    def close(self) -> None:
        if self._server is not None:
            self.kill_server()
        with suppress(RuntimeError):
            self.quiet()


class Client:
    """A mcptask process. `who` is its name for the witness."""

    def __init__(self, world: World, argv: tuple[str, ...], number: int) -> None:
        self._world = world
        self._argv = argv
        self._acknowledged = acknowledged(world.content())
        self.seen_before = len(read_log(world.log))
        command = [sys.executable, "-m", "mcptask", *argv]
        if world.over_http and argv[0] != "list":
            command += ["-H", f"X-Drill: {number}"]
        if world.room is not None:
            command = [sys.executable, "-I", "-S", "-c", LIMITED, str(world.room), *command]
        names = {"HOME": "", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}
        names["XDG_CACHE_HOME"] = "cache"
        own = {name: str(world.folder / folder) for name, folder in names.items()}
        self.popen = subprocess.Popen(
            command,
            cwd=world.folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.who = str(number) if world.over_http else f"of {self.popen.pid}"

    @property
    def ended(self) -> bool:
        return self.popen.poll() is not None

    def saw(self, what: str) -> bool:
        """Did the witness see this since the client was started?"""
        return any(e["saw"] == what for e in read_log(self._world.log)[self.seen_before :])

    def end(self, *, kill: bool = False) -> Ran:
        if kill:
            self.popen.kill()
        try:
            out, err = self.popen.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            out, err = self.popen.communicate()
            err += "\nTraceback: it did not end"
        code = None if self.popen.returncode == -signal.SIGKILL else self.popen.returncode
        ran = Ran(self.who, self._argv, code, out, err, self._acknowledged)
        self._world.ran.append(ran)
        return ran


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def between(chance: random.Random, least: float, most: float) -> float:
    return chance.uniform(least, max(least, most))
