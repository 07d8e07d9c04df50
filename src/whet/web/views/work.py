"""Work and cost: what runs, and what agents and models spent."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from whet.errors import WhetError
from whet.sessions.transcripts import Purpose
from whet.store.home import Home
from whet.store.session_facts import SessionFact
from whet.text.words import cut, many, short
from whet.values import Value
from whet.web.cache import PageRequest
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import Column, PageLinks, code, dollars, empty, listing, no_sessions, number, section, table, when

PURPOSES = {
    Purpose.SUBTASK: "sub-agents",
    Purpose.JOB: "jobs",
    Purpose.TRIAL: "attempts of trials",
    Purpose.REVIEW: "reviews",
}


if TYPE_CHECKING:
    from whet.work.given import Work

MOST_PIECES = 50


class Spender(Value, frozen=True):
    """Sessions that one agent made with one model for one purpose."""

    agent: str
    purpose: str
    model: str
    sessions: tuple[SessionFact, ...] = ()

    @property
    def name(self) -> str:
        """Who spent it, in words: a person's own work goes by the name of the agent."""
        what = PURPOSES.get(Purpose(self.purpose), "")
        return f"{what} of {self.agent}" if what else self.agent

    @property
    def dollars(self) -> float | None:
        known = [fact.dollars for fact in self.sessions if fact.dollars is not None]
        return sum(known) if known else None

    @property
    def tokens(self) -> int:
        return sum(fact.tokens for fact in self.sessions)


def show(ask: PageRequest) -> FramedView:
    """What sessions cost by agent and model, attempts of trials among them, and what runs."""
    facts = ask.spent
    asked = {name: ask.given.get(name, "") for name in ("sort", "start")}
    cost = costs_of_all(ask.site, facts, asked) if facts else [no_sessions(ask.site, "work", ask.looked.choices.hidden)]
    is_open, pieces = _pieces(ask.cache.home)
    shown = framed("work", section("What it cost", *cost), section("Background work", pieces))
    return shown._replace(is_live=is_open)


def _pieces(home: Home) -> tuple[bool, Element]:
    """Whether background work is open, and the last of it."""
    try:
        from whet.work.given import given_orders  # noqa: PLC0415 - background work is an extra and slow to load

        with given_orders(home) as orders:
            pieces = orders.all(limit=MOST_PIECES)
    except WhetError as error:
        return False, empty(f"{error.message} {error.advice}")
    if not pieces:
        return False, empty("None yet. Reviews, jobs and trials appear here; ", code("whet worker"), " runs them.")

    columns: list[Column[Work]] = [
        Column("id", lambda each: each.id),
        Column("state", lambda each: each.state.value),
        Column("queue", lambda each: each.queue),
        Column("changed", lambda each: when(each.changed)),
        Column("what", lambda each: cut(each.error or (each.done.summary if each.done else ""), 160)),
        number("tokens", lambda each: f"{each.spent.input + each.spent.output:,}"),
        number("cost", lambda each: dollars(each.spent.dollars)),
    ]
    waiting = sum(each.is_open for each in pieces)
    caption = f"{many(waiting, 'piece')} of work open" if waiting else "Nothing is running or queued"
    return bool(waiting), table(pieces, columns, caption=caption)


def costs_of_all(site: PageLinks, facts: Sequence[SessionFact], asked: dict[str, str]) -> list[Child]:
    """Who spent what, and how it is known."""
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
    known = f"{dollars(sum(priced))} for {many(len(priced), 'session')} of {len(facts):,}"
    whole = known if priced else "No cost is known"
    say = f"{said:,} {'says' if said == 1 else 'say'} what they cost; the others" if said else "They"
    how = f" {say} are counted by their tokens at list prices." if len(priced) > said else ""
    ordered = sorted(rows, key=lambda each: -each.tokens)
    to_price = ("To set a price, in dollars for a million tokens: ", code("whet config models.NAME.prices 3,15"), ".")
    return [
        listing(site, "work", ordered, columns, caption=f"{whole}.{how}", asked=asked),
        h("p.soft", *to_price) if len(priced) < len(facts) else None,
    ]
