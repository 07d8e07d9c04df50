"""A relay: lets a program that has a network of its own reach a model's endpoints, and nothing else."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from whet.errors import WhetError
from whet.net.http import PORTS, route_to

PROXY_PORT = 3_128  # in the program's own network, where nothing else listens
CONNECT_SECONDS = 30.0
PIECE = 1 << 16
MOST_HEAD = 1 << 16
ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::\d{1,5})?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
UNREACHED = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
OPENED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Reachable(NamedTuple):
    """A machine and a port of it."""

    host: str
    port: int

    @property
    def is_here(self) -> bool:
        return self.host in LOOPBACK or self.host.startswith("127.")


def endpoints_in(texts: Iterable[str]) -> frozenset[Reachable]:
    """Every endpoint whose address stands in a text."""
    found = set()
    for address in (match for text in texts for match in ADDRESS.findall(text)):
        with contextlib.suppress(ValueError):
            parts = urlsplit(address)
            found.add(Reachable((parts.hostname or "").lower(), parts.port or PORTS[parts.scheme]))
    return frozenset(found)


class Relay:
    """Serves the ports that a program's own network has: one as a proxy, the others as ports of this machine."""

    def __init__(self, endpoints: frozenset[Reachable], environment: Mapping[str, str]) -> None:
        self._endpoints, self._environment = endpoints, environment
        here = sorted({each.port for each in endpoints if each.is_here and each.port >= 1_024})
        proxy = next(port for port in range(PROXY_PORT, PROXY_PORT + len(here) + 1) if port not in here)
        self.ports = (proxy, *here)
        self._outside, self._inside = socket.socketpair()
        self._open: list[socket.socket] = [self._outside, self._inside]
        self.refused: set[str] = set()  # machines that the program asked for in vain

    @property
    def door(self) -> int:
        """The descriptor through which the ports are handed out."""
        return self._inside.fileno()

    @property
    def variables(self) -> dict[str, str]:
        """What tells programs to ask the proxy."""
        proxy = f"http://127.0.0.1:{self.ports[0]}"
        named = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy)
        return {**named, **dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(LOOPBACK)), "NODE_USE_ENV_PROXY": "1"}

    @contextlib.contextmanager
    def serving(self) -> Iterator["Relay"]:
        threading.Thread(target=self._take, name="whet-relay", daemon=True).start()
        try:
            yield self
        finally:
            for each in tuple(self._open):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def _take(self) -> None:
        with contextlib.suppress(OSError):
            _, descriptors, _, _ = socket.recv_fds(self._outside, 16, len(self.ports))
            for port, descriptor in zip(self.ports, descriptors, strict=False):
                listener = socket.socket(fileno=descriptor)
                self._open.append(listener)
                threading.Thread(target=self._accept, args=(listener, port), name="whet-relay", daemon=True).start()

    def _accept(self, listener: socket.socket, port: int) -> None:
        serve = self._as_proxy if port == self.ports[0] else lambda asked: self._as_port(asked, port)
        with contextlib.suppress(OSError):
            while True:
                asked, _ = listener.accept()
                threading.Thread(target=_served, args=(serve, asked), name="whet-relay", daemon=True).start()

    def _as_port(self, asked: socket.socket, port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), CONNECT_SECONDS) as reached:
            _join(asked, reached)

    def _as_proxy(self, asked: socket.socket) -> None:
        head, rest = _head(asked)
        method, target, *_ = (*head.split(b"\r\n", 1)[0].split(b" "), b"", b"")
        is_tunnel = method == b"CONNECT"
        address = target.decode("latin-1") if not is_tunnel else f"https://{target.decode('latin-1')}"
        wanted = next(iter(endpoints_in((address,))), None)
        if wanted is None or wanted not in self._endpoints:
            self.refused.add(wanted.host if wanted else address[:100])
            asked.sendall(REFUSED)
            return
        try:
            reached = self._reach(wanted)
        except (OSError, WhetError):
            asked.sendall(UNREACHED)
            return
        with reached:
            if is_tunnel:
                asked.sendall(OPENED)
            else:
                reached.sendall(_plain(head))
            reached.sendall(rest)
            _join(asked, reached)

    def _reach(self, wanted: Reachable) -> socket.socket:
        """A connection to an endpoint, through the person's own proxy where there is one."""
        host = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
        route = route_to(f"https://{host}:{wanted.port}", self._environment)
        if route.proxy is None:
            return socket.create_connection(wanted, CONNECT_SECONDS)
        reached = socket.create_connection((route.proxy.host, route.proxy.port), CONNECT_SECONDS)
        login = f"Proxy-Authorization: {route.proxy.authorization}\r\n" if route.proxy.authorization else ""
        line = f"{host}:{wanted.port}"
        reached.sendall(f"CONNECT {line} HTTP/1.1\r\nHost: {line}\r\n{login}\r\n".encode())
        answer, _ = _head(reached)
        if answer.split(b" ")[1:2] != [b"200"]:
            reached.close()
            raise ConnectionRefusedError
        return reached


def _served(serve: Callable[[socket.socket], None], asked: socket.socket) -> None:
    with asked, contextlib.suppress(OSError):
        serve(asked)


def _head(asked: socket.socket) -> tuple[bytes, bytes]:
    """The head of a request or an answer, and what came behind it."""
    asked.settimeout(CONNECT_SECONDS)
    got = b""
    while b"\r\n\r\n" not in got and len(got) < MOST_HEAD:
        piece = asked.recv(PIECE)
        if not piece:
            break
        got += piece
    head, _, rest = got.partition(b"\r\n\r\n")
    return head, rest


def _plain(head: bytes) -> bytes:
    """The head of a request to a proxy as the machine itself expects it. One connection serves one request."""
    line, _, fields = head.partition(b"\r\n")
    method, target, version = (*line.split(b" "), b"HTTP/1.1")[:3]
    path = b"/" + target.partition(b"://")[2].partition(b"/")[2]
    kept = [each for each in fields.split(b"\r\n") if not each.lower().startswith((b"proxy-", b"connection:"))]
    return b"\r\n".join((b" ".join((method, path, version)), *filter(None, kept), b"Connection: close", b"", b""))


def _join(one: socket.socket, other: socket.socket) -> None:
    """Carry what comes from either to the other until both are done."""
    for each in (one, other):
        each.settimeout(None)
    back = threading.Thread(target=_carry, args=(other, one), name="whet-relay", daemon=True)
    back.start()
    _carry(one, other)
    back.join()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
