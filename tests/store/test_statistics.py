"""Counts over the store: sessions, messages, tokens, and how calls ended."""

import itertools

from whet.sessions.transcripts import Disposition, Message, Role, Text, ToolCall, ToolResult, Transcript, Usage
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.adding import prepare
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.session_facts import Statistics, Totals, measure

NUMBERS = itertools.count()


def exchange(tool: str, *, error: bool | None, disposition: Disposition | None = None) -> list[Message]:
    """A call and its answer."""
    call = ToolCall(f"call-{next(NUMBERS)}", tool)
    result = ToolResult(call.id, (Text("an answer"),), error=error, disposition=disposition)
    return [
        Message(role=Role.AGENT, parts=(call,), trust=Trust.AGENT, usage=Usage(input=10, output=3, cached=4)),
        Message(role=Role.TOOL, parts=(result,), trust=Trust.TOOL),
    ]


def keep(database: Database, name: str, messages: list[Message], *, source: str = "pi", model: str = "opus") -> None:
    transcript = Transcript(
        source=source, native_id=name, messages=tuple(messages), model=model, started=5.0, ended=9.0
    )
    sessions.keep(database, prepare(transcript), sessions.Provenance(f"/{name}", 1.0, 2.0))


def measured(database: Database, filters: Filters = Filters(), *, tools: int = 20) -> Statistics:  # noqa: B008
    """The counts, once every session has been analysed."""
    refresh(database, progress=lambda _progress: None)
    return measure(database, filters, tools=tools)


def test_an_empty_store_counts_nothing(database: Database) -> None:
    found = measured(database)
    assert found.totals == Totals(0, 0, 0, 0, 0, None, None, None)
    assert (found.groups, found.tools) == ((), ())


def test_calls_are_counted_by_how_they_ended(database: Database) -> None:
    messages = [
        *exchange("Bash", error=False),
        *exchange("Bash", error=True),
        *exchange("Bash", error=True, disposition=Disposition.REJECTED),
        *exchange("Read", error=False),
    ]
    keep(database, "a", messages)
    bash, read = measured(database).tools
    assert bash._asdict() == {"tool": "Bash", "calls": 3, "ok": 1, "failed": 1, "rejected": 1, "sessions": 1}
    assert (read.tool, read.calls, read.ok) == ("Read", 1, 1)


def test_agents_and_models_are_counted_apart(database: Database) -> None:
    keep(database, "a", exchange("Bash", error=True), source="codex", model="gpt-5")
    keep(database, "b", exchange("Bash", error=False), source="codex", model="gpt-5")
    keep(database, "c", [*exchange("Bash", error=True), *exchange("Bash", error=True)], source="pi")
    found = measured(database)
    groups = {(group.source, group.model): group for group in found.groups}
    assert [(group.source, group.sessions) for group in found.groups] == [("codex", 2), ("pi", 1)]
    codex = groups[("codex", "gpt-5")]
    assert (codex.messages, codex.calls, codex.ok, codex.failed) == (4, 2, 1, 1)
    assert (groups[("pi", "opus")].failed, groups[("pi", "opus")].input_tokens) == (2, 20)
    assert found.totals == Totals(3, 8, 40, 12, 16, None, 9.0, 9.0)


def test_filters_narrow_the_counts(database: Database) -> None:
    keep(database, "a", exchange("Bash", error=True), source="codex")
    keep(database, "b", exchange("Read", error=False), source="pi")
    found = measured(database, Filters(source="pi"))
    assert (found.totals.sessions, found.totals.messages) == (1, 2)
    assert [use.tool for use in found.tools] == ["Read"]


def test_each_session_counts_all_of_its_messages_and_calls(database: Database) -> None:
    shared = exchange("Bash", error=True)
    keep(database, "a", [*shared, *exchange("Read", error=False)])
    keep(database, "b", [*shared, *exchange("Read", error=False)])
    found = measured(database)
    assert found.totals.messages == 8
    assert {use.tool: (use.calls, use.sessions) for use in found.tools} == {"Bash": (2, 2), "Read": (2, 2)}


def test_a_session_that_grew_is_counted_anew(database: Database) -> None:
    first = exchange("Bash", error=True)
    keep(database, "a", first)
    assert measured(database).tools[0].calls == 1
    keep(database, "a", [*first, *exchange("Bash", error=False)])
    assert measured(database).tools[0][1:5] == (2, 1, 1, 0)


def test_only_the_tools_used_most_are_listed(database: Database) -> None:
    keep(database, "a", [message for n in range(5) for _ in range(n + 1) for message in exchange(f"t{n}", error=None)])
    assert [use.tool for use in measured(database, tools=2).tools] == ["t4", "t3"]
