"""The kinds of trouble that this installation knows: Whet's own, and those that other packages bring."""

from functools import cache

from whet.doors import TROUBLES, load
from whet.trouble.kinds import TROUBLE_KINDS, KindOfTrouble, kind_named


@cache
def known_troubles() -> tuple[KindOfTrouble, ...]:
    """Whet's own kinds of trouble, then those of other packages; of two with one name the first counts."""
    rows: dict[str, KindOfTrouble] = {}
    for row in (*TROUBLE_KINDS, *load(TROUBLES, KindOfTrouble)):
        rows.setdefault(row.name, row)
    return tuple(rows.values())


def label_of(kind: str) -> str:
    """A kind of trouble as lists name it."""
    return kind_named(kind, known_troubles()).label
