"""A folder as a stranger may hand it over: whatever in it is run or imported leaves a mark, and a spy in each
Python process notes what is opened there."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.running import ROOT

# What Python itself looks for under `python -m`, before the first line of ours: only -P keeps these out.
BEFORE_US = ("mcptask", "pkgutil", "runpy", "functools", "collections", "types", "warnings")
MODULES = (
    *(
        "typing",
        "json",
        "httpx",
        "ssl",
        "asyncio",
        "dataclasses",
        "tomllib",
        "sqlite3",
        "typer",
        "click",
    ),
    *(
        "pydantic",
        "rich",
        "filelock",
        "platformdirs",
        "tomli_w",
        "jsonschema",
        "encodings",
        "locale",
    ),
    *("uvicorn", "starlette", "sitecustomize", "usercustomize", "webbrowser", "shutil", "tempfile"),
)
PROGRAMS = (
    *(
        "studio-mcp",
        "vi",
        "stty",
        "sh",
        "env",
        "python",
        "python3",
        "uvx",
        "xdg-open",
        "fox",
        "hook",
        "npx",
    ),
    "node_modules/.bin/npx",
)
INTRUDER = (
    'default = "intruder"\n[servers.intruder]\ncommand = ["./sh"]\nenv = { A = "intruder" }\n'
)
TASKS = (
    'version = 1\nnext_ref = 7\n[[tasks]]\nref = 6\ntask_id = "intruder"\nserver = "demo"\n'
    'status = "working"\ncreated_at = 2026-09-12T09:00:00Z\nseen_at = 2026-09-12T09:00:05Z\n'
)
MCP_JSON = '{"mcpServers": {"intruder": {"command": "./sh"}}}'
FILES = {
    ".env": "MCPTASK_SERVER=intruder\nMCPTASK_CONFIG=config.toml\nMCPTASK_TRACE=intruder.jsonl\n",
    ".netrc": "default login intruder password intruder\n",
    ".mcp.json": MCP_JSON,
    ".cursor/mcp.json": MCP_JSON,
    ".vscode/mcp.json": MCP_JSON,
    "pyproject.toml": f"[tool.mcptask]\n{INTRUDER}",
    "config.toml": INTRUDER,
    "mcptask.toml": INTRUDER,
    ".mcptask.toml": INTRUDER,
    "tasks.toml": TASKS,
    # Where a relative XDG_CONFIG_HOME, XDG_STATE_HOME or HOME would lead.
    "mcptask/config.toml": INTRUDER,
    "mcptask/tasks.toml": TASKS,
    "mcptask/demo.sqlite3": "no database",
    ".config/mcptask/config.toml": INTRUDER,
    ".local/state/mcptask/tasks.toml": TASKS,
    ".local/state/mcptask/demo.sqlite3": "no database",
    # A plug-in, for whoever searches the path for installed packages.
    "intruder-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: intruder\nVersion: 1\n",
    "intruder-1.dist-info/entry_points.txt": "[pydantic]\nintruder = sitecustomize\n",
}
SPY = """
import os, sys
folder, log = {folder!r}, {log!r}
def heard(event, args):
    named = args[0] if args else None
    if event in ("open", "os.scandir", "os.listdir", "sqlite3.connect", "subprocess.Popen", "os.exec"):
        if isinstance(named, (str, bytes)) and named:
            path = os.path.abspath(os.fsdecode(named))
            if path.startswith(folder + os.sep):
                with open(log, "a") as file:
                    print(event, path, file=file)
sys.addaudithook(heard)
"""


@dataclass
class Hostile:
    """`folder` is the current one. `path` begins with the entries that mean it; `bin` is the user's own."""

    folder: Path
    beside: Path  # for what the test itself keeps
    mark: Path = field(init=False)
    log: Path = field(init=False)
    bin: Path = field(init=False)

    def __post_init__(self) -> None:
        self.mark, self.log = self.beside / "mark", self.beside / "opened"
        self.bin = self.beside / "bin"
        spy = self.beside / "spy"
        for folder in (self.folder, self.bin, spy):
            folder.mkdir(parents=True)
        (spy / "sitecustomize.py").write_text(
            SPY.format(folder=str(self.folder), log=str(self.log))
        )
        self.python_path = f"{spy}{os.pathsep}{ROOT}"
        for name, text in FILES.items():
            self.add(name, text)
        for name in MODULES:
            self.add_module(name)
        for name in PROGRAMS:
            path = self.add(name, f'#!/bin/sh\necho "ran $0" >>"{self.mark}"\n')
            path.chmod(0o755)

    def add(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def add_module(self, name: str) -> None:
        leaves_a_mark = f"open({str(self.mark)!r}, 'a').write('imported ' + __file__ + chr(10))\n"
        self.add(f"{name}.py", leaves_a_mark)
        self.add(f"{name}/__init__.py", leaves_a_mark)
        self.add(f"{name}/__main__.py", leaves_a_mark)

    def add_before_us(self) -> None:
        """The modules that plain `python -m` would take from here before our first line."""
        for name in BEFORE_US:
            self.add_module(name)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join(["", ".", str(self.bin), os.environ["PATH"]]),
            "PYTHONPATH": self.python_path,
        }

    def program(self, name: str, body: str) -> Path:
        """One of the user's own, on PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def server(self, name: str) -> Path:
        """A stdio server on PATH, the demo in truth; returns the file in which it notes where it runs."""
        where = self.beside / f"where {name} ran"
        demo = f"exec '{sys.executable}' -P -m mcptask.demo"
        self.program(name, f"/bin/pwd >>'{where}'\n{demo}")
        return where

    @property
    def traces(self) -> list[str]:
        """What ran, was imported or was opened in the folder."""
        files = [path for path in (self.mark, self.log) if path.exists()]
        return [line for path in files for line in path.read_text().splitlines()]
