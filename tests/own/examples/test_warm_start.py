"""A session that begins with examples: valid on both wires, the same bytes for all, and no history of its own."""

import json
from collections.abc import Sequence
from itertools import pairwise

from anthropic.types import MessageParam
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from openai.types.chat import ChatCompletionMessageParam
from pydantic import ConfigDict, TypeAdapter

from conversations import agent, call, conversation, program, user
from samples_of_templates import LOOK, RUN, TEMPLATE
from whet.own.examples.mining import WantedTemplate, mine
from whet.own.examples.templates import Example, Template
from whet.own.examples.warm_start import as_anthropic, as_openai, examples, warm_start
from whet.sessions.copies import PREFIX, cold, is_warm
from whet.sessions.transcripts import Message, Origin, Role, Text, ToolCall, encode, pair
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.trouble.outcomes.view import gather

OPENAI = TypeAdapter(list[ChatCompletionMessageParam], config=ConfigDict(extra="forbid"))
ANTHROPIC = TypeAdapter(list[MessageParam], config=ConfigDict(extra="forbid"))

turns = st.sampled_from(
    [
        (user("Water the plants."),),
        (agent("Done."),),
        (user("Note.", origin=Origin.INSERTED),),
        call("valve", {"open": True}, "ok"),
        call("valve", {"open": False}, ""),
    ]
)
sessions = st.tuples(st.sampled_from([(), (program("Be kind."),), (program("a"), program("b"))]), st.lists(turns)).map(
    lambda pair: (*pair[0], *(message for turn in pair[1] for message in turn))
)
made = st.builds(
    Example,
    st.sampled_from(["valve", "read_file", "mcp__x__y"]),
    st.sampled_from(["{}", '{"a":"b"}', '{"deep":{"list":[1,null,"ü"]}}']),
    st.text(max_size=20),
    st.sampled_from(["", "Open the valve.", "Look."]),
)
templates = st.lists(made, min_size=1, max_size=6).map(lambda examples: Template("any", tuple(examples)))


def warm(template: Template, messages: Sequence[Message]) -> tuple[Message, ...]:
    return warm_start(template, messages, words())


@given(templates, sessions)
def test_warming_twice_is_warming_once_and_can_be_taken_back(template: Template, messages: tuple[Message, ...]) -> None:
    once = warm(template, messages)
    assert warm(template, once) == once
    assert cold(once) == messages
    assert is_warm(once)
    assert not is_warm(messages)


@given(templates, templates, sessions)
def test_a_session_has_the_examples_of_one_template(
    one: Template, other: Template, messages: tuple[Message, ...]
) -> None:
    assert warm(other, warm(one, messages)) == warm(other, messages)


@given(templates, sessions, sessions)
def test_all_sessions_with_a_template_begin_with_the_same_bytes(
    template: Template, one: tuple[Message, ...], other: tuple[Message, ...]
) -> None:
    plain = [tuple(message for message in each if message.role is not Role.SYSTEM) for each in (one, other)]
    begun = [[encode(message) for message in warm(template, each)] for each in plain]
    length = len(examples(template, words()))
    assert begun[0][:length] == begun[1][:length]


@given(templates, sessions)
def test_ids_are_unique_and_every_example_has_its_result(template: Template, messages: tuple[Message, ...]) -> None:
    ids = [call.id for message in warm(template, messages) for call in message.calls]
    own = [each for each in ids if each.startswith(PREFIX)]
    assert len(set(own)) == len(own) == len(template.examples)
    assert all(len(each) <= 40 and each.replace("-", "").isalnum() for each in own)
    exchanges = pair(warm(template, messages)).exchanges
    assert all(each.result is not None for each in exchanges)


def test_an_id_that_the_session_holds_already_is_not_used_again() -> None:
    first = examples(TEMPLATE, words())[1].calls[0].id
    held = Message(Role.AGENT, (ToolCall(first, "valve"),), Trust.AGENT)
    ids = [call.id for message in warm(TEMPLATE, (user("Go."), held)) for call in message.calls]
    assert len(set(ids)) == len(ids) == 3


@given(templates, sessions)
def test_both_wires_take_it(template: Template, messages: tuple[Message, ...]) -> None:
    shown = tuple(message for message in warm(template, messages) if message.role is not Role.SYSTEM)
    openai, anthropic = as_openai(shown), as_anthropic(shown)
    OPENAI.validate_python(openai)
    ANTHROPIC.validate_python(anthropic)
    roles = [str(turn["role"]) for turn in anthropic]
    assert roles[0] == "user"
    assert all(one != other for one, other in pairwise(roles))
    open_calls: set[str] = set()
    for line in openai:
        if line["role"] == "tool":
            open_calls.discard(str(line["tool_call_id"]))
            continue
        assert not open_calls, "a call is answered before anybody goes on"
        calls = line.get("tool_calls")
        open_calls = {str(one["id"]) for one in calls} if isinstance(calls, list) else set()
    for before, after in pairwise(anthropic):
        assert _ids(before, "tool_use", "id") == _ids(after, "tool_result", "tool_use_id")


def _ids(turn: dict[str, object], kind: str, field: str) -> list[object]:
    blocks = turn["content"]
    assert isinstance(blocks, list)
    return sorted(block[field] for block in blocks if block["type"] == kind)


@given(templates)
def test_the_sides_take_turns_even_where_a_result_is_the_users(template: Template) -> None:
    sides = [message.role is Role.AGENT for message in (*examples(template, words()), user("Go."))]
    assert sides[0] is False
    assert all(one is not other for one, other in pairwise(sides))


def test_the_prefill_form_is_plain_json() -> None:
    lines = json.loads(json.dumps(as_openai(examples(TEMPLATE, words()))))
    assert [line["role"] for line in lines] == ["user", "assistant", "tool", "assistant"] * 2


def test_examples_stand_after_the_system_and_are_marked() -> None:
    begun = warm(TEMPLATE, (program("Be kind."), user("Water the plants.")))
    assert [message.role for message in begun[:3]] == [Role.SYSTEM, Role.USER, Role.AGENT]
    assert begun[-1] == user("Water the plants.")
    inserted = begun[1:-1]
    assert {message.origin for message in inserted} == {Origin.INSERTED}
    assert "no part of this conversation" in inserted[0].text
    assert inserted[0].text.endswith("Look at the plan.")
    assert "end here" in inserted[-1].text


def test_all_calls_that_one_request_took_follow_one_another() -> None:
    first = replace(LOOK, is_whole=True)
    second = replace(RUN, session=LOOK.session, intent=LOOK.intent, is_whole=True)
    shown = examples(Template("x", (first, second)), words())
    roles = [message.role for message in shown]
    assert roles == [Role.USER, Role.AGENT, Role.TOOL, Role.AGENT, Role.TOOL, Role.AGENT]
    assert shown[0].text.endswith(f"\n\n{LOOK.intent}")


def test_of_a_longer_piece_of_work_one_step_alone_is_asked_for() -> None:
    second = replace(RUN, session=LOOK.session, intent=LOOK.intent)
    shown = examples(Template("x", (LOOK, second)), words())
    requests = [message.text for message in shown if message.role is Role.USER]
    assert [LOOK.tool in requests[0], RUN.tool in requests[1]] == [True, True]
    assert all(text.endswith(LOOK.intent) and not text.endswith(f"\n\n{LOOK.intent}") for text in requests)


def test_without_an_intent_a_neutral_hint_stands_there() -> None:
    assert "terminal" in examples(Template("x", (RUN,)), words())[0].text


def test_the_examples_are_no_evidence_of_the_session_and_are_not_mined_again() -> None:
    real = conversation(
        user("Please water the tall plants now."), call("valve", {"open": "wide"}, "ok"), agent("Done.")
    )
    begun = replace(real, messages=warm(TEMPLATE, real.messages))
    assert [step.tool for step in gather(begun).steps] == ["valve"]
    mined = mine([begun], WantedTemplate(fewest=1))
    assert {example.tool for example in mined.examples} <= {"valve"}


def test_other_inserted_messages_are_left_alone() -> None:
    notes = (user("Environment: Linux.", origin=Origin.INSERTED), user("Go."))
    assert cold(notes) == notes
    assert cold(warm(TEMPLATE, notes)) == notes
    said = Message(Role.AGENT, (Text("Hello."),), Trust.AGENT, origin=Origin.INSERTED)
    assert cold((said, *notes)) == (said, *notes)
