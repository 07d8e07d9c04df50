"""A server on loopback that plays any endpoint: real sockets and streams, cut wherever a test wants, faults and all."""

import contextlib
import itertools
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from patience import PATIENCE_SECONDS

CERTIFICATE = Path(__file__).parents[1] / "data" / "loopback.pem"
STREAM = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
ABOUT = ("/v1/models", "/props", "/api/v0/models", "/api/ps", "/api/show")
Ending = Literal["whole", "cut", "stall", "reset"]


class Play(NamedTuple):
    """One answer: its head, its body in pieces, and what happens behind the last of them."""

    chunks: tuple[bytes, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = STREAM
    ending: Ending = "whole"
    framing: Literal["chunked", "length", "close", "raw"] = "chunked"


class Received(NamedTuple):
    """A request as it came, and the number of the connection that it came on."""

    line: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Received], Play]


class Loopback:
    """Plays one answer for each request, in their order, and the last one for all that follow. One may be a function.

    What is asked about the server itself is answered from `pages`, by path, and is no request of a run.
    """

    def __init__(
        self, plays: Iterable[Play | Answer], *, secure: bool = False, pages: Mapping[str, object] | None = None
    ) -> None:
        self._plays = list(plays)
        self._pages = dict(pages or {})
        self.looks: list[Received] = []
        self._context = _server_context() if secure else None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._connections = 0
        self.requests: list[Received] = []
        self.received_at = 0.0  # when the last of them had come, by time.perf_counter
        self.stalled = threading.Event()
        self.on_stall: threading.Event | None = None  # set when a stall begins, such as a run's interrupt

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def base_url(self) -> str:
        return f"{'https://localhost' if self._context else 'http://127.0.0.1'}:{self.port}/v1"

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(connection)
                self._connections += 1
                number = self._connections
            threading.Thread(target=self._attend, args=(connection, number), daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _attend(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            encrypted = self._context.wrap_socket(connection, server_side=True) if self._context else connection
            with encrypted, encrypted.makefile("rb") as reading:
                while (request := _request(reading, number)) is not None:
                    path = request.line.split()[1]
                    if path in ABOUT:
                        self.looks.append(request)
                        page = Play((json.dumps(self._pages.get(path, {})).encode(),), headers=JSON)
                        if not self._play(encrypted, page if path in self._pages else page._replace(status=404)):
                            return
                        continue
                    with self._lock:
                        self.received_at = time.perf_counter()
                        self.requests.append(request)
                        play = self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]
                    if not self._play(encrypted, play if isinstance(play, Play) else play(request)):
                        return

    def _play(self, connection: socket.socket, play: Play) -> bool:
        """Send an answer; gives whether the connection can take another request."""
        connection.sendall(_head(play))
        end = b"0\r\n\r\n" if play.framing == "chunked" and play.ending == "whole" else b""
        for number, chunk in enumerate(play.chunks, start=1):
            framed = f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n" if play.framing == "chunked" else chunk
            # The end comes with the last piece, so that whether a connection can be kept is not left to chance.
            connection.sendall(framed + end if number == len(play.chunks) else framed)
        if play.ending == "stall":
            self.stalled.set()
            if self.on_stall is not None:
                self.on_stall.set()
            connection.settimeout(PATIENCE_SECONDS)
            connection.recv(1)
            return False
        if play.ending == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if not play.chunks:
            connection.sendall(end)
        return play.ending == "whole" and play.framing in ("chunked", "length")


class Tunnel:
    """A proxy that makes ways to other servers, and notes which it was asked for."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.asked: list[Received] = []

    @property
    def url(self) -> str:
        return f"http://somebody:secret%21@127.0.0.1:{self._listener.getsockname()[1]}"

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _attend(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rb", buffering=0) as reading:
            request = _request(reading, 0)
            if request is None:
                return
            self.asked.append(request)
            port = int(request.line.split()[1].rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as beyond:
                connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pump, args=(beyond, connection), daemon=True)
                back.start()
                _pump(connection, beyond)
                back.join(PATIENCE_SECONDS)


@contextlib.contextmanager
def playing(
    *plays: Play | Answer, secure: bool = False, pages: Mapping[str, object] | None = None
) -> Iterator[Loopback]:
    """A server that plays these answers, and tells this of itself."""
    with _serving(Loopback(plays, secure=secure, pages=pages)) as server:
        assert isinstance(server, Loopback)
        yield server


@contextlib.contextmanager
def tunnelling() -> Iterator[Tunnel]:
    with _serving(Tunnel()) as proxy:
        assert isinstance(proxy, Tunnel)
        yield proxy


@contextlib.contextmanager
def _serving(server: Loopback | Tunnel) -> Iterator[Loopback | Tunnel]:
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(PATIENCE_SECONDS)


def events(*records: object, names: bool = False) -> bytes:
    """A stream of these records; text is sent as it is, such as the end of OpenAI's streams."""
    lines = []
    for record in records:
        name = f"event: {record['type']}\n" if names and isinstance(record, dict) else ""
        data = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)
        lines.append(f"{name}data: {data}\n\n")
    return "".join(lines).encode()


def streamed(body: bytes, *cuts: int, ending: Ending = "whole") -> Play:
    """A stream, sent in pieces that end at these places."""
    places = [0, *sorted(cut for cut in cuts if 0 < cut < len(body)), len(body)]
    chunks = tuple(body[start:end] for start, end in itertools.pairwise(places) if end > start)
    return Play(chunks, ending=ending)


def refused(status: int, error: object = None, headers: Mapping[str, str] | None = None) -> Play:
    """An answer with an error in it."""
    body = json.dumps(error if error is not None else {"error": {"message": "no"}}).encode()
    return Play((body,), status, {**JSON, **(headers or {})}, framing="length")


def _request(reading: Any, connection: int) -> Received | None:
    line = reading.readline().decode("latin-1").strip()
    if not line:
        return None
    headers: dict[str, str] = {}
    while header := reading.readline().decode("latin-1").strip():
        name, _, value = header.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Received(line, headers, reading.read(int(headers.get("content-length", "0"))), connection)


def _head(play: Play) -> bytes:
    if play.framing == "raw":
        return b""
    framing = {
        "chunked": {"Transfer-Encoding": "chunked"},
        "length": {"Content-Length": str(sum(map(len, play.chunks)) + (play.ending == "cut"))},
        "close": {"Connection": "close"},
    }[play.framing]
    lines = [f"{name}: {value}" for name, value in {**play.headers, **framing}.items()]
    return "\r\n".join([f"HTTP/1.1 {play.status} X", *lines, "", ""]).encode()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(1 << 16):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context
