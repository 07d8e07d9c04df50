"""Work and cost: what runs, and what agents and models spent."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from whet.errors import WhetError
from whet.sessions.transcripts import Purpose
from whet.store.home import Home
from whet.store.session_facts import SessionFact, costs_of
from whet.text.words import cut, many, short
from whet.web.cache import PageRequest
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import Column, PageLinks, code, dollars, empty, listing, no_sessions, number, section, table, when

PURPOSES: dict[str, str] = {
    Purpose.SUBTASK: "sub-agents",
    Purpose.JOB: "jobs",
    Purpose.TRIAL: "attempts of trials",
    Purpose.REVIEW: "reviews",
}


if TYPE_CHECKING:
    from whet.work.given import Work

MOST_PIECES = 50


class Spender(NamedTuple):
    """One agent with one model, for one purpose."""

    agent: str
    purpose: str
    model: str


SpentSessions = tuple[Spender, list[SessionFact]]


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
    members: dict[Spender, list[SessionFact]] = defaultdict(list)
    for fact in facts:
        members[Spender(fact.source, fact.purpose, fact.model or "unknown")].append(fact)

    def who(row: SpentSessions) -> str:
        """In words: a person's own work goes by the name of the agent."""
        what = PURPOSES.get(row[0].purpose, "")
        return f"{what} of {row[0].agent}" if what else row[0].agent

    def tokens(row: SpentSessions) -> int:
        return sum(fact.tokens for fact in row[1])

    def paid(row: SpentSessions) -> float | None:
        return costs_of(row[1]).dollars

    def sessions(row: SpentSessions) -> Child:
        own = site._replace(filter=site.filter._replace(agent=row[0].agent))
        return own.counted(len(row[1]), purpose=row[0].purpose, model=row[0].model)

    columns: list[Column[SpentSessions]] = [
        Column("who", who),
        Column("model", lambda row: row[0].model),
        number("cost", lambda row: dollars(paid(row)), "cost", lambda row: paid(row) or 0.0),
        number("tokens", lambda row: short(tokens(row)), "tokens", tokens),
        number("sessions", sessions, "sessions", lambda row: len(row[1])),
    ]
    costs, said = costs_of(facts), sum(fact.cost_dollars is not None for fact in facts)
    known = f"{dollars(costs.dollars)} for {many(costs.sessions, 'session')} of {len(facts):,}"
    whole = known if costs.sessions else "No cost is known"
    say = f"{said:,} {'says' if said == 1 else 'say'} what they cost; the others" if said else "They"
    how = f" {say} are counted by their tokens at list prices." if costs.sessions > said else ""
    rows = sorted(members.items(), key=tokens, reverse=True)
    to_price = ("To set a price, in dollars for a million tokens: ", code("whet config models.NAME.prices 3,15"), ".")
    return [
        listing(site, "work", rows, columns, caption=f"{whole}.{how}", asked=asked),
        h("p.soft", *to_price) if costs.sessions < len(facts) else None,
    ]
