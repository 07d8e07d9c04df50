"""Which view answers at which address, and what it is made from."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from whet.changes import pending
from whet.improving.watch import standing
from whet.ledger.entries import Entry
from whet.ledger.folding import fold, seen_from
from whet.ledger.patches import Form
from whet.ledger.traces import Move, move_of
from whet.store.analyses import analysis_of
from whet.store.database import Database
from whet.store.ledger import ledger_of
from whet.store.listing import find
from whet.store.session_facts import state_of_sessions
from whet.store.sessions import load
from whet.trials.design import TrialProgress
from whet.web.cache import LookedAt, PageCache
from whet.web.html import Element
from whet.web.layout import Framed
from whet.web.site import VIEWS, PageView, Site, short_name
from whet.web.views.entries import waiting
from whet.web.views.failures import Narrowed, failures, sessions
from whet.web.views.lessons import lessons
from whet.web.views.overview import overview
from whet.web.views.rules import rule, rules
from whet.web.views.session import session

OF = {view.name: view for view in VIEWS}
QUIET = ("begun", "abandoned")


class PageRequest(NamedTuple):
    """One look at a view: the store, what the filters let through, and what the address says."""

    site: Site
    database: Database
    cache: PageCache
    looked: LookedAt
    part: str
    given: dict[str, str]
    now: float
    waiting: int = 0

    @property
    def entries(self) -> list[Entry]:
        """The entries that count in this home."""
        ledger = ledger_of(self.cache.home, self.database)
        return [entry for entry in ledger.entries() if entry.home in ("", ledger.home)]


Page = Callable[[PageRequest], Framed]


def show_overview(ask: PageRequest) -> Framed:
    return _framed("overview", overview(ask.site, ask.looked.facts, ask.entries, ask.waiting))


def show_failures(ask: PageRequest) -> Framed:
    return _framed("failures", failures(ask.site, ask.looked.facts, ask.cache.project))


def show_sessions(ask: PageRequest) -> Framed:
    narrowed = Narrowed(**{name: ask.given[name] for name in Narrowed._fields if name in ask.given})
    return _framed("sessions", sessions(ask.site, ask.looked.facts, narrowed))


def show_session(ask: PageRequest) -> Framed:
    stored = find(ask.database, ask.part)
    start = ask.given.get("start", "")
    body = session(
        ask.site,
        stored,
        load(ask.database, stored),
        analysis_of(ask.database, stored),
        start=int(start) if start.isdecimal() else 0,
    )
    view = PageView("sessions", "Session", "What happened, and where did it go wrong?")
    return Framed(view, stored.title[:200] or stored.id[:12], body)


def show_lessons(ask: PageRequest) -> Framed:
    learned, is_current = ask.cache.lessons.get(state_of_sessions(ask.database))
    body = lessons(ask.site, learned.taught, learned.recurring, is_current=is_current)
    return _framed("lessons", body)._replace(is_live=not is_current)


def show_waiting(ask: PageRequest) -> Framed:
    home = ask.cache.home
    found = [
        (entry, pending.move_for(home, ask.database, entry))
        for entry in pending.pending(home, ask.database, now=ask.now)
    ]
    return _framed("waiting", waiting(ask.site, found))


def show_rules(ask: PageRequest) -> Framed:
    return _framed("rules", rules(ask.site, ledger_of(ask.cache.home, ask.database).state()))


def show_rule(ask: PageRequest) -> Framed:
    form, _, name = ask.part.partition(":")
    entries = ask.entries
    item = next((each for each in fold(entries).items if each.form == form and each.name == name), None)
    history = [
        (entry, move(entries, entry))
        for entry in entries
        if entry.patch.form == form and entry.patch.name == name and entry.step not in QUIET
    ]
    tried = [msgspec.json.decode(entry.verdict, type=TrialProgress) for entry, _ in history if entry.verdict]
    live = [each for each in standing(ask.cache.home, ask.database) if form == Form.RULE and each.name == name]
    body = rule(ask.site, item, history, tried, live)
    view = PageView("rules", "Rule or skill", "Does it help, and is it followed?")
    return Framed(view, short_name(name), body)


def move(entries: list[Entry], entry: Entry) -> Move:
    """What an entry changed, given all before it."""
    before = fold(each for each in entries if each.number < (entry.begun or entry.number))
    return move_of(seen_from(entry.home, before), entry)


def _framed(name: str, body: Element) -> Framed:
    return Framed(OF[name], OF[name].title, body)


PAGES: tuple[tuple[str, Page], ...] = (
    ("/", show_overview),
    ("/failures", show_failures),
    ("/sessions", show_sessions),
    ("/session/{part}", show_session),
    ("/lessons", show_lessons),
    ("/waiting", show_waiting),
    ("/rules", show_rules),
    ("/rule/{part:path}", show_rule),
)
