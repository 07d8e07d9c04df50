"""Work and cost: what runs, and what it cost."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from whet.own.runs.run import Spent
from whet.sessions.transcripts import Purpose
from whet.store.session_facts import SessionFact
from whet.text.words import cut, many, short
from whet.values import Value
from whet.web.html import Child, Element, h
from whet.web.site import Column, PageLinks, code, dollars, empty, listing, no_sessions, number, section, table, when
from whet.work.orders import Done

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


class Spender(Value, frozen=True):
    """Sessions that one agent made with one model for one purpose."""

    agent: str
    purpose: str
    model: str
    sessions: tuple[SessionFact, ...] = ()

    @property
    def name(self) -> str:
        """Who spent it, in words: a person's own work goes by the name of the agent."""
        return (
            self.agent if self.purpose == Purpose.CHAT.value else f"{PURPOSES[Purpose(self.purpose)]} of {self.agent}"
        )

    @property
    def dollars(self) -> float | None:
        known = [fact.dollars for fact in self.sessions if fact.dollars is not None]
        return sum(known) if known else None

    @property
    def tokens(self) -> int:
        return sum(fact.tokens for fact in self.sessions)


def work(
    site: PageLinks,
    facts: Sequence[SessionFact],
    pieces: Sequence[ShownWork],
    missing: str,
    asked: dict[str, str],
    *,
    hidden: int = 0,
) -> Element:
    """What sessions cost by agent and model, attempts of trials among them, and what runs."""
    return h(
        "div",
        {},
        section("What it cost", *_cost(site, facts, asked, hidden)),
        section("Background work", _pieces(pieces, missing)),
    )


def _pieces(pieces: Sequence[ShownWork], missing: str) -> Element:
    if missing:
        return empty(missing)
    if not pieces:
        return empty("None yet. Reviews, jobs and trials appear here; ", code("whet worker"), " runs them.")
    waiting = sum(each.state in OPEN for each in pieces)
    caption = f"{many(waiting, 'piece')} of work open" if waiting else "Nothing is running or queued"
    columns: list[Column[ShownWork]] = [
        Column("id", lambda each: each.id),
        Column("state", lambda each: each.state),
        Column("queue", lambda each: each.queue),
        Column("changed", lambda each: when(each.changed)),
        Column("what", lambda each: cut(each.what, 160)),
        number("tokens", lambda each: f"{each.tokens:,}"),
        number("cost", lambda each: dollars(each.dollars)),
    ]
    return table(pieces, columns, caption=caption)


def _cost(site: PageLinks, facts: Sequence[SessionFact], asked: dict[str, str], hidden: int) -> list[Child]:
    if not facts:
        return [no_sessions(site, "work", hidden)]
    members: dict[tuple[str, str, str], list[SessionFact]] = defaultdict(list)
    for fact in facts:
        members[fact.source, fact.purpose, fact.model or "unknown"].append(fact)
    rows = [Spender(*key, tuple(each)) for key, each in members.items()]

    def sessions(each: Spender) -> Child:
        own = site._replace(filter=site.filter._replace(agent=each.agent))
        return own.counted(len(each.sessions), purpose=each.purpose, model=each.model)

    columns: list[Column[Spender]] = [
        Column("who", lambda each: each.name),
        Column("model", lambda each: each.model),
        number("cost", lambda each: dollars(each.dollars), "cost", lambda each: each.dollars or 0.0),
        number("tokens", lambda each: short(each.tokens), "tokens", lambda each: each.tokens),
        number("sessions", sessions, "sessions", lambda each: len(each.sessions)),
    ]
    priced = [fact.dollars for fact in facts if fact.dollars is not None]
    said = sum(fact.cost_dollars is not None for fact in facts)
    whole = (
        f"{dollars(sum(priced))} for {many(len(priced), 'session')} of {len(facts):,}" if priced else "No cost is known"
    )
    say = f"{said:,} {'says' if said == 1 else 'say'} what they cost; the others" if said else "They"
    how = f" {say} are counted by their tokens at list prices." if len(priced) > said else ""
    listed = listing(
        site, "work", sorted(rows, key=lambda each: -each.tokens), columns, caption=f"{whole}.{how}", asked=asked
    )
    return [listed, _how_to_price(facts)]


def _how_to_price(facts: Sequence[SessionFact]) -> Child:
    """The command that sets the price of the model that most tokens without one are of."""
    unpriced = Counter[str]()
    for fact in facts:
        if fact.dollars is None and fact.model and fact.tokens:
            unpriced[fact.model] += fact.tokens
    if not unpriced:
        return None
    [(model, tokens)] = unpriced.most_common(1)
    others = f" (and {many(len(unpriced) - 1, 'other model')})" if len(unpriced) > 1 else ""
    price = code(f"whet config models.{model}.prices 3,15")
    said = f"Whet knows no price for the {short(tokens)} tokens of {model}{others}. To set it, in dollars for a million"
    return h("p", {"class": "soft"}, f"{said} of input and of output: ", price, ".")
