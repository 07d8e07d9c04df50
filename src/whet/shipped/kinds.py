"""The kinds of trouble that this installation knows: Whet's own, and those that other packages bring."""

from collections.abc import Iterator
from functools import cache, partial

from whet.doors import TROUBLES, load
from whet.failures.environment import Cause
from whet.failures.kinds import KINDS, KindOfTrouble
from whet.failures.signals import Signal
from whet.failures.view import SessionView
from whet.sessions.trust import Trust
from whet.trouble.course import SessionCourse, moves_of
from whet.trouble.kinds import TROUBLE_KINDS, TroubleRow
from whet.trouble.people import events

SURE = 0.9  # whoever brings a kind says that each of its stretches is one


@cache
def known_troubles() -> tuple[TroubleRow, ...]:
    """Whet's own kinds of trouble, then those of other packages; of two with one name the first counts."""
    rows: dict[str, TroubleRow] = {}
    for row in (*TROUBLE_KINDS, *load(TROUBLES, KindOfTrouble)):
        rows.setdefault(row.name, row)
    return tuple(rows.values())


@cache
def known_kinds() -> tuple[KindOfTrouble[SessionView, Signal], ...]:
    """What lessons are counted from: the signals that Whet looks for, and the trouble that other packages bring."""
    return (*KINDS, *(_observed(row) for row in known_troubles() if row not in TROUBLE_KINDS))


def _observed(row: TroubleRow) -> KindOfTrouble[SessionView, Signal]:
    detectors = (partial(_signals, row),)
    return KindOfTrouble(row.name, row.label, row.sentence, row.change, detectors, row.meaning, version=row.version)


def _signals(row: TroubleRow, view: SessionView) -> Iterator[Signal]:
    course = SessionCourse(view, moves_of(view), listen=events)
    for stretch in (each for detect in row.detectors for each in detect(course)):
        quote = stretch.cause or stretch.subject
        yield Signal(row.name, stretch.last, quote, Cause.AGENT, Trust.TOOL, SURE, tool=stretch.subject)
