"""What recurs over the sessions of a project, counted by code: a reader judges better, and counts worse."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple

from whet.lessons.condensed import CondensedSession, EventKind, SessionEvent
from whet.sessions.trust import Trust
from whet.text.words import cut
from whet.values import Value

ELIDED = "…"
SHOWN = 160  # letters of an entry
TOKENS = 16  # words by which two lines are compared
CALL_WORDS = 2
LEAST_SESSIONS = 2
LEAST_WORDS = 2  # of an error, that do not vary
SHORTEST, LONGEST = 2, 30  # words of a request
SAME_REQUEST = 0.5  # of the words of both, the rare ones counting more
COMPARED = 40  # requests that a request is compared with
RAREST = 3
_QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|“[^”\n]{0,200}”")  # bounded: linear time
_VARIES = re.compile(rf"[/\\\d{ELIDED}]")
_SENTENCE = re.compile(r"[.!?;。！？]+(?:\s|$)|\n")
_WORD = re.compile(
    r"[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)


class IndexKind(StrEnum):
    """What an entry of the index counts."""

    ERROR = "errors"
    PATH = "paths that are not there"
    RED = "rules and tests that were red"
    REFUSED = "refused calls"
    REQUEST = "requests"


MOST = {
    IndexKind.ERROR: 25,
    IndexKind.PATH: 10,
    IndexKind.RED: 12,
    IndexKind.REFUSED: 8,
    IndexKind.REQUEST: 15,
}


class IndexEntry(Value, frozen=True):
    """What recurs, with `…` for what varies; in how many sessions, how often, and where it was seen first."""

    kind: IndexKind
    text: str
    sessions: int
    times: int
    session: str
    message: int
    trust: Trust = Trust.EXTERNAL  # the lowest of the words that it was counted from


class ProjectIndex(Value, frozen=True):
    """The entries of a project, of each kind the most frequent first."""

    sessions: int = 0
    entries: tuple[IndexEntry, ...] = ()


class _Sighting(NamedTuple):
    """One thing in one session; what has the same key is the same thing."""

    kind: IndexKind
    key: tuple[str, ...]
    text: str
    session: str
    event: SessionEvent


def _entry(seen: list[_Sighting], originals: Mapping[str, str]) -> IndexEntry:
    """All that was seen of one thing."""
    kind, _, text, session, event = seen[0]
    words = text.split()
    for each in seen if kind is not IndexKind.REQUEST else ():
        words = _common(words, each.text.split())
    return IndexEntry(
        kind,
        cut(" ".join(words), SHOWN),
        len({originals.get(each.session, each.session) for each in seen}),
        sum(each.event.times for each in seen),
        session,
        event.message,
        min(each.event.trust for each in seen),
    )


def _common(mine: list[str], other: list[str]) -> list[str]:
    """The words that two texts of one kind share, `…` for those that differ."""
    if len(mine) == len(other):
        return [word if word == theirs else ELIDED for word, theirs in zip(mine, other, strict=True)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, other, strict=False)))
    return [*mine[:same], ELIDED]


def project_index(sessions: Iterable[CondensedSession], copies: Mapping[str, str] | None = None) -> ProjectIndex:
    """The index of a project's sessions. `copies` names the original of each session that is a copy."""
    originals = copies or {}
    every = sorted(sessions, key=lambda each: (each.started or 0.0, each.session))
    groups: dict[tuple[IndexKind, tuple[str, ...]], list[_Sighting]] = {}
    for sighting in (*_sightings(every), *_requests(every)):
        groups.setdefault((sighting.kind, sighting.key), []).append(sighting)
    entries = [_entry(seen, originals) for seen in groups.values()]
    return ProjectIndex(len({originals.get(each.session, each.session) for each in every}), tuple(_ranked(entries)))


def index_text(index: ProjectIndex) -> str:
    """The index as a reader gets it."""
    lines = [f"# What recurs in {index.sessions} sessions"]
    for kind in IndexKind:
        found = [entry for entry in index.entries if entry.kind is kind]
        lines += [f"{kind.value}:"] * bool(found)
        lines += [f"- {_counted(entry)}: {entry.text}" for entry in found]
    return "\n".join(lines)


def _counted(entry: IndexEntry) -> str:
    times = f", {entry.times} times" if entry.times > entry.sessions else ""
    return f"{entry.sessions} session{'s' * (entry.sessions > 1)}{times}"


def _ranked(entries: list[IndexEntry]) -> Iterator[IndexEntry]:
    for kind, most in MOST.items():
        least = 1 if kind is IndexKind.REFUSED else LEAST_SESSIONS
        found = [entry for entry in entries if entry.kind is kind and entry.sessions >= least]
        yield from sorted(found, key=lambda entry: (-entry.sessions, -entry.times))[:most]


def _sightings(sessions: list[CondensedSession]) -> Iterator[_Sighting]:
    for session in sessions:
        for event in session.events:
            yield from (_Sighting(*thing, session.session, event) for thing in _things(event))


def _things(event: SessionEvent) -> Iterator[tuple[IndexKind, tuple[str, ...], str]]:
    """What an event has that may recur."""
    if event.kind is EventKind.REFUSED:
        yield IndexKind.REFUSED, template(event.text)[:CALL_WORDS], event.text
    if event.subject:
        kind = IndexKind.RED if event.kind is EventKind.RED else IndexKind.PATH
        yield kind, (event.subject,), event.subject
    if event.kind in (EventKind.FAILED, EventKind.RED, EventKind.COUNTED):
        for line in event.error.split(" | "):
            key = template(line)
            if sum(word != ELIDED for word in key) >= LEAST_WORDS:
                yield IndexKind.ERROR, key, line


def template(line: str) -> tuple[str, ...]:
    """The words of a line by which it is compared: quotes, paths and numbers are all the same."""
    words = _QUOTED.sub(ELIDED, line.casefold()).split()[:TOKENS]
    return tuple(ELIDED if _VARIES.search(word) else word for word in words)


def _requests(sessions: list[CondensedSession]) -> Iterator[_Sighting]:
    """The sentences in the person's place, those that ask for the same with the same key."""
    said = [
        (session, event, sentence, frozenset(_WORD.findall(sentence.casefold())))
        for session in sessions
        for event in session.events
        if event.kind in (EventKind.PERSON, EventKind.UNSURE, EventKind.TEAM)
        for sentence in (event.kind is EventKind.TEAM and [event.text]) or _SENTENCE.split(event.text)
    ]
    known = Counter(word for *_, words in said for word in words)
    groups = _Requests(known, len(said))
    for session, event, sentence, words in said:
        if SHORTEST <= len(words) <= LONGEST:
            key = (event.kind.value, str(groups.place(words)))
            yield _Sighting(IndexKind.REQUEST, key, " ".join(sentence.split()), session.session, event)


class _Requests:
    """Requests that were seen, found again by their rarest words."""

    def __init__(self, known: Counter[str], count: int) -> None:
        self.weights = {word: math.log(1 + count / times) for word, times in known.items()}
        self.firsts: list[frozenset[str]] = []
        self.by_word: dict[str, list[int]] = {}

    def place(self, words: frozenset[str]) -> int:
        """The number of the request that says the same, or a new one."""
        rarest = sorted(words, key=lambda word: (-self.weights[word], word))[:RAREST]
        near = {place for word in rarest for place in self.by_word.get(word, ())[-COMPARED:]}
        best = max(near, key=lambda place: (self._alike(words, place), -place), default=-1)
        if best >= 0 and self._alike(words, best) >= SAME_REQUEST:
            return best
        for word in words:
            self.by_word.setdefault(word, []).append(len(self.firsts))
        self.firsts.append(words)
        return len(self.firsts) - 1

    def _alike(self, words: frozenset[str], place: int) -> float:
        other = self.firsts[place]
        return self._weight(words & other) / self._weight(words | other)

    def _weight(self, words: frozenset[str]) -> float:
        return sum(self.weights[word] for word in words)
