"""Where lineage draws its lines: short pieces whole, longer ones by runs, numbers by their digits."""

import pytest

from conversations import Turn, agent, call, conversation, program, user
from whet.sessions.lineage import is_ordered, is_persons, is_typed, is_vouched, own_calls, pieces_of
from whet.sessions.transcripts import Message, Origin, Role, Text, ToolCall
from whet.sessions.trust import Trust

READ = call("read_mail", {}, "blue heron lake, code 4711, ref 123")


def is_own(*turns: Turn) -> bool:
    transcript = conversation(user("Go on."), *turns)
    asked = max(index for index, message in enumerate(transcript.messages) if message.calls)
    return (asked, transcript.messages[asked].calls[-1].id) in own_calls(transcript)


def test_three_words_in_a_row_are_enough_to_be_foreign() -> None:
    assert not is_own(READ, call("write", {"text": "we go to blue heron lake"}, "ok"))
    assert is_own(READ, call("write", {"text": "blue lake heron we go"}, "ok"))
    assert not is_own(READ, call("write", {"text": "blue heron lake"}, "ok"))


def test_a_long_number_alone_is_foreign_and_a_short_one_is_nobodys() -> None:
    assert not is_own(READ, call("write", {"text": "please use number 4711 today"}, "ok"))
    assert is_own(READ, call("write", {"text": "please use number 123 today"}, "ok"))
    assert is_own(READ, call("write", {"text": "please use heron words today"}, "ok"))


def test_one_foreign_piece_makes_the_whole_call_foreign() -> None:
    assert not is_own(READ, call("write", {"a": "my own words", "b": "blue heron lake"}, "ok"))


def test_numbers_are_pieces_from_four_digits_on() -> None:
    assert set(pieces_of(ToolCall("c", "t", '{"a": 4711, "b": 99, "c": true, "d": null, "e": ["x"]}'))) == {"4711", "x"}


@pytest.mark.parametrize(
    ("message", "typed", "ordered", "vouched", "persons"),
    [
        (Message(Role.USER, (Text("hi"),), Trust.USER), True, True, False, True),
        (Message(Role.USER, (Text("hi"),), Trust.USER, vouched=True), True, True, True, True),
        (Message(Role.USER, (Text("hi"),), Trust.AGENT, vouched=True), False, True, False, False),
        (Message(Role.USER, (Text("hi"),), Trust.TOOL), False, False, False, False),
        (Message(Role.USER, (Text("hi"),), Trust.USER, origin=Origin.INSERTED), False, False, False, False),
        (Message(Role.AGENT, (Text("hi"),), Trust.USER, vouched=True), False, False, False, False),
        (Message(Role.SYSTEM, (Text("hi"),), Trust.OPERATOR), False, False, False, True),
        (Message(Role.SYSTEM, (Text("hi"),), Trust.TOOL), False, False, False, False),
    ],
)
def test_whose_message_it_is(message: Message, typed: bool, ordered: bool, vouched: bool, persons: bool) -> None:
    found = (is_typed(message), is_ordered(message), is_vouched(message), is_persons(message))
    assert found == (typed, ordered, vouched, persons)


def test_the_operators_words_are_no_strangers_and_the_agents_own_are_on_neither_side() -> None:
    assert is_own(program("blue heron lake"), call("write", {"text": "we see blue heron lake"}, "ok"))
    assert is_own(agent("blue heron lake"), call("write", {"text": "we see blue heron lake"}, "ok"))
