"""Live sessions as the watch sees them: how badly each went, what is measured of those that drew together, the pace."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from whet.evidence.coin_looks import LOOKS
from whet.ledger.entries import Item
from whet.ledger.holding import WorkLocation, holds
from whet.ledger.patches import RuleSituation
from whet.lessons.following import detector_of, was_followed
from whet.sessions.call_effects import Effect
from whet.sessions.transcripts import Purpose, session_id
from whet.store.analyses import analysis_of
from whet.store.canary_counts import CountedUnit
from whet.store.database import Database
from whet.store.derived import KEPT, Derived, whose
from whet.store.recording import SOURCE
from whet.store.rows import Session, SessionFacts, decoded_or_none
from whet.store.sessions import load, stored
from whet.store.troubles import trouble_of_session
from whet.telling.targets.known_projects import KnownProjects
from whet.trials.canaries import loss_of
from whet.trouble.outcomes.view import gather
from whet.trouble.values import SessionTrouble

SETTLED_SECONDS = 3600.0
"""A session that nobody has touched for so long is taken for finished."""

LIVE = (Purpose.CHAT.value, Purpose.JOB.value)
DAYS, DAY_SECONDS = 28, 86_400
MOST_READ, LEAST_READ = 60, 10
ENOUGH = LOOKS[2]
"""After so many sessions in its situation a rule that spares most failures is known to (evidence.coin_looks)."""


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


class DrawnUnit(NamedTuple):
    """What drew together, whether it was told, and the sessions in it."""

    unit: str
    told: bool
    sessions: tuple[Live, ...]


def measure(database: Database, situation: RuleSituation, drawn: DrawnUnit) -> CountedUnit:
    """A unit as it is counted. Its record is read for a rule with a situation only."""
    group = drawn.sessions
    loss = sum(each.loss for each in group) / len(group)
    ids = tuple(session_id(each.source, each.native_id) for each in group)
    counted = CountedUnit(drawn.unit, drawn.told, loss, len(group), ids=ids)
    wanted = ids if situation != RuleSituation() else ()
    measured = [each for id in wanted if (each := _measured(database, situation, id)) is not None]
    if not measured:
        return counted
    failed, corrected, unchecked, tokens = zip(*measured, strict=True)
    known = [each for each in failed if each is not None]
    return counted._replace(
        failed=any(known) if known else None,
        corrected=any(corrected),
        unchecked=any(unchecked),
        tokens=sum(tokens) or None,
    )


def _measured(database: Database, situation: RuleSituation, id: str) -> tuple[bool | None, bool, bool, int] | None:
    """Whether a session failed in the situation, a person stepped in, and a change went unchecked; its tokens."""
    session = stored(database, id)
    analysis = analysis_of(database, session) if session is not None else None
    if session is None or analysis is None:
        return None
    view = gather(load(database, session))
    followed, trouble = was_followed(situation, view), trouble_of_session(database, session)
    effects = {step.effect for step in view.steps}
    return (
        None if followed is None else not followed,
        trouble is not None and trouble.times_stepped_in > 0,
        Effect.CHANGES in effects and Effect.CHECKS not in effects,
        session.input_tokens + session.output_tokens - analysis.copied.tokens,
    )


def days_until_known(database: Database, rules: Sequence[Item], *, by_day: bool = False, now: float) -> int | None:
    """In about how many days enough sessions will have come into a situation of the rules; None where nothing tells.

    Where a file is drawn for by the day, all sessions of a day count as one.
    """
    rules = [rule for rule in rules if detector_of(rule.situation)]
    if not rules:
        return None
    projects = KnownProjects(database)
    recent = live_sessions(database, since=now - DAYS * DAY_SECONDS)
    meant = [each for each in recent if holds(rules[0].scope, where_of(each, projects.identity(each.folder)))]
    read = [DrawnUnit("", False, (each,)) for each in meant[-max(LEAST_READ, MOST_READ // len(rules)) :]]
    came_up = sum(any(measure(database, one.situation, each).failed is not None for one in rules) for each in read)
    if not came_up:
        return None
    a_day = came_up * len(meant) / len(read) / days_seen(meant[0].dated, now=now)
    return math.ceil(ENOUGH / (min(a_day, 1.0) if by_day else a_day))


def days_seen(first: float, *, now: float) -> float:
    """Over how many days sessions are known: who began yesterday has not had four weeks of few."""
    return min(DAYS, max(1.0, (now - first) / DAY_SECONDS))
