"""Recall: the excerpts of a memory that fit a question best."""

from collections.abc import Iterable, Iterator
from heapq import nlargest

from whet.sessions.trust import Trust
from whet.text.likeness import sense
from whet.values import Value

EXCERPT_CHARACTERS = 2_000


class Excerpt(Value, frozen=True):
    """A piece of a memory: where it stands, its words, and how far they may be believed."""

    place: str
    text: str
    trust: Trust


def excerpts(place: str, text: str, trust: Trust) -> Iterator[Excerpt]:
    """The paragraphs of a text, each under the heading that it stands below."""
    heading = ""
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        words = paragraph.strip()
        if words.startswith("#"):
            heading, _, words = (part.strip() for part in words.partition("\n"))
        if words:
            yield Excerpt(place, f"{heading}\n{words}".strip()[:EXCERPT_CHARACTERS], trust)


def best(found: Iterable[Excerpt], question: str, *, limit: int) -> tuple[Excerpt, ...]:
    """The excerpts that hold most words of the question, the shorter of two alike first; none that holds no word."""
    wanted = sense(question).words
    scored = ((len(wanted & sense(f"{each.place} {each.text}").words), each) for each in found)
    fitting = (pair for pair in scored if pair[0])
    chosen = nlargest(limit, fitting, key=lambda pair: (pair[0], -len(pair[1].text), pair[1].place))
    return tuple(excerpt for _, excerpt in chosen)
