"""A session in a few lines: each thing the person asked, and what the agent used to do it."""

from collections import Counter
from collections.abc import Iterable

from whet.sessions.transcripts import Message, Origin, Role
from whet.values import Value

WORDS = 120


class OutlineItem(Value, frozen=True):
    """One request of the person and the tools that the agent called for it, most used first."""

    message: int
    words: str
    tools: tuple[tuple[str, int], ...] = ()


def outline(messages: Iterable[Message]) -> tuple[OutlineItem, ...]:
    """The requests of a session in order; calls before the first request belong to an item without words."""
    items: list[OutlineItem] = []
    tools: Counter[str] = Counter()
    start, words = 0, ""

    def close() -> None:
        if words or tools:
            items.append(OutlineItem(start, words, tuple(tools.most_common())))

    for index, message in enumerate(messages):
        if message.role is Role.USER and message.origin is not Origin.INSERTED:
            close()
            tools = Counter()
            start, words = index, " ".join(message.text[: WORDS * 4].split())[:WORDS]
        if message.origin is not Origin.INSERTED:  # examples are no work of this session
            tools.update(call.name for call in message.calls)
    close()
    return tuple(items)
