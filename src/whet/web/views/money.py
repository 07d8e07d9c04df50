"""Work and money: what runs, and what it cost."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from whet.runs.run import Spent
from whet.sessions.transcripts import Purpose
from whet.store.session_facts import SessionFact
from whet.text.words import cut, many, short
from whet.values import Value
from whet.web.charts import ChartBar, bars
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, dollars, empty, no_sessions, section, table, when
from whet.work.orders import Done

MOST_MODELS = 6
PURPOSES = {
    Purpose.SUBTASK: "sub-agents",
    Purpose.JOB: "jobs",
    Purpose.TRIAL: "attempts of trials",
    Purpose.REVIEW: "reviews",
}
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
    """What runs, and what sessions cost by agent and model; attempts of trials are among them."""
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
            cut(each.what, 160),
            f"{each.tokens:,}",
            dollars(each.dollars),
        )
        for each in pieces
    )
    waiting = sum(each.state in OPEN for each in pieces)
    caption = f"{many(waiting, 'piece')} of work open" if waiting else "Nothing is running or queued"
    headings = ("id", "state", "queue", "changed", "what", "tokens", "cost")
    return table(headings, rows, caption=caption, numbers=2)


def _money(site: Site, facts: Sequence[SessionFact], hidden: int) -> list[Child]:
    if not facts:
        return [no_sessions(site, "work", hidden)]
    in_dollars = any(fact.dollars for fact in facts)
    drawn: list[Child] = []
    for title, measure in (
        ("Cost by agent and model", _cost),
        ("Tokens by agent and model", _tokens),
    ):
        if measure is _cost and not in_dollars:
            continue
        drawn.append(bars(_stacks(site, facts, measure), title=title))
    known = sum(fact.dollars is not None for fact in facts)
    said = sum(fact.cost_dollars is not None for fact in facts)
    priced = site.counted(known, many(known, "session"), group="paid")
    whole = site.link(f"{len(facts):,}", "sessions", group="own")
    told = f"{said:,} say it themselves; the others" if said else "They"
    how = f" {told} are counted by their tokens at list prices." if known > said else ""
    drawn.append(h("p", {"class": "soft"}, "The cost of ", priced, " of ", whole, f" is known.{how}"))
    return [*drawn, _how_to_price(facts)]


def _how_to_price(facts: Sequence[SessionFact]) -> Child:
    """The commands that set the price of the model that most tokens without one are of."""
    unpriced = Counter[str]()
    for fact in facts:
        if fact.dollars is None and fact.model and fact.tokens:
            unpriced[fact.model] += fact.tokens
    if not unpriced:
        return None
    [(model, tokens)] = unpriced.most_common(1)
    others = f" (and {many(len(unpriced) - 1, 'other model')})" if len(unpriced) > 1 else ""
    return h(
        "p",
        {"class": "soft"},
        f"Whet knows no price for the {short(tokens)} tokens of {model}{others}."
        " To set it, in dollars for a million of input and of output: ",
        code(f"whet config models.{model}.prices 3,15"),
        ".",
    )


def _spender(fact: SessionFact) -> tuple[str, str]:
    """Who spent it, in words, and the purpose: a person's own work goes by the name of the agent."""
    return (fact.source if fact.purpose == Purpose.CHAT.value else PURPOSES[Purpose(fact.purpose)]), fact.purpose


def _stacks(site: Site, facts: Sequence[SessionFact], measure: Callable[[SessionFact], float]) -> list[ChartBar]:
    sizes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    total = Counter[str]()  # by tokens for both pictures, so that a model has one colour
    for fact in facts:
        total[fact.model or "unknown"] += fact.tokens
    leading = {name for name, _ in total.most_common(MOST_MODELS - 1)}
    for fact in facts:
        name = fact.model or "unknown"
        sizes[_spender(fact)][name if name in leading else "other models"] += int(1_000_000 * measure(fact))
    order = [name for name, _ in total.most_common() if name in leading] + ["other models"]
    found = []
    for (who, purpose), parts in sorted(sizes.items(), key=lambda item: (-item[1].total(), item[0])):
        pieces = tuple((name, parts[name] / 1_000_000) for name in order if parts[name])
        if not pieces:
            continue
        size = parts.total() / 1_000_000
        words = dollars(size) if measure is _cost else short(size)
        agent = who if purpose == Purpose.CHAT.value else site.filter.agent
        href = site._replace(filter=site.filter._replace(agent=agent)).href("sessions", purpose=purpose)
        found.append(ChartBar(who, pieces, words, href))
    return found


def _cost(fact: SessionFact) -> float:
    return fact.dollars or 0.0


def _tokens(fact: SessionFact) -> float:
    return float(fact.tokens)
