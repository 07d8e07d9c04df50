"""Analyses are kept with their sessions, and made again only where something changed."""

from collections import Counter

import msgspec
import pytest

from kept_analyses import judged
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript, Usage
from whet.sessions.trust import Trust
from whet.store import analyses, sessions
from whet.store.database import Database
from whet.store.listing import Filters, find
from whet.store.rows import Provenance, prepare
from whet.store.session_facts import count_copies, facts_among
from whet.store.side_by_side import POOL_FROM_MESSAGES
from whet.trouble.outcomes.view import analyse


def transcript(name: str, *, calls: int, words: str = "Run it.") -> Transcript:
    """A session in which every second call fails."""
    messages = [Message(role=Role.USER, parts=(Text(words),), trust=Trust.USER)]
    for number in range(calls):
        call = ToolCall(f"c{number}", "Bash", f'{{"command":"step {number}"}}')
        answer = ToolResult(call.id, (Text("done"),), error=bool(number % 2))
        messages.append(Message(role=Role.AGENT, parts=(call,), trust=Trust.AGENT))
        messages.append(Message(role=Role.TOOL, parts=(answer,), trust=Trust.TOOL))
    return Transcript(source="codex", native_id=name, model="some-model", messages=tuple(messages))


def keep(database: Database, value: Transcript) -> None:
    sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0))


def refresh(database: Database) -> int:
    return analyses.refresh(database, progress=lambda _: None)


def test_only_new_and_grown_sessions_are_analysed(database: Database) -> None:
    keep(database, transcript("a", calls=2))
    keep(database, transcript("b", calls=2, words="Another."))
    assert refresh(database) == 2
    assert refresh(database) == 0
    keep(database, transcript("a", calls=4))
    assert refresh(database) == 1


def test_an_analysis_of_an_older_version_is_made_again(database: Database) -> None:
    keep(database, transcript("a", calls=2))
    refresh(database)
    database.execute("UPDATE derived SET version = ''")
    assert refresh(database) == 1


def calls_by_tool(database: Database) -> dict[str, int]:
    facts = (fact for fact in facts_among(database, Filters()) if not fact.copied)
    return dict(sum((Counter({use.tool: use.calls for use in fact.tools}) for fact in facts), Counter()))


def test_calls_are_counted_by_tool_and_agent(database: Database) -> None:
    keep(database, transcript("a", calls=4))
    refresh(database)
    [fact] = facts_among(database, Filters())
    assert [(use.tool, use.calls, use.ok, use.failed) for use in fact.tools] == [("Bash", 4, 2, 2)]
    assert (fact.source, fact.calls, fact.failed_calls) == ("codex", 4, 2)


def test_a_forgotten_session_takes_its_analysis_with_it(database: Database) -> None:
    keep(database, transcript("a", calls=2))
    refresh(database)
    assert [one.analysis.source for one in judged(database, Filters())] == ["codex"]
    sessions.forget(database, transcript("a", calls=0).id)
    assert list(judged(database, Filters())) == []
    assert facts_among(database, Filters()) == []


@pytest.mark.parametrize("count", [3])
def test_many_sessions_are_analysed_on_all_processors_with_the_same_result(database: Database, count: int) -> None:
    for number in range(count):
        keep(database, transcript(f"s{number}", calls=POOL_FROM_MESSAGES // 2 // count + 1, words=str(number)))
    assert refresh(database) == count
    stored = [one.analysis for one in judged(database, Filters())]
    for analysis in stored:
        session = find(database, analysis.session)
        assert analysis == analyse(sessions.load(database, session))


def resumed(name: str, *, calls: int, goes_on: int = 0, dated: bool = True) -> Transcript:
    """A session of which another one may be the beginning."""
    base = transcript("base", calls=calls)
    messages = [
        msgspec.structs.replace(message, at=float(place) if dated else None, usage=Usage(input=10, output=1))
        for place, message in enumerate(base.messages)
    ]
    for number in range(goes_on):
        call = ToolCall(f"{name}{number}", "Edit", f'{{"file_path":"{name}{number}"}}')
        answer = ToolResult(call.id, (Text("no such file"),), error=True)
        messages.append(Message(role=Role.AGENT, parts=(call,), trust=Trust.AGENT, at=100.0 + number))
        messages.append(Message(role=Role.TOOL, parts=(answer,), trust=Trust.TOOL, at=100.0 + number))
    return msgspec.structs.replace(base, native_id=name, messages=tuple(messages))


def test_what_a_resumed_session_copied_counts_once(database: Database) -> None:
    keep(database, resumed("first", calls=4))
    keep(database, resumed("again", calls=4, goes_on=3))
    refresh(database)
    first, again = judged(database, Filters())
    assert first.analysis.calls["failed"] == 2
    assert again.analysis.calls["failed"] == 3
    assert {exchange.tool for exchange in again.analysis.exchanges} == {"Edit"}
    assert (first.tokens, again.tokens) == (99, 0)
    assert calls_by_tool(database) == {"Bash": 4, "Edit": 3}


def test_a_session_that_is_only_a_copy_counts_for_nothing(database: Database) -> None:
    keep(database, resumed("first", calls=4))
    keep(database, resumed("copy", calls=4))
    refresh(database)
    (only,) = judged(database, Filters())
    assert only.analysis.session == resumed("first", calls=0).id
    copy = analyses.analysis_of(database, find(database, "copy"))
    assert copy is not None
    assert copy.copied.whole
    assert count_copies(database, Filters()) == 1
    assert calls_by_tool(database) == {"Bash": 4}


def test_two_runs_that_begin_alike_without_dates_are_both_counted(database: Database) -> None:
    keep(database, resumed("first", calls=4, dated=False))
    keep(database, resumed("again", calls=4, goes_on=1, dated=False))
    refresh(database)
    assert [one.analysis.calls["failed"] for one in judged(database, Filters())] == [2, 3]


def test_a_copy_counts_when_the_session_that_it_was_copied_from_is_forgotten(database: Database) -> None:
    keep(database, resumed("first", calls=4))
    keep(database, resumed("again", calls=4, goes_on=1))
    refresh(database)
    sessions.forget(database, resumed("first", calls=0).id)
    assert refresh(database) == 1
    (left,) = judged(database, Filters())
    assert left.analysis.calls["failed"] == 3
