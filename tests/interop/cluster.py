"""Two nodes behind one nginx, set up by the text of docs/operators.md: what stands there is what is tried.

Addresses, ports and paths are filled in; a block that lost the words to be replaced fails.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.interop.programs import Program, free_port, needed, running

PAGE = Path(__file__).parents[2] / "docs/operators.md"
SERVER = Path(__file__).with_name("fastmcp_server.py")
# What nginx needs around a file of its conf.d: one process in the foreground, and nothing outside the folder.
AROUND = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {block}
}}
"""
AROUND_REDIS = 'daemonize no\nbind 127.0.0.1\nport {port}\ndir "{folder}"\n'


def block(language: str, changes: Mapping[str, str]) -> str:
    """The block of that language on the page for operators, with other words in some places."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    for old, new in changes.items():
        assert text.count(old) == 1, f"{PAGE.name} says {old!r} {text.count(old)} times"
        text = text.replace(old, new)
    return text


class Passed(NamedTuple):
    """One request that nginx passed on: a line of its log."""

    method: str
    name: str
    status: int
    port: int | None  # of the node that was asked last; None where there was none


@dataclass(frozen=True)
class Front:
    """nginx before two nodes."""

    nginx: Program
    nodes: tuple[Program, Program]
    log: Path

    @property
    def url(self) -> str:
        return self.nginx.url

    def passed(self) -> list[Passed]:
        line = re.compile(r'^\S+ (\S+) "(.*?)" (\d+) "(?:.*, )?(?:.*:(\d+)|.*)"$')
        found = [line.fullmatch(text) for text in self.log.read_text("utf-8").splitlines()]
        return [
            Passed(each[1], each[2], int(each[3]), int(each[4]) if each[4] else None)
            for each in found
            if each
        ]

    def asked(self, method: str, name: str) -> list[int | None]:
        """Which nodes answered such requests: about a tool, or a task."""
        return [each.port for each in self.passed() if (each.method, each.name) == (method, name)]

    def turn(self) -> None:
        """Round robin: the next request is for the other node. A GET is refused, and does nothing."""
        httpx.get(self.url)


@contextmanager
def fronted(
    folder: Path, nodes: tuple[Program, Program], changes: Mapping[str, str]
) -> Iterator[Front]:
    folder.mkdir()
    port, log = free_port(), folder / "access.log"
    words = {
        "listen 8080;": f"listen 127.0.0.1:{port};",
        "10.0.0.11:8000": f"127.0.0.1:{nodes[0].port}",
        "10.0.0.12:8000": f"127.0.0.1:{nodes[1].port}",
        "/var/log/nginx/mcp.log": str(log),
    }
    conf = folder / "nginx.conf"
    text = block("nginx", {**words, **changes})
    conf.write_text(AROUND.format(folder=folder, block=text), "utf-8")
    argv = [needed("nginx", "nginx"), "-p", str(folder), "-c", str(conf)]
    nginx = Program(argv, port, folder / "nginx.log")
    with running(nginx):
        yield Front(nginx, nodes, log)


def redis(folder: Path) -> Program:
    folder.mkdir()
    port, conf = free_port(), folder / "redis.conf"
    conf.write_text(AROUND_REDIS.format(port=port, folder=folder) + block("conf", {}), "utf-8")
    argv = [needed("redis-server", "redis-server"), str(conf)]
    return Program(argv, port, folder / "redis.log")


def fastmcp(python: str, folder: Path, backend: Program) -> tuple[Program, Program]:
    folder.mkdir()
    text = block("sh", {"10.0.0.10:6379": f"127.0.0.1:{backend.port}"})
    environ = {**os.environ, **dict(re.findall(r"^(\w+)=(.*)$", text, re.M))}

    def node(number: int) -> Program:
        port = free_port()
        argv = [python, str(SERVER), "--http", str(port)]
        return Program(argv, port, folder / f"node{number}.log", environ)

    return node(1), node(2)
