"""Examples that another agent begins with arrive whole, and are known again in its records."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conversations import agent, call, conversation, program, user
from samples_of_templates import TEMPLATE
from whet.agents.formats import openai_messages
from whet.own.examples.mining import WantedTemplate, mine
from whet.own.examples.templates import Example, Template
from whet.own.examples.warm_start import as_openai, examples, is_prefill, recognised, warm_start
from whet.sessions import exports
from whet.sessions.copies import cold
from whet.sessions.transcripts import Message, Origin, Role, pair
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.trouble.outcomes.view import gather

# What Hermes 0.19.0 sent as the second request of `hermes chat`, with PREFILL as its prefill_messages_file; only its
# system prompt is left out.
SENT: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "data" / "hermes_request.json").read_text())
REQUEST = "Look at the plan and run its tests."
PREFILL = Template(
    "three-ways",
    (
        Example("read_file", '{"path":"plan.md"}', "3 lines", REQUEST, "s1", 2, "exit code 0"),
        Example("terminal", '{"timeout":60,"command":"pytest -q"}', "12 passed", REQUEST, "s1", 4, "exit code 0"),
        Example("search_files", '{"pattern":"größe"}', "", "", "s2"),
        Example(
            "write_file",
            '{"path":"猫.txt","content":"naïve\\n"}',
            '  {"bytes_written": 7}\n',
            "Schreib „naïve“ in 猫.txt.",
            "s3",
        ),
    ),
)
made = st.builds(
    Example,
    st.sampled_from(["valve", "read_file"]),
    st.sampled_from(["{}", '{"a":"ü"}']),
    st.text(max_size=20) | st.sampled_from(["", " \n"]),
    st.sampled_from(["", "Open the valve.", "Look."]),
)
templates = st.lists(made, min_size=1, max_size=5).map(lambda examples: Template("any", tuple(examples)))
own = st.lists(
    st.sampled_from([(user("Water the plants."),), (agent("Done."),), call("valve", {"open": True}, "ok")]), min_size=1
).map(lambda turns: (user("Begin."), *(message for turn in turns for message in turn)))


def read(lines: object) -> tuple[Message, ...]:
    """Chat messages as their importer reads them, with the examples marked."""
    return recognised(tuple(openai_messages.conversation(json.loads(json.dumps(lines)))))


def test_hermes_sends_every_example_in_its_place_and_with_its_result() -> None:
    written = read(as_openai(examples(PREFILL, words())))
    assert told(read(SENT[1:-3])) == told(written)
    assert [line["role"] for line in SENT[:2] + SENT[-3:]] == ["system", "user", "user", "assistant", "tool"]


def told(messages: tuple[Message, ...]) -> list[tuple[object, ...]]:
    """What the examples say: Hermes sorts the arguments of calls and strips what is around words."""
    return [
        (each.call.id, each.call.name, json.loads(each.call.arguments), each.result and each.result.text.strip())
        for each in pair(messages).exchanges
    ]


def test_a_record_of_what_hermes_sent_is_the_session_without_the_examples() -> None:
    messages = read(SENT)
    assert [message.text for message in cold(messages)][:2] == ["(the system prompt of Hermes)", "list the files"]
    assert [call.id for message in cold(messages) for call in message.calls] == ["call_1"]
    transcript = conversation(*messages)
    assert [step.tool for step in gather(transcript).steps] == ["terminal"]
    mined = mine([transcript], WantedTemplate(fewest=1))
    assert {example.arguments for example in mined.examples} <= {'{"command":"ls"}'}


@given(templates, own)
def test_examples_are_known_again_in_any_record_and_nothing_else_is_taken_for_one(
    template: Template, messages: tuple[Message, ...]
) -> None:
    begun = as_openai((program("Be kind."), *examples(template, words()), *messages))
    found = read(begun)
    assert cold(found) == read(as_openai((program("Be kind."), *messages)))
    assert all(message.trust <= Trust.AGENT for message in found if message.origin is Origin.INSERTED)
    assert not is_prefill(found)
    assert is_prefill(read(begun[: -len(as_openai(messages))]))


@given(templates)
def test_no_message_is_blank(template: Template) -> None:
    for line in as_openai(examples(template, words())):
        content = line["content"]
        assert line.get("tool_calls") or (isinstance(content, str) and content.strip())


def test_a_record_that_was_cut_off_in_the_midst_of_the_examples_shows_none_of_them() -> None:
    begun = (*examples(TEMPLATE, words()), user("Water the plants."), agent("Done."))
    for start in range(1, len(begun) - 2):
        found = recognised(tuple(replace(message, origin=Origin.TURN) for message in begun[start:]))
        assert not gather(conversation(*found)).steps


def test_other_records_are_left_as_they_are() -> None:
    asked, answered = call("valve", {"open": True}, "ok")
    messages = (user("Go."), asked, answered, agent("Done."))
    assert recognised(messages) == messages
    assert not is_prefill(messages)
    assert not is_prefill(())


def test_an_exported_warm_session_is_warm_when_it_comes_back() -> None:
    real = conversation(user("Water the plants."), call("valve", {"open": True}, "ok"), agent("Done."))
    begun = replace(real, messages=warm_start(TEMPLATE, real.messages, words()))
    back = read(exports.as_openai(begun)["messages"])
    assert [message.text for message in cold(back) if message.role is Role.USER] == ["Water the plants."]
