"""Counts over the whole store."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.sessions.transcripts import total
from whet.store.database import Database
from whet.store.listing import Filters, conditions
from whet.store.session_facts import PriceOf, SessionCosts, SessionFact, costs_of, facts_among


class Totals(NamedTuple):
    """All that matches the filters."""

    sessions: int
    messages: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_dollars: float | None
    first: float | None
    last: float | None


class UsageGroup(NamedTuple):
    """One agent with one model: its sessions, tokens and how its calls ended."""

    source: str
    model: str
    sessions: int
    messages: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    calls: int
    ok: int
    failed: int


class ToolUse(NamedTuple):
    """One tool: how often it was called and how its calls ended."""

    tool: str
    calls: int
    ok: int
    failed: int
    rejected: int
    sessions: int


class Statistics(NamedTuple):
    """What was counted, each message in the session that it is of; so many sessions more only repeat others."""

    totals: Totals
    groups: tuple[UsageGroup, ...]
    tools: tuple[ToolUse, ...]
    costs: SessionCosts
    copies: int


def measure(database: Database, filters: Filters, *, tools: int = 20, price: PriceOf = lambda _: None) -> Statistics:
    """Totals, agents with their models, and the tools used most, in sessions that were analysed."""
    where, parameters = conditions(filters)
    with database.reading():
        every = facts_among(database, filters, price)
        calls = {
            (source, model): counts for source, model, *counts in database.query(CALLS.format(where=where), parameters)
        }
        uses = database.query(TOOLS.format(where=where), (*parameters, tools))
    facts = [fact for fact in every if not fact.copied]
    groups: dict[tuple[str, str], list[SessionFact]] = {}
    for fact in facts:
        groups.setdefault((fact.source, fact.model), []).append(fact)
    return Statistics(
        _totals(facts),
        tuple(
            UsageGroup(*key, *_counts(found), *map(int, calls.get(key, (0, 0, 0))))
            for key, found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
        tuple(ToolUse(tool, *map(int, counts)) for tool, *counts in uses),
        costs_of(facts),
        len(every) - len(facts),
    )


def _totals(facts: Sequence[SessionFact]) -> Totals:
    dollars = total(fact.usage for fact in facts).cost_dollars
    dated = [fact.at for fact in facts]
    return Totals(*_counts(facts), dollars, min(dated, default=None), max(dated, default=None))


def _counts(facts: Sequence[SessionFact]) -> tuple[int, int, int, int, int]:
    """Sessions, messages, and tokens read, written and read from a cache."""
    used = total(fact.usage for fact in facts)
    return len(facts), sum(fact.messages for fact in facts), used.input, used.output, used.cached


CALLS = """
    SELECT s.source, s.model, sum(c.calls), sum(c.ok), sum(c.failed)
    FROM call_counts AS c JOIN sessions AS s ON s.no = c.session WHERE {where} GROUP BY s.source, s.model
"""
TOOLS = """
    SELECT c.tool, sum(c.calls), sum(c.ok), sum(c.failed), sum(c.rejected), count(*)
    FROM call_counts AS c JOIN sessions AS s ON s.no = c.session WHERE {where}
    GROUP BY c.tool ORDER BY sum(c.calls) DESC, c.tool LIMIT ?
"""
