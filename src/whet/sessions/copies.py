"""Copies: a resumed or forked session holds messages of another one, which count there and not again."""

from collections.abc import Iterable, Iterator, Sequence, Set

from msgspec.structs import replace

from whet.sessions.transcripts import Message, Origin, Part, Role, Transcript

Moment = tuple[Role, float, str]  # who spoke, when, and which model it was
NO_PLACES: frozenset[int] = frozenset()


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
