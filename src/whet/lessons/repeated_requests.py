"""Requests that people make again and again, in whatever words: counted and quoted, and made into no order.

It is the same request where the agent did the same for it, more often than it does so anyway, and the requests have a
word in common.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.pieces import LessonPiece
from whet.lessons.said import sentences

FEWEST = 3  # sessions
MOST = 10
ENOUGH_BITS = 6.0
MOST_LETTERS = 240  # of a request: what is longer is a task
SHARED = 0.6  # of the requests that have the word
STEM = 6  # letters of a word that tell it from another, in whatever language
FEWEST_LETTERS = 4
NAMED = 1.5
LONG = 6  # words of a sentence that nobody types twice: it is of a copy
_WORD = re.compile(r"[^\W\d_]+")


class RepeatedRequest(NamedTuple):
    """One request of several sessions in the words of each, and what was done for it."""

    topic: str  # the beginning of the word that the requests share
    done: str
    pieces: tuple[LessonPiece, ...]  # one of each session, its text the sentence

    @property
    def sessions(self) -> int:
        return len(self.pieces)


def repeated_requests(pieces: Iterable[LessonPiece]) -> tuple[RepeatedRequest, ...]:
    """What was asked for in three sessions or more, after the work had begun; the most frequent first."""
    every = [piece for piece in pieces if piece.did]
    asked = _once_each(piece for piece in every if not piece.is_first and len(piece.text) <= MOST_LETTERS)
    sessions = len({piece.session for piece in asked})
    by_mark: dict[str, list[LessonPiece]] = defaultdict(list)
    for piece in asked:
        for mark in piece.did:
            by_mark[mark].append(piece)
    found: list[RepeatedRequest] = []
    for mark, group in by_mark.items():
        topic, alike = _topic(group)
        chosen = {piece.session: replace(piece, text=_sentence(piece.text, topic)) for piece in reversed(alike)}
        if len(chosen) < FEWEST:
            continue
        others = [piece for piece in every if piece not in alike]
        chance = (sum(mark in piece.did for piece in others) + 0.5) / (len(others) + 1)
        if _bits(len(chosen), sessions, min(0.999, chance)) >= ENOUGH_BITS:
            found.append(RepeatedRequest(topic, mark, tuple(reversed(chosen.values()))))
    ranked = sorted(found, key=lambda each: (-_weight(each), -len(each.done), each.done))
    return tuple(_apart(ranked))[:MOST]


def _weight(request: RepeatedRequest) -> float:
    """How many sessions have it; more where what was done names what was asked for."""
    return request.sessions * (NAMED if request.topic in request.done.lower() else 1.0)


def _once_each(pieces: Iterable[LessonPiece]) -> list[LessonPiece]:
    """Each request once: a long one in the very same words is of a copied session."""
    kept: dict[object, LessonPiece] = {}
    for piece in pieces:
        kept.setdefault(piece.text if len(piece.text.split()) >= LONG else (piece.session, piece.message), piece)
    return list(kept.values())


def _topic(group: Sequence[LessonPiece]) -> tuple[str, list[LessonPiece]]:
    """The word that most of the requests share, and those that have it."""
    stems = [_stems(piece.text) for piece in group]
    counted = Counter(stem for each in stems for stem in each)
    if not counted:
        return "", []
    topic = max(counted, key=lambda stem: (counted[stem], len(stem), stem))
    alike = [piece for piece, each in zip(group, stems, strict=True) if topic in each]
    return topic, alike if len(alike) >= SHARED * len(group) else []


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:STEM] for word in words if len(word) >= FEWEST_LETTERS)


def _sentence(text: str, topic: str) -> str:
    """The sentence of a message that has the word."""
    return next((sentence for sentence in sentences(text) if topic in _stems(sentence)), text)


def _bits(hits: int, trials: int, chance: float) -> float:
    total = sum(
        math.comb(trials, each) * chance**each * (1 - chance) ** (trials - each) for each in range(hits, trials + 1)
    )
    return -math.log2(total) if total > 0 else 1000.0


def _apart(ranked: Iterable[RepeatedRequest]) -> Iterator[RepeatedRequest]:
    """Each request once: what shares its word, or a third of its messages, with one before it is that one."""
    seen: set[tuple[str, int]] = set()
    topics: set[str] = set()
    for each in ranked:
        places = {(piece.session, piece.message) for piece in each.pieces}
        if 3 * len(places & seen) < len(places) and each.topic not in topics:
            yield each
        seen |= places
        topics.add(each.topic)
