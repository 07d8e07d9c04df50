"""Analyses are kept with their sessions, and made again only where something changed."""

import pytest

from whet.failures.analysis import analyse
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.store import analyses, sessions
from whet.store.database import Database
from whet.store.listing import Filters, find
from whet.store.preparing import prepare
from whet.store.statistics import measure


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
    sessions.keep(database, prepare(value), sessions.Provenance(f"/{value.native_id}", 1.0, 2.0))


def refresh(database: Database) -> int:
    return analyses.refresh(database, failure_weights(), progress=lambda _: None)


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
    database.execute("UPDATE analyses SET version = 0")
    assert refresh(database) == 1


def test_calls_are_counted_by_tool_and_agent(database: Database) -> None:
    keep(database, transcript("a", calls=4))
    refresh(database)
    found = measure(database, Filters())
    assert [(use.tool, use.calls, use.ok, use.failed) for use in found.tools] == [("Bash", 4, 2, 2)]
    assert [(group.source, group.calls, group.failed) for group in found.groups] == [("codex", 4, 2)]


def test_a_forgotten_session_takes_its_analysis_with_it(database: Database) -> None:
    keep(database, transcript("a", calls=2))
    refresh(database)
    assert [one.analysis.source for one in analyses.judged(database, Filters())] == ["codex"]
    sessions.forget(database, transcript("a", calls=0).id)
    assert list(analyses.judged(database, Filters())) == []
    assert measure(database, Filters()).tools == ()


@pytest.mark.parametrize("count", [3])
def test_many_sessions_are_analysed_on_all_processors_with_the_same_result(database: Database, count: int) -> None:
    for number in range(count):
        keep(database, transcript(f"s{number}", calls=analyses.POOL_FROM_MESSAGES // 2 // count + 1, words=str(number)))
    assert refresh(database) == count
    stored = [one.analysis for one in analyses.judged(database, Filters())]
    for analysis in stored:
        session = find(database, analysis.session)
        assert analysis == analyse(sessions.load(database, session), failure_weights())
