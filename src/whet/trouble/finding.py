"""All trouble of one session: every kind's stretches, each minute counted once, with what it cost."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from whet.secrets.redactor import Redactor
from whet.secrets.scan import encoded, find
from whet.sessions.copies import NO_PLACES, is_copy, own_part
from whet.sessions.transcripts import Message, Transcript, Usage
from whet.text.words import shortened
from whet.trouble.course import NOTHING_KNOWN, SessionCourse, SessionKnowledge, SteppedIn, Stretch
from whet.trouble.kinds import TROUBLE_KINDS, KindOfTrouble
from whet.trouble.outcomes.view import SessionView, gather
from whet.trouble.people import course_of
from whet.trouble.red_checks import claimed_before, ends_failed
from whet.trouble.values import Intervention, SessionTrouble, Trouble, TroubleKind

WORDS_LENGTH = 600
CAUSE_LENGTH = 160
# What a model's tokens cost, in dollars; None where nobody knows.
Price = Callable[[Usage, str], float | None]


def find_trouble(
    transcript: Transcript,
    *,
    price: Price | None = None,
    known: SessionKnowledge = NOTHING_KNOWN,
    copied: Set[int] = NO_PLACES,
    kinds: Sequence[KindOfTrouble] = TROUBLE_KINDS,
) -> SessionTrouble:
    """The stretches of a session that bought nothing, and the interventions of people.

    `price` gives dollars for tokens. The messages at the `copied` places are counted in the session that they were
    copied from.
    """
    view, begin, _ = gather_own(transcript, copied)
    return trouble_of(view, price=price, known=known, begin=begin, kinds=kinds)


class OwnView(NamedTuple):
    """The evidence of what is a session's own; where nothing is, that of all it copied."""

    view: SessionView
    begin: int  # copies come before whatever the agent does there itself
    is_copy: bool


def gather_own(transcript: Transcript, copied: Set[int]) -> OwnView:
    """What a session shows, with the messages at the `copied` places as context."""
    whole = is_copy(transcript, copied)
    apart = NO_PLACES if whole else copied
    return OwnView(gather(own_part(transcript, apart)), max(apart, default=-1) + 1, whole)


def trouble_of(
    view: SessionView,
    *,
    price: Price | None = None,
    known: SessionKnowledge = NOTHING_KNOWN,
    begin: int = 0,
    kinds: Sequence[KindOfTrouble] = TROUBLE_KINDS,
) -> SessionTrouble:
    """The same of a session whose evidence is gathered already, with its own messages from `begin` on."""
    course = course_of(view, known, begin=begin)
    transcript = view.transcript
    return SessionTrouble(
        session=transcript.id,
        agent_seconds=round(sum(course.seconds), 1),
        is_timed=any(message.at is not None for message in course.messages[begin:]),
        troubles=tuple(_troubles(course, price, kinds)),
        interventions=tuple(map(_intervention, course.events)),
        source=transcript.source,
        model=transcript.model,
        folder=transcript.folder,
        started=transcript.started,
        calls=len(course.moves_within(begin, len(course.messages))),
        ends_failed=ends_failed(course),
    )


def _intervention(event: SteppedIn) -> Intervention:
    words = _clean(event.words, WORDS_LENGTH)
    return Intervention(event.kind, event.message, words, event.by, event.is_judged)


def _troubles(course: SessionCourse, price: Price | None, kinds: Sequence[KindOfTrouble]) -> Iterator[Trouble]:
    found = (stretch for row in kinds for detect in row.detectors for stretch in detect(course))
    stretches = sorted(_named(course, found), key=lambda each: (each.first, each.last))
    owned = owned_messages(stretches, len(course.messages), kinds)
    for stretch, messages in zip(stretches, owned, strict=True):
        if messages:
            yield _costed(stretch, messages, course, price)


def _named(course: SessionCourse, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """A red check of work that the agent had called done is told as such."""
    for stretch in stretches:
        is_claimed = stretch.kind == TroubleKind.RED_CHECK and claimed_before(course, stretch)
        yield stretch._replace(kind=TroubleKind.CLAIMED) if is_claimed else stretch


def owned_messages(
    stretches: Sequence[Stretch], count: int, kinds: Sequence[KindOfTrouble] = TROUBLE_KINDS
) -> list[list[int]]:
    """The messages that each stretch counts: one that lies in several belongs to the shortest of them.

    Of two equally long ones the kind that comes first has it.
    """
    places = {row.name: place for place, row in enumerate(kinds)}
    order = sorted(range(len(stretches)), key=lambda at: (_length(stretches[at]), places.get(stretches[at].kind, 0)))
    following = list(range(count + 1))  # of each message, the next one that nobody owns yet
    owned: list[list[int]] = [[] for _ in stretches]
    for place in order:
        stretch = stretches[place]
        wanted = stretch.only if stretch.only is not None else None
        at = _free(following, stretch.first + 1 if wanted is None else stretch.first)
        while at <= min(stretch.last, count - 1):
            if wanted is None or at in wanted:
                owned[place].append(at)
                following[at] = at + 1
                at = _free(following, at)
            else:
                at = _free(following, at + 1)
    return owned


def _length(stretch: Stretch) -> int:
    return len(stretch.only) if stretch.only is not None else stretch.last - stretch.first


def _free(following: list[int], at: int) -> int:
    """The first message from there on that nobody owns, with the way there made shorter."""
    at = min(at, len(following) - 1)
    root = at
    while following[root] != root:
        root = following[root]
    while following[at] != root:
        following[at], at = root, following[at]
    return root


def _costed(stretch: Stretch, messages: list[int], course: SessionCourse, price: Price | None) -> Trouble:
    spoken = [course.messages[at] for at in messages]
    return Trouble(
        kind=stretch.kind,
        first=stretch.first,
        last=stretch.last,
        seconds=round(sum(course.seconds[at] for at in messages), 1),
        tokens=sum(message.usage.input + message.usage.output for message in spoken if message.usage),
        calls=sum(len(message.calls) for message in spoken),
        dollars=round(sum(_dollars(message, course, price) for message in spoken), 6),
        subject=_clean(stretch.subject, CAUSE_LENGTH),
        cause=_clean(stretch.cause, CAUSE_LENGTH),
        ending=stretch.ending,
    )


def _dollars(message: Message, course: SessionCourse, price: Price | None) -> float:
    if message.usage is None:
        return 0.0
    if message.usage.cost_dollars is not None:
        return message.usage.cost_dollars
    return (price(message.usage, message.model or course.view.transcript.model) or 0.0) if price else 0.0


def _clean(text: str, length: int) -> str:
    """Redact first and cut then: half a secret would not be known as one."""
    return shortened(text if _is_clean(text) else Redactor().text(text), length)


# The same errors come again and again, and hardly any holds a secret.
@lru_cache(maxsize=4096)
def _is_clean(text: str) -> bool:
    return not find(encoded(text))
