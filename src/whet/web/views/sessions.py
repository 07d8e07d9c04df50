"""The sessions behind any number: what each cost, what of it bought nothing, and how often somebody stepped in."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from whet.lessons.following import FollowingCount
from whet.store.session_facts import SessionFact
from whet.text.showing import shown
from whet.text.words import cut, many
from whet.trials.attempts import ARMS, Arm
from whet.trouble.overview import duration
from whet.trouble.rollups import by_week
from whet.trouble.values import SessionTrouble
from whet.web.groups import GROUPS, SITUATIONS
from whet.web.html import Child, Element, h
from whet.web.site import Column, PageFilter, PageLinks, dollars, empty, listing, no_sessions, number, when
from whet.web.views.trouble import SeenTrouble


class Narrowed(NamedTuple):
    """Which of the sessions are listed, and in which order, as the address says it."""

    week: str = ""
    model: str = ""
    purpose: str = ""
    stepped: str = ""  # somebody stepped in
    untimed: str = ""  # no times are on record
    group: str = ""
    lesson: str = ""
    trial: str = ""
    arm: str = ""
    template: str = ""
    examples: str = ""  # the key of the template whose they are
    canary: str = ""  # the number of its entry
    situation: str = ""  # of what a canary counts: one of `SITUATIONS`
    rule: str = ""
    fared: str = ""
    sort: str = ""  # one of the columns'
    start: str = ""

    def fits(self, fact: SessionFact, trouble: SessionTrouble) -> bool:
        return (
            self.week in ("", by_week(trouble))
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
            self.model and f"of {self.model}",
            self.purpose and f"whose purpose is {self.purpose}",
            self.stepped and "in which somebody stepped in",
            self.untimed and "without times on record",
            GROUPS[self.group].words if self.group in GROUPS else "",
            self.lesson and "that teach this lesson",
            self.trial and f"of this trial{_of_arm(self.arm)}",
            self.canary and f"counted for this rule{_of_arm(self.arm)}{SITUATIONS.get(self.situation, '')}",
            self.template and "that began with this template",
            self.examples and "that the examples of this template are from",
            self.rule and f"{self._counted_words} {shown(self.rule)}",
        )
        return " ".join(filter(None, parts))

    @property
    def _counted_words(self) -> str:
        return FollowingCount(self.fared).words if self.fared in set(FollowingCount) else "of the rule"


def _of_arm(arm: str) -> str:
    return f", {ARMS[Arm(arm)]}" if arm in set(Arm) else ""


class SeenSessions(NamedTuple):
    """The sessions that may be listed, how a folder's project is named, and how many are hidden."""

    every: Sequence[SeenTrouble]
    project: Callable[[str], str]
    hidden: int = 0


def sessions(site: PageLinks, seen: SeenSessions, narrowed: Narrowed) -> Element:
    """The sessions behind a number, the latest first or in the order of a heading."""
    found = [each for each in seen.every if narrowed.fits(*each)]
    if not found:
        if narrowed == Narrowed():
            return h("div", {}, no_sessions(site, "sessions", seen.hidden))
        every = site._replace(filter=PageFilter()).link("Show all sessions", "sessions")
        return h("div", {}, empty(f"No session matches: none {narrowed.words or 'here'}. ", every, "."))
    caption = f"{many(len(found), 'session')} {narrowed.words}".rstrip()
    ordered = sorted(found, key=lambda each: (-each.fact.at, -each.fact.no))
    several = len({each.fact.source for each in found}) > 1  # one agent alone is said by the filter
    columns = [each for each in _columns(site, seen.project) if several or each.heading != "agent"]
    return listing(site, "sessions", ordered, columns, caption=caption, asked=narrowed._asdict())


def _columns(site: PageLinks, project: Callable[[str], str]) -> Iterator[Column[SeenTrouble]]:
    def lost(each: SeenTrouble) -> Child:
        worst, words = each.trouble.dearest, duration(each.trouble.lost_seconds)
        if not each.trouble.is_timed:
            return "–"
        return site.session(each.fact.id, words, message=worst.first) if worst else words

    def time(each: SeenTrouble) -> str:
        return duration(each.trouble.agent_seconds) if each.trouble.is_timed else "–"

    yield Column("session", lambda each: site.session(each.fact.id, cut(each.fact.title, 70) or each.fact.id[:12]))
    yield Column("agent", lambda each: each.fact.source)
    yield Column("project", lambda each: site.projects.short(project(each.fact.folder)))
    yield Column("when", lambda each: when(each.fact.at), sort="when", most=lambda each: each.fact.at)
    yield number("cost", lambda each: dollars(each.fact.dollars), "cost", lambda each: each.fact.dollars or 0.0)
    yield number("agent time", time, "time", lambda each: each.trouble.agent_seconds)
    yield number("bought nothing", lost, "lost", lambda each: each.trouble.lost_seconds)
    stepped = "stepped in"
    yield number(
        stepped,
        lambda each: f"{each.trouble.times_stepped_in:,}",
        "stepped",
        lambda each: each.trouble.times_stepped_in,
    )
