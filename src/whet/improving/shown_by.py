"""Which sessions show what a rule of the catalogue was proposed for."""

from collections.abc import Callable, Iterable
from functools import partial

from whet.failures.analysis import Analysis
from whet.failures.lessons import RecurringFailure, shows
from whet.ledger.patches import Patch
from whet.shipped.guidance.rules import catalogue
from whet.store.analyses import judged
from whet.store.database import Database
from whet.store.listing import Filters
from whet.told.remedies import calls_for


def sessions_showing(database: Database, lessons: Iterable[RecurringFailure], patch: Patch) -> frozenset[str]:
    """The sessions that a change of the catalogue was learned from, found again; of any other, those that it quotes.

    It was proposed for one failure that recurs, or for all that the catalogue has it for: which of the two, the number
    of sessions says that its origin states.
    """
    quoted = frozenset(proof.session for proof in patch.proofs)
    stated = patch.origin.counts
    remedy = next((each for each in catalogue() if each.name == patch.name), None)
    if remedy is None or not stated.among:
        return quoted
    places = {(proof.session, proof.message) for proof in patch.proofs}
    about = [each for each in lessons if places & {(seen.session, seen.message) for seen in each.examples}]
    readings: list[Callable[[Analysis], bool]] = [partial(calls_for, remedy), *(partial(shows, each) for each in about)]
    found: list[set[str]] = [set() for _ in readings]
    for one in judged(database, Filters()):
        for is_shown, sessions in zip(readings, found, strict=True):
            if is_shown(one.analysis):
                sessions.add(one.analysis.session)
    return quoted | min(found, key=lambda sessions: abs(len(sessions) - stated.sessions))
