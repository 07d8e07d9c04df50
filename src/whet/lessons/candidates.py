"""Candidates for lessons: pieces of evidence that belong together, the most promising first."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from whet.failures.lessons import RecurringFailure
from whet.lessons.pieces import LessonPiece, LessonSource, stems
from whet.values import Value

ALIKE = 0.3  # of the weight of the words of two pieces that are one candidate
MOST = 30
RECURS = 3  # sessions
OFTEN = 0.4  # of all sessions: what nearly every one says is no news
SAME_GROUP = 0.6
LEAST = 1.0
KNOWN = 0.6  # of the messages of a candidate that better ones show already: it says little more
HABIT = 0.6  # what an agent's own tools ask for counts less than what the project teaches
PIECES_KEPT = 12
MOST_PIECES = 1_500
OFTENER = 0.8  # how much twice the sessions add
WORTH = {
    LessonSource.PERSON: 1.0,
    LessonSource.RECOVERY: 1.15,
    LessonSource.PLACE: 0.7,
    LessonSource.REMEDY: 1.1,
}


class LessonEvidence(Value, frozen=True):
    """Evidence that may become a lesson, and how promising it is: its first pieces, and what else is grouped there.

    Of a failure that recurs the pieces are the latest, and how often it was seen stands in `failure`.
    """

    source: LessonSource
    pieces: tuple[LessonPiece, ...]
    sessions: int
    worth: float
    keys: tuple[str, ...] = ()
    more: tuple[LessonPiece, ...] = ()
    failure: RecurringFailure | None = None

    @property
    def best(self) -> LessonPiece:
        """The piece that says most; an empty one where no session is known to show it."""
        return self.pieces[0] if self.pieces else LessonPiece(self.source, "", 0, "")

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions of its pieces."""
        return tuple(dict.fromkeys(piece.session for piece in self.pieces))


def candidates(
    pieces: Iterable[LessonPiece], copies: Mapping[str, str], *, most: int = MOST
) -> tuple[LessonEvidence, ...]:
    """The most promising candidates of one project. `copies` names the original of each session that is a copy."""
    every = _once(pieces, copies)
    found: list[LessonEvidence] = []
    for is_said in (True, False):
        part = _heaviest([piece for piece in every if (piece.source is LessonSource.PERSON) is is_said])
        found += [_candidate(group, copies) for group in _groups(part)]
        if is_said:
            found += [_candidate(group, copies, word=word) for word, group in _recurring(part, copies)]
    found = [one for one in found if one.sessions >= RECURS or one.best.weight >= LEAST]
    return _fresh_first(sorted(found, key=lambda one: (-one.worth, one.best.text)))[:most]


def _fresh_first(ranked: Sequence[LessonEvidence]) -> tuple[LessonEvidence, ...]:
    """What better ones mostly show comes last, what they wholly show goes; each leads with a piece of its own."""
    seen: set[tuple[str, int]] = set()
    led: set[str] = set()
    fresh: list[LessonEvidence] = []
    stale: list[LessonEvidence] = []
    for one in ranked:
        messages = {(piece.session, piece.message) for piece in one.pieces}
        if messages <= seen:
            continue
        if len(messages & seen) >= KNOWN * len(messages):
            stale.append(one)
            continue
        pieces = tuple(sorted(one.pieces, key=lambda piece: piece.text in led))
        fresh.append(structs.replace(one, pieces=pieces))
        seen |= messages
        led.add(pieces[0].text)
    return (*fresh, *stale)


def _heaviest(pieces: list[LessonPiece]) -> list[LessonPiece]:
    """As many as can be compared with each other in a few seconds; of equals the later ones."""
    places = sorted(range(len(pieces)), key=lambda place: (-pieces[place].weight, -place))[:MOST_PIECES]
    return [pieces[place] for place in sorted(places)]


def _once(pieces: Iterable[LessonPiece], copies: Mapping[str, str]) -> list[LessonPiece]:
    """Each piece once: what a copy repeats is no further evidence."""
    seen: dict[tuple[str, str], LessonPiece] = {}
    for piece in pieces:
        seen.setdefault((copies.get(piece.session, piece.session), piece.text), piece)
    return list(seen.values())


def _recurring(pieces: Sequence[LessonPiece], copies: Mapping[str, str]) -> list[tuple[str, list[LessonPiece]]]:
    """What the person asks for again and again: pieces of three sessions or more that share a telling word."""
    by_word: dict[str, list[LessonPiece]] = {}
    for piece in pieces:
        for word in stems(piece.keys):
            by_word.setdefault(word, []).append(piece)
    total = len({copies.get(piece.session, piece.session) for piece in pieces})
    kept: list[tuple[str, list[LessonPiece]]] = []
    for word, group in sorted(by_word.items(), key=lambda item: -len(item[1])):
        sessions = {copies.get(piece.session, piece.session) for piece in group}
        if not RECURS <= len(sessions) <= max(RECURS, OFTEN * total):
            continue
        messages = {(piece.session, piece.message) for piece in group}
        if all(_overlap(messages, {(one.session, one.message) for one in other}) < SAME_GROUP for _, other in kept):
            kept.append((word, group))
    return kept


def _overlap(one: set[tuple[str, int]], other: set[tuple[str, int]]) -> float:
    return len(one & other) / min(len(one), len(other))


def _groups(pieces: Sequence[LessonPiece]) -> list[list[LessonPiece]]:
    """Pieces that speak of the same thing, by the weight of the words that they share; the heaviest piece leads."""
    words = [stems(piece.keys) for piece in pieces]
    common = Counter(word for each in words for word in each)
    weights = {word: math.log((1 + len(pieces)) / count) for word, count in common.items()}
    sizes = [sum(weights[word] for word in sorted(each)) for each in words]
    holders: dict[str, list[int]] = {}  # the places that have a word, as far as they have a group
    group_of: dict[int, int] = {}
    groups: list[list[LessonPiece]] = []
    for place in sorted(range(len(pieces)), key=lambda place: (-pieces[place].weight, -len(words[place]), place)):
        shared: dict[int, float] = {}
        for word in sorted(words[place]):
            for other in holders.setdefault(word, []):
                shared[other] = shared.get(other, 0.0) + weights[word]
            holders[word].append(place)
        alike = {other: _likeness(both, sizes[place], sizes[other]) for other, both in shared.items()}
        likest = max(alike, key=lambda other: (alike[other], -other), default=-1)
        if likest >= 0 and alike[likest] >= ALIKE:
            group_of[place] = group_of[likest]
            groups[group_of[place]].append(pieces[place])
        else:
            group_of[place] = len(groups)
            groups.append([pieces[place]])
    return groups


def _likeness(shared: float, one: float, other: float) -> float:
    """Of the weight of both, or half of what is shared of the smaller."""
    smaller, either = min(one, other), one + other - shared
    return max(shared / either, 0.5 * shared / smaller) if either > 0 and smaller > 0 else 0.0


def worth_of(pieces: Sequence[LessonPiece], sessions: int, *, most: float = math.inf) -> float:
    """How promising evidence is: the source and weight of its heaviest piece, no more than `most`, and how often."""
    heaviest = max(pieces, key=lambda piece: piece.weight)
    habit = HABIT if pieces[0].is_habit else 1.0
    return round(WORTH[heaviest.source] * min(most, heaviest.weight) * (1 + OFTENER * math.log2(sessions)) * habit, 3)


def _candidate(group: list[LessonPiece], copies: Mapping[str, str], *, word: str = "") -> LessonEvidence:
    sessions = len({copies.get(piece.session, piece.session) for piece in group})
    counts = Counter(word for piece in group for word in piece.keys)
    # What recurs is worth as much as its pieces are on the whole.
    most = 0.5 + sum(piece.weight for piece in group) / len(group) if word else math.inf
    source = max(group, key=lambda piece: piece.weight).source
    ordered = sorted(group, key=lambda piece: (-piece.weight, not piece.fix, len(piece.text)))
    return LessonEvidence(
        source,
        tuple(ordered[:PIECES_KEPT]),
        sessions,
        worth_of(group, sessions, most=most),
        tuple(word for word, _ in counts.most_common(8)),
        tuple(ordered[PIECES_KEPT:]),
    )
