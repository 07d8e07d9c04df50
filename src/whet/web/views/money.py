"""Work and money: what runs, and what it cost."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from whet.engine.orders import Done
from whet.runs.run import Spent
from whet.store.session_facts import SessionFact
from whet.values import Value
from whet.web.charts import ChartBar, bars
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, dollars, empty, many, no_sessions, section, short, table, when

MOST_MODELS = 6
OPEN = ("queued", "running")


class ShownWork(Value, frozen=True):
    """A piece of background work as it is listed."""

    id: str
    state: str
    queue: str
    changed: float
    what: str
    tokens: int
    dollars: float | None


def shown_work(id: str, state: str, queue: str, changed: float, done: Done | None, error: str) -> ShownWork:
    spent = done.spent if done else Spent()
    what = error or (done.summary if done else "")
    return ShownWork(id, state, queue, changed, what, spent.input + spent.output, spent.dollars)


def work(
    site: Site, facts: Sequence[SessionFact], pieces: Sequence[ShownWork], missing: str, *, hidden: int = 0
) -> Element:
    """What runs, and what sessions cost by purpose and model; attempts of trials are among them."""
    money = section("Money", *_money(site, facts, hidden))
    return h("div", {}, section("Background work", _pieces(pieces, missing)), money)


def _pieces(pieces: Sequence[ShownWork], missing: str) -> Element:
    if missing:
        return empty(missing)
    if not pieces:
        return empty(
            "No background work yet. Reviews, jobs and trials appear here; ", code("whet worker"), " runs them."
        )
    rows = (
        (
            each.id,
            each.state,
            each.queue,
            when(each.changed),
            each.what[:160],
            f"{each.tokens:,}",
            dollars(each.dollars),
        )
        for each in pieces
    )
    waiting = sum(each.state in OPEN for each in pieces)
    headings = ("id", "state", "queue", "changed", "what", "tokens", "cost")
    return table(headings, rows, caption=f"{many(waiting, 'piece')} of work open", numbers=2)


def _money(site: Site, facts: Sequence[SessionFact], hidden: int) -> list[Child]:
    if not facts:
        return [no_sessions(site, "work", hidden)]
    in_dollars = any(fact.cost_dollars for fact in facts)
    drawn: list[Child] = []
    for title, measure in (
        ("Known cost by purpose and model", _cost),
        ("Tokens by purpose and model", _tokens),
    ):
        if measure is _cost and not in_dollars:
            continue
        drawn.append(bars(_stacks(site, facts, measure), title=title))
    known = many(sum(fact.cost_dollars is not None for fact in facts), "session")
    priced = site.link(known, "sessions", group="paid")
    whole = site.link(f"{len(facts):,}", "sessions", group="own")
    drawn.append(h("p", {"class": "soft"}, priced, " of ", whole, " say what they cost."))
    return drawn


def _stacks(site: Site, facts: Sequence[SessionFact], measure: Callable[[SessionFact], float]) -> list[ChartBar]:
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    total = Counter[str]()
    for fact in facts:
        total[fact.model or "unknown"] += int(1_000_000 * measure(fact))
    leading = {name for name, _ in total.most_common(MOST_MODELS - 1)}
    for fact in facts:
        name = fact.model or "unknown"
        sizes[fact.purpose][name if name in leading else "other models"] += int(1_000_000 * measure(fact))
    order = [name for name, _ in total.most_common() if name in leading] + ["other models"]
    found = []
    for purpose, parts in sorted(sizes.items(), key=lambda item: -item[1].total()):
        pieces = tuple((name, parts[name] / 1_000_000) for name in order if parts[name])
        size = parts.total() / 1_000_000
        words = dollars(size) if measure is _cost else short(size)
        found.append(ChartBar(purpose, pieces or ((order[0], 0.0),), words, site.href("sessions", purpose=purpose)))
    return found


def _cost(fact: SessionFact) -> float:
    return fact.cost_dollars or 0.0


def _tokens(fact: SessionFact) -> float:
    return float(fact.tokens)
