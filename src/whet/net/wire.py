"""A connection whose every wait ends at once when the run is interrupted, and in time when nothing comes.

How work that waits on a network is stopped.
"""

import contextlib
import functools
import io
import os
import queue
import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeVar

GLANCE_SECONDS = 0.05
SEND_BYTES = 1 << 18
Found = list[tuple[socket.AddressFamily, Any]]  # each family has its own form of address
_Result = TypeVar("_Result")


class Interrupted(Exception):
    """The person, or the program, stopped the run while a provider or a tool was at work."""


class TransportFailed(Exception):
    """The endpoint was not reached, or its answer broke off. `is_certain` where another try would end the same way."""

    def __init__(self, message: str, *, advice: str = "", is_certain: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.is_certain = is_certain


class Patience(NamedTuple):
    """What ends a wait: the interrupt, or so many seconds on this clock."""

    interrupt: threading.Event
    now: Callable[[], float]
    seconds: float

    def check(self, deadline: float, what: str) -> None:
        """Raise where the wait is over."""
        if self.interrupt.is_set():
            raise Interrupted
        if self.now() >= deadline:
            raise TransportFailed(f"{what} for {self.seconds:g} seconds")


class Wire(io.RawIOBase):
    """A connected socket, read as a file. Its patience is that of the request which it serves at the time."""

    def __init__(self, connected: socket.socket, patience: Patience) -> None:
        self._socket = connected
        self._selector = selectors.DefaultSelector()
        self._selector.register(connected, selectors.EVENT_READ)
        self.patience = patience

    def readable(self) -> bool:
        return True

    def read_into(self, buffer: memoryview) -> int:
        """Wait for bytes and take them; 0 at the end of the connection."""
        return self._do(lambda: self._socket.recv_into(buffer), selectors.EVENT_READ, "nothing came")

    def send(self, body: bytes) -> None:
        """Send all of it."""
        rest = memoryview(body)
        while rest:
            act = functools.partial(self._socket.send, rest[:SEND_BYTES])
            rest = rest[self._do(act, selectors.EVENT_WRITE, "no data was accepted") :]

    def encrypt(self, context: ssl.SSLContext, host: str) -> None:
        """Go on in TLS with this host."""
        self._selector.unregister(self._socket)
        encrypted = context.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
        self._socket = encrypted
        self._selector.register(encrypted, selectors.EVENT_READ)
        self._do(encrypted.do_handshake, selectors.EVENT_READ, "no secure connection could be made")

    def is_quiet(self) -> bool:
        """Whether nothing waits to be read: an idle connection that has something to say was closed."""
        self._selector.modify(self._socket, selectors.EVENT_READ)
        return not self._selector.select(0)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What a response reads from; when it is closed, the connection stays open."""
        return io.BufferedReader(_Reading(self), buffer_size=1 << 16)

    def close(self) -> None:
        if not self.closed:
            self._selector.close()
            self._socket.close()
        super().close()

    def _do(self, act: Callable[[], _Result], events: int, what: str) -> _Result:
        deadline = self.patience.now() + self.patience.seconds
        while True:
            if self.patience.interrupt.is_set():
                raise Interrupted
            try:
                return act()
            except ssl.SSLWantReadError:
                wanted = selectors.EVENT_READ
            except ssl.SSLWantWriteError:
                wanted = selectors.EVENT_WRITE
            except BlockingIOError:
                wanted = events
            except OSError as error:
                raise _broken(error) from error
            self._selector.modify(self._socket, wanted)
            while not self._selector.select(min(GLANCE_SECONDS, self.patience.seconds)):
                self.patience.check(deadline, what)


class _Reading(io.RawIOBase):
    """One response's view of a wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a reader always hands over a memoryview
        return self._wire.read_into(buffer)


def connect(host: str, port: int, patience: Patience) -> Wire:
    """A connection to the first address of a host that takes one."""
    fault = "it has no address"
    nobody_listens = False
    for family, address in look_up(host, port, patience):
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            return _connected(made, address, patience)
        except (OSError, TransportFailed) as error:
            made.close()
            fault = error.message if isinstance(error, TransportFailed) else _reason(error)
            # On this machine a refusal is certain: no program listens there.
            nobody_listens = isinstance(error, ConnectionRefusedError) and ip_address(address[0]).is_loopback
        except Interrupted:
            made.close()
            raise
    advice = "No program listens there: start the server, or correct the base_url." if nobody_listens else ""
    raise TransportFailed(f"{host}:{port} cannot be reached: {fault}", advice=advice, is_certain=nobody_listens)


def look_up(host: str, port: int, patience: Patience) -> Found:
    """The addresses of a host. The system's own look-up cannot be interrupted, so it gets a thread."""
    answered: queue.SimpleQueue[Found | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answered.put([(family, address) for family, _, _, _, address in found])
        except (OSError, UnicodeError) as error:
            answered.put(error if isinstance(error, OSError) else OSError(str(error)))

    threading.Thread(target=ask, name="look-up", daemon=True).start()
    deadline = patience.now() + patience.seconds
    while True:
        patience.check(deadline, f"looking up {host} returned nothing")
        with contextlib.suppress(queue.Empty):
            found = answered.get(timeout=GLANCE_SECONDS)
            if isinstance(found, OSError):
                raise TransportFailed(f"cannot look up the name {host}: {_reason(found)}")
            return found


def _connected(made: socket.socket, address: Any, patience: Patience) -> Wire:
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(BlockingIOError):
        made.connect(address)
    deadline = patience.now() + patience.seconds
    with selectors.DefaultSelector() as selector:
        selector.register(made, selectors.EVENT_WRITE)
        while not selector.select(GLANCE_SECONDS):
            patience.check(deadline, f"{address[0]}:{address[1]} did not answer")
    fault = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if fault:
        raise OSError(fault, os.strerror(fault))
    return Wire(made, patience)


def _broken(error: OSError) -> TransportFailed:
    if isinstance(error, ssl.SSLCertVerificationError):
        return TransportFailed(
            f"the certificate is not trusted: {error.verify_message}",
            advice="If your network uses its own certificate authority, set SSL_CERT_FILE to its file.",
            is_certain=True,
        )
    return TransportFailed(f"the connection was lost: {_reason(error)}")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
