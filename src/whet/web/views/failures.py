"""Failures, and the sessions behind any number: what fails most, and where."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from whet.failures.kinds import ChangeKind, kind_named
from whet.failures.lessons import FailureInSessions
from whet.failures.summaries import week
from whet.improving.learned import failure_id
from whet.lessons.following import Fared
from whet.shipped.kinds import known_kinds
from whet.store.session_facts import SessionFact
from whet.text.amounts import short
from whet.text.showing import shown
from whet.text.words import cut
from whet.trials.attempts import Arm
from whet.web.charts import ChartBar, ChartCell, bars, grid, heat
from whet.web.groups import ARMS, GROUPS, SITUATIONS
from whet.web.html import Child, Element, h
from whet.web.site import (
    NO_PROJECT,
    PageFilter,
    Site,
    code,
    empty,
    many,
    no_sessions,
    number_of,
    reading,
    section,
    share,
    table,
    when,
)

MOST_TOOLS = 12
MOST_COLUMNS = 7
MOST_ROWS = 12
PAGE = 100


class SeenFailures(NamedTuple):
    """The sessions that are looked at, how a folder's project is named, and what recurs: None until it is read."""

    facts: Sequence[SessionFact]
    project: Callable[[str], str]
    recurring: Sequence[FailureInSessions] | None = ()


def failures(site: Site, seen: SeenFailures, *, hidden: int = 0) -> Element:
    """What recurs, kinds of failure and tools, the most frequent first, and where their calls fail."""
    facts = seen.facts
    if not facts:
        return h("div", {}, no_sessions(site, "failures", hidden))
    kinds = Counter(kind for fact in facts for kind in fact.kinds)
    if not kinds and not any(fact.failed_calls for fact in facts):
        return h("div", {}, empty("No failure was seen in ", many(len(facts), "session"), "."))
    return h(
        "div",
        {},
        section("What fails again and again", _recurring(site, seen)),
        section("Kinds of failure", _kinds(site, kinds, len(facts))),
        section("Which tools fail", _tools(site, facts)),
        section("Where", _places(site, facts, seen.project)),
    )


def _recurring(site: Site, seen: SeenFailures) -> Child:
    """The failures that `whet report` names, with how often and where."""
    if seen.recurring is None:
        return reading()
    if not seen.recurring:
        return h("p", {}, "No failure recurs often enough to be a lesson.")
    folders = {fact.id: seen.project(fact.folder) for fact in seen.facts}
    cards = [_again(site, each, folders) for each in seen.recurring]
    first = h("div", {"class": "cards"}, cards[:MOST_ROWS])
    if len(cards) <= MOST_ROWS:
        return first
    rest = h("div", {"class": "cards"}, cards[MOST_ROWS:])
    return first, h("details", {}, h("summary", {}, many(len(cards) - MOST_ROWS, "more failure")), rest)


def _again(site: Site, found: FailureInSessions, folders: Mapping[str, str]) -> Element:
    """One failure that recurs: its message, what goes wrong, in how many sessions, and where."""
    lesson = found.lesson
    where = _most(Counter(folders[id] for id in found.sessions if id in folders))
    among = f" of {many(lesson.base, 'session')}{f' that used {shown(lesson.tool)}' if lesson.tool else ''}"
    place = ", ".join(f"{site.projects.short(name)} ({number:,})" for name, number in where)
    what = shown(kind_named(lesson.kind, known_kinds()).what(lesson.tool))
    advice = " · look at your environment" if lesson.change is ChangeKind.ENVIRONMENT else ""
    return h(
        "article",
        {"class": "card"},
        h("h3", {}, code(shown(lesson.line)) if lesson.fingerprint else what),
        h(
            "p",
            {"class": "facts"},
            f"{what} · " if lesson.fingerprint else "",
            site.link(f"{lesson.sessions:,}", "sessions", failure=failure_id(lesson)),
            f"{among} ({100 * lesson.share:.0f} %) · {place}{advice}",
        ),
    )


def _kinds(site: Site, kinds: Mapping[str, int], all_of: int) -> Element:
    rows = [
        ChartBar(
            f"{kind}: {kind_named(kind, known_kinds()).label}",
            (("sessions", number),),
            f"{number:,} ({share(number, all_of)})",
            site.href("sessions", kind=kind),
        )
        for kind, number in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    ]
    return bars(rows, title="Sessions in which each kind of failure was seen")


def _tools(site: Site, facts: Sequence[SessionFact]) -> Element:
    calls, failed = Counter[str](), Counter[str]()
    for fact in facts:
        for tool in fact.tools:
            calls[tool.tool] += tool.calls
            failed[tool.tool] += tool.failed
    rows = _tool_bars(site, _most(failed)[:MOST_TOOLS], calls)
    if not rows:
        return h("p", {}, "No call failed.")
    rest = _most(failed)[MOST_TOOLS:]
    others = f"{many(sum(number for _, number in rest), 'failed call')} of {many(len(rest), 'other tool')}"
    folded = h("details", {}, h("summary", {}, others), bars(_tool_bars(site, rest, calls), title="Of other tools"))
    return h("div", {}, bars(rows, title="Failed calls by tool"), folded if rest else None)


def _tool_bars(site: Site, failed: Sequence[tuple[str, int]], calls: Mapping[str, int]) -> list[ChartBar]:
    return [
        ChartBar(
            tool,
            (("failed calls", number),),
            f"{number:,} of {calls[tool]:,} ({share(number, calls[tool])})",
            site.href("sessions", tool=tool, tool_failed="1"),
        )
        for tool, number in failed
    ]


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    """What was counted at all, the most frequent first, in an order that does not hang on that of the sessions."""
    return sorted(((name, number) for name, number in counts.items() if number), key=lambda one: (-one[1], one[0]))


def _places(site: Site, facts: Sequence[SessionFact], project: Callable[[str], str]) -> Element:
    cells, calls, rows, columns = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    for fact in facts:
        name = project(fact.folder)
        for tool in fact.tools:
            calls[name, tool.tool] += tool.calls
            cells[name, tool.tool] += tool.failed
            rows[name] += tool.failed
            columns[tool.tool] += tool.failed
    top_rows = [name for name, _ in _most(rows)[:MOST_ROWS]]
    top_columns = [name for name, _ in _most(columns)[:MOST_COLUMNS]]
    if not top_rows:
        return h("p", {}, "No call failed.")
    most = max(cells[name, tool] for name in top_rows for tool in top_columns) or 1
    shown = {
        (name, tool): ChartCell(
            f"{cells[name, tool]:,}",
            heat(cells[name, tool], most),
            f"{tool} in {site.projects.whole(name) or 'no project'}: {cells[name, tool]:,} of {calls[name, tool]:,}"
            " calls failed",
            site._replace(filter=site.filter._replace(project=name or NO_PROJECT)).href(
                "sessions", tool=tool, tool_failed="1" if cells[name, tool] else ""
            ),
        )
        for name in top_rows
        for tool in top_columns
        if calls[name, tool]
    }
    seen = (name for name in top_rows if any((name, tool) in shown for tool in top_columns))
    rows_shown = [(name, site.projects.short(name)) for name in seen]
    return grid(rows_shown, top_columns, shown, title="Failed calls by project and tool")


class Narrowed(NamedTuple):
    """Which of the sessions are listed, as the address says it."""

    week: str = ""
    since: str = ""  # the first of several weeks
    until: str = ""  # and the last
    kind: str = ""
    tool: str = ""
    model: str = ""
    purpose: str = ""
    failed: str = ""
    untold: str = ""
    tool_failed: str = ""
    group: str = ""
    failure: str = ""  # the name of one that recurs
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
    start: str = ""

    def fits(self, fact: SessionFact) -> bool:
        calls = [tool for tool in fact.tools if tool.tool == self.tool] if self.tool else []
        return (
            self.week in ("", week(fact.at))
            and (not self.since or self.since <= week(fact.at))
            and (not self.until or self.until >= week(fact.at))
            and (not self.kind or self.kind in fact.kinds)
            and (not self.tool or any(tool.failed or not self.tool_failed for tool in calls))
            and self.purpose in ("", fact.purpose)
            and self.model in ("", fact.model or "unknown")
            and (not self.failed or fact.failed)
            and (not self.untold or fact.untold)
            and (not self.group or (self.group in GROUPS and GROUPS[self.group].holds(fact)))
        )

    @property
    def words(self) -> str:
        """What the sessions have in common."""
        parts = (
            self.week and f"of {self.week}",
            self.since and f"since {self.since}",
            self.until and f"until {self.until}",
            self.kind and f"with {self.kind}",
            self.tool and f"in which {self.tool} {'failed' if self.tool_failed else 'was called'}",
            self.model and f"of {self.model}",
            self.purpose and f"whose purpose is {self.purpose}",
            self.failed and "that may have failed",
            self.untold and "whose record cannot tell",
            GROUPS[self.group].words if self.group in GROUPS else "",
            self.failure and "with this failure",
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


def sessions(
    site: Site, facts: Sequence[SessionFact], narrowed: Narrowed, *, project: Callable[[str], str], hidden: int = 0
) -> Element:
    """The sessions behind a number, the latest first."""
    found = sorted((fact for fact in facts if narrowed.fits(fact)), key=lambda fact: (-fact.at, -fact.no))
    if not found:
        if narrowed == Narrowed():
            return h("div", {}, no_sessions(site, "sessions", hidden))
        every = site._replace(filter=PageFilter()).link("Show all sessions", "sessions")
        return h("div", {}, empty(f"No session matches: none {narrowed.words or 'here'}. ", every, "."))
    start = number_of(narrowed.start)
    rows = (
        (
            site.session(
                fact.id, cut(fact.title, 110) or fact.id[:12], message=fact.decisive_step if fact.failed else None
            ),
            fact.source,
            site.projects.short(project(fact.folder)),
            when(fact.at),
            f"{fact.failed_calls:,} of {fact.calls:,}" if fact.calls else "–",
            short(fact.tokens) if fact.tokens else "–",
            "cannot tell" if fact.untold else f"{fact.score:.2f}",
        )
        for fact in found[start : start + PAGE]
    )
    headings = ("session", "agent", "project", "when", "failed calls", "tokens", "failure score")
    caption = f"{many(len(found), 'session')} {narrowed.words}".rstrip()
    more = narrowed._replace(start=str(start + PAGE))._asdict()
    later = site.link("More sessions", "sessions", **more) if start + PAGE < len(found) else None
    return h("div", {}, table(headings, rows, caption=caption, numbers=3), later)
