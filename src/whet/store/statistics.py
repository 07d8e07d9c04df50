"""Counts over the whole store."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.sessions.transcripts import total
from whet.store.database import Database
from whet.store.listing import Filters
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
    every = facts_among(database, filters, price)
    facts = [fact for fact in every if not fact.copied]
    groups: dict[tuple[str, str], list[SessionFact]] = {}
    for fact in facts:
        groups.setdefault((fact.source, fact.model), []).append(fact)
    return Statistics(
        _totals(facts),
        tuple(
            UsageGroup(*key, *_counts(found), *_calls(found))
            for key, found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
        _uses(facts)[:tools],
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


def _calls(facts: Sequence[SessionFact]) -> tuple[int, int, int]:
    """Calls, and how many of them were ok and failed."""
    used = [tool for fact in facts for tool in fact.tools]
    return sum(each.calls for each in used), sum(each.ok for each in used), sum(each.failed for each in used)


def _uses(facts: Sequence[SessionFact]) -> tuple[ToolUse, ...]:
    """How each tool was used, the one that was called most first."""
    uses: dict[str, ToolUse] = {}
    for each in (tool for fact in facts for tool in fact.tools):
        so_far = uses.get(each.tool, ToolUse(each.tool, 0, 0, 0, 0, 0))
        added = (each.calls, each.ok, each.failed, each.rejected, 1)
        uses[each.tool] = ToolUse(each.tool, *(old + new for old, new in zip(so_far[1:], added, strict=True)))
    return tuple(sorted(uses.values(), key=lambda use: (-use.calls, use.tool)))
