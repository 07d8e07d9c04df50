"""HTTP on connections that are kept, every byte our own: where requests go, when they are tried again."""

import base64
import contextlib
import http.client
import itertools
import random
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from threading import Event
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from whet.errors import WhetError
from whet.net.wire import Interrupted, Patience, TransportFailed, Wire, connect

PORTS = {"http": 80, "https": 443}
LOOPBACK = ("localhost", "127.", "::1")
FIRST_SECONDS = 0.5
MOST_SECONDS = 30.0
LONGEST_SECONDS = 120.0  # who is asked to wait for longer is told so instead
CONNECT_SECONDS = 15.0
CHUNK_BYTES = 1 << 16
MOST_ERROR_BYTES = 1 << 16
MOST_KEPT = 8
END_SECONDS = 0.02  # to wait for the end of an answer costs less than a new connection
_PLAIN = {"Accept-Encoding": "identity"}
MOST_LEFT = 16  # chunks of an answer behind the point at which it was understood


class Proxy(NamedTuple):
    """A proxy for HTTP, and what it asks for at the door."""

    host: str
    port: int
    authorization: str = ""


class Route(NamedTuple):
    """Where requests go. `path` is what stands before every path of the endpoint."""

    is_secure: bool
    host: str
    port: int
    path: str = ""
    proxy: Proxy | None = None
    certificates: str = ""  # a file with authorities to trust besides those of the system

    @property
    def authority(self) -> str:
        """Host and port as requests name them."""
        is_usual = self.port == PORTS["https" if self.is_secure else "http"]
        return self.bracketed if is_usual else f"{self.bracketed}:{self.port}"

    @property
    def bracketed(self) -> str:
        """The host as addresses name it."""
        return f"[{self.host}]" if ":" in self.host else self.host


def route_to(base_url: str, environment: Mapping[str, str], *, what: str = "base_url") -> Route:
    """The route to an endpoint; raises WhetError for an address that is none, and says what it is the address of."""
    parts = _split(base_url, PORTS, what)
    secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    proxy = _proxy(parts.scheme, host, port, environment)
    return Route(secure, host, port, parts.path.rstrip("/"), proxy, environment.get("SSL_CERT_FILE", ""))


def _proxy(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> Proxy | None:
    if host.startswith(LOOPBACK) or _is_excepted(host, port, _variable("no_proxy", environment)):
        return None
    named = _variable(f"{scheme}_proxy", environment) or _variable("all_proxy", environment)
    if not named:
        return None
    parts = _split(named if "://" in named else f"http://{named}", {"http": 80}, "the proxy in the environment")
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return Proxy(parts.hostname or "", parts.port or PORTS["http"], authorization)


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _is_excepted(host: str, port: int, exceptions: str) -> bool:
    """Whether the person wants no proxy here: for the host, a domain above it, or everything."""
    for each in (word.strip().lower() for word in exceptions.split(",")):
        name, _, only_port = each.partition(":") if each.count(":") == 1 else (each, "", "")
        plain = name.removeprefix("*").removeprefix(".")
        fits = each == "*" or (plain and (host == plain or host.endswith(f".{plain}")))
        if fits and only_port in ("", str(port)):
            return True
    return False


def _split(address: str, schemes: Mapping[str, int], what: str) -> SplitResult:
    """An address in parts. A wrong one is not repeated in the error, for it may hold a password."""
    form = " or ".join(f"{scheme}://host" for scheme in schemes)
    try:
        parts = urlsplit(address.strip())
        is_right = parts.scheme in schemes and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_right = False
    if not is_right or any(character <= " " for character in address.strip()):
        raise WhetError(f"{what} is not a valid URL.", advice=f"Use the format {form}.")
    return parts


class Timing(NamedTuple):
    """Time and chance: a steady clock, the time of day, a number in [0, 1), and a wait that the event ends."""

    steady: Callable[[], float]
    wall: Callable[[], float]
    chance: Callable[[], float]
    wait: Callable[[Event, float], bool]


def real_timing() -> Timing:
    return Timing(time.monotonic, time.time, random.random, Event.wait)


def delay(number: int, *, chance: float, after_seconds: float | None = None) -> float:
    """Seconds before try `number` (the first repetition is 1). The wait that the endpoint asks for is the least."""
    usual: float = min(MOST_SECONDS, FIRST_SECONDS * 2 ** (number - 1)) * (0.5 + 0.5 * chance)
    if after_seconds is None:
        return usual
    # All who were told the same second would come back in it.
    return after_seconds + min(usual, 1.0) * chance


def asked_wait(header: Callable[[str], str], wall: Callable[[], float]) -> float | None:
    """How long the endpoint asks to be left alone: in milliseconds, in seconds, or until a date."""
    milliseconds = _number(header("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = header("retry-after")
    seconds = _number(given)
    if seconds is not None or not given:
        return seconds
    until, its_now = _moment(given), _moment(header("date"))
    # By the endpoint's own clock, where it tells: ours may be wrong.
    return None if until is None else max(0.0, until - (wall() if its_now is None else its_now))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _moment(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class Timeouts(NamedTuple):
    """How long to wait for a connection, and for bytes on it."""

    connect_seconds: float = CONNECT_SECONDS
    bytes_seconds: float = 300.0


class Response:
    """An answer whose head has come. Its body is read once; read to its end, the connection can be used again."""

    def __init__(self, wire: Wire, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self._wire = wire
        self._answer = answer

    def header(self, name: str) -> str:
        return self._answer.getheader(name) or ""

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes. Raises TransportFailed where it breaks off."""
        try:
            while chunk := self._answer.read1(CHUNK_BYTES):
                yield chunk
            if self._answer.length:
                raise TransportFailed("the connection was lost before the answer was complete")
        except (http.client.HTTPException, ValueError) as error:
            raise TransportFailed("the connection was lost before the answer was complete") from error

    def beginning(self) -> bytes:
        """As much of the body as an error message can need."""
        body = bytearray()
        with contextlib.suppress(TransportFailed):
            for chunk in self.chunks():
                body += chunk
                if len(body) >= MOST_ERROR_BYTES:
                    break
        return bytes(body[:MOST_ERROR_BYTES])

    @property
    def can_be_kept(self) -> bool:
        """Whether the endpoint means to take another request on this connection."""
        return not self._answer.will_close

    def end(self) -> None:
        """End the connection, whatever is still to come on it."""
        self._answer.close()
        self._wire.close()

    def freed(self, patience: Patience) -> Wire | None:
        """The connection, if the answer is at its end: what is left of it is read, and hardly waited for."""
        self._wire.patience = patience._replace(seconds=END_SECONDS)
        try:
            rest = sum(map(len, itertools.islice(self.chunks(), MOST_LEFT)))
            is_at_end = self._answer.isclosed() or self._answer.length == 0
            is_free = rest <= MOST_ERROR_BYTES and is_at_end and self._wire.is_quiet()
        except (TransportFailed, Interrupted):
            is_free = False
        if not is_free:
            self.end()
            return None
        self._answer.close()
        self._wire.patience = patience
        return self._wire


class Client:
    """Requests to one endpoint, from as many threads as there are."""

    def __init__(self, route: Route, *, now: Callable[[], float], waits: Timeouts = Timeouts()) -> None:  # noqa: B008 - it is frozen
        self._route = route
        self._now = now
        self._waits = waits
        self._kept: deque[Response] = deque()
        self._context: ssl.SSLContext | None = None

    def post(self, path: str, headers: Mapping[str, str], body: bytes, *, interrupt: threading.Event) -> Response:
        """Send a request and wait for the head of its answer."""
        return self._ask("POST", path, {**headers, **_PLAIN, "Content-Length": str(len(body))}, body, interrupt)

    def get(self, path: str, headers: Mapping[str, str], *, interrupt: threading.Event) -> Response:
        """Ask for what lies at a path, and wait for the head of the answer."""
        return self._ask("GET", path, {**headers, **_PLAIN}, b"", interrupt)

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, interrupt: threading.Event
    ) -> Response:
        route = self._route
        forwarding = route.proxy if not route.is_secure else None
        target = f"{f'http://{route.authority}' if forwarding else ''}{route.path}{path}"
        allowed = forwarding.authorization if forwarding else ""
        given = {"Host": route.authority, "Proxy-Authorization": allowed, **headers}
        request = _lines(f"{method} {target} HTTP/1.1", given) + body
        patience, wire = Patience(interrupt, self._now, self._waits.bytes_seconds), None
        while self._kept and wire is None:
            wire = self._kept.pop().freed(patience)
        if wire is not None:
            # An endpoint may end a connection that was idle too long in the very moment in which it is used again.
            with contextlib.suppress(_Unanswered):
                return self._exchange(wire, request)
        return self._exchange(self._connected(interrupt), request)

    def keep(self, response: Response) -> None:
        """Keep the connection of an answer that was understood for the next request, or end it."""
        if response.can_be_kept and len(self._kept) < MOST_KEPT:
            self._kept.append(response)
        else:
            response.end()

    def close(self) -> None:
        """End all connections that are kept."""
        while self._kept:
            self._kept.pop().end()

    def _exchange(self, wire: Wire, request: bytes) -> Response:
        try:
            try:
                wire.send(request)
            except TransportFailed as failure:
                raise _Unanswered(failure.message) from failure
            return Response(wire, _answer(wire))
        except BaseException:
            wire.close()
            raise

    def _connected(self, interrupt: threading.Event) -> Wire:
        route = self._route
        patience = Patience(interrupt, self._now, self._waits.connect_seconds)
        wire = connect(*(route.proxy[:2] if route.proxy else (route.host, route.port)), patience)
        try:
            if route.is_secure:
                if route.proxy:
                    self._tunnel(wire, route.proxy.authorization)
                wire.encrypt(self._trusting(), route.host)
        except BaseException:
            wire.close()
            raise
        wire.patience = patience._replace(seconds=self._waits.bytes_seconds)
        return wire

    def _trusting(self) -> ssl.SSLContext:
        if self._context is None:
            context = ssl.create_default_context()
            if self._route.certificates:
                try:
                    context.load_verify_locations(self._route.certificates)
                except OSError as error:
                    raise WhetError(
                        f"The certificates in {self._route.certificates} cannot be read: {error.strerror or error}.",
                        advice="SSL_CERT_FILE must name a file in PEM format.",
                    ) from error
            self._context = context
        return self._context

    def _tunnel(self, wire: Wire, authorization: str) -> None:
        target = f"{self._route.bracketed}:{self._route.port}"
        wire.send(_lines(f"CONNECT {target} HTTP/1.1", {"Host": target, "Proxy-Authorization": authorization}))
        answer = _answer(wire, method="CONNECT")
        if answer.status != http.client.OK:
            raise TransportFailed(
                f"the proxy refused to connect to the endpoint (status {answer.status})",
                advice="Check HTTPS_PROXY, or exclude the endpoint with NO_PROXY.",
                is_certain=answer.status in (401, 403, 407),
            )


class _Unanswered(TransportFailed):
    """The connection ended before a byte of an answer came."""


def _lines(first: str, headers: Mapping[str, str]) -> bytes:
    """The head of a request; a header without a value is left out."""
    lines = [first, *(f"{name}: {value}" for name, value in headers.items() if value), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _answer(wire: Wire, method: str = "POST") -> http.client.HTTPResponse:
    answer = http.client.HTTPResponse(wire, method=method)  # type: ignore[arg-type]  # of a socket it needs makefile only
    try:
        answer.begin()
    except http.client.RemoteDisconnected as error:
        raise _Unanswered("the connection was closed before the answer") from error
    except (http.client.HTTPException, ValueError) as error:
        raise TransportFailed("the answer is not HTTP", advice="Check the base_url of the provider.") from error
    return answer
