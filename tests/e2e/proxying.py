"""A proxy that notes what it is told, and hands all of it on to one server, whatever host was asked for."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.e2e.running import PATIENCE
from tests.e2e.scripted import Scripted

LARGEST = 65536


@dataclass
class Proxy:
    """`heads`: the first thing that each connection said. `refusal`: what to answer instead of serving."""

    address: str
    heads: list[str] = field(default_factory=list)
    refusal: bytes = b""

    def serve(self, client: socket.socket, port: int) -> None:
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", port)) as server:
            head = client.recv(LARGEST)
            self.heads.append(head.decode("latin-1"))
            if self.refusal:
                client.sendall(self.refusal)
                return
            if head.startswith(b"CONNECT "):
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                server.sendall(head)
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join(PATIENCE)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(LARGEST):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def proxying(server: Scripted) -> Iterator[Proxy]:
    port = int(server.name.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = Proxy(f"127.0.0.1:{listening.getsockname()[1]}")

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    threading.Thread(target=proxy.serve, args=(client, port), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield proxy
        finally:
            listening.shutdown(socket.SHUT_RDWR)
