"""Sessions for agents: messages found in them, some messages of one, and where the time went that bought nothing.

What is quoted of sessions is data. Nothing here changes anything.
"""

import os
from dataclasses import dataclass

from whet.sessions.exports import iso
from whet.sessions.transcripts import Message
from whet.shipped.data import list_price
from whet.shipped.kinds import known_troubles, label_of
from whet.store import search, sessions
from whet.store.analyses import refresh
from whet.store.home import Home
from whet.store.listing import COUNTED, Filters, find
from whet.store.opening import opened
from whet.store.troubles import session_troubles, trouble_of_session
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project
from whet.trouble.finding import find_trouble
from whet.trouble.kinds import kind_named
from whet.trouble.overview import ENDINGS, UPPER_BOUND, sort_words
from whet.trouble.rollups import TroubleCost, by_kind, costs, costs_of_causes, dearest, group
from whet.trouble.values import Trouble

QUOTE_LETTERS = 400
MESSAGES_SHOWN = 20
HITS_SHOWN = 10
MOST_CAUSES = 10
MOST_SESSIONS = 5
MESSAGE_LETTERS = 2_000


@dataclass(frozen=True)
class CostAnswer:
    """What one sort of trouble cost; `share` is of the agent's time, and `helps` says what can be done."""

    what: str
    minutes: float
    share: float
    times: int
    sessions: int
    helps: str


@dataclass(frozen=True)
class StretchAnswer:
    """A stretch of a session that bought nothing, from its first to its last message."""

    what: str
    first: int
    last: int
    minutes: float
    calls: int
    ended: str


@dataclass(frozen=True)
class DearSessionAnswer:
    """A session that lost much, and its dearest stretch."""

    session: str
    title: str
    minutes_lost: float
    agent_minutes: float
    dearest: StretchAnswer


@dataclass(frozen=True)
class HitAnswer:
    """A message that was found."""

    session: str
    message: int
    role: str
    agent: str
    title: str
    at: str | None
    text: str


@dataclass(frozen=True)
class TroubleAnswer:
    """What the sessions of a project spent, what of it bought nothing, and what cost most."""

    project: str
    sessions: int
    agent_minutes: float
    minutes_lost: float
    share: float
    stepped_in: int
    guessed: int  # of these: corrections that no reader judged
    kinds: list[CostAnswer]
    causes: list[CostAnswer]
    dearest: list[DearSessionAnswer]
    note: str


def of_project(home: Home, *, folder: str) -> TroubleAnswer:
    """Where the time of a project's sessions went; of all sessions where no folder is named."""
    project = project_in(folder)
    with opened(home) as database:
        refresh(database, progress=lambda _: None, processors=1)
        projects = KnownProjects(database)
        stored = [
            each
            for each in session_troubles(database, COUNTED)
            if not project or projects.identity(each.trouble.folder) == project
        ]
    found, titles = [each.trouble for each in stored], {each.trouble.session: each.title for each in stored}
    whole = group(project, found)
    return TroubleAnswer(
        project=projects.shown(project),
        sessions=whole.sessions,
        agent_minutes=_minutes(whole.agent_seconds),
        minutes_lost=_minutes(whole.lost.seconds),
        share=round(whole.lost.share, 3),
        stepped_in=whole.interventions,
        guessed=whole.guessed,
        kinds=[_cost(each, label_of(each.name), each.name) for each in costs(found, by_kind)],
        causes=[_cost(cost, _what(one), one.kind) for cost, one in costs_of_causes(found)[:MOST_CAUSES]],
        dearest=[
            DearSessionAnswer(
                session=each.session,
                title=titles[each.session],
                minutes_lost=_minutes(each.lost_seconds),
                agent_minutes=_minutes(each.agent_seconds),
                dearest=_stretch(worst),
            )
            for each in dearest(found, MOST_SESSIONS)
            if (worst := each.dearest) is not None
        ],
        note=UPPER_BOUND,
    )


def _cost(cost: TroubleCost, what: str, kind: str) -> CostAnswer:
    return CostAnswer(
        what=what,
        minutes=_minutes(cost.seconds),
        share=round(cost.share, 3),
        times=cost.troubles,
        sessions=cost.sessions,
        helps=kind_named(kind, known_troubles()).remedy,
    )


def _stretch(one: Trouble) -> StretchAnswer:
    return StretchAnswer(
        what=_what(one),
        first=one.first,
        last=one.last,
        minutes=_minutes(one.seconds),
        calls=one.calls,
        ended=ENDINGS.get(one.ending.value, one.ending.value),
    )


def _what(one: Trouble) -> str:
    return sort_words(one, label_of(one.kind))


def _minutes(seconds: float) -> float:
    return round(seconds / 60, 1)


@dataclass(frozen=True)
class MessageAnswer:
    """One message of a session, shortened."""

    message: int
    role: str
    text: str


@dataclass(frozen=True)
class SessionAnswer:
    """A part of a session, and where the time of all of it went."""

    session: str
    agent: str
    title: str
    folder: str
    started: str | None
    messages: int
    agent_minutes: float | None  # unknown where its record has no times
    minutes_lost: float | None
    stepped_in: int
    stretches: list[StretchAnswer]
    part: list[MessageAnswer]


def show(home: Home, *, session: str, start: int, count: int) -> SessionAnswer:
    """Some messages of a session, by its id or the beginning of it."""
    with opened(home) as database:
        row = find(database, session)
        transcript = sessions.load(database, row)
        found = trouble_of_session(database, row)
    lost = found or find_trouble(transcript, price=list_price, kinds=known_troubles())
    messages = transcript.messages
    first = max(0, min(start, len(messages)))
    part = messages[first : first + max(1, min(count, 5 * MESSAGES_SHOWN))]
    return SessionAnswer(
        session=row.id,
        agent=row.source,
        title=row.title,
        folder=row.folder,
        started=iso(row.started),
        messages=len(messages),
        agent_minutes=_minutes(lost.agent_seconds) if lost.is_timed else None,
        minutes_lost=_minutes(lost.lost_seconds) if lost.is_timed else None,
        stepped_in=lost.times_stepped_in,
        stretches=[_stretch(one) for one in lost.troubles],
        part=[
            MessageAnswer(message=place, role=each.role.value, text=shortened(_spoken(each), MESSAGE_LETTERS))
            for place, each in enumerate(part, first)
        ],
    )


def _spoken(message: Message) -> str:
    calls = (f"[call {call.name} {call.arguments}]" for call in message.calls)
    results = (f"[{'failed' if each.error else 'result'}] {each.text}" for each in message.results)
    return "\n".join(part for part in (message.text, *calls, *results) if part)


def find_messages(home: Home, *, query: str, folder: str, limit: int) -> list[HitAnswer]:
    """The messages that hold all the words, the best first."""
    with opened(home) as database:
        most = max(1, min(limit, 5 * HITS_SHOWN))
        hits = search.search(database, query, filters=Filters(folder=folder), role="", limit=most)
    return [
        HitAnswer(
            session=hit.session_id,
            message=hit.position,
            role=hit.role,
            agent=hit.source,
            title=hit.title,
            at=iso(hit.at),
            text=shortened(hit.snippet, QUOTE_LETTERS),
        )
        for hit in hits
    ]


def project_in(folder: str) -> str:
    """The project that a folder belongs to; none where no folder is named."""
    return name_of_project(os.path.abspath(folder)) if folder else ""


def shortened(text: str, letters: int) -> str:
    """As many letters of a text as there is room for."""
    return text if len(text) <= letters else f"{text[: letters - 1]}…"
