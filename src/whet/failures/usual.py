"""How long sessions usually are where one was made, so that length counts against that and not by itself.

A long session is a bad sign for an agent that is usually quick, and none for one whose sessions are all long. So a
session is compared with others of the same agent, project, model and kind of order; where too few are known, with
those of a wider circle; and where nothing is known, its length says nothing.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.values import Value

NEEDED = 8  # sessions, before any is called longer than the others
REACH = 2.0  # spreads from the middle, beyond which longer is no worse
LEAST_SPREAD = 0.15  # of logarithms: equal sessions differ by chance
SPREAD_OF_MEDIAN = 1.4826  # a normal spread for each median distance from the median
ORDER_LETTERS = 200


class Size(Value, frozen=True):
    """How many characters a session has in all, and how many the agent wrote itself."""

    whole: int = 0
    said: int = 0


class Circle(NamedTuple):
    """Where a session was made. `order` is a digest of what its agent is told to be."""

    source: str
    order: str
    folder: str
    model: str

    def widening(self) -> Iterator["Circle"]:
        """The circles that it belongs to, the narrowest first."""
        yield self
        yield self._replace(model="")
        yield self._replace(folder="")
        yield self._replace(folder="", model="")


class Usual(NamedTuple):
    """The middle and the spread of both sizes, as logarithms."""

    whole: float
    whole_spread: float
    said: float
    said_spread: float


class Beyond(NamedTuple):
    """How far a session goes beyond what is usual: one half is usual, 1 is far more, 0 far less."""

    whole: float
    said: float


AS_USUAL = Beyond(0.5, 0.5)


def size_of(messages: Iterable[Message]) -> Size:
    whole = said = 0
    for message in messages:
        own, texts = 0, 0
        for part in message.parts:
            if isinstance(part, Text):
                own += len(part.text)
                texts += bool(part.text)
            elif isinstance(part, ToolCall):
                own += len(part.arguments)
            elif isinstance(part, ToolResult):
                whole += len(part.text)
        own += max(0, texts - 1)  # the line ends between them
        whole += own
        said += own if message.role is Role.AGENT else 0
    return Size(whole, said)


def circle_of(transcript: Transcript) -> Circle:
    first = transcript.messages[0] if transcript.messages else None
    order = first.text[:ORDER_LETTERS] if first is not None and first.role is Role.SYSTEM else ""
    digest = hashlib.blake2b(order.encode("utf-8", "replace"), digest_size=6).hexdigest() if order else ""
    return Circle(transcript.source, digest, transcript.folder, transcript.model)


def usual_by_circle(sessions: Iterable[tuple[Circle, Size]]) -> dict[Circle, Usual]:
    """What is usual in every circle of which enough sessions are known."""
    sizes: dict[Circle, list[Size]] = {}
    for circle, size in sessions:
        for each in dict.fromkeys(circle.widening()):
            sizes.setdefault(each, []).append(size)
    return {circle: _usual(found) for circle, found in sizes.items() if len(found) >= NEEDED}


def beyond(size: Size, circle: Circle, usual: Mapping[Circle, Usual]) -> Beyond:
    """How a session compares with the narrowest circle that is known."""
    known = next((usual[each] for each in circle.widening() if each in usual), None)
    if known is None:
        return AS_USUAL
    return Beyond(_place(size.whole, known.whole, known.whole_spread), _place(size.said, known.said, known.said_spread))


def _usual(sizes: Sequence[Size]) -> Usual:
    whole, said = (sorted(math.log1p(value) for value in values) for values in zip(*_pairs(sizes), strict=True))
    return Usual(median(whole), _spread(whole), median(said), _spread(said))


def _pairs(sizes: Sequence[Size]) -> Iterator[tuple[int, int]]:
    return ((size.whole, size.said) for size in sizes)


def _spread(values: Sequence[float]) -> float:
    middle = median(values)
    return SPREAD_OF_MEDIAN * median(abs(value - middle) for value in values) + LEAST_SPREAD


def _place(value: int, middle: float, spread: float) -> float:
    distance = (math.log1p(value) - middle) / spread
    return (max(-REACH, min(REACH, distance)) + REACH) / (2 * REACH)
