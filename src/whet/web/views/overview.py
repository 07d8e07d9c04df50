"""Overview: whether it gets better, and at what cost."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from whet.evidence.classical import wilson
from whet.failures.summaries import week
from whet.ledger.entries import CHANGES, Entry
from whet.store.session_facts import SessionFact
from whet.web.charts import ChartBar, ChartMark, ChartPoint, bars, over_time
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, dollars, empty, many, section, share, short, table, tile

MOST_WEEKS = 26
WORST = 8


def overview(site: Site, facts: Sequence[SessionFact], entries: Sequence[Entry], waiting: int) -> Element:
    """Failures by week with marks where the ledger changed, costs, and where to look first."""
    if not facts:
        return h("div", {}, empty("No sessions yet. To import them, run ", code("whet import"), "; they appear here."))
    weeks: dict[str, list[SessionFact]] = defaultdict(list)
    for fact in facts:
        weeks[week(fact.at)].append(fact)
    named = sorted(weeks)[-MOST_WEEKS:]
    return h(
        "div",
        {},
        _tiles(site, facts, waiting),
        section("By week", _failures(site, weeks, named, entries), _costs(site, weeks, named)),
        section("Sessions to look at", _worst(site, facts)),
        section("By agent", by_group(site, facts, "agent")),
        section("By model", by_group(site, facts, "model")),
    )


def _tiles(site: Site, facts: Sequence[SessionFact], waiting: int) -> Element:
    failed, untold = [f for f in facts if f.failed], sum(f.untold for f in facts)
    calls, failed_calls = sum(f.calls for f in facts), sum(f.failed_calls for f in facts)
    tokens, lost = sum(f.tokens for f in facts), sum(f.tokens for f in failed)
    known = [f.cost_dollars for f in facts if f.cost_dollars is not None]
    paid: Child = "no session says what it cost"
    if known:
        paid = ("known cost, of ", site.link(many(len(known), "session"), "sessions", group="priced"))
    return h(
        "div",
        {"class": "tiles"},
        tile(site.link(f"{len(facts):,}", "sessions"), "session" if len(facts) == 1 else "sessions"),
        tile(site.link(share(len(failed), len(facts)), "sessions", failed="1"), f"likely failed ({len(failed):,})"),
        tile(site.counted(untold, untold="1"), "the record cannot tell"),
        tile(
            site.link(share(failed_calls, calls), "sessions", group="failing"),
            ("of ", site.link(f"{calls:,}", "sessions", group="calling"), " calls failed"),
        ),
        tile(site.link(short(tokens), "work"), f"tokens, {share(lost, tokens)} in failed sessions"),
        tile(site.link(dollars(sum(known) if known else None), "work"), paid),
        tile(site.link(waiting, "waiting"), "need your approval" if waiting != 1 else "needs your approval"),
    )


def _failures(site: Site, weeks: dict[str, list[SessionFact]], named: list[str], entries: Sequence[Entry]) -> Element:
    points = []
    for name in named:
        failed, all_of = sum(f.failed for f in weeks[name]), len(weeks[name])
        low, high = wilson(failed, all_of)
        words = f"{name}: {failed} of {many(all_of, 'session')} likely failed ({low:.0%} to {high:.0%})"
        href = site.href("sessions", week=name)
        points.append(ChartPoint(name, failed / all_of, low, high, words, href))
    changed: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.step in CHANGES:
            changed[week(entry.at)].append(entry)
    marks = [
        ChartMark(_place(named, name), f"{name}: " + "; ".join(map(_told, found[:5])), site.href("rules"))
        for name, found in changed.items()
        if name >= named[0]
    ]
    about = "the bar is the 95 % interval; dashed lines are weeks in which what agents are told changed"
    return over_time(points, title=f"Share of sessions that likely failed, by week ({about})", marks=marks)


def _place(named: list[str], name: str) -> float:
    """Where a week stands among those that have sessions; between two of them where it has none."""
    after = bisect_left(named, name)
    return after if name in named else after - 0.5


def _told(entry: Entry) -> str:
    return f"{entry.patch.form} {entry.patch.name} {entry.step}"


def _costs(site: Site, weeks: dict[str, list[SessionFact]], named: list[str]) -> Element:
    has_costs = any(f.cost_dollars for name in named for f in weeks[name])
    rows = []
    for name in named:
        well = [f for f in weeks[name] if not f.failed]
        failed = [f for f in weeks[name] if f.failed]
        sizes = tuple(
            sum((f.cost_dollars or 0.0) if has_costs else f.tokens for f in found) for found in (well, failed)
        )
        words = dollars(sum(sizes)) if has_costs else f"{short(sum(sizes))} tokens"
        pieces = (("in other sessions", float(sizes[0])), ("in sessions that likely failed", float(sizes[1])))
        rows.append(ChartBar(name, pieces, words, site.href("sessions", week=name)))
    title = "Known cost by week" if has_costs else "Tokens by week"
    return bars(rows, title=title)


def _worst(site: Site, facts: Sequence[SessionFact]) -> Child:
    worst = sorted((f for f in facts if f.failed), key=lambda f: -f.score)[:WORST]
    if not worst:
        return h("p", {}, "No session likely failed.")
    return table(
        ("session", "why", "score"),
        (
            (
                site.session(f.id, f.title[:90] or f.id[:12], message=f.decisive_step),
                "; ".join(f.reasons),
                f"{f.score:.2f}",
            )
            for f in worst
        ),
        caption="The sessions that failed most surely, at the message where each went wrong",
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
                site.counted(tokens, short(tokens), **narrowed),
            )
        )
    headings = (by, "sessions", "likely failed", "calls", "failed calls", "tokens")
    return table(headings, rows, caption=f"Sessions by {by}", numbers=5)
