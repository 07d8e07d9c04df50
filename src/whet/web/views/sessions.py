"""The sessions behind any number: what each cost, what of it bought nothing, and how often somebody stepped in."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from whet.lessons.following import Fared
from whet.store.session_facts import SessionFact
from whet.text.showing import shown
from whet.text.words import cut, many
from whet.trials.attempts import ARMS, Arm
from whet.trouble.overview import duration
from whet.trouble.rollups import week
from whet.trouble.values import SessionTrouble
from whet.web.groups import GROUPS, SITUATIONS
from whet.web.html import Child, Element, h
from whet.web.site import PageFilter, Site, dollars, empty, no_sessions, number_of, table, when

PAGE = 100


class Narrowed(NamedTuple):
    """Which of the sessions are listed, and in which order, as the address says it."""

    week: str = ""
    since: str = ""  # the first of several weeks
    until: str = ""  # and the last
    tool: str = ""
    model: str = ""
    purpose: str = ""
    stepped: str = ""  # somebody stepped in
    untimed: str = ""  # no times are on record
    group: str = ""
    lesson: str = ""
    change: str = ""  # the number of the entry that proposes it
    trial: str = ""
    arm: str = ""
    template: str = ""
    examples: str = ""  # the key of the template whose they are
    canary: str = ""  # the number of its entry
    situation: str = ""  # of what a canary counts: one of `SITUATIONS`
    rule: str = ""
    fared: str = ""
    sort: str = ""  # one of `ORDERS`
    start: str = ""

    def fits(self, fact: SessionFact, trouble: SessionTrouble) -> bool:
        return (
            self.week in ("", week(fact.at))
            and (not self.since or self.since <= week(fact.at))
            and (not self.until or self.until >= week(fact.at))
            and (not self.tool or any(tool.tool == self.tool for tool in fact.tools))
            and self.purpose in ("", fact.purpose)
            and self.model in ("", fact.model or "unknown")
            and (not self.stepped or bool(trouble.times_stepped_in))
            and (not self.untimed or not trouble.is_timed)
            and (not self.group or (self.group in GROUPS and GROUPS[self.group].holds(fact)))
        )

    @property
    def words(self) -> str:
        """What the sessions have in common."""
        parts = (
            self.week and f"of {self.week}",
            self.since and f"since {self.since}",
            self.until and f"until {self.until}",
            self.tool and f"in which {self.tool} was called",
            self.model and f"of {self.model}",
            self.purpose and f"whose purpose is {self.purpose}",
            self.stepped and "in which somebody stepped in",
            self.untimed and "without times on record",
            GROUPS[self.group].words if self.group in GROUPS else "",
            self.lesson and "that teach this lesson",
            self.change and f"with evidence for change {self.change}",
            self.trial and f"of this trial{_of_arm(self.arm)}",
            self.canary and f"counted for this rule{_of_arm(self.arm)}{SITUATIONS.get(self.situation, '')}",
            self.template and "that began with this template",
            self.examples and "that the examples of this template are from",
            self.rule
            and f"{Fared(self.fared).words if self.fared in set(Fared) else 'of the rule'} {shown(self.rule)}",
        )
        return " ".join(filter(None, parts))


def _of_arm(arm: str) -> str:
    return f", {ARMS[Arm(arm)]}" if arm in set(Arm) else ""


class ListedSession(NamedTuple):
    """A session as it is listed."""

    fact: SessionFact
    trouble: SessionTrouble


class SessionOrder(NamedTuple):
    """An order of the list: the heading that asks for it, and what it looks at, the most first."""

    heading: str
    most: Callable[[ListedSession], float]


ORDERS: Mapping[str, SessionOrder] = {
    "when": SessionOrder("when", lambda each: each.fact.at),
    "cost": SessionOrder("cost", lambda each: each.fact.dollars or 0.0),
    "time": SessionOrder("agent time", lambda each: each.trouble.agent_seconds),
    "lost": SessionOrder("bought nothing", lambda each: each.trouble.lost_seconds),
    "stepped": SessionOrder("stepped in", lambda each: each.trouble.times_stepped_in),
}


class SeenSessions(NamedTuple):
    """The sessions that may be listed, how a folder's project is named, and how many are hidden."""

    every: Sequence[ListedSession]
    project: Callable[[str], str]
    hidden: int = 0


def sessions(site: Site, seen: SeenSessions, narrowed: Narrowed) -> Element:
    """The sessions behind a number, the latest first or in the order of a heading."""
    order = ORDERS.get(narrowed.sort, ORDERS["when"])
    fitting = (each for each in seen.every if narrowed.fits(*each))
    found = sorted(fitting, key=lambda each: (-order.most(each), -each.fact.at, -each.fact.no))
    if not found:
        if narrowed == Narrowed():
            return h("div", {}, no_sessions(site, "sessions", seen.hidden))
        every = site._replace(filter=PageFilter()).link("Show all sessions", "sessions")
        return h("div", {}, empty(f"No session matches: none {narrowed.words or 'here'}. ", every, "."))
    start = number_of(narrowed.start)
    several = len({each.fact.source for each in found}) > 1  # one agent alone is said by the filter
    rows = (_row(site, each, seen.project, with_agent=several) for each in found[start : start + PAGE])
    agent = ("agent",) if several else ()
    headings = ("session", *agent, "project", *(_heading(site, name, narrowed) for name in ORDERS))
    caption = f"{many(len(found), 'session')} {narrowed.words}".rstrip()
    more = narrowed._replace(start=str(start + PAGE))._asdict()
    later = site.link("More sessions", "sessions", **more) if start + PAGE < len(found) else None
    return h("div", {}, table(headings, rows, caption=caption, numbers=len(ORDERS) - 1), later)


def _heading(site: Site, name: str, narrowed: Narrowed) -> Child:
    """The heading of a column; it sorts the list by it."""
    words = ORDERS[name].heading
    if name == (narrowed.sort if narrowed.sort in ORDERS else "when"):
        return f"{words} ▾"
    asked = narrowed._replace(sort=name, start="")._asdict()
    return site.link(words, "sessions", label=f"sort by {words}", **asked)


def _row(site: Site, listed: ListedSession, project: Callable[[str], str], *, with_agent: bool) -> tuple[Child, ...]:
    fact, trouble = listed
    worst = trouble.dearest
    lost: Child = duration(trouble.lost_seconds) if trouble.is_timed else "–"
    return (
        site.session(fact.id, cut(fact.title, 70) or fact.id[:12]),
        *((fact.source,) if with_agent else ()),
        site.projects.short(project(fact.folder)),
        when(fact.at),
        dollars(fact.dollars),
        duration(trouble.agent_seconds) if trouble.is_timed else "–",
        site.session(fact.id, lost, message=worst.first) if worst and trouble.is_timed else lost,
        f"{trouble.times_stepped_in:,}",
    )
