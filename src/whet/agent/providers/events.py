"""Server-sent events: a stream of bytes, cut anywhere, as the events that it carries."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

MOST_BYTES = 1 << 25


class Malformed(Exception):
    """What came is not in the form that the endpoint promises."""


class StreamError(Exception):
    """An error that the endpoint sent where its answer should be."""

    def __init__(self, error: object) -> None:
        super().__init__("an error in the stream")
        self.error = error


class Event(NamedTuple):
    """One event: its name, empty where it has none, and its data as it came."""

    name: str
    data: bytes


class EventReader:
    """Takes the pieces of a stream one after another and gives each event once it is whole."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._is_first = True

    def take(self, chunk: bytes) -> Iterator[Event]:
        self._rest += chunk
        if len(self._rest) > MOST_BYTES:
            raise Malformed("an event is too long")
        # A carriage return at the end may be half of a line's end: it waits for what follows.
        complete = self._rest[:-1] if self._rest.endswith(b"\r") else self._rest
        end = max(complete.rfind(b"\n"), complete.rfind(b"\r")) + 1
        if end:
            lines = bytes(self._rest[:end]).splitlines()
            del self._rest[:end]
            for line in lines:
                yield from self._line(line)

    def finish(self) -> Iterator[Event]:
        """What is left when the stream has ended; many servers leave out the last empty line."""
        if self._rest:
            yield from self._line(bytes(self._rest).rstrip(b"\r"))
            self._rest.clear()
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[Event]:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            if self._data:
                yield Event(self._name, b"\n".join(self._data))
            self._name, self._data = "", []
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")


def record_of(data: bytes) -> dict[str, Any]:
    """The JSON object that an event or a body holds; raises Malformed where it holds none."""
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError:
        value = _with_halves(data)
    except UnicodeDecodeError as error:
        raise Malformed("the answer is not UTF-8") from error
    if not isinstance(value, dict):
        raise Malformed("the answer is not a JSON object")
    return value


def joined_halves(text: str) -> str:
    """The text with characters whole that came in two halves; a half that stays alone becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _with_halves(data: bytes) -> Any:
    """The value of JSON in which a character was cut in two: some servers send each half in an event of its own."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error
