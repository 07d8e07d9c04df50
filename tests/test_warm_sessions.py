"""A session that began with examples tells no more and no less than the same session without them."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from conversations import Turn, agent, call, conversation, program, shell, user
from whet.own.examples.templates import Example, Template
from whet.own.examples.warm_start import examples, warm_start
from whet.own.runs.run import Run
from whet.own.runs.shortening import plan
from whet.own.told.review_when import count
from whet.proving.cases_from_sessions import cases_from
from whet.sessions.copies import SILENCE, hushed, places
from whet.sessions.lineage import own_calls
from whet.sessions.transcripts import Ending, Message, Origin, Transcript
from whet.shipped.guidance.warm import words
from whet.store import sessions
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, list_sessions
from whet.store.rows import Provenance, prepare
from whet.store.search import search
from whet.store.session_facts import facts_among
from whet.trials.checks import CallDemand, Check, FinishedRun, mark
from whet.trouble.outcomes.view import JudgedCall, Saying, analyse, gather
from whet.trouble.people import course_of
from whet.trouble.red_checks import ends_failed

# What an example would say of the session, were it taken for its own: a file that is named, writes, plans, failures.
TEMPLATE = Template(
    "telling",
    (
        Example("read_file", '{"path":"budget.md"}', "2 lines", "The token limit was reached: look at budget.md."),
        Example("memory", '{"action":"add","text":"Plants are green."}', "Kept."),
        Example("todo", '{"steps":[{"text":"Water the fern"}]}', "Noted."),
        Example("terminal", '{"command":"make"}', "Error: no rule to make target", "No, that is wrong."),
    ),
)
TURNS: tuple[Turn, ...] = (
    user("No, that is wrong: use the other valve."),
    user("Fix the tests, please."),
    user("Turn limit reached.", origin=Origin.INSERTED),
    agent("All tests pass now."),
    agent("I could not find it, and I give up."),
    call("read_file", {"path": "budget.md"}, "Error: no such file", error=True),
    call("read_file", {"path": "plan.md"}, "one line"),
    call("memory", {"action": "add", "text": "x"}, "Kept."),
    call("todo", {"steps": [{"text": "Look"}]}, "Noted."),
    shell("make", "make: *** No rule to make target", error=True),
    shell("pytest -q", "1 passed"),
)
turns = st.lists(st.sampled_from(TURNS), min_size=1, max_size=9)
begun = st.sampled_from([(), (program("Be kind."),), (program("a"), program("The step limit exceeded."))])
templates = st.lists(st.sampled_from(TEMPLATE.examples), min_size=1, max_size=4, unique=True).map(
    lambda chosen: Template("telling", tuple(chosen))
)
transcripts = st.builds(
    lambda head, said, ending: conversation(*head, *said, ending=ending), begun, turns, st.sampled_from(Ending)
)


def warm(template: Template, transcript: Transcript) -> Transcript:
    return replace(transcript, messages=warm_start(template, transcript.messages, words()))


class Moved:
    """The places of a cold session where they are in the same session begun warm."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.aside = places(messages)

    def place(self, index: int | None) -> int | None:
        return index if index is None or index < self.aside.start else index + len(self.aside)

    def step(self, step: JudgedCall) -> JudgedCall:
        exchange = step.exchange
        asked = self.place(exchange.asked)
        assert asked is not None
        return JudgedCall(
            replace(exchange, asked=asked, answered=self.place(exchange.answered)), step.decision, step.is_named_check
        )

    def saying(self, saying: Saying) -> Saying:
        return replace(saying, message=self.place(saying.message))


@given(templates, transcripts)
@example(TEMPLATE, conversation(user("No, that is wrong."), agent("Done.")))
@example(TEMPLATE, conversation(user("Go."), TURNS[5]))
def test_the_same_is_found_in_it(template: Template, cold: Transcript) -> None:
    begun = warm(template, cold)
    moved = Moved(begun.messages)
    one, other = gather(cold), gather(begun)
    assert other.steps == tuple(moved.step(step) for step in one.steps)
    assert other.sayings == tuple(moved.saying(saying) for saying in one.sayings)
    assert ends_failed(course_of(other)) == ends_failed(course_of(one))
    assert analyse(begun) == analyse(cold)


@given(templates, transcripts)
def test_the_same_is_counted_and_taken_from_it(template: Template, cold: Transcript) -> None:
    begun = warm(template, cold)
    moved = Moved(begun.messages)
    assert own_calls(begun) == {(moved.place(place), call_id) for place, call_id in own_calls(cold)}
    assert count(begun.messages) == count(cold.messages)
    rows, before = prepare(begun).rows, prepare(cold).rows
    told = [row for place, row in enumerate(rows) if place not in moved.aside]
    assert [(row.words, row.tools, row.role) for row in told] == [(row.words, row.tools, row.role) for row in before]
    assert {(row.words, row.tools) for place, row in enumerate(rows) if place in moved.aside} == {("", ())}


@given(templates, transcripts)
def test_a_case_of_it_holds_no_example(template: Template, cold: Transcript) -> None:
    home = Home(Path("/nowhere"))  # only a check that passed later is carried out, and none here has one
    assert cases_from(home, warm(template, cold)) == cases_from(home, cold)


@given(templates, transcripts, st.integers(200, 4_000))
def test_no_example_is_summarised_as_history_nor_kept_in_part(template: Template, cold: Transcript, room: int) -> None:
    begun = warm(template, cold)
    run = Run(id="r", model="m", system="", messages=tuple(m for m in begun.messages if m.role != "system"))
    shown = examples(template, words())
    shorter = plan(run, room=room, tail_tokens=room // 3)
    assert not set(shown) & {*shorter.older, *shorter.tail}
    kept = [message for message in shorter.orders if message in shown]
    assert len(kept) in (0, len(shown))


def test_a_failed_example_is_no_failure_that_a_call_repeats() -> None:
    before = warm_start(TEMPLATE, (user("Build it."),), words())
    check = Check(calls=CallDemand(repeats_failure=False))
    assert mark(check, FinishedRun(call("terminal", {"command": "make"}, "fine"), before=before)).passed


def test_silence_stands_where_the_examples_stand() -> None:
    cold = conversation(program("Be kind."), user("Go."))
    begun = warm(TEMPLATE, cold)
    assert hushed(begun.messages) == (cold.messages[0], *[SILENCE] * len(places(begun.messages)), cold.messages[1])
    assert hushed(cold.messages) == cold.messages
    assert places(cold.messages) == range(1, 1)


@pytest.fixture
def kept(database: Database) -> Database:
    """Two sessions of one template; the second stands on the messages of the first."""
    for name, work in (("one", shell("pytest -q", "1 passed")), ("two", TURNS[5])):
        begun = warm(TEMPLATE, conversation(user(f"Do {name}."), work, native_id=name))
        sessions.keep(database, prepare(begun), Provenance(f"/{name}", 1.0, 2.0))
    refresh(database, progress=lambda _: None)
    return database


def test_the_store_counts_and_finds_only_what_happened(kept: Database) -> None:
    found = sorted((use.tool, use.calls) for fact in facts_among(kept, Filters()) for use in fact.tools)
    assert found == [("Bash", 1), ("read_file", 1)]
    for tool, number in (("memory", 0), ("terminal", 0), ("Bash", 1), ("read_file", 1)):
        assert len(list_sessions(kept, Filters(tool=tool), limit=9)) == number
    assert not search(kept, "fern")
    assert [hit.snippet for hit in search(kept, "pytest")]
