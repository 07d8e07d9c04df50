"""A conversation while it is gathered from the lines of its record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from whet.importers import content
from whet.sessions.transcripts import Ending, Message, Origin, Part, Role, Usage
from whet.sessions.trust import Trust


@dataclass(slots=True)
class AgentTurn:
    """What the agent said in one model call, where its record spreads it over several lines."""

    parts: list[Part]
    at: float | None = None
    model: str = ""
    usage: Usage | None = None
    origin: Origin = Origin.TURN


class Span(NamedTuple):
    """When a conversation began and when it was last heard of."""

    started: float | None
    ended: float | None


def gathered(entries: Iterable[AgentTurn | Message]) -> tuple[Message, ...]:
    """The messages in the order in which they began."""
    return tuple(entry if isinstance(entry, Message) else _message(entry) for entry in entries)


def settled(messages: Sequence[Message]) -> Ending:
    """How a record without a closing word ended: finished if the agent spoke last and asked for nothing more."""
    said = (m for m in reversed(messages) if m.origin is not Origin.INSERTED)
    last = next(said, None)
    if last is None:
        return Ending.UNKNOWN
    if last.origin is Origin.INTERRUPT:
        return Ending.INTERRUPTED
    return Ending.FINISHED if last.role is Role.AGENT and last.text and not last.calls else Ending.UNKNOWN


def delegated(messages: Iterable[Message]) -> tuple[Message, ...]:
    """A sub-agent's messages: whoever speaks in the user's place there is the agent that started it."""
    return tuple(
        msgspec.structs.replace(message, trust=min(message.trust, Trust.AGENT), vouched=False)
        if message.role is Role.USER
        else message
        for message in messages
    )


def span(messages: Iterable[Message], started: float | None = None) -> Span:
    times = [message.at for message in messages if message.at is not None]
    if started is not None:
        times.append(started)
    return Span(min(times, default=None), max(times, default=None))


def _message(turn: AgentTurn) -> Message:
    return content.spoken(Role.AGENT, turn.parts, at=turn.at, model=turn.model, usage=turn.usage, origin=turn.origin)
