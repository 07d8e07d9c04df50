"""Candidates for lessons: pieces of evidence that belong together, the most promising first."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from whet.lessons.pieces import LessonSource, Piece, stems
from whet.values import Value

ALIKE = 0.3  # of the weight of the words of two pieces that are one candidate
RARE_SHARE = 0.08  # of the pieces that have a word: a rarer one says what it is about
MOST = 30
PIECES_KEPT = 12
WORTH = {
    LessonSource.PERSON: 1.0,
    LessonSource.RECOVERY: 1.15,
    LessonSource.PLACE: 0.7,
    LessonSource.REMEDY: 1.1,
}


class Candidate(Value, frozen=True):
    """Evidence that may become a lesson, and how promising it is."""

    source: LessonSource
    pieces: tuple[Piece, ...]
    sessions: int
    worth: float
    keys: tuple[str, ...] = ()

    @property
    def best(self) -> Piece:
        """The piece that says most: the heaviest, and of equals the shortest."""
        return max(self.pieces, key=lambda piece: (piece.weight, bool(piece.fix), -len(piece.text)))


def candidates(pieces: Iterable[Piece], copies: Mapping[str, str], *, most: int = MOST) -> tuple[Candidate, ...]:
    """The most promising candidates of one project. `copies` names the original of each session that is a copy."""
    every = _once(pieces, copies)
    found: list[Candidate] = []
    for is_said in (True, False):
        part = [piece for piece in every if (piece.source is LessonSource.PERSON) is is_said]
        found += [_candidate(group, copies) for group in _groups(part)]
    return tuple(sorted(found, key=lambda one: (-one.worth, one.best.text))[:most])


def _once(pieces: Iterable[Piece], copies: Mapping[str, str]) -> list[Piece]:
    """Each piece once: what a copy repeats is no further evidence."""
    seen: dict[tuple[str, str], Piece] = {}
    for piece in pieces:
        seen.setdefault((copies.get(piece.session, piece.session), piece.text), piece)
    return list(seen.values())


def _groups(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces that speak of the same thing, by the weight of the words that they share; the heaviest piece leads."""
    words = [stems(piece.keys) for piece in pieces]
    common = Counter(word for each in words for word in each)
    weights = {word: math.log((1 + len(pieces)) / count) for word, count in common.items()}
    order = sorted(range(len(pieces)), key=lambda place: (-pieces[place].weight, -len(words[place]), place))
    groups: list[tuple[list[frozenset[str]], list[Piece]]] = []
    for place in order:
        best = max(groups, key=lambda group: _likeness(words[place], group[0], weights), default=None)
        if best is not None and _likeness(words[place], best[0], weights) >= ALIKE:
            best[0].append(words[place])
            best[1].append(pieces[place])
        else:
            groups.append(([words[place]], [pieces[place]]))
    return [group for _, group in groups]


def _likeness(words: frozenset[str], others: Sequence[frozenset[str]], weights: Mapping[str, float]) -> float:
    return max(_shared(words, other, weights) for other in others)


def _shared(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    both = sum(weights[word] for word in one & other)
    smaller = min(sum(weights[word] for word in one), sum(weights[word] for word in other))
    either = sum(weights[word] for word in one | other)
    return max(both / either, 0.5 * both / smaller) if either and smaller else 0.0


def _candidate(group: list[Piece], copies: Mapping[str, str]) -> Candidate:
    sessions = len({copies.get(piece.session, piece.session) for piece in group})
    counts = Counter(word for piece in group for word in piece.keys)
    heaviest = max(piece.weight for piece in group)
    source = max(group, key=lambda piece: piece.weight).source
    worth = WORTH[source] * heaviest * (1 + math.log2(sessions)) * (1.0 if any(p.keys for p in group) else 0.3)
    ordered = sorted(group, key=lambda piece: -piece.weight)[:PIECES_KEPT]
    keys = tuple(word for word, _ in counts.most_common(8))
    return Candidate(source, tuple(ordered), sessions, round(worth, 3), keys)
