"""Live sessions as the watch sees them: what people and jobs had, and how badly each went."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from whet.ledger.holding import WorkLocation
from whet.sessions.transcripts import Purpose
from whet.store.database import Database
from whet.store.derived import KEPT, Derived, whose
from whet.store.recording import SOURCE
from whet.store.rows import Session, SessionFacts, decoded_or_none
from whet.trials.canaries import loss_of
from whet.trouble.values import SessionTrouble

SETTLED_SECONDS = 3600.0
"""A session that nobody has touched for so long is taken for finished."""

LIVE = (Purpose.CHAT.value, Purpose.JOB.value)


class Live(NamedTuple):
    """A session as the watch sees it."""

    source: str
    native_id: str
    folder: str
    model: str
    started: float
    dated: float
    facts: SessionFacts
    loss: float


def live_sessions(database: Database, *, since: float) -> list[Live]:
    """The sessions that were analysed and touched since then, the oldest first.

    A mere copy of another session, and one in which the agent neither did nor said anything, is not among them.
    """
    rows = database.query(
        "SELECT s.source, s.native_id, s.folder, s.model, coalesce(s.started, s.dated), s.dated, s.facts,"
        f" d.record {KEPT} WHERE s.dated >= ? AND s.purpose IN (?, ?) AND s.message_count > 0 AND d.counts = 1"
        " ORDER BY s.dated, s.no",
        (*whose(database, Derived.TROUBLE), since, *LIVE),
    )
    found: list[Live] = []
    for source, native_id, folder, model, started, dated, facts, record in rows:
        kept = msgspec.json.decode(facts, type=SessionFacts)
        trouble = decoded_or_none(record, SessionTrouble)
        loss = loss_of(trouble, kept.checks) if trouble is not None else None
        if loss is not None:
            found.append(Live(source, native_id, folder, model, started, dated, kept, loss))
    return found


def where_of(session: Live | Session, project: str | None) -> WorkLocation:
    """Where a session was at work, as far as its record says. Whether somebody sat there is not on record."""
    return WorkLocation(project, session.model or None, tools=session.facts.tools or None, folder=session.folder)


def settled_by_draw(sessions: Iterable[Live], *, settled: float) -> dict[str, list[Live]]:
    """Sessions of Whet's own agent by their lot, with all that goes on from each, the first that settled first.

    One that was touched after `settled` may still go on, and is not among them.
    """
    groups: dict[str, list[Live]] = {}
    for session in sessions:
        if session.source == SOURCE and session.facts.draw_id:
            groups.setdefault(session.facts.draw_id, []).append(session)
    last = {draw_id: max(each.dated for each in group) for draw_id, group in groups.items()}
    return {draw_id: groups[draw_id] for draw_id in sorted(last, key=lambda one: last[one]) if last[draw_id] <= settled}
