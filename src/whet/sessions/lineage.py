"""Whose words stand in a session: how far what an agent writes may be believed, and what it copied.

What an agent writes after it has read something is believed no more than what it has read, whatever the words: an order
may come back in another spelling, another language or in a command. `own_calls` is about examples only, which should
show no order number that a tool gave: a piece of an argument is copied when it stands in something foreign that was
read before it and in nothing that the person, the operator or the agent itself wrote before that. Short pieces are
compared whole, longer ones by each run of three words and each word with digits.
"""

from collections.abc import Iterable, Iterator

from whet.sessions.copies import hushed
from whet.sessions.tool_families import arguments_of
from whet.sessions.transcripts import Disposition, Message, Origin, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.text.words import on_demand

RUN = 3
TELLING_DIGITS = 4  # a shorter number is nobody's in particular
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = on_demand(rf"[^\W{_UNSPACED}]+|[{_UNSPACED}]")
# Plain ASCII, which most text is, takes a quicker way: what is no part of a word becomes a space.
_ASCII = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(128)
).ljust(256)
Run = tuple[str, ...]


class _Heard:
    """The runs of words that were written so far by the trusted and by everybody else, of those that matter."""

    def __init__(self, telling: frozenset[Run]) -> None:
        self.telling = telling
        self.trusted: set[Run] = set()
        self.foreign: set[Run] = set()

    def hear(self, text: str, *, trusted: bool) -> None:
        words, heard = _words(text), self.trusted if trusted else self.foreign
        for length in range(1, RUN + 1):
            heard |= self.telling.intersection(_of_length(words, length))

    def is_foreign(self, run: Run) -> bool:
        return run in self.foreign and run not in self.trusted


def heard_before(messages: Iterable[Message]) -> tuple[Trust, ...]:
    """For each message, the lowest trust of all that stands before it: nobody believes more of what is written then."""
    lowest, found = Trust.OPERATOR, []
    for message in messages:
        found.append(lowest)
        if message.trust < lowest:
            lowest = message.trust
    return tuple(found)


def own_calls(transcript: Transcript) -> frozenset[tuple[int, str]]:
    """The calls, by the index of their message and their id, into whose arguments nothing was copied.

    None of them is in a message that is believed less than an agent: anybody can have written it.
    """
    messages = tuple(hushed(transcript.messages))
    folder = transcript.folder.rstrip("/")
    calls = [[(call.id, tuple(pieces_of(call))) for call in message.calls] for message in messages]
    # Results are long, and arguments are short: only what some argument says is looked for in them.
    heard = _Heard(frozenset(run for each in calls for _, pieces in each for run in _telling(pieces, folder)))
    heard.hear(transcript.folder, trusted=True)
    own: set[tuple[int, str]] = set()
    for index, (message, asked) in enumerate(zip(messages, calls, strict=True)):
        for call_id, pieces in asked:
            if message.trust >= Trust.AGENT and not any(map(heard.is_foreign, _telling(pieces, folder))):
                own.add((index, call_id))
                # What the agent coined stays its own when a tool repeats it.
                for piece in pieces:
                    heard.hear(piece, trusted=True)
        _listen(heard, message)
    return frozenset(own)


def _telling(pieces: tuple[str, ...], folder: str) -> Iterator[Run]:
    """The runs of words by which pieces of arguments are compared."""
    for piece in pieces:
        # The folder that the session works in is no stranger's word, however many results name it.
        words = _words(piece.replace(folder, " ") if folder else piece)
        if len(words) >= RUN:
            yield from _of_length(words, RUN)
            yield from ((word,) for word in words if len(word) >= TELLING_DIGITS and any(map(str.isdigit, word)))
        elif words:
            yield tuple(words)


def pieces_of(call: ToolCall) -> Iterator[str]:
    """The texts and the longer numbers among a call's arguments, with the names of unusual fields left out."""
    return _leaves(arguments_of(call))


def is_persons(message: Message) -> bool:
    """Whether a message is what the person said, or what the operator ordered, in their own words."""
    if message.role is Role.SYSTEM:
        return message.trust >= Trust.OPERATOR
    return is_typed(message)


def is_typed(message: Message) -> bool:
    """Whether a message is the person's own turn: what programs insert in their place is not."""
    return message.role is Role.USER and message.trust >= Trust.USER and message.origin is Origin.TURN


def is_vouched(message: Message) -> bool:
    """Whether it is certain that a person typed a message, whoever wrote the record."""
    return is_typed(message) and message.vouched


def is_persons_refusal(result: ToolResult | None, messages: Iterable[Message]) -> bool:
    """Whether a call was refused by a person for certain: by the program's own mark, in a record that shows a person.

    A tool can answer in the words of a refusal, with a reason of its own.
    """
    is_marked = result is not None and result.disposition is Disposition.REJECTED
    return is_marked and any(map(is_vouched, messages))


def is_ordered(message: Message) -> bool:
    """Whether a message is what the agent was to do, in the person's words or in those of an agent for them."""
    return message.role is Role.USER and message.trust >= Trust.AGENT and message.origin is Origin.TURN


def _listen(heard: _Heard, message: Message) -> None:
    """An agent's own sentences are on neither side, for they may repeat what it read; nor is another agent's prompt."""
    is_heard = is_persons(message) or message.role not in (Role.AGENT, Role.SYSTEM)
    for part in message.parts:
        if isinstance(part, ToolResult):
            heard.hear(part.text, trusted=False)
        elif isinstance(part, Text) and is_heard:
            heard.hear(part.text, trusted=is_persons(message))


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            if len(str(value)) >= TELLING_DIGITS:
                yield str(value)
        case list():
            for each in value:
                yield from _leaves(each)
        case dict():
            for each in value.values():
                yield from _leaves(each)


def _words(text: str) -> list[str]:
    if text.isascii():
        return text.encode().translate(_ASCII).decode().split()
    return _WORD().findall(text.casefold())


def _of_length(words: list[str], length: int) -> Iterator[Run]:
    return zip(*(words[start:] for start in range(length)), strict=False)
