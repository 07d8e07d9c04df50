"""The kinds of trouble that this installation knows."""

from functools import cache

from whet.doors import TROUBLES, load
from whet.failures.kinds import KINDS, KindOfTrouble
from whet.failures.signals import Signal
from whet.failures.view import SessionView


@cache
def known_kinds() -> tuple[KindOfTrouble[SessionView, Signal], ...]:
    """Whet's own kinds, then those of other packages; of two with one name the first counts."""
    rows: dict[str, KindOfTrouble[SessionView, Signal]] = {}
    for row in (*KINDS, *load(TROUBLES, KindOfTrouble)):
        rows.setdefault(row.name, row)
    return tuple(rows.values())
