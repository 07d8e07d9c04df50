"""A session that is stored while it happens is the same as one that is stored at its end."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kept_analyses import judged
from whet.errors import WhetError
from whet.own.runs.run import Budget, Ended, Fragment, Run, Sampling, Spent, fork, grown
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import (
    Ending,
    Message,
    Purpose,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    session_id,
)
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.listing import Filters, find
from whet.store.recording import Recorder, recorded, restored_run
from whet.store.rows import prepare
from whet.store.search import search
from whet.store.session_facts import facts_among
from whet.store.sessions import forget, load

KEY = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


def said(words: str, role: Role = Role.USER, usage: Usage | None = None) -> Message:
    return Message(role=role, parts=(Text(words),), trust=Trust.USER, at=2.0, usage=usage)


def asked(*ids: str, usage: Usage | None = None) -> Message:
    calls = tuple(ToolCall(each, f"tool-{each}") for each in ids)
    return Message(role=Role.AGENT, parts=calls, trust=Trust.AGENT, at=3.0, usage=usage)


def answered(call_id: str) -> Message:
    return Message(role=Role.TOOL, parts=(ToolResult(call_id, (Text("so"),)),), trust=Trust.TOOL, at=4.0)


def run_of(*messages: Message, id: str = "own-1", parent: str = "") -> Run:
    return Run(
        id=id,
        model="m",
        system="You are careful.",
        messages=messages,
        shown=(Definition("read", "Reads.", '{"type": "object"}'),),
        allowed=frozenset({"read"}),
        parent=parent,
        folder="/home/kim/app",
        budget=Budget(tokens=5),
        sampling=Sampling(temperature=0.0, seed=7),
        room=900,
    )


def now() -> float:
    return 10.0


def play(database: Database, run: Run, *items: Message | Fragment | Ended | Run) -> None:
    assert list(recorded(database, run, items, now=now)) == list(items)


def rows(database: Database, native_id: str) -> list[tuple[object, ...]]:
    return database.query(
        "SELECT m.id, m.body FROM messages AS m JOIN sessions AS s ON s.no = m.session"
        " WHERE s.native_id = ? ORDER BY m.position",
        (native_id,),
    )


def tools(database: Database, native_id: str) -> list[tuple[object, ...]]:
    return database.query(
        "SELECT m.position, u.tool FROM uses AS u JOIN messages AS m ON m.no = u.message JOIN sessions AS s"
        " ON s.no = m.session WHERE s.native_id = ? ORDER BY m.position, u.tool",
        (native_id,),
    )


message = st.one_of(
    st.builds(said, st.text(max_size=20)),
    st.builds(said, st.text(max_size=9), st.just(Role.AGENT), st.builds(Usage, input=st.integers(0, 99))),
    st.builds(lambda ids: asked(*ids), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)),
    st.builds(answered, st.sampled_from("abc")),
)


def in_order(messages: list[Message]) -> list[Message]:
    """Without results that nobody waits for: the loop makes none."""
    waiting: list[str] = []
    kept: list[Message] = []
    for each in messages:
        if each.results and each.results[0].call_id not in waiting:
            continue
        for result in each.results:
            waiting.remove(result.call_id)
        waiting += (call.id for call in each.calls)
        kept.append(each)
    return kept


@given(st.lists(message, max_size=12).map(in_order), st.integers(0, 12), st.integers(0, 12))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_stored_message_by_message_is_what_is_stored_at_once(
    database: Database, messages: list[Message], begun: int, resumed: int
) -> None:
    forget(database, session_id("whet", "own-1"))
    first, second = sorted((min(begun, len(messages)), min(resumed, len(messages))))
    run = run_of(*messages[:first])
    play(database, run, *messages[first:second])
    play(database, run_of(*messages[:second]), *messages[second:], Ended(Ending.FINISHED))
    session = find(database, "own-1")
    whole = prepare(Transcript(source="whet", native_id="own-1", messages=tuple(messages)))
    assert [row[0] for row in rows(database, "own-1")] == [row.id for row in whole.rows]
    assert [row[1] for row in rows(database, "own-1")] == [row.body for row in whole.rows]
    assert tools(database, "own-1") == [
        (position, tool) for position, row in enumerate(whole.rows) for tool in sorted(set(row.tools))
    ]
    assert (session.head, session.message_count) == (whole.head, len(messages))
    assert session.input_tokens == sum(each.usage.input for each in messages if each.usage)
    assert load(database, session).messages == tuple(messages)
    assert (session.ending, session.facts.tools) == ("finished", ("read",))


def test_a_message_is_there_before_it_is_passed_on_and_can_be_found(database: Database) -> None:
    stream = recorded(database, run_of(said("hello there")), iter([said("zebra", Role.AGENT)]), now=now)
    assert next(stream).text == "zebra"
    assert [hit.session_id for hit in search(database, "zebra")] == [find(database, "own-1").id]
    assert find(database, "own-1").title == "hello there"
    assert find(database, "own-1").ending == "unknown"


def test_no_secret_is_stored_anywhere(database: Database) -> None:
    run = run_of(said(f"use {KEY}"))
    play(database, run, said(f"I use {KEY}", Role.AGENT), Ended(Ending.FAILED, f"refused {KEY}"))
    for table in ("sessions", "messages", "records"):
        for row in database.query(f"SELECT * FROM {table}"):
            assert KEY not in repr([bytes(cell) if isinstance(cell, memoryview) else cell for cell in row])
    assert find(database, "own-1").facts.ending_detail == "refused [redacted:github-token:1]"


def test_the_run_comes_back_as_it_was(database: Database) -> None:
    run = replace(run_of(said("hello")), purpose=Purpose.JOB, parent="own-0")
    play(database, run, said("hi", Role.AGENT))
    assert restored_run(database, find(database, "own-1")) == grown(run, said("hi", Role.AGENT))


def test_a_session_of_another_agent_has_no_run(database: Database) -> None:
    play(database, run_of(said("hello")))
    with pytest.raises(WhetError, match="cannot be resumed"):
        restored_run(
            database, find(database, "own-1")._replace(facts=replace(find(database, "own-1").facts, run_key=""))
        )


def test_a_fork_stores_and_counts_only_what_is_its_own(database: Database) -> None:
    used = Usage(input=100, output=10, cost_dollars=1.0)
    run = run_of(said("hello"))
    play(database, run, said("hi", Role.AGENT, used), Ended(Ending.FINISHED))
    whole = grown(run, said("hi", Role.AGENT, used))
    review = fork(whole, id="own-2", order=[said("what was learned?")], allowed=frozenset(), purpose=Purpose.REVIEW)
    play(database, review, said("nothing", Role.AGENT, Usage(input=5)), Ended(Ending.FINISHED))
    session = find(database, "own-2")
    assert (session.input_tokens, session.cost_dollars, session.base_count) == (5, None, 2)
    assert len(rows(database, "own-2")) == 2
    refresh(database, progress=lambda _: None, processors=1)
    assert sum(fact.usage.input for fact in facts_among(database, Filters())) == 105
    assert session.parent_id == find(database, "own-1").id


def test_what_a_fork_repeats_is_evidence_in_its_parent_only(database: Database) -> None:
    failing = tuple(
        message
        for number in range(4)
        for message in (
            Message(role=Role.AGENT, parts=(ToolCall(f"c{number}", "Bash", '{"command": "make"}'),), trust=Trust.AGENT),
            Message(
                role=Role.TOOL,
                parts=(ToolResult(f"c{number}", (Text("make: *** No rule to make target"),), "Bash", error=True),),
                trust=Trust.TOOL,
            ),
        )
    )
    run = run_of(said("build it"))
    play(database, run, *failing, said("I give up.", Role.AGENT))
    whole = grown(run, *failing, said("I give up.", Role.AGENT))
    review = fork(whole, id="own-2", order=[said("what was learned?")], allowed=frozenset(), purpose=Purpose.REVIEW)
    play(database, review, said("nothing", Role.AGENT))
    refresh(database, progress=lambda _: None)
    [parent] = (each.analysis for each in judged(database, Filters()))
    [child] = (each.analysis for each in judged(database, Filters(purpose=Purpose.REVIEW.value)))
    assert parent.calls["failed"]
    assert not any(child.calls.values())


def test_two_forks_that_happen_to_say_the_same_share_it(database: Database) -> None:
    run = run_of(said("hello"))
    same = (said("hi", Role.AGENT, Usage(input=3)), said("more"), said("yes", Role.AGENT))
    play(database, run, *same, Ended(Ending.FINISHED))
    play(database, replace(run, id="own-2"), *same, said("else"), Ended(Ending.FINISHED))
    assert load(database, find(database, "own-2")).messages == (said("hello"), *same, said("else"))
    assert len(rows(database, "own-2")) == 1
    assert find(database, "own-2").input_tokens == 3
    assert restored_run(database, find(database, "own-2")).model == "m"


def test_a_second_hand_on_the_same_session_is_noticed_and_writes_nothing(database: Database) -> None:
    run = run_of(said("hello"))
    first, second = Recorder(database, run, now=now), Recorder(database, run, now=now)
    first.add(said("one", Role.AGENT))
    with pytest.raises(WhetError, match="another process"):
        second.add(said("two", Role.AGENT))
    with pytest.raises(WhetError, match="another process"):
        second.end(Ended(Ending.FINISHED))
    with pytest.raises(WhetError, match="another process"):
        Recorder(database, run_of(said("other")), now=now)
    assert load(database, find(database, "own-1")).messages == (said("hello"), said("one", Role.AGENT))


def test_going_on_from_an_earlier_turn_begins_a_session_that_shares_what_is_left(database: Database) -> None:
    run = grown(run_of(said("one")), said("1", Role.AGENT), said("two"), said("2", Role.AGENT))
    play(database, run)
    back = replace(run, id="own-2", parent=run.id, messages=run.messages[:2])
    play(database, grown(back, said("three")), said("3", Role.AGENT))
    assert find(database, "own-2").base_count == 2
    assert len(load(database, find(database, "own-1")).messages) == 4


def test_tokens_of_answers_that_were_of_no_use_are_counted(database: Database) -> None:
    spent = Spent(model_calls=2, input=30, output=4, dollars=0.75)
    play(
        database,
        run_of(said("hello")),
        said("hi", Role.AGENT, Usage(input=10, output=4, cost_dollars=0.25)),
        Ended(Ending.FINISHED, spent=spent),
    )
    session = find(database, "own-1")
    assert (session.input_tokens, session.output_tokens, session.cost_dollars) == (30, 4, 0.75)


def test_a_run_in_the_stream_is_the_session_that_goes_on(database: Database) -> None:
    summary = Message(role=Role.USER, parts=(Text("so far"),), trust=Trust.AGENT, usage=Usage(input=7))
    child = run_of(summary, id="own-2", parent="own-1")
    play(
        database,
        run_of(said("hello")),
        said("hi", Role.AGENT, Usage(input=5)),
        child,
        said("on", Role.AGENT, Usage(input=2)),
        Ended(Ending.FINISHED, spent=Spent(input=14)),
    )
    old, new = find(database, "own-1"), find(database, "own-2")
    assert (old.ending, old.input_tokens) == ("compacted", 5)
    assert (new.ending, new.input_tokens, new.parent_id) == ("finished", 9, old.id)
