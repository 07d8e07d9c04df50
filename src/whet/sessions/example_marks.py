"""Where the examples of a warm start stand in a session, and the session without them."""

from collections.abc import Sequence

from whet.sessions.transcripts import Message, Origin, Role
from whet.sessions.trust import Trust

PREFIX = "example"

SILENCE = Message(Role.SYSTEM, (), Trust.AGENT, origin=Origin.INSERTED)


def cold(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without the examples that a warm start put there."""
    aside = places(messages)
    return (*messages[: aside.start], *messages[aside.stop :])


def hushed(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, each at its place, with silence in that of each example: it is no history of the session."""
    aside = places(messages)
    if not aside:
        return tuple(messages)
    return (*messages[: aside.start], *(SILENCE for _ in aside), *messages[aside.stop :])


def places(messages: Sequence[Message]) -> range:
    """The places of the examples that a warm start put there."""
    first = next((index for index, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))
    return range(first, _end_of_examples(messages, first))


def is_warm(messages: Sequence[Message]) -> bool:
    return bool(places(messages))


def _end_of_examples(messages: Sequence[Message], first: int) -> int:
    """Where the session itself begins. Examples are known by their origin and the ids of their calls, by no word."""
    end = first
    while (after := _end_of_one(messages, end)) > end:
        end = after
    return end


def _end_of_one(messages: Sequence[Message], start: int) -> int:
    """Where an inserted request with its examples ends, if one stands there: at the agent's word after them."""
    end = start + 1
    while end + 1 < len(messages) and _is_example(messages[end]) and _is_inserted(messages[end + 1], Role.TOOL):
        end += 2
    is_one = start + 1 < end < len(messages) and _is_inserted(messages[start], Role.USER)
    return end + 1 if is_one and _is_inserted(messages[end], Role.AGENT) and not messages[end].calls else start


def _is_inserted(message: Message, role: Role) -> bool:
    return message.origin is Origin.INSERTED and message.role is role


def _is_example(message: Message) -> bool:
    return _is_inserted(message, Role.AGENT) and any(call.id.startswith(f"{PREFIX}-") for call in message.calls)
