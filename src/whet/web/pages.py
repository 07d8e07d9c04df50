"""Which view answers at which address, and what it is made from."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from whet.errors import WhetError
from whet.evidence.error_budget import alpha_for
from whet.improving.auditing import audit_with_sessions
from whet.improving.learned import LearnedOfAll, decided_anew, waiting_lessons
from whet.improving.watch import live_lessons
from whet.ledger.entries import Entry
from whet.ledger.folding import fold, grounds_of, seen_from
from whet.ledger.patches import Form
from whet.ledger.traces import Move, move_of
from whet.lessons.following import count_following
from whet.proving.past_trials import past_trials
from whet.sessions.transcripts import OWN_PURPOSES
from whet.store.analyses import analysis_of
from whet.store.canary_counts import counted
from whet.store.forgotten import left_out
from whet.store.ledger import ledger_of
from whet.store.listing import find
from whet.store.records import all_progress, attempts_of
from whet.store.session_facts import SessionFact, state_of_sessions
from whet.store.sessions import load
from whet.store.template_files import usable, uses, worths
from whet.store.troubles import trouble_of_session
from whet.telling.context.auditing import audit_folder
from whet.telling.targets.known_projects import short_name
from whet.text.words import cut, many
from whet.trials.design import TrialProgress
from whet.trouble.values import Intervention
from whet.web.asking import PageRequest, behind, learned
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView
from whet.web.site import TROUBLE, VIEWS, PageView, code, empty, known_by, number_of, reading
from whet.web.views.coverage import Covered, coverage
from whet.web.views.entries import waiting
from whet.web.views.files import files
from whet.web.views.lessons import lessons
from whet.web.views.live import ShownCanary, live, templates
from whet.web.views.money import OPEN, ShownWork, shown_work, work
from whet.web.views.overview import BesideSessions, overview
from whet.web.views.rules import ShownRule, rule, rules
from whet.web.views.session import ShownSession, session
from whet.web.views.sessions import Narrowed, SeenSessions, sessions
from whet.web.views.trials import ShownTrial, honesty, trial, trials
from whet.web.views.trouble import ChosenTrouble, SaidIn, SeenTrouble, trouble

OF = {view.name: view for view in VIEWS}
QUIET = ("begun", "abandoned")
MOVING_SECONDS = 3600.0  # a trial that has not moved for so long was given up


Page = Callable[[PageRequest], FramedView]


def show_overview(ask: PageRequest) -> FramedView:
    looked = ask.looked
    fits, project = ask.site.filter.fits, ask.cache.project
    persons = (fact for fact in looked.everything if fact.copied and fact.purpose not in OWN_PURPOSES)
    copies = sum(fits(fact, project(fact.folder)) for fact in persons)
    around = BesideSessions(ask.entries, project, ask.waiting, looked.choices.hidden, copies, _said(ask))
    return _framed("overview", overview(ask.site, _troubles(ask), around))


def _troubles(ask: PageRequest) -> list[SeenTrouble]:
    return [SeenTrouble(fact, ask.looked.trouble(fact)) for fact in ask.looked.facts]


def _said(ask: PageRequest) -> SaidIn:
    """What people said when they stepped in, read for the sessions that a view lists."""

    @cache
    def said(id: str) -> tuple[Intervention, ...]:
        found = trouble_of_session(ask.database, find(ask.database, id)) if ask.with_texts else None
        return found.interventions if found else ()

    return lambda fact: said(fact.id)


def show_trouble(ask: PageRequest) -> FramedView:
    chosen = ChosenTrouble(**{name: ask.given[name] for name in ChosenTrouble._fields if name in ask.given})
    body = trouble(ask.site, _troubles(ask), chosen, said=_said(ask), hidden=ask.looked.choices.hidden)
    return FramedView(TROUBLE, TROUBLE.title, body)


def show_sessions(ask: PageRequest) -> FramedView:
    narrowed = Narrowed(**{name: ask.given[name] for name in Narrowed._fields if name in ask.given})
    if narrowed.lesson and not learned(ask)[1]:
        return _framed("sessions", reading())._replace(is_live=True)
    ids = behind(ask, narrowed)
    facts: Sequence[SessionFact] = ask.looked.facts
    if ids is not None or narrowed.group:
        fits, project = ask.site.filter.fits, ask.cache.project
        known = (fact for fact in ask.looked.everything if ids is None or fact.id in ids)
        facts = [fact for fact in known if fits(fact, project(fact.folder))]
    elif narrowed.purpose:
        facts = ask.spent
    every = [SeenTrouble(fact, ask.looked.trouble(fact)) for fact in facts]
    seen = SeenSessions(every, ask.cache.project, ask.looked.choices.hidden)
    unseen = _unseen(ask) if narrowed == Narrowed() else None
    return _framed("sessions", h("div", {}, sessions(ask.site, seen, narrowed), unseen))


def show_session(ask: PageRequest) -> FramedView:
    stored = find(ask.database, ask.part)
    fact = next((each for each in ask.looked.everything if each.id == stored.id), None)
    analysis = analysis_of(ask.database, stored)
    seen = ShownSession(
        stored,
        load(ask.database, stored),
        trouble_of_session(ask.database, stored),
        ask.cache.project(stored.folder),
        fact.dollars if fact else None,
        analysis.copied.tokens if analysis else 0,
    )
    body = session(ask.site, seen, start=number_of(ask.given.get("start", "")))
    view = PageView("sessions", "Session", "What happened, and what bought nothing?")
    return FramedView(view, cut(stored.title, 160) or stored.id[:12], body)


def show_lessons(ask: PageRequest) -> FramedView:
    found, is_current = learned(ask)
    agents = {fact.id: fact.source for fact in ask.looked.everything}
    # What waits for a decision is its owner's own business.
    wait = () if ask.site.is_file else waiting_lessons(ask.cache.home, ask.database, now=ask.now)
    told = rules(ask.site, ledger_of(ask.cache.home, ask.database).state(), ask.entries)
    taught = lessons(ask.site, _with_decisions(ask, found), is_current=is_current) if ask.with_texts else _untold(found)
    return _framed("lessons", h("div", {}, waiting(ask.site, wait, agents), taught, told))._replace(
        is_live=not is_current
    )


def _untold(found: LearnedOfAll) -> Element:
    """What stands in the place of lessons, which quote sessions."""
    said = f"{many(len(found.lessons), 'lesson')} of these sessions, with their quotes, are left out of this file: "
    return empty(said, code("whet page --export FILE.html --texts"), " puts them in.")


def _with_decisions(ask: PageRequest, found: LearnedOfAll) -> LearnedOfAll:
    """What was learned a while ago, with what was decided since."""
    return found._replace(lessons=decided_anew(ask.cache.home, ask.database, found.lessons))


def show_files(ask: PageRequest) -> FramedView:
    """The files of the chosen project, or of the only one with a folder on this machine, as sessions show them too."""
    folders = {fact.folder: ask.cache.project(fact.folder) for fact in ask.looked.everything if fact.folder}
    there = {folder: name for folder, name in folders.items() if name and os.path.isdir(folder)}
    projects = sorted(set(there.values()))
    project = ask.site.filter.project or (projects[0] if len(projects) == 1 else "")
    folder = next((folder for folder, name in reversed(there.items()) if project and name == project), "")
    audit = audit_with_sessions(ask.database, audit_folder(Path(folder)), now=ask.now) if folder else None
    return _framed("files", files(ask.site, audit, projects))


def show_rule(ask: PageRequest) -> FramedView:
    form, _, name = ask.part.partition(":")
    entries = ask.entries
    item = next((each for each in fold(entries).items if each.form == form and each.name == name), None)
    history = [
        (entry, move(entries, entry))
        for entry in entries
        if entry.patch.form == form and entry.patch.name == name and entry.step not in QUIET
    ]
    tried = [msgspec.json.decode(entry.verdict, type=TrialProgress) for entry, _ in history if entry.verdict]
    live_ones = live_lessons(ask.cache.home, ask.database) if form == Form.RULE else ()
    watched = [each for each in live_ones if each.patch.name == name]
    fared, is_current = None, True
    if item is not None and item.form is Form.RULE:
        seen, is_current = ask.cache.seen(item).soon(state_of_sessions(ask.database))
        fared, is_current = count_following(seen), is_current and ask.looked.is_current
    grounds = grounds_of(item, entries) if item is not None else ""
    body = rule(ask.site, ShownRule(item, history, tried, watched, fared, is_current, grounds))
    view = PageView("lessons", "Rule or skill", "Does it help, and is it followed?")
    text = item.text if item else history[-1][0].patch.text if history else ""
    return FramedView(view, known_by(short_name(name), text), body, is_live=not is_current)


def show_trials(ask: PageRequest) -> FramedView:
    found = shown_trials(ask)
    moving = any(not each.progress.entry and ask.now - each.changed < MOVING_SECONDS for each in found)
    past = past_trials(ask.cache.home, ask.database)
    canaries = [
        ShownCanary(each, counted(ask.database, each.standing.entry))
        for each in live_lessons(ask.cache.home, ask.database)
    ]
    kept = usable(ask.cache.home.folder)
    drawn = [
        trials(ask.site, found),
        *live(ask.site, canaries),
        templates(ask.site, kept, uses(ask.database), worths(ask.database)),
        honesty(found, past, alpha_for(past)),
    ]
    none = empty("No trial yet, and no rule that is live. ", code("whet try"), " tries what it proposes.")
    body = h("div", {}, drawn if any(drawn) else none)
    return _framed("trials", body)._replace(is_live=moving, is_watched=True)


def show_trial(ask: PageRequest) -> FramedView:
    found = next((each for each in shown_trials(ask) if each.progress.trial == ask.part), None)
    if found is None:
        raise WhetError("There is no such trial.", advice="`whet try` makes trials.")
    attempts = attempts_of(ask.database, ask.part)
    if not found.progress.entry:  # attempts come in between the looks that are kept
        made = max(found.progress.attempts, len(attempts))
        found = found._replace(progress=msgspec.structs.replace(found.progress, attempts=made))
    body = trial(ask.site, found, attempts)
    view = PageView("trials", "Trial", "Can I believe this?")
    return FramedView(view, found.name or ask.part[:12], body, is_live=not found.progress.entry)


def show_work(ask: PageRequest) -> FramedView:
    pieces: list[ShownWork] = []
    missing = ""
    try:
        from whet.work.given import given_orders  # noqa: PLC0415 - background work is an extra and slow to load

        with given_orders(ask.cache.home) as orders:
            pieces = [
                shown_work(each.id, each.state.value, each.queue, each.changed, each.done or each.left, each.error)
                for each in orders.all(limit=50)
            ]
    except WhetError as error:
        missing = f"{error.message} {error.advice}"
    asked = {name: ask.given.get(name, "") for name in ("sort", "start")}
    framed = _framed("work", work(ask.site, ask.spent, pieces, missing, asked, hidden=ask.looked.choices.hidden))
    return framed._replace(is_live=any(each.state in OPEN for each in pieces), is_watched=True)


def _unseen(ask: PageRequest) -> Child:
    [(stored,)] = ask.database.query("SELECT count(*) FROM sessions")
    counted_ones = (fact for fact in ask.looked.everything if fact.counts)
    untimed = sum(not ask.looked.trouble(fact).is_timed for fact in counted_ones)
    seen = Covered(int(stored), ask.looked.everything, left_out(ask.database), untimed)
    return coverage(ask.site, seen)


def menu(ask: PageRequest) -> frozenset[str]:
    """The views that have something to show."""
    entries, home = ask.entries, ask.cache.home.folder
    has_trials = any(each.verdict for each in entries) or any(each.canary for each in fold(entries).items)
    held = {
        "overview": True,
        "lessons": bool(ask.looked.everything or entries),
        "files": any(os.path.isdir(folder) for folder in {fact.folder for fact in ask.looked.everything} if folder),
        "sessions": bool(ask.looked.everything),
        "trials": has_trials or bool(all_progress(ask.database, TrialProgress)) or bool(usable(home)),
        "work": bool(ask.looked.everything),
    }
    return frozenset(name for name, is_filled in held.items() if is_filled)


def shown_trials(ask: PageRequest) -> list[ShownTrial]:
    """All trials, the latest first, each with the name of what it tries where the ledger has it."""
    names = {
        msgspec.json.decode(
            entry.verdict, type=TrialProgress
        ).trial: f"{entry.patch.form} {known_by(entry.patch.name, entry.patch.text)}"
        for entry in ask.entries
        if entry.verdict
    }
    return [
        ShownTrial(progress, names.get(progress.trial, progress.what), changed)
        for progress, changed in all_progress(ask.database, TrialProgress)
    ]


def move(entries: list[Entry], entry: Entry) -> Move:
    """What an entry changed, given all before it."""
    before = fold(each for each in entries if each.number < (entry.begun or entry.number))
    return move_of(seen_from(entry.home, before), entry)


def _framed(name: str, body: Element) -> FramedView:
    return FramedView(OF[name], OF[name].title, body)


PAGES: tuple[tuple[str, Page], ...] = (
    ("/", show_overview),
    ("/trouble", show_trouble),
    ("/sessions", show_sessions),
    ("/session/{part}", show_session),
    ("/lessons", show_lessons),
    ("/files", show_files),
    ("/rule/{part:path}", show_rule),
    ("/trials", show_trials),
    ("/trial/{part:path}", show_trial),
    ("/work", show_work),
)
