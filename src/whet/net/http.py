"""HTTP: one request at a time on connections that are kept, every byte of it our own; redirects are not followed."""

import contextlib
import http.client
import itertools
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from whet.errors import WhetError
from whet.net.interrupting import Interrupted
from whet.net.routes import Route
from whet.net.wire import Patience, TransportFailed, Wire, connect

CONNECT_SECONDS = 15.0
CHUNK_BYTES = 1 << 16
MOST_ERROR_BYTES = 1 << 16
MOST_KEPT = 8
END_SECONDS = 0.02  # to wait for the end of an answer costs less than a new connection
MOST_LEFT = 16  # chunks of an answer behind the point at which it was understood


class Waits(NamedTuple):
    """How long to wait for a connection, and for bytes on it."""

    connect_seconds: float = CONNECT_SECONDS
    bytes_seconds: float = 300.0


WAITS = Waits()
_PLAIN = {"Accept-Encoding": "identity"}


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

    def __init__(self, route: Route, *, now: Callable[[], float], waits: Waits = WAITS) -> None:
        self._route = route
        self._now = now
        self._waits = waits
        self._kept: deque[Response] = deque()
        self._context: ssl.SSLContext | None = None

    def post(self, path: str, headers: Mapping[str, str], body: bytes, *, interrupt: threading.Event) -> Response:
        """Send a request and wait for the head of its answer."""
        return self._ask(
            self._head("POST", path, {**headers, **_PLAIN, "Content-Length": str(len(body))}) + body, interrupt
        )

    def get(self, path: str, headers: Mapping[str, str], *, interrupt: threading.Event) -> Response:
        """Ask for what lies at a path, and wait for the head of the answer."""
        return self._ask(self._head("GET", path, {**headers, **_PLAIN}), interrupt)

    def _ask(self, request: bytes, interrupt: threading.Event) -> Response:
        wire = self._idle(Patience(interrupt, self._now, self._waits.bytes_seconds))
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

    def _idle(self, patience: Patience) -> Wire | None:
        while self._kept:
            wire = self._kept.pop().freed(patience)
            if wire is not None:
                return wire
        return None

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
        host = f"[{self._route.host}]" if ":" in self._route.host else self._route.host
        target = f"{host}:{self._route.port}"
        wire.send(_lines(f"CONNECT {target} HTTP/1.1", {"Host": target, "Proxy-Authorization": authorization}))
        answer = _answer(wire, method="CONNECT")
        if answer.status != http.client.OK:
            raise TransportFailed(
                f"the proxy refused to connect to the endpoint (status {answer.status})",
                advice="Check HTTPS_PROXY, or exclude the endpoint with NO_PROXY.",
                is_certain=answer.status in (401, 403, 407),
            )

    def _head(self, method: str, path: str, headers: Mapping[str, str]) -> bytes:
        route = self._route
        forwarded = route.proxy is not None and not route.is_secure
        target = f"{f'http://{route.authority}' if forwarded else ''}{route.path}{path}"
        given = {
            "Host": route.authority,
            "Proxy-Authorization": route.proxy.authorization if route.proxy and forwarded else "",
            **headers,
        }
        return _lines(f"{method} {target} HTTP/1.1", given)


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
