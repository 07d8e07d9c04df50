"""Counts over the whole store."""

from typing import NamedTuple

from whet.store.database import Database
from whet.store.listing import Filters, conditions


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
    totals: Totals
    groups: tuple[UsageGroup, ...]
    tools: tuple[ToolUse, ...]


def measure(database: Database, filters: Filters, *, tools: int = 20) -> Statistics:
    """Totals, agents with their models, and the tools used most. Calls are counted in sessions that were analysed."""
    where, parameters = conditions(filters)
    with database.reading():
        [totals] = database.query(TOTALS.format(where=where), parameters)
        groups = database.query(GROUPS.format(where=where), parameters)
        calls = {
            (source, model): counts for source, model, *counts in database.query(CALLS.format(where=where), parameters)
        }
        uses = database.query(TOOLS.format(where=where), (*parameters, tools))
    return Statistics(
        Totals(*map(int, totals[:5]), *totals[5:]),
        tuple(
            UsageGroup(source, model, *map(int, (*counts, *calls.get((source, model), (0, 0, 0)))))
            for source, model, *counts in groups
        ),
        tuple(ToolUse(tool, *map(int, counts)) for tool, *counts in uses),
    )


TOTALS = """
    SELECT count(*), coalesce(sum(message_count), 0), coalesce(sum(input_tokens), 0),
        coalesce(sum(output_tokens), 0), coalesce(sum(cached_tokens), 0), sum(cost_dollars), min(dated), max(dated)
    FROM sessions AS s WHERE {where}
"""
GROUPS = """
    SELECT source, model, count(*), sum(message_count), sum(input_tokens), sum(output_tokens),
        sum(cached_tokens)
    FROM sessions AS s WHERE {where} GROUP BY source, model ORDER BY count(*) DESC, source, model
"""
CALLS = """
    SELECT s.source, s.model, sum(c.calls), sum(c.ok), sum(c.failed)
    FROM call_counts AS c JOIN sessions AS s ON s.no = c.session WHERE {where} GROUP BY s.source, s.model
"""
TOOLS = """
    SELECT c.tool, sum(c.calls), sum(c.ok), sum(c.failed), sum(c.rejected), count(*)
    FROM call_counts AS c JOIN sessions AS s ON s.no = c.session WHERE {where}
    GROUP BY c.tool ORDER BY sum(c.calls) DESC, c.tool LIMIT ?
"""
