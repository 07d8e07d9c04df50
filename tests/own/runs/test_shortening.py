"""What is planned for a conversation that is too long keeps the orders and never parts a call from its results."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from whet.own.runs.run import Run
from whet.own.runs.shortening import (
    compacted,
    is_full,
    overhead,
    plain_record,
    plan,
    size,
    size_of,
    tail_start,
    trust_of_summary,
)
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import (
    Media,
    Message,
    Origin,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    pair,
)
from whet.sessions.trust import Trust
from whet.trouble.outcomes.view import gather

LONG = "A line of output that goes on and on.\n" * 200


def user(words: str) -> Message:
    return Message(role=Role.USER, parts=(Text(words),), trust=Trust.USER)


def agent(words: str, *ids: str, usage: Usage | None = None) -> Message:
    calls = tuple(ToolCall(each, "read", f'{{"path": "{each}"}}') for each in ids)
    return Message(role=Role.AGENT, parts=(Text(words), *calls), trust=Trust.AGENT, usage=usage)


def result(call_id: str, text: str = LONG, trust: Trust = Trust.TOOL) -> Message:
    return Message(role=Role.TOOL, parts=(ToolResult(call_id, (Text(text),), "read", error=True),), trust=trust)


def run_of(*messages: Message, room: int | None = None) -> Run:
    return Run(id="r", model="m", system="You are careful.", messages=messages, room=room)


def exchange(number: int, text: str = LONG) -> tuple[Message, ...]:
    return agent(f"Step {number}.", f"c{number}"), result(f"c{number}", text)


def long_run(steps: int = 20, text: str = LONG) -> Run:
    turns = [message for number in range(steps) for message in exchange(number, text)]
    return run_of(user("Fix the test in parser.py."), *turns, room=4_000)


def test_old_tool_output_goes_first_and_nothing_needs_a_summary() -> None:
    run = long_run(10)
    shorter = plan(run, room=8_000, tail_tokens=3_000)
    assert shorter.older == ()
    messages = compacted(shorter, None)
    assert len(messages) == len(run.messages)
    assert size_of(messages) < 0.6 * 8_000 < size_of(run.messages)
    first = messages[2].results[0].text
    assert first.startswith("A line of output")
    assert "characters left out here" in first
    assert [each.results for each in messages[-2:]] == [each.results for each in run.messages[-2:]]


def test_where_that_is_not_enough_the_middle_is_left_to_a_summary() -> None:
    run = long_run(60)
    shorter = plan(run, room=4_000, tail_tokens=1_500)
    assert shorter.orders == (run.messages[0],)
    assert len(shorter.older) > 100
    assert 0 < size_of(shorter.tail) < 2_000
    assert shorter.tail[-1].results[0].call_id == "c59"


def test_the_latest_order_is_kept_too_also_through_a_second_compaction() -> None:
    order = user("Now do the other file, and never touch setup.py.")
    run = run_of(user("Begin."), agent("Done."), order, *long_run(40).messages[1:])
    shorter = plan(run, room=3_000, tail_tokens=1_000)
    assert [message.text for message in shorter.orders] == ["Begin.", order.text]
    summary = replace(user("So far."), origin=Origin.SUMMARY, trust=Trust.TOOL)
    again = run_of(*compacted(shorter, summary), *long_run(40).messages[1:])
    twice = plan(again, room=3_000, tail_tokens=1_000)
    assert [message.text for message in twice.orders] == ["Begin.", order.text]
    assert any(message.text == "So far." for message in twice.older)


def test_a_summary_is_believed_no_more_than_the_least_of_what_it_is_made_from() -> None:
    assert trust_of_summary((user("Go."), agent("Ok."))) is Trust.AGENT
    assert trust_of_summary(long_run(3).messages) is Trust.TOOL
    assert trust_of_summary((*long_run(3).messages, result("x", trust=Trust.EXTERNAL))) is Trust.EXTERNAL


def test_what_is_carried_over_is_no_evidence_and_is_paid_for_once() -> None:
    run = run_of(user("Go."), *(m for n in range(30) for m in exchange(n)), agent("I am done.", usage=Usage(input=9)))
    assert len(gather(Transcript(source="whet", native_id="a", messages=run.messages)).failures) == 30
    for room in (3_000, 40_000):
        shorter = plan(run, room=room, tail_tokens=1_500)
        summary = replace(user("It failed."), origin=Origin.SUMMARY, trust=Trust.AGENT)
        messages = compacted(shorter, summary if shorter.older else None)
        evidence = gather(Transcript(source="whet", native_id="b", messages=messages))
        assert evidence.steps == ()
        assert [saying.text for saying in evidence.sayings] == ["Go."]
        assert not any(message.usage for message in messages)


def test_the_size_is_what_the_endpoint_counted_and_an_estimate_of_the_rest() -> None:
    counted = run_of(user("Go."), agent("Hm.", usage=Usage(input=5_000, output=100)), user("x" * 4_000))
    assert 6_100 <= size(counted) <= 6_200
    plain = run_of(user("x" * 4_000))
    assert 1_000 <= size(plain) <= 1_100
    with_tools = replace(plain, shown=(Definition("read", "y" * 400),))
    assert size(with_tools) == size(plain) + 102
    assert not is_full(plain)
    assert is_full(replace(plain, room=900))
    assert overhead(plain) == 4


def test_what_a_summary_cost_says_nothing_of_the_size_of_what_follows_it() -> None:
    summary = replace(user("So far."), origin=Origin.SUMMARY, usage=Usage(input=90_000, output=500))
    assert size(run_of(user("Go."), summary)) < 200


def test_an_endpoint_that_counts_more_than_we_do_is_believed() -> None:
    counted = agent("Hm.", usage=Usage(input=40_000))
    run = run_of(user("Go."), *(m for n in range(10) for m in exchange(n, "z" * 400)), counted, user("Go on."))
    assert plan(run, room=30_000, tail_tokens=9_000).older != ()
    cheap = run_of(*(replace(message, usage=None) for message in run.messages))
    assert plan(cheap, room=30_000, tail_tokens=9_000).older == ()


def test_a_record_in_words_has_everything_but_thoughts_and_keeps_its_limit() -> None:
    text = plain_record((user("Fix it."), *exchange(1, "not found")), 200)
    assert text.splitlines() == [
        "user: Fix it.",
        "agent: Step 1.",
        'agent calls read: {"path": "c1"}',
        "read answers: not found",
    ]
    assert len(plain_record(long_run(100).messages, 500)) < 2_200


def test_pictures_are_named_and_thoughts_are_left_out() -> None:
    picture = Media(kind="image")
    shown = Message(role=Role.USER, parts=(picture, Text("What is it?")), trust=Trust.USER)
    thought = Message(role=Role.AGENT, parts=(Thought("A cat?"), Text("A cat.")), trust=Trust.AGENT)
    assert plain_record((shown, thought), 100) == "user: [image]\nuser: What is it?\nagent: A cat."
    seen = Message(role=Role.TOOL, parts=(ToolResult("c", (picture, Text(LONG))),), trust=Trust.TOOL)
    run = run_of(user("Look."), agent("", "c"), seen, *exchange(1))
    eased = plan(run, room=8_000, tail_tokens=2_500).orders[2].results[0]
    assert eased.content[0] == picture
    assert len(eased.text) < len(LONG)


turns = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.integers(1, 2_000)),
        st.tuples(st.just("agent"), st.integers(1, 2_000)),
        st.tuples(st.sampled_from(["one", "two", "three"]), st.integers(1, 20_000)),
    ),
    min_size=1,
    max_size=30,
)


def built(order: list[tuple[str, int]]) -> tuple[Message, ...]:
    messages = [user("The task.")]
    for number, (kind, length) in enumerate(order):
        if kind == "user":
            messages.append(user("u" * length))
        elif kind == "agent":
            messages.append(agent("a" * length))
        else:
            ids = [f"{number}-{n}" for n in range({"one": 1, "two": 2, "three": 3}[kind])]
            messages.append(agent("", *ids))
            messages += (result(each, "r" * length) for each in ids)
    return tuple(messages)


@given(turns, st.integers(100, 8_000), st.integers(0, 4_000))
def test_no_plan_parts_a_call_from_its_results_or_loses_the_task(
    order: list[tuple[str, int]], room: int, tail_tokens: int
) -> None:
    run = run_of(*built(order))
    shorter = plan(run, room=room, tail_tokens=tail_tokens)
    for messages in (compacted(shorter, None), shorter.older, shorter.tail):
        pairing = pair(messages)
        assert not pairing.orphans
        assert all(each.result is not None for each in pairing.exchanges)
    kept = (*shorter.orders, *shorter.tail)
    assert kept[0].text == "The task."
    assert [m.text for m in built(order) if m.role is Role.USER][-1] in [m.text for m in kept]
    assert len(shorter.orders) + len(shorter.older) + len(shorter.tail) == len(run.messages)


@given(turns, st.integers(1, 4_000))
def test_the_tail_begins_with_a_turn_and_fits_unless_it_is_the_last_one(
    order: list[tuple[str, int]], limit: int
) -> None:
    messages = built(order)
    start = tail_start(messages, limit)
    assert start < len(messages)
    assert messages[start].role is not Role.TOOL
    turns_in_tail = sum(message.role is not Role.TOOL for message in messages[start:])
    assert turns_in_tail == 1 or size_of(messages[start:]) <= limit
