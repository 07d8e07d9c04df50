"""A conversation while it is gathered from the lines of its record."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from whet.formats import content
from whet.sessions.transcripts import Ending, Message, Origin, Part, Role, Usage
from whet.sessions.trust import Trust


@dataclass(slots=True)
class OpenCalls:
    """The calls of the newest step that no result has answered yet, oldest first, and the name of every call."""

    waiting: Counter[str] = field(default_factory=Counter)  # by id, in the order in which they were asked
    names: dict[str, str] = field(default_factory=dict)
    _by_name: dict[str, dict[str, None]] = field(default_factory=dict)
    _asked: int = 0

    def begin(self) -> None:
        """A new step: results without an id answer its calls and no older ones."""
        self.waiting, self._by_name, self._asked = Counter(), {}, 0

    def ask(self, call_id: str, name: str, *, message: int) -> str:
        """The id of a call: its own, else one made of its message's index and its place in it."""
        made = call_id or f"call-{message}-{self._asked}"
        self._asked += 1
        self.waiting[made] += 1
        self._by_name.setdefault(name, {})[made] = None
        self.names[made] = name
        return made

    def answer(self, call_id: str, name: str = "") -> str:
        """The id of the call that a result answers: the one it names, else the oldest waiting call of its tool.

        Empty where no call waits.
        """
        answered = call_id or next(iter(self._by_name.get(name, ())), "") or next(iter(self.waiting), "")
        if answered in self.waiting:
            self.waiting[answered] -= 1
            if not self.waiting[answered]:
                del self.waiting[answered]
                self._by_name[self.names[answered]].pop(answered, None)
        return answered


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
    """The messages of a sub-agent or a scheduled job: whoever speaks in the user's place there is what started it."""
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
