"""What is counted of each analysed session, in a few words.

What a model's vendor asks for its tokens, for sessions whose record does not say what they cost.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from whet.own.runs.models import Prices, cost, model_of, with_facts
from whet.sessions.transcripts import OWN_PURPOSES, Usage, total, without
from whet.shipped.data import models
from whet.store.analyses import AnalysisInShort, ToolFact
from whet.store.database import Database, Row
from whet.store.derived import KEPT, Derived, whose
from whet.store.home import Home
from whet.store.listing import Filters, conditions
from whet.store.rows import decoded_or_none
from whet.store.settings_file import load
from whet.trouble.outcomes.view import ModelUse
from whet.values import Value

PriceOf = Callable[[str], Prices | None]  # of a model by its name


STATE = """
    SELECT (SELECT count(*) FROM sessions), (SELECT coalesce(sum(message_count), 0) FROM sessions), count(*),
        coalesce(max(session), 0), min(version), max(version) FROM derived WHERE kind = ?
"""
FACTS = f"""
    SELECT s.no, s.id, s.title, s.source, s.model, s.folder, s.purpose, s.dated, s.message_count, s.input_tokens,
        s.output_tokens, s.cached_tokens, s.cost_dollars, d.record {KEPT}
"""


class SessionFact(Value, frozen=True, gc=False):  # there are many, and none holds itself
    """One session as counts need it."""

    no: int
    id: str
    title: str
    source: str
    model: str
    folder: str
    purpose: str
    at: float
    messages: int
    usage: Usage  # without what it copied, as everything that is counted here
    copied: bool  # nothing in it is its own
    tools: tuple[ToolFact, ...] = ()
    listed_dollars: float | None = None  # what its tokens cost at list prices, where the record does not say

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    @property
    def calls(self) -> int:
        return sum(tool.calls for tool in self.tools)

    @property
    def failed_calls(self) -> int:
        return sum(tool.failed for tool in self.tools)

    @property
    def counts(self) -> bool:
        """Whether it is a person's work: no attempt of a trial, no review, and no mere copy of another."""
        return not self.copied and self.purpose not in OWN_PURPOSES

    @property
    def cost_dollars(self) -> float | None:
        return self.usage.cost_dollars

    @property
    def dollars(self) -> float | None:
        """What it cost: as the record says, else at list prices."""
        return self.listed_dollars if self.cost_dollars is None else self.cost_dollars


class SessionCosts(NamedTuple):
    """What sessions cost: how many of them is known, and whether some are counted at list prices."""

    dollars: float | None = None
    sessions: int = 0
    is_listed: bool = False


class UsageGroup(NamedTuple):
    """One agent with one model, or all: its sessions, tokens and how its calls ended."""

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


def state_of_sessions(database: Database) -> str:
    """What changes when any session or analysis does, by one quick question to the database."""
    return "/".join(str(value) for value in database.query(STATE, (Derived.SHORT.value,))[0])


def count_copies(database: Database, filters: Filters) -> int:
    """How many of the sessions that match only repeat others, as far as they are analysed; lists have them too."""
    where, parameters = conditions(filters)
    asked = (*whose(database, Derived.SHORT), *parameters)
    rows = database.query(f"SELECT d.record {KEPT} WHERE {where} AND s.base_count > 0", asked)
    found = (decoded_or_none(record, AnalysisInShort) for (record,) in rows)
    return sum(each.copied for each in found if each is not None)


def costs_of(facts: Iterable[SessionFact]) -> SessionCosts:
    """What sessions cost, as far as it is known."""
    known = [(fact.dollars, fact.listed_dollars) for fact in facts if fact.dollars is not None]
    dollars = sum(paid for paid, _ in known if paid is not None)
    return SessionCosts(dollars if known else None, len(known), any(listed is not None for _, listed in known))


def facts_among(database: Database, filters: Filters, price: PriceOf = lambda _: None) -> list[SessionFact]:
    """The facts of the sessions that match, those that only repeat others among them."""
    where, parameters = conditions(filters)
    asked = (*whose(database, Derived.SHORT), *parameters)
    return list(_facts(database.query(f"{FACTS} WHERE {where}", asked), price))


def _facts(rows: Iterable[Row], price: PriceOf) -> Iterator[SessionFact]:
    for *named, messages, read, written, cached, recorded, record in rows:
        found = decoded_or_none(record, AnalysisInShort)
        if found is not None:
            no, id, title, source, model, folder, purpose, at = named
            whole = Usage(read, written, cached, found.cache_written, recorded, found.cache_written_hour)
            usage, own = without(whole, found.copied_usage), messages - found.copied_messages
            listed = _listed(usage, model, found.others, price) if read + written else None
            known = (usage, found.copied, found.tools, listed)
            yield SessionFact(no, id, title, source, model, folder, purpose, at, own, *known)


def _listed(usage: Usage, model: str, others: Sequence[ModelUse], price: PriceOf) -> float | None:
    """What the tokens cost at list prices, each model's at its own; None where the record says it, or no price does."""
    prices = price(model)
    if prices is None or usage.cost_dollars is not None:
        return None
    priced = [(each.usage, found) for each in others if (found := price(each.model))]
    rest = without(usage, total(used for used, _ in priced)) if priced else usage
    return sum(cost(used, each) or 0.0 for used, each in (*priced, (rest, prices)))


def usage_of(facts: Sequence[SessionFact], source: str = "", model: str = "") -> UsageGroup:
    """What sessions used together, without what they copied."""
    used, tools = total(fact.usage for fact in facts), [tool for fact in facts for tool in fact.tools]
    calls = (sum(fact.calls for fact in facts), sum(each.ok for each in tools), sum(each.failed for each in tools))
    messages = sum(fact.messages for fact in facts)
    return UsageGroup(source, model, len(facts), messages, used.input, used.output, used.cached, *calls)


def usage_groups(facts: Sequence[SessionFact]) -> list[UsageGroup]:
    """Agents with their models, those with most sessions first."""
    groups: dict[tuple[str, str], list[SessionFact]] = {}
    for fact in facts:
        groups.setdefault((fact.source, fact.model), []).append(fact)
    return [usage_of(groups[key], *key) for key in sorted(groups, key=lambda key: (-len(groups[key]), key))]


def tool_uses(facts: Sequence[SessionFact]) -> list[ToolUse]:
    """How each tool was used, the one that was called most first."""
    uses: dict[str, list[ToolFact]] = {}
    for each in (tool for fact in facts for tool in fact.tools):
        uses.setdefault(each.tool, []).append(each)
    sums = {
        tool: [sum(getattr(each, name) for each in alike) for name in ToolUse._fields[1:5]]
        for tool, alike in uses.items()
    }
    found = (ToolUse._make((tool, *sums[tool], len(alike))) for tool, alike in uses.items())
    return sorted(found, key=lambda use: (-use.calls, use.tool))


def list_prices(home: Home) -> PriceOf:
    """What a model's tokens cost: by the table that comes with Whet, and by what the person set."""
    settings, table = load(home).models, models()

    @cache
    def price(model: str) -> Prices | None:
        found = with_facts(model_of(model, table), settings).prices
        return replace(found, long_above=None) if found else None  # a session's sum does not say how long each call was

    return price
