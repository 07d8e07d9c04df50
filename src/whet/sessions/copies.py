"""Messages in a session that are not its own: copies of another session's, and the examples of a warm start."""

from collections.abc import Iterable, Iterator, Sequence, Set

from msgspec.structs import replace

from whet.sessions.transcripts import Message, Origin, Part, Role, Transcript
from whet.sessions.trust import Trust

Moment = tuple[Role, float, str]  # who spoke, when, and which model it was
NO_PLACES: frozenset[int] = frozenset()

PREFIX = "example"

SILENCE = Message(Role.SYSTEM, (), Trust.AGENT, origin=Origin.INSERTED)


def copied_places(messages: Sequence[Message], shared: int, relatives: Iterable[Message] = ()) -> frozenset[int]:
    """Which messages of a session are copies, by their places; all others are its own.

    The first `shared` messages are held by another session too. `relatives` are messages of sessions with which it has
    a beginning or a parent in common: what they said at the same moment in the same words is a copy, though a program
    that writes a record anew may put parallel calls in another order or leave lines out.
    """
    first = copied_count(messages, shared)
    said: dict[Moment, set[Part]] = {}
    for message in relatives:
        if message.at is not None:
            said.setdefault((message.role, message.at, message.model), set()).update(message.parts)
    return frozenset((*range(first), *_later(messages, first, said))) if said else frozenset(range(first))


def _later(messages: Sequence[Message], first: int, said: dict[Moment, set[Part]]) -> Iterator[int]:
    """The places of further copies: a copy ends where the agent does something of its own."""
    for place in range(first, len(messages)):
        message = messages[place]
        if _is_said(message, said):
            yield place
        elif message.role is Role.AGENT and message.origin is Origin.TURN:
            return


def _is_said(message: Message, said: dict[Moment, set[Part]]) -> bool:
    if message.at is None:
        return False
    return not said.get((message.role, message.at, message.model), set()).isdisjoint(message.parts)


def copied_count(messages: Sequence[Message], shared: int) -> int:
    """How many of the first `shared` messages are copies: all, where one of them is dated work of the agent.

    Without dates two runs of the same task begin alike by chance, and both happened.
    """
    dated = any(message.role is Role.AGENT and message.at is not None for message in messages[:shared])
    return shared if dated else 0


def own_part(transcript: Transcript, copied: Set[int]) -> Transcript:
    """The transcript with its copied messages as what they are: context, and no evidence of this session."""
    if not copied:
        return transcript
    messages = (
        replace(message, origin=Origin.SUMMARY) if place in copied else message
        for place, message in enumerate(transcript.messages)
    )
    return replace(transcript, messages=tuple(messages))


def is_copy(transcript: Transcript, copied: Set[int]) -> bool:
    """Whether nothing that an agent did in it is its own."""
    return bool(copied) and not any(message.role is Role.AGENT for message in own_messages_of(transcript, copied))


def own_messages_of(transcript: Transcript, copied: Set[int]) -> Iterator[Message]:
    """The messages that are the session's own."""
    if not copied:
        return iter(transcript.messages)
    return (message for place, message in enumerate(transcript.messages) if place not in copied)


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
