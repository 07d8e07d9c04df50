"""A provider on the network: it sends a run's request, tries again where that makes sense, and gives the reply."""

import itertools
from collections.abc import Generator, Iterable, Iterator
from threading import Event as Interrupt
from typing import Protocol

from whet.agent.protocols import ProviderFailed, ProviderFault, Reply
from whet.agent.providers import vendors
from whet.net.http import LONGEST_SECONDS, Client, Response, Timing, asked_wait, delay
from whet.net.wire import Interrupted, TransportFailed
from whet.own.runs.run import Fragment, Run

STREAM, JSON = "text/event-stream", "application/json"
AGENT = "whet"
MOST_ANSWER_BYTES = 1 << 26
SHOULD_RETRY = "x-should-retry"


class Codec(Protocol):
    """A wire form: OpenAI's or Anthropic's."""

    path: str

    def headers(self, key: str) -> dict[str, str]: ...

    def request(self, run: Run) -> bytes: ...

    def read(self, run: Run, events: Iterable[bytes]) -> Generator[Fragment, None, Reply]:
        """Put the events of an answer together, until it is done; raises Malformed or StreamError."""
        ...


class Asking:
    """One endpoint, asked for one model. Several threads may ask at the same time."""

    def __init__(self, codec: Codec, client: Client, asked: vendors.Asked, *, timing: Timing, retries: int = 5) -> None:
        self.name = asked.provider
        self._codec = codec
        self._client = client
        self._asked = asked
        self._timing = timing
        self._retries = retries
        forms = {"User-Agent": AGENT, "Content-Type": JSON, "Accept": f"{STREAM}, {JSON}"}
        self._headers = {**forms, **codec.headers(asked.key)}

    def request(self, run: Run) -> bytes:
        return self._codec.request(run)

    def reply(self, run: Run, *, interrupt: Interrupt) -> Iterator[Fragment | Reply]:
        """Pieces as they stream, then one reply. Nothing of a try that failed is in the reply.

        Where pieces of such a try were shown already, a fragment of the kind `again` says that they are void.
        """
        body = self._codec.request(run)
        for number in itertools.count(1):
            shown = False
            try:
                for piece in self._one_try(run, body, interrupt):
                    shown = shown or isinstance(piece, Fragment)
                    yield piece
                return
            except ProviderFailed as failed:
                seconds = self._pause(failed, number, interrupt)
                if seconds is None:
                    raise
                why = "rate limited" if failed.fault is ProviderFault.LIMIT else failed.message
                yield Fragment("wait", f"{why.rstrip('.')}, try {number + 1} of {self._retries + 1} in {seconds:.0f} s")
            if self._timing.wait(interrupt, seconds):
                raise Interrupted
            if shown:
                yield Fragment("again", "")

    def close(self) -> None:
        """End the connections that are kept."""
        self._client.close()

    def _one_try(self, run: Run, body: bytes, interrupt: Interrupt) -> Iterator[Fragment | Reply]:
        response: Response | None = None
        try:
            response = self._client.post(self._codec.path, self._headers, body, interrupt=interrupt)
            self._check(response)
            reply = yield from self._codec.read(run, _events(response))
            self._client.keep(response)
            response = None
        except TransportFailed as failed:
            raise self._unreached(failed) from failed
        except vendors.Malformed as malformed:
            advice = "Try again later, or choose another model."
            raise ProviderFailed(
                ProviderFault.ENDPOINT, f"{self.name}: {malformed}.", advice=advice, is_passing=True
            ) from malformed
        except vendors.StreamError as error:
            raise vendors.failure_in_stream(error.error, self._asked) from error
        finally:
            if response is not None:
                response.end()
        yield reply

    def _check(self, response: Response) -> None:
        """Raise where the head of the answer is not that of a stream."""
        status = response.status
        if 300 <= status < 400:
            raise vendors.redirected(status, response.header("location"), self._asked)
        if not 200 <= status < 300:
            wish = {"true": True, "false": False}.get(response.header(SHOULD_RETRY).lower())
            after = asked_wait(response.header, self._timing.wall)
            raise vendors.failure_of(status, response.beginning(), self._asked, wish=wish, after_seconds=after)
        if _form(response) not in (STREAM, JSON):
            raise vendors.wrong_form(_form(response), self._asked)

    def _pause(self, failure: ProviderFailed, number: int, interrupt: Interrupt) -> float | None:
        """The seconds before the next try; None where there is none."""
        if interrupt.is_set():
            raise Interrupted
        after = failure.after_seconds
        if after is not None and after > LONGEST_SECONDS:
            said = f"{failure.message} It asks you to wait {after:.0f} seconds."
            raise ProviderFailed(failure.fault, said, advice=failure.advice)
        if not failure.is_passing or number > self._retries:
            return None
        return delay(number, chance=self._timing.chance(), after_seconds=after)

    def _unreached(self, failed: TransportFailed) -> ProviderFailed:
        advice = failed.advice or "Check the network and the base_url of the provider."
        if self._asked.base_variable:
            advice = advice.replace("base_url", f"address in {self._asked.base_variable}")
        message = f"{self.name}: {failed.message}."
        return ProviderFailed(ProviderFault.NETWORK, message, advice=advice, is_passing=not failed.is_certain)


def _form(response: Response) -> str:
    return response.header("content-type").partition(";")[0].strip().lower()


def _events(response: Response) -> Iterator[bytes]:
    """The events of a stream; the one answer of a server that does not stream."""
    if _form(response) == STREAM:
        yield from vendors.events(response.chunks())
        return
    body = bytearray()
    for chunk in response.chunks():
        body += chunk
        if len(body) > MOST_ANSWER_BYTES:
            raise vendors.Malformed("the answer is too long")
    yield bytes(body)
