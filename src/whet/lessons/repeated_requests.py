"""Requests that people make again and again, in whatever words: counted and quoted, and made into no order.

It is the same request where it has a word in common and the agent did the same for it, or where it has two words in
common and is never put the same way; and both more often than people say or agents do so anyway.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.pieces import LessonPiece
from whet.lessons.said import sentences
from whet.text.words import COMMON

FEWEST = 3  # sessions
MOST = 10
ENOUGH_BITS = 6.0
MOST_LETTERS = 240  # of a request: what is longer is a task
STEM = 6  # letters of a word that tell it from another, in whatever language
FEWEST_LETTERS = 4
NAMED = 1.5
PAIR_LETTERS = 5  # of a word that two requests share with another
MANY = 4  # times as many sessions as have the request
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"\b[A-Z]{3,}\b|[#@/]?\b\w{1,80}[._/-]\w[\w./-]*|[#@]\w{3,}")  # CHF, fr.json, #ops


class RepeatedRequest(NamedTuple):
    """One request of several sessions in the words of each, and what was done for it."""

    topic: str  # the beginning of the word that the requests share
    done: str  # the mark of what was done for them, or the other word that they share
    is_done: bool  # whether it is such a mark
    pieces: tuple[LessonPiece, ...]  # one of each session, its text the sentence

    @property
    def sessions(self) -> int:
        return len(self.pieces)


def repeated_requests(pieces: Iterable[LessonPiece]) -> tuple[RepeatedRequest, ...]:
    """What was asked for in three sessions or more, after the work had begun; the most frequent first."""
    every = list(pieces)
    found = [*_by_what_was_done([piece for piece in every if piece.did]), *_by_words(every)]
    ranked = sorted(found, key=lambda each: (-_weight(each), not each.is_done, -len(each.done), each.done))
    return tuple(_apart(ranked))[:MOST]


def _by_what_was_done(every: Sequence[LessonPiece]) -> Iterator[RepeatedRequest]:
    """Requests that share a word, for which the same was done."""
    asked = [piece for piece in every if not piece.is_first and len(piece.text) <= MOST_LETTERS]
    sessions = len({piece.session for piece in asked})
    by_mark: dict[str, list[LessonPiece]] = defaultdict(list)
    for piece in asked:
        for mark in piece.did:
            by_mark[mark].append(piece)
    said_for = Counter(mark for piece in every for mark in piece.did)
    for mark, group in by_mark.items():
        topic, alike = _topic(group)
        chosen = {piece.session: replace(piece, text=_sentence(piece.text, topic)) for piece in reversed(alike)}
        if len(chosen) < FEWEST:
            continue
        chance = (said_for[mark] - len(alike) + 0.5) / (len(every) - len(alike) + 1)
        if _bits(len(chosen), sessions, min(0.999, chance)) >= ENOUGH_BITS:
            yield RepeatedRequest(topic, mark, True, tuple(reversed(chosen.values())))


def _by_words(every: Sequence[LessonPiece]) -> Iterator[RepeatedRequest]:
    """Requests that share two words, whatever was done for them: they are sentences after the task of the day."""
    wishes = [wish for piece in every for wish in _wishes(piece)]
    order = {session: place for place, session in enumerate(dict.fromkeys(piece.session for piece in every))}
    words = [_paired(piece.text) for piece in wishes]
    known = Counter(word for own in words for word in own)
    pairs: dict[tuple[str, ...], list[LessonPiece]] = defaultdict(list)
    for piece, own in zip(wishes, words, strict=True):
        for pair in combinations(sorted(word for word in own if known[word] >= FEWEST), 2):
            pairs[pair].append(piece)
    tasks = [_paired(piece.text) for piece in every if piece.is_first]
    for (one, other), group in pairs.items():
        chosen = {piece.session: piece for piece in reversed(group)}
        if len({piece.text.lower() for piece in group}) < FEWEST or _occasions(chosen, order) < FEWEST:
            continue
        chance = (sum(one in task and other in task for task in tasks) + 0.5) / (len(tasks) + 1)
        if _bits(len(chosen), len(order), min(0.999, chance)) >= ENOUGH_BITS:
            yield RepeatedRequest(one, other, False, tuple(reversed(chosen.values())))


def _occasions(sessions: Iterable[str], order: Mapping[str, int]) -> int:
    """On how many occasions something was said: among many sessions, those in a row are one piece of work."""
    places = sorted(order[session] for session in sessions)
    if len(order) < MANY * len(places):
        return len(places)
    return len(places) - sum(other - one == 1 for one, other in pairwise(places))


def _wishes(piece: LessonPiece) -> Iterator[LessonPiece]:
    """The sentences of a message, without the one that gives the task."""
    told = [each for each in sentences(piece.text) if len(each) <= MOST_LETTERS]
    for text in told[1:] if piece.is_first else told:
        yield replace(piece, text=text)


def _paired(text: str) -> frozenset[str]:
    """The words by which a wish is known from another: names, and longer words."""
    names = frozenset(found.lower() for found in _NAME.findall(text))
    long = (word for word in _WORD.findall(text) if len(word) >= PAIR_LETTERS)
    return names | frozenset(word.lower()[:STEM] for word in long if word.lower() not in COMMON)


def _weight(request: RepeatedRequest) -> float:
    """How many sessions have it; more where what was done names what was asked for."""
    return request.sessions * (NAMED if request.topic in request.done.lower() else 1.0)


def _topic(group: Sequence[LessonPiece]) -> tuple[str, list[LessonPiece]]:
    """The word that most of the requests share, and those that have it."""
    stems = [_stems(piece.text) for piece in group]
    counted = Counter(stem for each in stems for stem in each)
    if not counted:
        return "", []
    topic = max(counted, key=lambda stem: (counted[stem], len(stem), stem))
    alike = [piece for piece, each in zip(group, stems, strict=True) if topic in each]
    return topic, alike


@lru_cache(maxsize=1 << 14)
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
