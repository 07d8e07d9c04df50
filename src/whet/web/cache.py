"""What views are made from, read from the store and kept while the server runs; what is slow, in the background."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from whet.errors import WhetError
from whet.improving.heeded import seen_rules
from whet.improving.learned import LearnedOfAll, learned
from whet.ledger.entries import Entry, Item
from whet.lessons.following import SeenRule
from whet.sessions.worktrees import is_temporary
from whet.store.analyses import is_behind, refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.session_facts import SessionFact, facts_among, list_prices, state_of_sessions
from whet.store.troubles import session_troubles
from whet.telling.targets.known_projects import KnownProjects
from whet.trouble.values import SessionTrouble
from whet.web.layout import Choices
from whet.web.site import NO_PROJECT, PageFilter, PageLinks, ProjectNaming

Made = TypeVar("Made")
A_MOMENT_SECONDS = 0.3


class Slow(Generic[Made]):
    """A value that takes long to make: made in the background once for each state, the last one shown meanwhile."""

    def __init__(self, make: Callable[[], Made], first: Made) -> None:
        self._make, self._value = make, first
        self._state: str | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def get(self, state: str, *, patience: float = 0.0) -> tuple[Made, bool]:
        """The newest value, and whether it is that of this state; if not, it is being made, and waited for so long.

        Given a moment, it is there at once where there are few sessions, and nothing has to be shown meanwhile.
        """
        with self._lock:
            if self._state == state:
                return self._value, True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, args=(state,), daemon=True)
                self._thread.start()
            thread = self._thread
        if not patience:
            return self._value, False
        thread.join(patience)
        return self.get(state)

    def wait(self, state: str) -> Made:
        """The value of this state, however long it takes."""
        while True:
            value, is_current = self.get(state, patience=threading.TIMEOUT_MAX)
            if is_current:
                return value

    def settle(self, state: str, make: Callable[[], Made | None]) -> None:
        """Take for the value of this state what is quick to find out, if anything is."""
        with self._lock:
            is_open = self._state != state and self._thread is None
        if is_open and (found := make()) is not None:
            with self._lock:
                self._value, self._state = found, state

    def _work(self, state: str) -> None:
        value, done = self._value, None
        try:
            with contextlib.suppress(WhetError):  # what was there before is still shown then
                value = self._make()
            done = state
        finally:
            with self._lock:
                self._value, self._state, self._thread = value, done, None


class SeenTrouble(NamedTuple):
    """A session that is looked at, and its trouble."""

    fact: SessionFact
    trouble: SessionTrouble


class FilteredSessions(NamedTuple):
    """The sessions that a filter lets through, with what the filters offer, and the trouble of every session by id."""

    facts: tuple[SessionFact, ...]
    everything: tuple[SessionFact, ...]
    choices: Choices
    is_current: bool
    troubles: Mapping[str, SessionTrouble]

    def trouble(self, fact: SessionFact) -> SessionTrouble:
        """The trouble of a session; what is not counted, such as an attempt of a trial, has none."""
        return self.troubles.get(fact.id) or SessionTrouble(fact.id)


class PageCache:
    """The facts of all sessions and the lessons, for one home."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.lessons: Slow[LearnedOfAll] = Slow(self._learn, LearnedOfAll())
        self._analysed: Slow[int] = Slow(self._analyse, 0)
        self._facts: tuple[SessionFact, ...] = ()
        self._state = ""
        self._fared: dict[int, Slow[tuple[SeenRule, ...]]] = {}
        self._projects: KnownProjects | None = None
        self._troubles: dict[str, SessionTrouble] = {}
        self._price = list_prices(home)
        self._lock = threading.Lock()

    def project(self, folder: str) -> str:
        """The project of a folder, as of the last look."""
        return self._projects.identity(folder) if self._projects else ""

    def naming(self) -> ProjectNaming:
        """How people read the names of projects, as of the last look."""
        return ProjectNaming(self._projects.shown, self._projects.short) if self._projects else ProjectNaming()

    def look(self, database: Database, chosen: PageFilter) -> FilteredSessions:
        """The facts as they are now. New sessions are analysed in the background, and are among them afterwards."""
        sessions, state = _sessions(database), state_of_sessions(database)
        self._analysed.settle(sessions, lambda: None if is_behind(database) else 0)
        _, is_current = self._analysed.get(sessions)
        state = f"{state}/{is_current}"  # checks that were learned meanwhile may change what trouble there is
        with self._lock:
            if state != self._state:
                self._facts, self._state = tuple(facts_among(database, Filters(), self._price)), state
                self._projects = KnownProjects(database)
                found = (each.trouble for each in session_troubles(database, Filters()))
                self._troubles = {trouble.session: trouble for trouble in found}
            everything, troubles = self._facts, self._troubles
        counted = [fact for fact in everything if fact.counts]
        folders = {folder: self.project(folder) for folder in {fact.folder for fact in counted}}
        hidden = {folder for folder in folders if is_temporary(folder)}
        shown = (name for folder, name in folders.items() if chosen.temporary or folder not in hidden)
        every = chosen._replace(temporary=True)
        choices = Choices(
            tuple(sorted({name or NO_PROJECT for name in shown})),
            tuple(sorted({fact.source for fact in counted})),
            sum(fact.folder in hidden and every.fits(fact, folders[fact.folder]) for fact in counted),
        )
        held = {folder for folder, name in folders.items() if chosen.holds(folder, name)}
        facts = tuple(fact for fact in counted if fact.folder in held and chosen.agent in ("", fact.source))
        return FilteredSessions(facts, everything, choices, is_current, troubles)

    def seen(self, rule: Item) -> Slow[tuple[SeenRule, ...]]:
        """What became of a rule in each session since it is in force."""
        with self._lock:
            return self._fared.setdefault(rule.number, Slow(lambda: self._look_for(rule), ()))

    def _look_for(self, rule: Item) -> tuple[SeenRule, ...]:
        with opened(self.home) as database:
            return seen_rules(self.home, database, [rule])[rule.name]

    def _analyse(self) -> int:
        with opened(self.home) as database:
            return refresh(database, progress=lambda _: None, processors=1)

    def _learn(self) -> LearnedOfAll:
        with opened(self.home) as database:
            return learned(self.home, database)


def _sessions(database: Database) -> str:
    sql = "SELECT count(*), coalesce(max(no), 0), coalesce(sum(message_count), 0) FROM sessions"
    return "/".join(str(value) for value in database.query(sql)[0])


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

    def fits(self, fact: SessionFact) -> bool:
        """Whether the filters of the page let a session through."""
        return self.site.filter.fits(fact, self.cache.project(fact.folder))

    @property
    def spent(self) -> tuple[SessionFact, ...]:
        """The sessions that cost something: those of trials too, and no copies."""
        return tuple(fact for fact in self.looked.everything if not fact.copied and self.fits(fact))

    @property
    def seen(self) -> list[SeenTrouble]:
        """The sessions that are looked at, with their trouble."""
        return [SeenTrouble(fact, self.looked.trouble(fact)) for fact in self.looked.facts]

    @property
    def learned(self) -> tuple[LearnedOfAll, bool]:
        """What all sessions teach, and whether all of them were read for it."""
        found, is_current = self.cache.lessons.get(state_of_sessions(self.database))
        return found, is_current and self.looked.is_current
