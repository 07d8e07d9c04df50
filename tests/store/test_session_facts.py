"""Facts of sessions say what analyses say."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import whet
from kept_analyses import judged
from whet.own.runs.models import Prices
from whet.sessions.transcripts import Message, Purpose, Role, Text, Transcript, Usage
from whet.sessions.trust import Trust
from whet.store import analyses, sessions
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.rows import Provenance, prepare
from whet.store.session_facts import SessionCosts, costs_of, facts_among, state_of_sessions


def keep(database: Database, *transcripts: Transcript) -> None:
    for each in transcripts:
        sessions.keep(database, prepare(each), Provenance(f"/{each.native_id}", 1.0, 2.0))
    analyses.refresh(database, progress=lambda _: None, processors=1)


def test_facts_add_up_to_the_analyses(database: Database, examples: Path) -> None:
    keep(database, *(each for each in whet.read(str(examples)) if isinstance(each, Transcript)))
    found = [fact for fact in facts_among(database, Filters()) if fact.counts]
    every = list(judged(database, Filters()))
    assert len(found) == len(every) > 10
    assert sum(fact.calls for fact in found) == sum(len(one.analysis.exchanges) for one in every)
    assert sum(fact.failed_calls for fact in found) == sum(one.analysis.calls["failed"] for one in every)
    assert sum(fact.tokens for fact in found) == sum(one.tokens for one in every)


def said(name: str, *words: str, purpose: Purpose = Purpose.CHAT) -> Transcript:
    messages = tuple(Message(Role.USER, (Text(each),), Trust.USER) for each in words)
    return Transcript("codex", name, messages, purpose=purpose)


def test_what_changes_is_known_by_one_quick_question(database: Database) -> None:
    keep(database, said("a", "one"), said("b", "two"))
    state = state_of_sessions(database)
    assert state_of_sessions(database) == state
    keep(database, said("a", "one", "more"))
    assert state_of_sessions(database) != state


def test_attempts_of_trials_are_known_and_not_counted(database: Database) -> None:
    keep(database, said("a", "one"), said("t", "tried", purpose=Purpose.TRIAL))
    found = {fact.id: fact.counts for fact in facts_among(database, Filters())}
    assert found == {said("a").id: True, said("t").id: False}


def test_sessions_whose_facts_are_gone_are_analysed_again_and_counted_alike(database: Database, examples: Path) -> None:
    keep(database, *(each for each in whet.read(str(examples)) if isinstance(each, Transcript)))
    first = facts_among(database, Filters())
    assert not analyses.is_behind(database)
    database.execute("DELETE FROM derived WHERE kind = 'short'")
    assert analyses.is_behind(database)
    assert facts_among(database, Filters()) == []
    state = state_of_sessions(database)
    assert analyses.refresh(database, progress=lambda _: None) == len(first)
    assert state_of_sessions(database) != state
    assert facts_among(database, Filters()) == first
    assert not analyses.is_behind(database)


def test_tokens_cost_what_their_model_costs_unless_the_record_says(database: Database) -> None:
    used = Usage(input=1_000_000, output=100_000, cached=900_000)
    plain = replace(said("a", "one"), model="priced", usage=used)
    own = replace(said("b", "two"), model="priced", usage=replace(used, cost_dollars=7.0))
    other = replace(said("c", "three"), model="unheard of", usage=used)
    keep(database, plain, own, other)
    prices = {"priced": Prices(input=3.0, output=10.0, cached=0.3)}
    found = {fact.id: fact.dollars for fact in facts_among(database, Filters(), prices.get)}
    assert found == {plain.id: pytest.approx(0.3 + 1.0 + 0.27), own.id: 7.0, other.id: None}


def test_what_is_written_to_a_cache_has_its_own_list_price(database: Database) -> None:
    used = Usage(input=1_000_000, cached=600_000, cache_written=300_000, cache_written_hour=100_000)
    whole = replace(said("a", "one"), model="priced", usage=used)
    each = replace(said("b", "two"), model="priced")
    each = replace(each, messages=(*each.messages[:-1], replace(each.messages[-1], usage=used)))
    keep(database, whole, each)
    prices = {"priced": Prices(input=1.0, output=5.0, cached=0.1, cache_written=1.25, cache_written_hour=2.0)}
    found = {fact.id: fact.dollars for fact in facts_among(database, Filters(), prices.get)}
    cost = pytest.approx(0.1 + 0.06 + 0.25 + 0.2)
    assert found == {whole.id: cost, each.id: cost}
    costs = costs_of(facts_among(database, Filters(), prices.get))
    assert costs.dollars == pytest.approx(2 * 0.61)
    assert (costs.sessions, costs.is_listed) == (2, True)
    assert costs_of(facts_among(database, Filters(source="pi"), prices.get)) == SessionCosts()
