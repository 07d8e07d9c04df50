"""A transcript made ready for the store: ids that cover all before them, a title, totals, the tools of each message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sessions.transcripts import (
    Message,
    Origin,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    chain,
    decode,
    session_id,
    total,
)
from whet.sessions.trust import Trust
from whet.store.rows import opening, prepare, storable


def said(words: str, *, role: Role = Role.USER, origin: Origin = Origin.TURN) -> Message:
    return Message(role=role, parts=(Text(words),), trust=Trust.USER, origin=origin)


@given(st.lists(st.text(max_size=5), max_size=6))
def test_each_message_is_stored_under_the_id_that_covers_all_before_it(words: list[str]) -> None:
    messages = tuple(said(each) for each in words)
    prepared = prepare(Transcript(source="pi", native_id="a", messages=messages))
    assert [row.id for row in prepared.rows] == list(chain(messages))
    assert tuple(decode(row.body) for row in prepared.rows) == messages
    assert prepared.head == (prepared.rows[-1].id if words else b"")


def test_a_session_without_a_title_is_named_by_the_persons_first_words() -> None:
    messages = (
        said("You are an agent.", role=Role.SYSTEM),
        said("<environment>linux</environment>", origin=Origin.INSERTED),
        said("  \n"),
        said("Fix\n  the build " + "x" * 900),
        said("second"),
    )
    title = opening(messages)
    assert title.startswith("Fix the build xxx")
    assert len(title) == 200
    assert prepare(Transcript(source="pi", native_id="a", messages=messages)).columns.title == title
    named = Transcript(source="pi", native_id="a", messages=messages, title="Its own")
    assert prepare(named).columns.title == "Its own"
    assert opening(()) == ""


def test_usage_is_summed_and_an_unknown_cost_stays_unknown() -> None:
    assert total([None, Usage(input=3, cached=2), Usage(output=5)]) == Usage(input=3, output=5, cached=2)
    assert total([Usage(cost_dollars=0.5), Usage(), Usage(cost_dollars=0.25)]).cost_dollars == 0.75
    assert total([]).cost_dollars is None


def test_the_usage_of_the_whole_session_wins_where_a_source_gives_it() -> None:
    message = Message(role=Role.AGENT, parts=(), trust=Trust.AGENT, usage=Usage(input=1))
    whole = Transcript(source="pi", native_id="a", messages=(message,), usage=Usage(input=70))
    assert prepare(whole).columns.input_tokens == 70


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 1, 3, 2)])
def test_each_message_knows_the_tools_that_are_called_or_answer_in_it(order: tuple[int, ...]) -> None:
    messages = [
        Message(role=Role.AGENT, parts=(ToolCall("1", "Bash"), ToolCall("2", "Read")), trust=Trust.AGENT),
        said("between"),
        Message(role=Role.TOOL, parts=(ToolResult("1"),), trust=Trust.TOOL),
        Message(role=Role.TOOL, parts=(ToolResult("2"), ToolResult("lost", tool="Grep")), trust=Trust.TOOL),
    ]
    ordered = tuple(messages[index] for index in order)
    rows = prepare(Transcript(source="pi", native_id="a", messages=ordered)).rows
    tools = {order[index]: row.tools for index, row in enumerate(rows)}
    assert tools == {0: ("Bash", "Read"), 1: (), 2: ("Bash",), 3: ("Grep", "Read")}


def test_a_parent_is_named_by_its_stored_id() -> None:
    child = prepare(Transcript(source="pi", native_id="b", parent="a"))
    assert child.columns.parent_id == session_id("pi", "a")
    assert prepare(Transcript(source="pi", native_id="b")).columns.parent_id == ""


def test_the_zero_character_is_left_out_of_columns() -> None:
    assert storable("a\0b") == "ab"
    prepared = prepare(Transcript(source="pi", native_id="a\0", model="m\0", folder="/\0"))
    assert (prepared.columns.model, prepared.columns.folder) == ("m", "/")
