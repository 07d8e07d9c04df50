"""A provider on the network: it sends a run's request, tries again where that makes sense, and gives the reply."""

import itertools
from collections.abc import Generator, Iterator
from threading import Event as Interrupt
from typing import Any, Protocol

from whet.agent.protocols import ProviderFailed, ProviderFault, Reply
from whet.agent.providers import vendors
from whet.net.http import LONGEST_SECONDS, Client, Response, Timing, asked_wait, delay
from whet.net.wire import Interrupted, TransportFailed
from whet.own.runs.run import Fragment, Run

STREAM, JSON = "text/event-stream", "application/json"
AGENT = "whet"
MOST_ANSWER_BYTES = 1 << 26
SHOULD_RETRY = "x-should-retry"


class AnswerReader(Protocol):
    """What puts the events of one answer together."""

    is_done: bool

    def take(self, event: vendors.Event) -> Iterator[Fragment]: ...

    def take_record(self, record: dict[str, Any]) -> Iterator[Fragment]: ...

    def rest(self) -> Iterator[Fragment]: ...

    def reply(self) -> Reply: ...


class Codec(Protocol):
    """A wire form: OpenAI's or Anthropic's."""

    path: str

    def headers(self, key: str) -> dict[str, str]: ...

    def request(self, run: Run) -> bytes: ...

    def reading(self, run: Run) -> AnswerReader: ...


class _Failed(Exception):
    """One try that gave no answer."""

    def __init__(self, failure: vendors.Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Asking:
    """One endpoint, asked for one model. Several threads may ask at the same time."""

    def __init__(self, codec: Codec, client: Client, asked: vendors.Asked, *, timing: Timing, retries: int = 5) -> None:
        self.name = asked.provider
        self._codec = codec
        self._client = client
        self._asked = asked
        self._timing = timing
        self._retries = retries

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
            except _Failed as failed:
                seconds = self._pause(failed.failure, number, interrupt)
                why = "rate limited" if failed.failure.fault is ProviderFault.LIMIT else failed.failure.message
                yield Fragment("wait", f"{why.rstrip('.')}, try {number + 1} of {self._retries + 1} in {seconds:.0f} s")
            if self._timing.wait(interrupt, seconds):
                raise Interrupted
            if shown:
                yield Fragment("again", "")

    def close(self) -> None:
        """End the connections that are kept."""
        self._client.close()

    def _one_try(self, run: Run, body: bytes, interrupt: Interrupt) -> Iterator[Fragment | Reply]:
        try:
            response = self._client.post(self._codec.path, self._headers(), body, interrupt=interrupt)
        except TransportFailed as failed:
            raise _Failed(self._unreached(failed)) from failed
        reply: Reply | None = None
        try:
            self._check(response)
            reading = self._codec.reading(run)
            yield from self._read(response, reading)
            reply = reading.reply()
        except TransportFailed as failed:
            raise _Failed(self._unreached(failed)) from failed
        except vendors.Malformed as malformed:
            raise _Failed(self._misunderstood(str(malformed))) from malformed
        except vendors.StreamError as error:
            raise _Failed(vendors.failure_in_stream(error.error, self._asked)) from error
        finally:
            if reply is None:
                response.end()
        self._client.keep(response)
        yield reply

    def _headers(self) -> dict[str, str]:
        return {
            "User-Agent": AGENT,
            "Content-Type": JSON,
            "Accept": f"{STREAM}, {JSON}",
            **self._codec.headers(self._asked.key),
        }

    def _check(self, response: Response) -> None:
        """Raise where the head of the answer is not that of a stream."""
        status, form = response.status, response.header("content-type").partition(";")[0].strip().lower()
        if 300 <= status < 400:
            raise _Failed(vendors.redirected(status, response.header("location"), self._asked))
        if not 200 <= status < 300:
            failure = vendors.failure_of(status, response.beginning(), self._asked)
            wish = response.header(SHOULD_RETRY).lower()
            passing = {"true": True, "false": False}.get(wish, failure.is_passing)
            after = asked_wait(response.header, self._timing.wall)
            raise _Failed(failure._replace(is_passing=passing, after_seconds=after))
        if form not in (STREAM, JSON):
            raise _Failed(vendors.wrong_form(form, self._asked))

    def _read(self, response: Response, reading: AnswerReader) -> Generator[Fragment, None, None]:
        if response.header("content-type").lower().startswith(JSON):
            body = bytearray()
            for chunk in response.chunks():
                body += chunk
                if len(body) > MOST_ANSWER_BYTES:
                    raise vendors.Malformed("the answer is too long")
            yield from reading.take_record(vendors.record_of(bytes(body)))
        else:
            yield from _streamed(response, reading)
        yield from reading.rest()

    def _pause(self, failure: vendors.Failure, number: int, interrupt: Interrupt) -> float:
        """The seconds before the next try; raises where there is none."""
        if interrupt.is_set():
            raise Interrupted
        after = failure.after_seconds
        is_too_long = after is not None and after > LONGEST_SECONDS
        if not failure.is_passing or number > self._retries or is_too_long:
            asks = f" It asks you to wait {after:.0f} seconds." if after is not None and is_too_long else ""
            raise ProviderFailed(failure.fault, failure.message + asks, advice=failure.advice)
        return delay(number, chance=self._timing.chance(), after_seconds=after)

    def _unreached(self, failed: TransportFailed) -> vendors.Failure:
        advice = failed.advice or "Check the network and the base_url of the provider."
        if self._asked.base_variable:
            advice = advice.replace("base_url", f"address in {self._asked.base_variable}")
        return vendors.Failure(
            ProviderFault.NETWORK, f"{self.name}: {failed.message}.", advice, is_passing=not failed.is_certain
        )

    def _misunderstood(self, why: str) -> vendors.Failure:
        return vendors.Failure(
            ProviderFault.ENDPOINT, f"{self.name}: {why}.", "Try again later, or choose another model.", is_passing=True
        )


def _streamed(response: Response, reading: AnswerReader) -> Iterator[Fragment]:
    """Take the stream in until the endpoint says that it is done, or to its end."""
    events = vendors.EventReader()
    for chunk in response.chunks():
        for event in events.take(chunk):
            yield from reading.take(event)
            if reading.is_done:
                return
    for event in events.finish():
        yield from reading.take(event)
