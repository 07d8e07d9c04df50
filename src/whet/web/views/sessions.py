"""The sessions behind any number: what each cost, what of it bought nothing, and how often somebody stepped in."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import NamedTuple

from whet.ledger.folding import fold
from whet.ledger.patches import Form
from whet.lessons.following import SeenRule
from whet.sessions.transcripts import Purpose
from whet.sessions.worktrees import is_temporary
from whet.store.attempts import attempts_of
from whet.store.canary_counts import counted
from whet.store.left_out import left_out
from whet.store.recording import sessions_with
from whet.store.session_facts import state_of_sessions
from whet.text.showing import shown
from whet.text.words import cut, many
from whet.trials.attempts import ARMS, Arm
from whet.trouble.overview import duration
from whet.trouble.rollups import by_week
from whet.web.cache import PageRequest, SeenTrouble
from whet.web.html import Child
from whet.web.layout import FramedView, framed
from whet.web.site import (
    Column,
    PageFilter,
    code,
    dollars,
    empty,
    listing,
    no_sessions,
    number,
    number_of,
    reading,
    section,
    table,
    when,
)


class Narrowing(NamedTuple):
    """Sessions with something in common: in words, with the value of the address in them, and which they are."""

    words: str
    holds: Callable[[str, SeenTrouble], bool]


COUNTED = {
    "week": Narrowing("of {}", lambda value, each: value == by_week(each.trouble)),
    "model": Narrowing("of {}", lambda value, each: value == (each.fact.model or "unknown")),
    "purpose": Narrowing("whose purpose is {}", lambda value, each: value == each.fact.purpose),
    "stepped": Narrowing("in which somebody stepped in", lambda _, each: bool(each.trouble.times_stepped_in)),
}
# Those that count in no number, or of which little is known.
UNCOUNTED = {
    "trials": Narrowing(
        "attempts of trials, which are experiments", lambda _, each: each.fact.purpose == Purpose.TRIAL.value
    ),
    "copies": Narrowing("copies of another session", lambda _, each: each.fact.copied),
    "hidden": Narrowing(
        "in temporary folders, hidden unless asked for",
        lambda _, each: each.fact.counts and is_temporary(each.fact.folder),
    ),
    "nowhere": Narrowing("in no folder", lambda _, each: each.fact.counts and not each.fact.folder),
    "unpriced": Narrowing("whose cost is not known", lambda _, each: each.fact.counts and each.fact.dollars is None),
    "untimed": Narrowing(
        "without times on record, whose lost minutes are not known",
        lambda _, each: each.fact.counts and not each.trouble.is_timed,
    ),
}
NARROWINGS = {**COUNTED, **UNCOUNTED}
BEHIND = {
    "lesson": "that teach this lesson",
    "trial": "of this trial",
    "canary": "counted for this rule",
    "template": "that began with this template",
    "rule": "of the rule {}",
}


class FaredGroup(NamedTuple):
    """Sessions since a rule is in force, by what became of it there."""

    words: str
    holds: Callable[[SeenRule], bool]


FARED = {
    "since": FaredGroup("sessions since", lambda _: True),
    "situation": FaredGroup("in its situation", lambda each: each.followed is not None),
    "told": FaredGroup("told there", lambda each: each.followed is not None and each.told is True),
    "unknown": FaredGroup("told is unknown", lambda each: each.followed is not None and each.told is None),
    "followed": FaredGroup("followed there", lambda each: each.followed is True),
    "not-followed": FaredGroup("not followed there", lambda each: each.followed is False),
    "told-not-followed": FaredGroup("told and not followed", lambda each: each.told is True and each.followed is False),
    "reminded": FaredGroup("reminded", lambda each: each.followed is not None and each.is_reminded),
}


def show(ask: PageRequest) -> FramedView:
    """The sessions behind a number, the latest first or in the order of a heading."""
    site, known = ask.site, (*NARROWINGS, *BEHIND, "arm", "fared", "sort", "start")
    asked = {name: ask.given[name] for name in known if ask.given.get(name)}
    if "lesson" in asked and not ask.learned[1]:
        return framed("sessions", reading())._replace(is_live=True)
    facts = ask.spent if "purpose" in asked else ask.looked.facts
    behind = next((name for name in BEHIND if name in asked), "")
    if behind or not asked.keys().isdisjoint(UNCOUNTED):
        facts = tuple(fact for fact in ask.looked.everything if ask.fits(fact))
    if behind:
        ids = _behind(ask, behind, asked)
        facts = tuple(fact for fact in facts if fact.id in ids)
    seen = (SeenTrouble(fact, ask.looked.trouble(fact)) for fact in facts)
    rows = [(NARROWINGS[name], value) for name, value in asked.items() if name in NARROWINGS]
    found = [each for each in seen if all(row.holds(value, each) for row, value in rows)]
    words = _words(asked, behind)
    if not found and not words:
        return framed("sessions", no_sessions(site, "sessions", ask.looked.choices.hidden), _unseen(ask))
    if not found:
        every = site._replace(filter=PageFilter()).link("Show all sessions", "sessions")
        return framed("sessions", empty(f"No session matches: none {words}. ", every, "."))
    ordered = sorted(found, key=lambda each: (-each.fact.at, -each.fact.no))
    several = len({each.fact.source for each in found}) > 1  # one agent alone is said by the filter
    columns = [each for each in _columns(ask) if several or each.heading != "agent"]
    caption = f"{many(len(found), 'session')} {words}".rstrip()
    listed = listing(site, "sessions", ordered, columns, caption=caption, asked=asked)
    return framed("sessions", listed, None if words else _unseen(ask))


def _words(asked: Mapping[str, str], behind: str) -> str:
    """What the sessions have in common."""
    words = [NARROWINGS[name].words.format(value) for name, value in asked.items() if name in NARROWINGS]
    if behind:
        words.append(BEHIND[behind].format(shown(asked[behind])))
    arm, fared = asked.get("arm", ""), asked.get("fared", "")
    which = ARMS[Arm(arm)] if arm in set(Arm) else FARED[fared].words if fared in FARED else ""
    return " ".join(words) + (f", {which}" if words and which else "")


def _behind(ask: PageRequest, behind: str, asked: Mapping[str, str]) -> frozenset[str]:
    """The ids of the sessions of a lesson, a trial, a canary, a rule or a template."""
    value, arm = asked[behind], asked.get("arm", "")
    if behind == "lesson":
        taught = (each for each in ask.learned[0].lessons if each.id == value)
        return frozenset(piece.session for each in taught for piece in each.evidence.pieces)
    if behind == "trial":
        return frozenset(each.session for each in attempts_of(ask.database, value) if arm in ("", each.arm.value))
    if behind == "canary":
        units = counted(ask.database, number_of(value))
        told = {"": (True, False), Arm.CANDIDATE: (True,), Arm.BASE: (False,)}.get(arm, ())
        return frozenset(id for unit in units if unit.told in told for id in unit.ids)
    if behind == "rule":
        rule, fared = fold(ask.entries).get(Form.RULE, value), FARED.get(asked.get("fared", ""), FARED["situation"])
        seen = ask.cache.seen(rule).wait(state_of_sessions(ask.database)) if rule else ()
        return frozenset(each.session for each in seen if fared.holds(each))
    return sessions_with(ask.database, value)


def _unseen(ask: PageRequest) -> Child:
    """What Whet does not see, or sees little of: sessions that no number counts, and files that imports left out."""
    files = left_out(ask.database)
    seen = [SeenTrouble(fact, ask.looked.trouble(fact)) for fact in ask.looked.everything]
    rows: list[tuple[str, Child]] = [
        (group.words, ask.site.everywhere.counted(held, **{name: "1"}))
        for name, group in UNCOUNTED.items()
        if (held := sum(group.holds("", each) for each in seen))
    ]
    reasons = Counter[str]()
    for each in files:
        reasons[f"files left out, {each.source or 'unknown'}: {shown(each.reason)}"] += each.number
    rows += [(words, f"{times:,}") for words, times in reasons.most_common()]
    columns: list[Column[tuple[str, Child]]] = [Column("what", itemgetter(0)), number("number", itemgetter(1))]
    again = ("Files are named by ", code("whet import --dry-run PATH"), ".") if files else None
    return section("What Whet does not see", table(rows, columns, caption="By reason"), again) if rows else None


def _columns(ask: PageRequest) -> Iterator[Column[SeenTrouble]]:
    site = ask.site

    def lost(each: SeenTrouble) -> Child:
        worst, words = each.trouble.dearest, duration(each.trouble.lost_seconds)
        if not each.trouble.is_timed:
            return "–"
        return site.session(each.fact.id, words, message=worst.first) if worst else words

    def time(each: SeenTrouble) -> str:
        return duration(each.trouble.agent_seconds) if each.trouble.is_timed else "–"

    def stepped(each: SeenTrouble) -> int:
        return each.trouble.times_stepped_in

    yield Column("session", lambda each: site.session(each.fact.id, cut(each.fact.title, 70) or each.fact.id[:12]))
    yield Column("agent", lambda each: each.fact.source)
    yield Column("project", lambda each: site.projects.short(ask.cache.project(each.fact.folder)))
    yield Column("when", lambda each: when(each.fact.at), sort="when", most=lambda each: each.fact.at)
    yield number("cost", lambda each: dollars(each.fact.dollars), "cost", lambda each: each.fact.dollars or 0.0)
    yield number("agent time", time, "time", lambda each: each.trouble.agent_seconds)
    yield number("bought nothing", lost, "lost", lambda each: each.trouble.lost_seconds)
    yield number("stepped in", lambda each: f"{stepped(each):,}", "stepped", stepped)
