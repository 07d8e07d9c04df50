"""Units that drew for a canary, measured once as they are counted: their loss, the rule's own failure, the guards."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from whet.improving.live_sessions import Live
from whet.ledger.patches import RuleSituation
from whet.lessons.following import was_followed
from whet.outcomes.view import SessionView, gather
from whet.sessions.call_effects import Effect
from whet.sessions.transcripts import session_id
from whet.store.analyses import analysis_of
from whet.store.canary_counts import CountedUnit
from whet.store.database import Database
from whet.store.sessions import load, stored
from whet.store.troubles import trouble_of_session


class DrawnUnit(NamedTuple):
    """What drew together, whether it was told, and the sessions in it."""

    unit: str
    told: bool
    sessions: tuple[Live, ...]


class _MeasuredSession(NamedTuple):
    """What was measured of one session."""

    failed: bool | None
    corrected: bool
    unchecked: bool
    tokens: int


def measure(database: Database, situation: RuleSituation, drawn: DrawnUnit) -> CountedUnit:
    """A unit as it is counted. Its record is read for a rule with a situation only."""
    group = drawn.sessions
    loss = sum(each.loss for each in group) / len(group)
    ids = tuple(session_id(each.source, each.native_id) for each in group)
    counted = CountedUnit(drawn.unit, drawn.told, loss, len(group), ids=ids)
    if situation == RuleSituation():
        return counted
    found = [each for each in (_measured(database, situation, one) for one in group) if each is not None]
    if not found:
        return counted
    tokens = sum(each.tokens for each in found)
    return counted._replace(
        failed=_any_known(each.failed for each in found),
        corrected=any(each.corrected for each in found),
        unchecked=any(each.unchecked for each in found),
        tokens=tokens or None,
    )


def _measured(database: Database, situation: RuleSituation, live: Live) -> _MeasuredSession | None:
    session = stored(database, session_id(live.source, live.native_id))
    analysis = analysis_of(database, session) if session is not None else None
    if session is None or analysis is None:
        return None
    view = gather(load(database, session))
    followed = was_followed(situation, view)
    trouble = trouble_of_session(database, session)
    return _MeasuredSession(
        failed=None if followed is None else not followed,
        corrected=trouble is not None and trouble.times_stepped_in > 0,
        unchecked=_is_unchecked(view),
        tokens=session.input_tokens + session.output_tokens - analysis.copied.tokens,
    )


def _is_unchecked(view: SessionView) -> bool:
    """Whether something was changed and no check was run."""
    effects: Sequence[Effect] = [step.effect for step in view.steps]
    return Effect.CHANGES in effects and Effect.CHECKS not in effects


def _any_known(failed: Iterable[bool | None]) -> bool | None:
    known = [each for each in failed if each is not None]
    return any(known) if known else None
