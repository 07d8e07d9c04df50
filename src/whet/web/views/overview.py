"""Overview: where the time went, and whether it gets better."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

from whet.evidence.ratios import ratio, sums
from whet.ledger.entries import CHANGES, Entry
from whet.shipped.kinds import label_of
from whet.store.session_facts import costs_of
from whet.text.words import cut, many
from whet.trouble import overview as words
from whet.trouble.overview import duration, interval_words, per_hour
from whet.trouble.rollups import TroubleGroup, by_agent, by_model, by_week, dearest, groups, trend, week
from whet.trouble.values import SessionTrouble
from whet.web.cache import PageRequest, SeenTrouble
from whet.web.charts import ChartMark, ChartPoint, over_time
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import NO_PROJECT, Column, PageLinks, dollars, known_by, no_sessions, number, section, table, told
from whet.web.views.trouble import ChosenTrouble, SaidIn, cause_bars, kind_bars, said_in, stretch_told

MOST_WEEKS = 26
DEAREST = 8
MOST_ROWS = 30
UNKNOWN = "unknown"
WEEK = timedelta(days=7)
COLOURS = {"Perhaps better": "good", "Perhaps worse": "bad"}
NOT_THE_CAUSE = "What was asked differs from week to week, too: only a trial shows that a change is the cause."


def show(ask: PageRequest) -> FramedView:
    """What was spent, what of it bought nothing and why, whether it gets better, and where to look first."""
    site, seen = ask.site, ask.seen
    if not seen:
        return framed("overview", no_sessions(site, "overview", ask.looked.choices.hidden))
    found, project, every = [each.trouble for each in seen], ask.cache.project, ChosenTrouble()
    bars: list[Child] = [h("p", "Nothing: no stretch of these sessions was trouble.")]
    if any(session.troubles for session in found):
        bars = [kind_bars(site, found, every), *cause_bars(site, found, every)]
    return framed(
        "overview",
        headline(site, seen),
        _waiting(site, ask.waiting),
        small_print(seen, ask.looked.choices.hidden if not site.filter.temporary else 0),
        section("What bought nothing", *bars),
        section("Is it getting better?", *better(site, found, ask.entries, project)),
        section("The dearest sessions", _dearest(site, seen, said_in(ask))),
        section("By project", _by(site, seen, "project", lambda session: project(session.folder))),
        section("By agent", _by(site, seen, "agent", by_agent)),
        section("By model", _by(site, seen, "model", by_model)),
    )


def headline(site: PageLinks, seen: Sequence[SeenTrouble]) -> Element:
    """The lines that `whet` and `whet report` begin with; each leads to what is behind it."""
    whole = words.overview([each.trouble for each in seen], costs_of(each.fact for each in seen).dollars)
    lines: list[Child] = [site.link(words.spent_words(whole), "sessions")]
    if lost := words.lost_words(whole, label_of):
        lines.append(h("strong", site.link(lost, "trouble")))
    if whole.untimed:
        lines.append(site.link(words.untimed_words(whole), "sessions", untimed="1"))
    stepped = told(words.stepped_in_words(whole))
    lines.append(site.link(stepped, "sessions", stepped="1", sort="stepped") if whole.total.interventions else stepped)
    lines.append(("What to do about it: ", site.link("Lessons", "lessons"), "."))
    return h("div.answer", [h("p", line) for line in lines])


def _waiting(site: PageLinks, waiting: int) -> Child:
    need = f"{many(waiting, 'change')} {'needs' if waiting == 1 else 'need'} your approval"
    return h("p.notice", site.link(need, "lessons"), ".") if waiting and not site.is_file else None


def small_print(seen: Sequence[SeenTrouble], hidden: int) -> Element:
    """What the numbers mean and what they leave out, said once."""
    costs, are = costs_of(each.fact for each in seen), "is" if hidden == 1 else "are"
    how = " at list prices" if costs.is_listed else ""
    known = f"Dollars are the cost{how} of {many(costs.sessions, 'session')}."
    paid = known if costs.sessions else "The cost is unknown."
    left_out = f" {many(hidden, 'session')} in temporary folders {are} left out." if hidden else ""
    return h("p.soft", f"{words.UPPER_BOUND} {paid}{left_out}")


def better(
    site: PageLinks, found: Sequence[SessionTrouble], entries: Sequence[Entry], project_of: Callable[[str], str]
) -> Iterator[Child]:
    """The last weeks against those before in words, then both rates by week."""
    compared = trend(found, project_of)
    colour = COLOURS.get(compared.answer, "soft")
    yield h("p.answer", h(f"span.{colour}", words.trend_words(compared)))
    weeks: dict[str, list[SessionTrouble]] = defaultdict(list)
    for session in found:
        if session.started is not None and session.agent_seconds:
            weeks[by_week(session)].append(session)
    named = sorted(weeks)[-MOST_WEEKS:]
    if not named:
        return
    marks = _marks(site, named, entries)

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
    yield h("p.soft", f"{about}{changes} {NOT_THE_CAUSE}")


def _marks(site: PageLinks, named: list[str], entries: Sequence[Entry]) -> list[ChartMark]:
    """Where what agents are told changed."""
    changed: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.step in CHANGES:
            words = f"{entry.patch.form} {known_by(entry.patch.name, entry.patch.text)} {entry.step}"
            changed[week(entry.at)].append(words)
    # A week stands between two of those that have sessions where it has none.
    places = {name: bisect_left(named, name) - (0 if name in named else 0.5) for name in changed if name >= named[0]}
    told = {name: f"{name}: {'; '.join(changed[name][:5])}" for name in places}
    return [ChartMark(place, told[name], site.href("lessons")) for name, place in places.items()]


def monday(week: str) -> date:
    """The first day of a week such as 2026-W07."""
    year, _, place = week.partition("-W")
    return date.fromisocalendar(int(year), int(place), 1)


def day_of(week: str) -> str:
    """The first day of a week, short enough to stand below a picture."""
    first = monday(week)
    return f"{first.day} {first:%b} ’{first:%y}"


def _dearest(site: PageLinks, seen: Sequence[SeenTrouble], said: SaidIn) -> Child:
    facts = {each.fact.id: each.fact for each in seen}
    found = [each for each in dearest((each.trouble for each in seen), DEAREST) if each.dearest]
    if not found:
        return h("p", "No session has trouble.")

    def title(each: SessionTrouble) -> Child:
        fact, first = facts[each.session], each.dearest.first if each.dearest else None
        return site.session(fact.id, cut(fact.title, 70) or fact.id[:12], message=first)

    def worst(each: SessionTrouble) -> Child:
        assert each.dearest is not None
        what, quote = stretch_told(said(each.session), each.dearest)
        return f"{what} ({duration(each.dearest.seconds)})", quote

    columns: list[Column[SessionTrouble]] = [
        Column("session", title),
        Column("dearest stretch", worst),
        number("bought nothing", lambda each: duration(each.lost_seconds)),
        number("agent time", lambda each: duration(each.agent_seconds)),
        number("cost", lambda each: dollars(facts[each.session].dollars)),
        number("stepped in", lambda each: f"{each.times_stepped_in:,}"),
    ]
    return table(found, columns, caption="The dearest first" if site.is_file else "Each opens at its dearest stretch")


def _by(site: PageLinks, seen: Sequence[SeenTrouble], by: str, name_of: Callable[[SessionTrouble], str]) -> Element:
    """What sessions in common spent and lost, those that took most time first; a project beside its own past."""
    found = groups([each.trouble for each in seen], name_of)
    found = tuple(sorted(found, key=lambda each: (-each.agent_seconds, -each.sessions, each.name)))
    members: dict[str, list[SeenTrouble]] = defaultdict(list)
    for each in seen:
        members[name_of(each.trouble)].append(each)

    def chosen(each: TroubleGroup) -> PageLinks:
        return site._replace(filter=site.filter._replace(project=each.name or NO_PROJECT)) if by == "project" else site

    def name(each: TroubleGroup) -> Child:
        short = site.projects.short(each.name)
        return chosen(each).link(short, "overview") if by == "project" else each.name or UNKNOWN

    def narrowed(each: TroubleGroup) -> dict[str, str]:
        return {} if by == "project" else {by: each.name or UNKNOWN}

    def timed(show: Callable[[TroubleGroup], str]) -> Callable[[TroubleGroup], str]:
        return lambda each: show(each) if each.agent_seconds else "–"

    def stepped(each: TroubleGroup) -> Child:
        return chosen(each).counted(each.interventions, **narrowed(each), stepped="1")

    def change(each: TroubleGroup) -> str:
        return trend([one.trouble for one in members[each.name]], lambda _: each.name).answer

    columns = [
        Column[TroubleGroup](by, name),
        number("sessions", lambda each: chosen(each).link(f"{each.sessions:,}", "sessions", **narrowed(each))),
        number("cost", lambda each: dollars(costs_of(one.fact for one in members[each.name]).dollars)),
        number("agent time", timed(lambda each: duration(each.agent_seconds))),
        number("bought nothing", timed(lambda each: duration(each.lost.seconds))),
        number("share", timed(lambda each: interval_words(each.lost))),
        number("stepped in", stepped),
        number("per hour", per_hour),
        *((number("getting better?", change),) if by == "project" else ()),
    ]
    few = f", the first {MOST_ROWS} of {len(found):,}" if len(found) > MOST_ROWS else ""
    return table(found[:MOST_ROWS], columns, caption=f"Sessions by {by}{few}")
