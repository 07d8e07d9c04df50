"""Overview: where the time went, and whether it gets better."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from whet.evidence.ratios import ratio, sums
from whet.ledger.entries import CHANGES, Entry
from whet.shipped.kinds import label_of
from whet.store.session_facts import costs_of
from whet.text.words import cut, many
from whet.trouble import overview as words
from whet.trouble.overview import duration, interval_words, per_hour
from whet.trouble.rollups import TroubleGroup, by_agent, by_model, by_week, dearest, groups, week
from whet.trouble.trends import trend
from whet.trouble.values import SessionTrouble
from whet.web.charts import ChartMark, ChartPoint, over_time
from whet.web.html import Child, Element, h
from whet.web.site import NO_PROJECT, Column, PageLinks, dollars, known_by, no_sessions, number, section, table, told
from whet.web.views.trouble import ChosenTrouble, SaidIn, SeenTrouble, cause_bars, kind_bars, stretch_told

MOST_WEEKS = 26
DEAREST = 8
MOST_ROWS = 10
WEEK = timedelta(days=7)
COLOURS = {"Perhaps better": "good", "Perhaps worse": "bad"}
NOT_THE_CAUSE = "What was asked differs from week to week, too: only a trial shows that a change is the cause."


class BesideSessions(NamedTuple):
    """What an overview needs besides sessions: the ledger, the names of projects, and what waits or is left out."""

    entries: Sequence[Entry] = ()
    project_of: Callable[[str], str] = str
    waiting: int = 0
    hidden: int = 0  # sessions in temporary folders
    copies: int = 0  # sessions that only repeat others
    said: SaidIn = lambda _: ()  # what people said when they stepped in


def overview(site: PageLinks, seen: Sequence[SeenTrouble], around: BesideSessions) -> Element:
    """What was spent, what of it bought nothing and why, whether it gets better, and where to look first."""
    if not seen:
        return h("div", {}, no_sessions(site, "overview", around.hidden))
    found = [each.trouble for each in seen]
    return h(
        "div",
        {},
        _headline(site, seen),
        _waiting(site, around.waiting),
        _small_print(site, seen, around),
        section("What bought nothing", *_bars(site, found)),
        section("Is it getting better?", *_better(site, found, around)),
        section("The dearest sessions", _dearest(site, seen, around)),
        section("By project", _by_project(site, found, lambda session: around.project_of(session.folder))),
        section("By agent", _by_name(site, groups(found, by_agent), "agent")),
        section("By model", _by_name(site, groups(found, by_model), "model")),
    )


def _headline(site: PageLinks, seen: Sequence[SeenTrouble]) -> Element:
    """The lines that `whet` and `whet report` begin with; each leads to what is behind it."""
    whole = words.overview([each.trouble for each in seen], costs_of(each.fact for each in seen).dollars)
    lines: list[Child] = [site.link(words.spent_words(whole), "sessions")]
    if lost := words.lost_words(whole, label_of):
        lines.append(h("strong", {}, site.link(lost, "trouble")))
    if whole.untimed:
        lines.append(site.link(words.untimed_words(whole), "sessions", untimed="1"))
    stepped = told(words.stepped_in_words(whole))
    lines.append(site.link(stepped, "sessions", stepped="1", sort="stepped") if whole.total.interventions else stepped)
    lines.append(("What to do about it: ", site.link("Lessons", "lessons"), "."))
    return h("div", {"class": "answer"}, [h("p", {}, line) for line in lines])


def _waiting(site: PageLinks, waiting: int) -> Child:
    need = f"{many(waiting, 'change')} {'needs' if waiting == 1 else 'need'} your approval"
    return h("p", {"class": "notice"}, site.link(need, "lessons"), ".") if waiting and not site.is_file else None


def _small_print(site: PageLinks, seen: Sequence[SeenTrouble], around: BesideSessions) -> Element:
    """What the numbers mean and what they leave out, said once."""
    costs = costs_of(each.fact for each in seen)
    how = " at list prices" if costs.is_listed else ""
    paid = f"Dollars are the cost{how} of {many(costs.sessions, 'session')}."
    said = []
    if around.copies:
        only = "only repeats others" if around.copies == 1 else "only repeat others"
        said.append(f"{many(around.copies, 'more session')} {only}")
    if around.hidden and not site.filter.temporary:
        are = "is" if around.hidden == 1 else "are"
        said.append(f"{many(around.hidden, 'session')} in temporary folders {are} left out")
    left_out = f"{'; '.join(said)}." if said else ""
    return h(
        "p", {"class": "soft"}, f"{words.UPPER_BOUND} {paid if costs.sessions else 'The cost is unknown.'} {left_out}"
    )


def _bars(site: PageLinks, found: Sequence[SessionTrouble]) -> Iterable[Child]:
    if not any(session.troubles for session in found):
        return [h("p", {}, "Nothing: no stretch of these sessions was trouble.")]
    return [kind_bars(site, found, ChosenTrouble()), *cause_bars(site, found, ChosenTrouble())]


def _better(site: PageLinks, found: Sequence[SessionTrouble], around: BesideSessions) -> Iterator[Child]:
    """The last weeks against those before in words, then both rates by week."""
    compared = trend(found, around.project_of)
    colour = COLOURS.get(compared.answer, "soft")
    yield h("p", {"class": "answer"}, h("span", {"class": colour}, words.trend_words(compared)))
    weeks: dict[str, list[SessionTrouble]] = defaultdict(list)
    for session in found:
        if session.started is not None and session.agent_seconds:
            weeks[by_week(session)].append(session)
    named = sorted(weeks)[-MOST_WEEKS:]
    if not named:
        return
    marks = _marks(site, named, around.entries)

    def rates(title: str, unit: str, of: Callable[[SessionTrouble], float], view: str) -> Element:
        """Something per agent hour, week by week."""
        points: list[ChartPoint] = []
        for place, name in enumerate(named):
            pairs = [(of(each), each.agent_seconds / 3600) for each in weeks[name]]
            value, (low, high), _ = ratio(sums(pairs))
            spread = f" ({max(low, 0.0):.1f} to {high:.1f})" if len(pairs) > 1 else ""
            about = f"week of {monday(name)} ({name}): {value:.1f} {unit}{spread}, {many(len(pairs), 'session')}"
            follows = place > 0 and monday(name) - monday(named[place - 1]) == WEEK
            href = site.href(view, week=name)
            points.append(ChartPoint(day_of(name), value, max(low, 0.0), high, about, href, follows))
        return over_time(points, title=title, marks=marks, most=max(2.0, 1.3 * max(point.value for point in points)))

    lost = "Minutes lost per agent hour, by week"
    yield rates(lost, "min lost per agent hour", lambda each: each.lost_seconds / 60, "trouble")
    stepped = "Times that somebody stepped in per agent hour, by week"
    yield rates(stepped, "times per agent hour", lambda each: float(each.times_stepped_in), "sessions")
    about = "Each point is a week that has sessions, with its 95 % interval; the line stops at weeks without."
    changes = " Dashed lines mark changes to what agents are told." if marks else ""
    yield h("p", {"class": "soft"}, f"{about}{changes} {NOT_THE_CAUSE}")
    by = (each for each in groups(found, by_week) if each.name in weeks)
    yield _by_name(site, sorted(by, key=lambda each: each.name, reverse=True), "week")


def _marks(site: PageLinks, named: list[str], entries: Sequence[Entry]) -> list[ChartMark]:
    """Where what agents are told changed."""
    changed: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.step in CHANGES:
            changed[week(entry.at)].append(entry)
    return [
        ChartMark(_place(named, name), f"{name}: " + "; ".join(map(_change, found[:5])), site.href("lessons"))
        for name, found in changed.items()
        if name >= named[0]
    ]


def _place(named: list[str], name: str) -> float:
    """Where a week stands among those that have sessions; between two of them where it has none."""
    after = bisect_left(named, name)
    return after if name in named else after - 0.5


def _change(entry: Entry) -> str:
    return f"{entry.patch.form} {known_by(entry.patch.name, entry.patch.text)} {entry.step}"


def monday(week: str) -> date:
    """The first day of a week such as 2026-W07."""
    year, _, place = week.partition("-W")
    return date.fromisocalendar(int(year), int(place), 1)


def day_of(week: str) -> str:
    """The first day of a week, short enough to stand below a picture."""
    first = monday(week)
    return f"{first.day} {first:%b} ’{first:%y}"


def _dearest(site: PageLinks, seen: Sequence[SeenTrouble], around: BesideSessions) -> Child:
    facts = {each.fact.id: each.fact for each in seen}
    found = [each for each in dearest((each.trouble for each in seen), DEAREST) if each.dearest]
    if not found:
        return h("p", {}, "No session has trouble.")

    def title(each: SessionTrouble) -> Child:
        fact = facts[each.session]
        return site.session(
            fact.id, cut(fact.title, 70) or fact.id[:12], message=each.dearest.first if each.dearest else None
        )

    def worst(each: SessionTrouble) -> Child:
        assert each.dearest is not None
        what, said = stretch_told(around.said(facts[each.session]), each.dearest)
        return f"{what} ({duration(each.dearest.seconds)})", said

    columns: list[Column[SessionTrouble]] = [
        Column("session", title),
        Column("dearest stretch", worst),
        number("bought nothing", lambda each: duration(each.lost_seconds)),
        number("agent time", lambda each: duration(each.agent_seconds)),
        number("cost", lambda each: dollars(facts[each.session].dollars)),
        number("stepped in", lambda each: f"{each.times_stepped_in:,}"),
    ]
    return table(found, columns, caption="The dearest first" if site.is_file else "Each opens at its dearest stretch")


def _by_project(site: PageLinks, found: Sequence[SessionTrouble], project: Callable[[SessionTrouble], str]) -> Element:
    """Each project with itself: what it spent and lost, and whether it gets better."""
    members: dict[str, list[SessionTrouble]] = defaultdict(list)
    for session in found:
        members[project(session)].append(session)

    def chosen(each: TroubleGroup) -> PageLinks:
        return site._replace(filter=site.filter._replace(project=each.name or NO_PROJECT))

    first = Column[TroubleGroup]("project", lambda each: chosen(each).link(site.projects.short(each.name), "overview"))
    better: Column[TroubleGroup] = number(
        "getting better?", lambda each: trend(members[each.name], lambda _: each.name).answer
    )
    return _folding(groups(found, project), [first, *_spent(chosen, ""), better], "project")


def _by_name(site: PageLinks, found: Sequence[TroubleGroup], by: str) -> Element:
    """What the sessions of each agent, model or week spent and lost."""
    first = Column[TroubleGroup](by, lambda each: each.name or "unknown")
    ordered = found if by == "week" else sorted(found, key=lambda e: (-e.agent_seconds, -e.sessions, e.name))
    return _folding(ordered, [first, *_spent(lambda _: site, by)], by)


def _spent(site_of: Callable[[TroubleGroup], PageLinks], by: str) -> Iterator[Column[TroubleGroup]]:
    """What sessions in common spent and lost; their numbers lead to them."""

    def narrowed(each: TroubleGroup) -> dict[str, str]:
        return {by: each.name or "unknown"} if by else {}

    def timed(show: Callable[[TroubleGroup], str]) -> Callable[[TroubleGroup], str]:
        return lambda each: show(each) if each.agent_seconds else "–"

    yield number("sessions", lambda each: site_of(each).link(f"{each.sessions:,}", "sessions", **narrowed(each)))
    yield number("agent time", timed(lambda each: duration(each.agent_seconds)))
    yield number("bought nothing", timed(lambda each: duration(each.lost.seconds)))
    yield number("share", timed(lambda each: interval_words(each.lost)))
    stepped = {"stepped": "1"}
    yield number("stepped in", lambda each: site_of(each).counted(each.interventions, **narrowed(each), **stepped))
    yield number("per hour", per_hour)


def _folding(found: Sequence[TroubleGroup], columns: Sequence[Column[TroubleGroup]], by: str) -> Element:
    """A table whose later rows are folded."""
    first, rest = found[:MOST_ROWS], found[MOST_ROWS:]
    shown = table(first, columns, caption=f"Sessions by {by}")
    if not rest:
        return shown
    others = table(rest, columns, caption=f"Sessions by {by}, the rest")
    return h("div", {}, shown, h("details", {}, h("summary", {}, many(len(rest), f"other {by}")), others))
