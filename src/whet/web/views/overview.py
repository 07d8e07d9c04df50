"""Overview: where the time went, and whether it gets better."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from whet.evidence.ratios import ratio, sums
from whet.ledger.entries import CHANGES, Entry
from whet.shipped.kinds import label_of
from whet.store.session_facts import SessionFact, costs_of
from whet.text.words import cut, many
from whet.trouble.overview import (
    HOUR,
    MINUTE,
    UPPER_BOUND,
    duration,
    interval_words,
    lost_words,
    spent_words,
    stepped_in_words,
    trend_words,
    untimed_words,
)
from whet.trouble.overview import (
    overview as overview_of,
)
from whet.trouble.rollups import TroubleGroup, by_agent, by_model, by_week, dearest, group, groups, week
from whet.trouble.trends import trend
from whet.trouble.values import SessionTrouble
from whet.web.charts import ChartBar, ChartMark, ChartPoint, columns, over_time
from whet.web.html import Child, Element, h
from whet.web.site import NO_PROJECT, Site, dollars, known_by, no_sessions, section, table
from whet.web.views.trouble import (
    ChosenTrouble,
    SaidIn,
    SeenTrouble,
    cause_bars,
    kind_bars,
    stretch_told,
)

MOST_WEEKS = 26
DEAREST = 8
MOST_ROWS = 10
WEEK = timedelta(days=7)
COLOURS = {"Perhaps better": "good", "Perhaps worse": "bad"}
NOT_THE_CAUSE = "What was asked differs from week to week, too: only a trial shows that a change is the cause."


class Uncounted(NamedTuple):
    """Sessions that the numbers leave out: those in temporary folders, and those that only repeat others."""

    hidden: int = 0
    copies: int = 0


class BesideSessions(NamedTuple):
    """What an overview needs besides sessions: the ledger, the names of projects, and what waits or is left out."""

    entries: Sequence[Entry] = ()
    project_of: Callable[[str], str] = str
    waiting: int = 0
    uncounted: Uncounted = Uncounted()
    said: SaidIn = lambda _: ()  # what people said when they stepped in


def overview(site: Site, seen: Sequence[SeenTrouble], around: BesideSessions) -> Element:
    """What was spent, what of it bought nothing and why, whether it gets better, and where to look first."""
    if not seen:
        return h("div", {}, no_sessions(site, "overview", around.uncounted.hidden))
    found = [each.trouble for each in seen]
    return h(
        "div",
        {},
        _headline(site, seen),
        _waiting(site, around.waiting),
        _small_print(site, seen, around.uncounted),
        section("What bought nothing", *_bars(site, found)),
        section("Is it getting better?", *_better(site, found, around)),
        section("The dearest sessions", _dearest(site, seen, around)),
        section("By project", _by_project(site, found, around.project_of)),
        section("By agent", _by_name(site, groups(found, by_agent), "agent")),
        section("By model", _by_name(site, groups(found, by_model), "model")),
    )


def _headline(site: Site, seen: Sequence[SeenTrouble]) -> Element:
    """The lines that `whet` and `whet report` begin with; each leads to what is behind it."""
    whole = overview_of([each.trouble for each in seen], costs_of(each.fact for each in seen).dollars)
    lines: list[Child] = [site.link(spent_words(whole), "sessions")]
    if lost := lost_words(whole, label_of):
        lines.append(h("strong", {}, site.link(lost, "trouble")))
    if whole.untimed:
        lines.append(site.link(untimed_words(whole), "sessions", untimed="1"))
    stepped = stepped_in_words(whole)
    lines.append(site.link(stepped, "sessions", stepped="1", sort="stepped") if whole.total.interventions else stepped)
    lines.append(("What would spare most: ", site.link("Lessons", "lessons"), "."))
    return h("div", {"class": "answer"}, [h("p", {}, line) for line in lines])


def _waiting(site: Site, waiting: int) -> Child:
    words = f"{many(waiting, 'change')} {'needs' if waiting == 1 else 'need'} your approval"
    return h("p", {"class": "notice"}, site.link(words, "lessons"), ".") if waiting and not site.is_file else None


def _small_print(site: Site, seen: Sequence[SeenTrouble], uncounted: Uncounted) -> Element:
    """What the numbers mean and what they leave out, said once."""
    costs = costs_of(each.fact for each in seen)
    paid: list[Child] = ["What it cost is not known. "]
    if costs.sessions:
        how = " at list prices" if costs.is_listed else ""
        known = site.link(many(costs.sessions, "session"), "sessions", group="priced")
        paid = [f"Dollars are the cost{how} of ", known, ". "]
    said = []
    if uncounted.copies:
        only = "only repeats others" if uncounted.copies == 1 else "only repeat others"
        said.append(f"{many(uncounted.copies, 'more session')} {only}")
    if uncounted.hidden and not site.filter.temporary:
        are = "is" if uncounted.hidden == 1 else "are"
        said.append(f"{many(uncounted.hidden, 'session')} in temporary folders {are} left out")
    return h("p", {"class": "soft"}, f"{UPPER_BOUND} ", paid, f"{'; '.join(said)}." if said else None)


def _bars(site: Site, found: Sequence[SessionTrouble]) -> Iterable[Child]:
    if not any(session.troubles for session in found):
        return [h("p", {}, "Nothing: no stretch of these sessions was trouble.")]
    return [kind_bars(site, found, ChosenTrouble()), *cause_bars(site, found, ChosenTrouble())]


def _better(site: Site, found: Sequence[SessionTrouble], around: BesideSessions) -> Iterable[Child]:
    """The last weeks against those before in words, then both rates by week."""
    compared = trend(found, around.project_of)
    colour = COLOURS.get(compared.answer, "soft")
    yield h("p", {"class": "answer"}, h("span", {"class": colour}, trend_words(compared)))
    weeks: dict[str, list[SessionTrouble]] = defaultdict(list)
    for session in found:
        if session.started is not None and session.agent_seconds:
            weeks[by_week(session)].append(session)
    named = sorted(weeks)[-MOST_WEEKS:]
    if not named:
        return
    marks = _marks(site, named, around.entries)
    yield _rates(
        [(name, [(each.lost_seconds / 60, each.agent_seconds / 3600) for each in weeks[name]]) for name in named],
        "Minutes lost per agent hour, by week", "min lost per agent hour", marks,
        lambda name: site.href("trouble", week=name),
    )  # fmt: skip
    yield _rates(
        [
            (name, [(float(each.times_stepped_in), each.agent_seconds / 3600) for each in weeks[name]])
            for name in named
        ],
        "Times that somebody stepped in per agent hour, by week", "times per agent hour", marks,
        lambda name: site.href("sessions", week=name, sort="stepped"),
    )  # fmt: skip
    yield _hours(site, {name: group(name, weeks[name]) for name in named})
    about = "Each point is a week that has sessions, with its 95 % interval; the line stops at weeks without."
    changes = " Dashed lines mark changes to what agents are told." if marks else ""
    yield h("p", {"class": "soft"}, f"{about}{changes} {NOT_THE_CAUSE}")


def _rates(
    weeks: Sequence[tuple[str, list[tuple[float, float]]]],
    title: str,
    unit: str,
    marks: Sequence[ChartMark],
    behind: Callable[[str], str],
) -> Element:
    """Something per agent hour, week by week."""
    points: list[ChartPoint] = []
    for place, (name, pairs) in enumerate(weeks):
        value, (low, high), _ = ratio(sums(pairs))
        spread = f" ({max(low, 0.0):.1f} to {high:.1f})" if len(pairs) > 1 else ""
        words = f"week of {monday(name)} ({name}): {value:.1f} {unit}{spread}, {many(len(pairs), 'session')}"
        follows = place > 0 and monday(name) - monday(weeks[place - 1][0]) == WEEK
        points.append(ChartPoint(day_of(name), value, max(low, 0.0), high, words, behind(name), follows))
    return over_time(points, title=title, marks=marks, most=max(2.0, 1.3 * max(point.value for point in points)))


def _marks(site: Site, named: list[str], entries: Sequence[Entry]) -> list[ChartMark]:
    """Where what agents are told changed."""
    changed: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.step in CHANGES:
            changed[week(entry.at)].append(entry)
    return [
        ChartMark(_place(named, name), f"{name}: " + "; ".join(map(_told, found[:5])), site.href("lessons"))
        for name, found in changed.items()
        if name >= named[0]
    ]


def _place(named: list[str], name: str) -> float:
    """Where a week stands among those that have sessions; between two of them where it has none."""
    after = bisect_left(named, name)
    return after if name in named else after - 0.5


def _told(entry: Entry) -> str:
    return f"{entry.patch.form} {known_by(entry.patch.name, entry.patch.text)} {entry.step}"


def _hours(site: Site, weeks: Mapping[str, TroubleGroup]) -> Element:
    rows = []
    unit, size = ("h", HOUR) if max(each.agent_seconds for each in weeks.values()) >= HOUR else ("min", MINUTE)
    for name, each in weeks.items():
        lost, all_of = each.lost.seconds, each.agent_seconds
        words = f"week of {monday(name)} ({name}): {duration(all_of)}, of which {duration(lost)} bought nothing"
        pieces = (("the rest", (all_of - lost) / size), ("bought nothing", lost / size))
        rows.append(ChartBar(day_of(name), pieces, words, site.href("sessions", week=name)))
    return columns(rows, title="Agent time by week", show=lambda value: f"{value:g} {unit}")


def monday(week: str) -> date:
    """The first day of a week such as 2026-W07."""
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def day_of(week: str) -> str:
    """The first day of a week, short enough to stand below a picture."""
    first = monday(week)
    return f"{first.day} {first:%b} ’{first:%y}"


def _dearest(site: Site, seen: Sequence[SeenTrouble], around: BesideSessions) -> Child:
    facts: dict[str, SessionFact] = {each.fact.id: each.fact for each in seen}
    rows = []
    for found in dearest((each.trouble for each in seen), DEAREST):
        fact, worst = facts[found.session], found.dearest
        if worst is not None:
            what, said = stretch_told(around.said(fact), worst)
            rows.append(
                (
                    site.session(fact.id, cut(fact.title, 70) or fact.id[:12], message=worst.first),
                    (f"{what} ({duration(worst.seconds)})", said),
                    duration(found.lost_seconds),
                    duration(found.agent_seconds),
                    dollars(fact.dollars),
                    f"{found.times_stepped_in:,}",
                )
            )
    if not rows:
        return h("p", {}, "No session has trouble.")
    headings = ("session", "dearest stretch", "bought nothing", "agent time", "cost", "stepped in")
    return table(headings, rows, caption="Each opens at its dearest stretch", numbers=4)


def _by_project(site: Site, found: Sequence[SessionTrouble], project_of: Callable[[str], str]) -> Child:
    """Each project with itself: what it spent and lost, and whether it gets better."""
    members: dict[str, list[SessionTrouble]] = defaultdict(list)
    for session in found:
        members[project_of(session.folder)].append(session)
    rows = []
    for each in groups(found, lambda session: project_of(session.folder)):
        chosen = site._replace(filter=site.filter._replace(project=each.name or NO_PROJECT))
        answer = trend(members[each.name], project_of).answer
        rows.append((chosen.link(site.projects.short(each.name), "overview"), *_numbers(chosen, each, {}), answer))
    return _folding(("project", *GROUP_HEADINGS, "getting better?"), rows, "project")


GROUP_HEADINGS = ("sessions", "agent time", "bought nothing", "share", "stepped in", "an hour")


def _by_name(site: Site, found: Sequence[TroubleGroup], by: str) -> Element:
    """What the sessions of each agent or model spent and lost."""
    rows = [
        (each.name or "unknown", *_numbers(site, each, {by: each.name or "unknown"}))
        for each in sorted(found, key=lambda each: (-each.agent_seconds, -each.sessions, each.name))
    ]
    return _folding((by, *GROUP_HEADINGS), rows, by)


def _numbers(site: Site, each: TroubleGroup, narrowed: Mapping[str, str]) -> tuple[Child, ...]:
    timed = each.agent_seconds > 0
    stepped = {**narrowed, "stepped": "1"}
    return (
        site.link(f"{each.sessions:,}", "sessions", **narrowed),
        duration(each.agent_seconds) if timed else "–",
        duration(each.lost.seconds) if timed else "–",
        interval_words(each.lost) if timed else "–",
        site.counted(each.interventions, **stepped),
        f"{each.interventions_per_hour:.1f}" if timed else "–",
    )


def _folding(headings: Sequence[str], rows: Sequence[tuple[Child, ...]], by: str) -> Element:
    """A table whose later rows are folded."""
    numbers = len(headings) - 1
    first = table(headings, rows[:MOST_ROWS], caption=f"Sessions by {by}", numbers=numbers)
    rest = rows[MOST_ROWS:]
    if not rest:
        return first
    others = table(headings, rest, caption=f"Sessions by {by}, the rest", numbers=numbers)
    return h("div", {}, first, h("details", {}, h("summary", {}, many(len(rest), f"other {by}")), others))
