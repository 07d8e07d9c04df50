"""Lessons: signals that recur over distinct sessions, with their evidence and their base rate.

A lesson speaks when three distinct sessions show it and the share of them, among the sessions that used the tool,
is surely not a rarity: the lower end of its 95 % Wilson interval lies above `RARE`. Three alone would let a
thousand sessions turn any accident into a rule; a share alone would let one session do it.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from whet.evidence.classical import wilson
from whet.failures.analysis import Analysis
from whet.failures.environment import Cause
from whet.failures.kinds import KINDS, OWN_NAMES, ChangeKind, KindTable, kind_named
from whet.failures.signals import SHOWN, Kind, Signal
from whet.sessions.trust import Trust
from whet.text.words import cut
from whet.values import Value

SESSIONS_NEEDED = 3
RARE = 0.05
FIRM = 0.7
FIRM_SHARE = 1 / 3
EXAMPLES_KEPT = 3
LINE_LETTERS = 140
SIMILAR_ERROR = 0.75
SIMILAR_CORRECTION = 0.5
# Past this many sorts of failure of one tool, those seen once are forgotten: memory does not grow with the input.
SORTS_KEPT = 300
NAMES_KEPT = 20


class Sighting(Value, frozen=True):
    """Where it was seen, in its own words."""

    session: str
    message: int
    quote: str


class RecurringFailure(Value, frozen=True):
    """One recurring failure. `sessions` of the `base` sessions that used the tool show it.

    >>> import msgspec, whet
    >>> session, other = whet.read("examples/sessions/openai")
    >>> sessions = [other, *(msgspec.structs.replace(session, native_id=f"day-{day}") for day in range(3))]
    >>> [lesson] = whet.distill(map(whet.analyse, sessions))
    >>> lesson.fingerprint, lesson.sessions, lesson.base, lesson.change.value
    ('order not found: tn', 3, 4, 'rule')
    """

    kind: str
    change: ChangeKind
    cause: Cause
    tool: str
    fingerprint: str
    sessions: int
    base: int
    trust: Trust
    examples: tuple[Sighting, ...]
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    since: float | None = None
    latest: float | None = None

    @property
    def line(self) -> str:
        """What it looks like, in the words of a session; a fingerprint has no names or numbers left."""
        quote = " ".join(self.examples[0].quote.split()) if self.examples else ""
        return cut(quote, LINE_LETTERS) or self.fingerprint

    @property
    def share(self) -> float:
        return self.sessions / self.base if self.base else 0.0


class FailureInSessions(NamedTuple):
    """A lesson with the sessions that show it."""

    lesson: RecurringFailure
    sessions: frozenset[str]


class Subject(NamedTuple):
    """What signals have in common that may be one lesson: the rest is the likeness of their fingerprints."""

    kind: str
    cause: Cause
    tool: str


@dataclass(slots=True)
class SignalTally:
    """What is kept of one sort of signal while sessions stream by."""

    fingerprint: str
    words: frozenset[str]
    last_session: str = ""
    sessions: int = 0
    firm: int = 0  # sessions in which it was not made good at once
    trust: Trust = Trust.OPERATOR
    examples: list[Sighting] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    since: float = math.inf
    latest: float = -math.inf

    def add(self, analysis: Analysis, signal: Signal) -> None:
        """Count the session; once, however often it failed in one way."""
        if self.last_session == analysis.session:
            return
        self.last_session = analysis.session
        self.sessions += 1
        self.firm += signal.confidence >= FIRM
        self.trust = min(self.trust, signal.trust)
        if len(self.examples) < EXAMPLES_KEPT:
            self.examples.append(Sighting(analysis.session, signal.message, signal.quote))
        _keep(self.agents, analysis.source)
        _keep(self.models, analysis.model)
        if analysis.at is not None:
            self.since, self.latest = min(self.since, analysis.at), max(self.latest, analysis.at)


def distill(analyses: Iterable[Analysis], kinds: KindTable = KINDS) -> tuple[RecurringFailure, ...]:
    """Find what recurs across sessions, most common first. Reads its argument once and keeps only tallies.

    A lesson needs three distinct sessions, and clearly more than 5 % of the sessions that used the tool.
    """
    tallies: dict[Subject, dict[str, SignalTally]] = {}
    used: dict[str, int] = {}
    total = 0
    for analysis in analyses:
        total += 1
        for tool in analysis.tools:
            used[tool] = used.get(tool, 0) + 1
        for subject, signal in _counted(analysis):
            _tally(tallies.setdefault(subject, {}), signal).add(analysis, signal)
    lessons = [
        _lesson(subject, tally, used.get(subject.tool, total) if subject.tool else total, kinds)
        for subject, sorts in tallies.items()
        for tally in sorts.values()
    ]
    return tuple(sorted(filter(speaks, lessons), key=lambda one: (-one.sessions, one.tool, one.fingerprint)))


def speaks(lesson: RecurringFailure) -> bool:
    """Whether the evidence is enough to say it."""
    return lesson.sessions >= SESSIONS_NEEDED and wilson(lesson.sessions, lesson.base).low > RARE


def shows(lesson: RecurringFailure, analysis: Analysis) -> bool:
    """Whether a session is one of those that the lesson counts."""
    return seen_in(lesson, analysis) is not None


def seen_in(lesson: RecurringFailure, analysis: Analysis) -> Sighting | None:
    """Where a session shows it first, if it is one of those that the lesson counts."""
    subject = Subject(lesson.kind, lesson.cause, lesson.tool)
    words = frozenset(lesson.fingerprint.split())
    for own, signal in _counted(analysis):
        other = frozenset(signal.fingerprint.split())
        if own == subject and (signal.fingerprint == lesson.fingerprint or _is_alike(words, other, signal.kind)):
            return Sighting(analysis.session, signal.message, signal.quote)
    return None


def recurring(analyses: Callable[[], Iterable[Analysis]], kinds: KindTable = KINDS) -> tuple[FailureInSessions, ...]:
    """What recurs across sessions, as `distill` finds it, each with its sessions; reads them all twice."""
    lessons = distill(analyses(), kinds)
    found: list[list[str]] = [[] for _ in lessons]
    for analysis in analyses() if lessons else ():
        for lesson, sessions in zip(lessons, found, strict=True):
            if shows(lesson, analysis):
                sessions.append(analysis.session)
    return tuple(FailureInSessions(*each) for each in zip(lessons, map(frozenset, found), strict=True))


def _counted(analysis: Analysis) -> Iterator[tuple[Subject, Signal]]:
    """The signals that count. A loop stands for the failures that it is made of."""
    looping = {signal.tool for signal in analysis.signals if signal.kind == Kind.RETRY_LOOP}
    for signal in analysis.signals:
        if signal.confidence < SHOWN or (signal.kind == Kind.TOOL_FAILURE and signal.tool in looping):
            continue
        # A fault of the surroundings is one fault, whatever it broke first.
        is_tools = signal.cause is Cause.ENVIRONMENT and signal.kind in OWN_NAMES
        kind = Kind.TOOL_FAILURE if is_tools else signal.kind
        yield Subject(kind, signal.cause, signal.tool), signal


def _tally(sorts: dict[str, SignalTally], signal: Signal) -> SignalTally:
    """The tally of the same fingerprint, else of one that is nearly the same, else a new one."""
    known = sorts.get(signal.fingerprint)
    if known is not None:
        return known
    words = frozenset(signal.fingerprint.split())
    for tally in sorts.values():
        if _is_alike(tally.words, words, signal.kind):
            return tally
    if len(sorts) >= SORTS_KEPT:
        rare = [name for name, tally in sorts.items() if tally.sessions == 1]
        for name in rare or list(sorts)[:1]:
            del sorts[name]
    sorts[signal.fingerprint] = SignalTally(signal.fingerprint, words)
    return sorts[signal.fingerprint]


def _is_alike(one: frozenset[str], other: frozenset[str], kind: str) -> bool:
    needed = SIMILAR_CORRECTION if kind == Kind.USER_CORRECTION else SIMILAR_ERROR
    return len(one & other) >= needed * len(one | other)


def _change(subject: Subject, tally: SignalTally, kinds: KindTable) -> ChangeKind:
    if subject.cause is Cause.ENVIRONMENT:
        return ChangeKind.ENVIRONMENT
    change = kind_named(subject.kind, kinds).change
    # What the agent makes good by itself costs a call or two; it is worth knowing, not worth a standing order.
    firm = tally.firm >= SESSIONS_NEEDED and tally.firm >= FIRM_SHARE * tally.sessions
    return ChangeKind.SKILL if change is ChangeKind.RULE and not firm else change


def _lesson(subject: Subject, tally: SignalTally, base: int, kinds: KindTable) -> RecurringFailure:
    return RecurringFailure(
        kind=subject.kind,
        change=_change(subject, tally, kinds),
        cause=subject.cause,
        tool=subject.tool,
        fingerprint=tally.fingerprint,
        sessions=tally.sessions,
        base=base,
        trust=tally.trust,
        examples=tuple(tally.examples),
        agents=tuple(sorted(tally.agents)),
        models=tuple(sorted(tally.models)),
        since=tally.since if math.isfinite(tally.since) else None,
        latest=tally.latest if math.isfinite(tally.latest) else None,
    )


def _keep(names: set[str], name: str) -> None:
    if name and len(names) < NAMES_KEPT:
        names.add(name)
