"""What a view is asked for, and the sessions behind a number that it shows."""

from typing import NamedTuple

from whet.improving.learned import LearnedOfAll
from whet.ledger.entries import Entry
from whet.ledger.folding import fold
from whet.ledger.patches import Form
from whet.lessons.following import FollowingCount, is_among
from whet.store.canary_counts import counted
from whet.store.database import Database
from whet.store.ledger import ledger_of
from whet.store.records import attempts_of
from whet.store.session_facts import SessionFact, state_of_sessions
from whet.store.template_files import sessions_with, usable
from whet.web.cache import FilteredSessions, PageCache
from whet.web.site import PageLinks, number_of
from whet.web.views.lessons import sessions_behind
from whet.web.views.live import is_meant
from whet.web.views.sessions import Narrowed


class PageRequest(NamedTuple):
    """One look at a view: the store, what the filters let through, and what the address says."""

    site: PageLinks
    database: Database
    cache: PageCache
    looked: FilteredSessions
    part: str
    given: dict[str, str]
    now: float
    waiting: int = 0
    with_texts: bool = True  # what people and agents said may be shown

    @property
    def entries(self) -> list[Entry]:
        """The entries that count in this home."""
        ledger = ledger_of(self.cache.home, self.database)
        return [entry for entry in ledger.entries() if entry.home in ("", ledger.home)]

    @property
    def spent(self) -> tuple[SessionFact, ...]:
        """The sessions that cost something: those of trials too, and no copies."""
        fits = self.site.filter.fits
        return tuple(f for f in self.looked.everything if not f.copied and fits(f, self.cache.project(f.folder)))


def behind(ask: PageRequest, narrowed: Narrowed) -> frozenset[str] | None:
    """The ids of the sessions of a rule, a lesson, a trial, a canary or a template; None without any."""
    if narrowed.rule:
        return _sessions_of_rule(ask, narrowed)
    if narrowed.lesson:
        return sessions_behind(learned(ask)[0], narrowed.lesson)
    if narrowed.trial:
        made = attempts_of(ask.database, narrowed.trial)
        return frozenset(each.session for each in made if narrowed.arm in ("", each.arm.value))
    if narrowed.canary:
        units = counted(ask.database, number_of(narrowed.canary))
        return frozenset(id for each in units if is_meant(each, narrowed.arm, narrowed.situation) for id in each.ids)
    if narrowed.examples:
        found = (each for each in usable(ask.cache.home.folder) if each.key == narrowed.examples)
        return frozenset(id for each in found for id in each.sessions)
    return sessions_with(ask.database, narrowed.template) if narrowed.template else None


def _sessions_of_rule(ask: PageRequest, narrowed: Narrowed) -> frozenset[str]:
    rule = fold(ask.entries).get(Form.RULE, narrowed.rule)
    seen = ask.cache.seen(rule).wait(state_of_sessions(ask.database)) if rule else ()
    fared = FollowingCount(narrowed.fared) if narrowed.fared in set(FollowingCount) else FollowingCount.SITUATION
    return frozenset(each.session for each in seen if is_among(each, fared))


def learned(ask: PageRequest) -> tuple[LearnedOfAll, bool]:
    """What all sessions teach, and whether all of them were read for it."""
    found, is_current = ask.cache.lessons.get(state_of_sessions(ask.database))
    return found, is_current and ask.looked.is_current
