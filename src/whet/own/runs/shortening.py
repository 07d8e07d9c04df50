"""When a conversation outgrows its model's window, and what is then kept, shortened or summarised."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from whet.own.runs.run import Run
from whet.sessions.copies import places
from whet.sessions.transcripts import Media, Message, Origin, Role, Text, Thought, ToolCall, ToolResult, encode
from whet.sessions.trust import Trust, lowest
from whet.text import words
from whet.text.quoting import shortened

OLD_RESULT_TOKENS = 120  # what an old result keeps: its beginning and its end
MESSAGE_TOKENS = 200  # what one message may take of the text that is summarised
TARGET_SHARE = 0.6  # of the room: below it, the conversation can go on for a while


class Shortening(NamedTuple):
    """A shorter conversation: the orders that still hold, what a summary is to stand for, and the newest messages.

    Where nothing is `older`, old tool output was all that had to be shortened.
    """

    orders: tuple[Message, ...]
    older: tuple[Message, ...]
    tail: tuple[Message, ...]


def trust_of_summary(messages: Iterable[Message]) -> Trust:
    """How far a summary may be believed: it is the agent's, and made from all that the conversation holds."""
    return lowest((Trust.AGENT, *(message.trust for message in messages)))


def size(run: Run) -> int:
    """About how many tokens the next request has: as the endpoint counted them last, and an estimate of the rest."""
    for index in range(len(run.messages) - 1, -1, -1):
        usage = run.messages[index].usage
        # A summary bears the usage of the request that it was made by, which is another one.
        if usage is not None and usage.input and run.messages[index].role is Role.AGENT:
            return usage.input + usage.output + size_of(run.messages[index + 1 :])
    return overhead(run) + size_of(run.messages)


def size_of(messages: Iterable[Message]) -> int:
    return sum(-(-len(encode(message)) // words.BYTES_PER_TOKEN) for message in messages)


def overhead(run: Run) -> int:
    """About how many tokens a request has before its first message."""
    shown = sum(words.estimate(f"{one.name}{one.description}{one.parameters}") for one in run.shown)
    return words.estimate(run.system) + shown


def is_full(run: Run) -> bool:
    """Whether the next request would leave too little of the window for an answer."""
    return run.room is not None and size(run) > run.room


def plan(run: Run, *, room: int, tail_tokens: int) -> Shortening:
    """How a conversation is made to fit: old tool output is shortened first, and only then is the rest summarised.

    A call and its results are never apart, and the first and the latest order of the person are kept as they are.
    """
    messages = run.messages
    room, tail_tokens = (int(limit / _underestimate(run)) for limit in (room, tail_tokens))
    examples = places(messages)
    start = max(tail_start(messages, tail_tokens), examples.stop if examples else 0)
    tail = tuple(_carried(message) for message in _within(messages[start:], tail_tokens))
    first, last = _orders(messages)
    eased = tuple(_eased(message, OLD_RESULT_TOKENS) for message in messages[:start])
    if overhead(run) + size_of((*eased, *tail)) <= int(room * TARGET_SHARE):
        kept = tuple(message if index == first else _carried(message) for index, message in enumerate(eased))
        return Shortening(kept, (), tail)
    held = {index for index in (first, last) if index is not None and index < start}
    orders = tuple(eased[i] if i == first else _carried(eased[i]) for i in sorted(held))
    # The examples that it began with are no part of what happened, and have done their work.
    left = held.union(examples)
    older = tuple(message for index, message in enumerate(eased) if index not in left)
    return Shortening(orders, older, tail)


def fits(run: Run, shorter: Shortening, *, room: int, summary_tokens: int) -> bool:
    """Whether what a plan keeps, and a summary of the rest, leaves the conversation room to go on."""
    kept = overhead(run) + size_of((*shorter.orders, *shorter.tail)) + (summary_tokens if shorter.older else 0)
    return kept * _underestimate(run) <= room


def tail_start(messages: tuple[Message, ...], tail_tokens: int) -> int:
    """Where the newest messages begin that fit, at least one if any may stay; never between a call and its results."""
    start, left = len(messages), tail_tokens
    if tail_tokens <= 0:
        return start
    for index in range(len(messages) - 1, -1, -1):
        left -= size_of((messages[index],))
        if left < 0 and start < len(messages):
            break
        if messages[index].role is not Role.TOOL:
            start = index
    return start


def compacted(plan: Shortening, summary: Message | None) -> tuple[Message, ...]:
    """The messages of the session that continues."""
    return (*plan.orders, *((summary,) if summary else ()), *plan.tail)


def plain_record(messages: Iterable[Message], limit_tokens: int) -> str:
    """A conversation in plain words, for whoever summarises it."""
    lines = [line for message in messages for line in _lines(message)]
    return shortened("\n".join(lines), limit_tokens).text


def _underestimate(run: Run) -> float:
    """How many times more tokens the endpoint counts than we do: other scripts and dense data cost more."""
    return max(1.0, size(run) / max(overhead(run) + size_of(run.messages), 1))


def _orders(messages: tuple[Message, ...]) -> tuple[int | None, int | None]:
    """The places of the first and the latest orders, also where the person's were carried over before."""
    said = [
        index
        for index, message in enumerate(messages)
        if message.role is Role.USER
        if message.origin is Origin.TURN or (message.origin is Origin.SUMMARY and message.trust >= Trust.USER)
    ]
    return (said[0], said[-1]) if said else (None, None)


def _carried(message: Message) -> Message:
    """A message of the session before: no evidence here, and paid for there."""
    return replace(message, origin=Origin.SUMMARY if message.origin is Origin.TURN else message.origin, usage=None)


def _within(tail: tuple[Message, ...], tail_tokens: int) -> tuple[Message, ...]:
    """The newest messages; where already the last turn is too long for them, its results are shortened."""
    if size_of(tail) <= tail_tokens:
        return tail
    share = tail_tokens // max(sum(message.role is Role.TOOL for message in tail), 1)
    return tuple(_eased(message, share) for message in tail)


def _eased(message: Message, limit_tokens: int) -> Message:
    if message.role is not Role.TOOL or size_of((message,)) <= limit_tokens:
        return message

    def shorter(piece: Text | Media) -> Text | Media:
        return Text(shortened(piece.text, limit_tokens).text) if isinstance(piece, Text) else piece

    parts = (
        replace(part, content=tuple(map(shorter, part.content))) if isinstance(part, ToolResult) else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _lines(message: Message) -> Iterable[str]:
    speaker = "summary" if message.origin is Origin.SUMMARY and message.role is Role.USER else message.role.value
    for part in message.parts:
        match part:
            case Text():
                yield f"{speaker}: {_short(part.text)}"
            case ToolCall():
                yield f"{speaker} calls {part.name}: {_short(part.arguments)}"
            case ToolResult():
                yield f"{part.tool or 'tool'} answers: {_short(part.text)}"
            case Media():
                yield f"{speaker}: [{part.kind}]"
            case Thought():
                continue


def _short(text: str) -> str:
    return shortened(text, MESSAGE_TOKENS).text
