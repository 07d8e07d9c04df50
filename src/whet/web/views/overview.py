"""Overview: whether it gets better, and at what cost."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from whet.evidence.classical import wilson
from whet.failures.summaries import week
from whet.ledger.entries import CHANGES, Entry
from whet.store.session_facts import SessionFact, costs_of
from whet.text.amounts import short
from whet.text.words import cut
from whet.web.charts import ChartBar, ChartMark, ChartPoint, columns, over_time
from whet.web.html import Child, Element, h
from whet.web.site import Site, dollars, known_by, many, no_sessions, section, share, table, tile
from whet.web.views.trend import day_of, monday, trend

MOST_WEEKS = 26
WORST = 8
MOST_ROWS = 10
WEEK = timedelta(days=7)


class Uncounted(NamedTuple):
    """Sessions that the numbers leave out: those in temporary folders, and those that only repeat others."""

    hidden: int = 0
    copies: int = 0


NOTHING = Uncounted()


def overview(
    site: Site,
    facts: Sequence[SessionFact],
    entries: Sequence[Entry],
    project_of: Callable[[str], str] = str,
    *,
    waiting: int = 0,
    uncounted: Uncounted = NOTHING,
) -> Element:
    """Failures by week with marks where the ledger changed, costs, and where to look first."""
    if not facts:
        return h("div", {}, no_sessions(site, "overview", uncounted.hidden))
    weeks: dict[str, list[SessionFact]] = defaultdict(list)
    for fact in facts:
        weeks[week(fact.at)].append(fact)
    named = sorted(weeks)[-MOST_WEEKS:]
    return h(
        "div",
        {},
        trend(site, weeks, project_of),
        _waiting(site, waiting),
        _tiles(site, facts),
        _uncounted(site, *uncounted),
        section("By week", _failures(site, weeks, named, entries), _costs(site, weeks, named)),
        section("Sessions to look at", _worst(site, facts)),
        section("By agent", by_group(site, facts, "agent")),
        section("By model", by_group(site, facts, "model")),
    )


def _waiting(site: Site, waiting: int) -> Child:
    words = f"{many(waiting, 'change')} {'needs' if waiting == 1 else 'need'} your approval"
    return h("p", {"class": "notice"}, site.link(words, "waiting"), ".") if waiting and not site.is_file else None


def _uncounted(site: Site, hidden: int, copies: int) -> Child:
    """Which sessions the numbers leave out, as `whet report` says it."""
    only = "only repeats others" if copies == 1 else "only repeat others"
    said = [f"{many(copies, 'more session')} {only}"] if copies else []
    if hidden and not site.filter.temporary:
        said.append(f"{many(hidden, 'session')} in temporary folders {'is' if hidden == 1 else 'are'} left out")
    return h("p", {"class": "soft"}, f"{'; '.join(said)}.") if said else None


def _tiles(site: Site, facts: Sequence[SessionFact]) -> Element:
    failed, untold = [f for f in facts if f.failed], sum(f.untold for f in facts)
    calls, failed_calls = sum(f.calls for f in facts), sum(f.failed_calls for f in facts)
    tokens, lost = sum(f.tokens for f in facts), sum(f.tokens for f in failed)
    costs = costs_of(facts)
    paid: Child = "what it cost is not known"
    if costs.sessions:
        how = " at list prices" if costs.is_listed else ""
        paid = (f"cost{how} of ", site.link(many(costs.sessions, "session"), "sessions", group="priced"))
    return h(
        "div",
        {"class": "tiles"},
        tile(site.link(f"{len(facts):,}", "sessions"), "session" if len(facts) == 1 else "sessions"),
        tile(site.link(share(len(failed), len(facts)), "sessions", failed="1"), f"may have failed ({len(failed):,})"),
        tile(site.counted(untold, untold="1"), "the record cannot tell"),
        tile(
            site.link(share(failed_calls, calls), "sessions", group="failing"),
            ("of ", site.link(f"{calls:,}", "sessions", group="calling"), " calls failed"),
        ),
        tile(
            site.link(short(tokens), "work"),
            ("tokens, ", site.counted(lost, share(lost, tokens), failed="1"), " in sessions that may have failed"),
        ),
        tile(site.link(dollars(costs.dollars), "work"), paid),
    )


def _failures(site: Site, weeks: dict[str, list[SessionFact]], named: list[str], entries: Sequence[Entry]) -> Element:
    points: list[ChartPoint] = []
    for name in named:
        failed, all_of = sum(f.failed for f in weeks[name]), len(weeks[name])
        low, high = wilson(failed, all_of)
        counts = f"{failed} of {many(all_of, 'session')} may have failed ({100 * low:.0f} to {100 * high:.0f} %)"
        words = f"week of {monday(name)} ({name}): {counts}"
        href = site.href("sessions", week=name)
        follows = bool(points) and monday(name) - monday(named[len(points) - 1]) == WEEK
        points.append(ChartPoint(day_of(name), failed / all_of, low, high, words, href, follows))
    changed: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.step in CHANGES:
            changed[week(entry.at)].append(entry)
    marks = [
        ChartMark(_place(named, name), f"{name}: " + "; ".join(map(_told, found[:5])), site.href("rules"))
        for name, found in changed.items()
        if name >= named[0]
    ]
    picture = over_time(points, title="Share of sessions that may have failed, by week", marks=marks)
    about = "Each point is a week that has sessions, with its 95 % interval; the line stops at weeks without."
    changes = " Dashed lines mark changes to what agents are told." if marks else ""
    return h("div", {}, picture, h("p", {"class": "soft"}, about, changes))


def _place(named: list[str], name: str) -> float:
    """Where a week stands among those that have sessions; between two of them where it has none."""
    after = bisect_left(named, name)
    return after if name in named else after - 0.5


def _told(entry: Entry) -> str:
    return f"{entry.patch.form} {known_by(entry.patch.name, entry.patch.text)} {entry.step}"


def _costs(site: Site, weeks: dict[str, list[SessionFact]], named: list[str]) -> Element:
    """Dollars where the cost of most sessions is known, else tokens: a sum of a few would pass for all."""
    shown = [fact for name in named for fact in weeks[name]]
    in_dollars = 2 * sum(fact.dollars is not None for fact in shown) > len(shown)
    show = dollars if in_dollars else short
    unit = "" if in_dollars else " tokens"
    rows = []
    for name in named:
        well, lost = (
            sum((f.dollars or 0.0) if in_dollars else f.tokens for f in weeks[name] if f.failed is failed)
            for failed in (False, True)
        )
        words = (
            f"week of {monday(name)} ({name}): {show(well + lost)}{unit}, {show(lost)} in sessions that may have failed"
        )
        pieces = (("in other sessions", float(well)), ("in sessions that may have failed", float(lost)))
        rows.append(ChartBar(day_of(name), pieces, words, site.href("sessions", week=name)))
    return columns(rows, title="Cost by week" if in_dollars else "Tokens by week", show=show)


def _worst(site: Site, facts: Sequence[SessionFact]) -> Child:
    worst = sorted((f for f in facts if f.failed), key=lambda f: -f.score)[:WORST]
    if not worst:
        return h("p", {}, "No session shows a sign that it failed.")
    return table(
        ("session", "why", "score"),
        (
            (
                site.session(f.id, cut(f.title, 90) or f.id[:12], message=f.decisive_step),
                "; ".join(f.reasons),
                f"{f.score:.2f}",
            )
            for f in worst
        ),
        caption="The sessions that most surely failed; each opens where it perhaps went wrong",
        numbers=1,
    )


def by_group(site: Site, facts: Sequence[SessionFact], by: str) -> Element:
    """Sessions, failures, calls and tokens by agent or by model."""
    groups: dict[str, list[SessionFact]] = defaultdict(list)
    for fact in facts:
        groups[fact.source if by == "agent" else fact.model].append(fact)
    rows = []
    for name, found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        failed, calls = [f for f in found if f.failed], sum(f.calls for f in found)
        failed_calls, tokens = sum(f.failed_calls for f in found), sum(f.tokens for f in found)
        narrowed = {by: name or "unknown"}
        rows.append(
            (
                name or "unknown",
                site.link(f"{len(found):,}", "sessions", **narrowed),
                site.counted(len(failed), share(len(failed), len(found)), failed="1", **narrowed),
                site.counted(calls, group="calling", **narrowed),
                site.counted(failed_calls, share(failed_calls, calls), group="failing", **narrowed),
                site.counted(tokens, short(tokens), **narrowed) if tokens else "–",
            )
        )
    headings = (by, "sessions", "may have failed", "calls", "failed calls", "tokens")
    first = table(headings, rows[:MOST_ROWS], caption=f"Sessions by {by}", numbers=5)
    rest = rows[MOST_ROWS:]
    if not rest:
        return first
    others = table(headings, rest, caption=f"Sessions by {by}, the rest", numbers=5)
    return h("div", {}, first, h("details", {}, h("summary", {}, many(len(rest), f"other {by}")), others))
