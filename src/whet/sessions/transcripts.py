"""The record of a conversation as frozen values: transcript, messages, parts and exchanges.

The values are msgspec structs and not dataclasses, because one definition then serves memory, hash, store and
wire, and a million of them are made in seconds (docs/decisions/0002).

Tokens, added up.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Literal, NamedTuple

import msgspec

from whet.sessions.trust import Trust
from whet.values import Value

ID_BYTES = 16
SESSION_ID_BYTES = 10

_encoder = msgspec.json.Encoder()


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


class Origin(StrEnum):
    """How a message came into the conversation."""

    TURN = "turn"  # said by its role in the ordinary way
    INSERTED = "inserted"  # put there by the agent program: reminders, environment, context files
    SUMMARY = "summary"  # stands for older messages after a compaction; never evidence
    INTERRUPT = "interrupt"  # the person stopped the agent here


class Disposition(StrEnum):
    """Why a call did not run to its end, where the source says so."""

    REJECTED = "rejected"  # the person refused it
    CANCELLED = "cancelled"  # a sibling failed, or the turn was stopped before it began
    BLOCKED = "blocked"  # a policy denied it before it ran
    INTERRUPTED = "interrupted"  # stopped while it ran: it may have had effects


class Ending(StrEnum):
    """How a session ended, as far as its record tells."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAILED = "failed"  # the provider or the agent program gave up
    BUDGET = "budget"
    COMPACTED = "compacted"  # continued in a child session
    REFUSED = "refused"  # the model, or a filter before it, would not answer
    EMPTY = "empty"  # the model said nothing, and nothing again when it was asked again
    CUT = "cut"  # the model's limit on its output came in the middle of its answer
    UNKNOWN = "unknown"


class Purpose(StrEnum):
    """Why the session was run."""

    CHAT = "chat"
    SUBTASK = "subtask"  # a sub-agent's part of its parent's work
    JOB = "job"
    TRIAL = "trial"
    REVIEW = "review"


OWN_PURPOSES = (Purpose.TRIAL.value, Purpose.REVIEW.value)  # of sessions that Whet itself wanted


class Text(Value, frozen=True, tag="text", tag_field="type"):
    """Words, as written."""

    text: str


class Thought(Value, frozen=True, tag="thought", tag_field="type"):
    """The model's reasoning, with the provider's signature where there is one; redacted, the signature is all of it."""

    text: str
    signature: str = ""
    redacted: bool = False


class Media(Value, frozen=True, tag="media", tag_field="type"):
    """A picture, sound or document: what it was, not its bytes."""

    kind: Literal["image", "audio", "video", "document", "other"]
    media_type: str = ""
    digest: str = ""
    size_bytes: int = 0
    name: str = ""


class ToolCall(Value, frozen=True, tag="call", tag_field="type"):
    """What the agent asked a tool to do. `arguments` is the JSON text as recorded, valid or not."""

    id: str
    name: str
    arguments: str = "{}"


class ToolResult(Value, frozen=True, tag="result", tag_field="type"):
    """What a tool answered. The facts of its source are kept; whether it failed is decided in `outcomes`."""

    call_id: str
    content: tuple[Text | Media, ...] = ()
    tool: str = ""
    error: bool | None = None
    exit_code: int | None = None
    disposition: Disposition | None = None

    @property
    def text(self) -> str:
        """Its words, without its media."""
        if len(self.content) == 1:
            only = self.content[0]
            return only.text if isinstance(only, Text) else ""
        return joined([part.text for part in self.content if isinstance(part, Text)])


Part = Text | Thought | Media | ToolCall | ToolResult


class Usage(Value, frozen=True):
    """Tokens of one model call. `input` counts all of the prompt, `cached` the share of it read from a cache.

    `cache_written` is the share written to one, and `cache_written_hour` what of that is kept for an hour.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    cost_dollars: float | None = None
    cache_written_hour: int = 0


class Message(Value, frozen=True):
    """One turn. All of its text has one trust; `at` is in seconds since 1970, UTC.

    `vouched` says that its record makes certain that a person typed it; a role alone does not, for programs use it.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> asked, answered = session.messages[3:5]
    >>> asked.role.value, asked.calls[0].name, answered.results[0].exit_code
    ('agent', 'exec_command', 0)
    """

    role: Role
    parts: tuple[Part, ...]
    trust: Trust
    at: float | None = None
    model: str = ""
    usage: Usage | None = None
    origin: Origin = Origin.TURN
    vouched: bool = False

    @property
    def text(self) -> str:
        """What was said, without thoughts, calls and results."""
        if len(self.parts) == 1:
            only = self.parts[0]
            return only.text if isinstance(only, Text) else ""
        return joined([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple([part for part in self.parts if isinstance(part, ToolResult)])


class RecordedCheck(Value, frozen=True):
    """A verdict on the session that its source carries: a score, a label, a verification that was run."""

    name: str
    passed: bool | None = None
    score: float | None = None
    detail: str = ""


class Transcript(Value, frozen=True):
    """The record of one conversation. `native_id` and `parent` are the ids that its own agent gave.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> session.source, session.model, len(session.messages), session.ending.value
    ('codex', 'gpt-5.2-codex', 23, 'finished')
    """

    source: str
    native_id: str
    messages: tuple[Message, ...] = ()
    parent: str = ""
    title: str = ""
    model: str = ""
    folder: str = ""
    branch: str = ""
    version: str = ""
    purpose: Purpose = Purpose.CHAT
    ending: Ending = Ending.UNKNOWN
    ending_detail: str = ""
    started: float | None = None
    ended: float | None = None
    tools: tuple[str, ...] = ()
    checks: tuple[RecordedCheck, ...] = ()
    usage: Usage | None = None  # of the whole session, where its source does not count single calls

    @property
    def id(self) -> str:
        return session_id(self.source, self.native_id)


class Exchange(Value, frozen=True):
    """A tool call with the result that bears its id; both with the index of their message."""

    call: ToolCall
    asked: int
    result: ToolResult | None = None
    answered: int | None = None


class Orphan(Value, frozen=True):
    """A result whose call is not in the record."""

    result: ToolResult
    message: int


class Pairing(NamedTuple):
    exchanges: tuple[Exchange, ...]
    orphans: tuple[Orphan, ...]


def joined(texts: Iterable[str]) -> str:
    return "\n".join([text for text in texts if text])


def session_id(source: str, native_id: str) -> str:
    """The id of a session, which stays the same while the session grows."""
    return hashlib.blake2b(f"{source}\0{native_id}".encode(), digest_size=SESSION_ID_BYTES).hexdigest()


def encode(message: Message) -> bytes:
    """The one encoding of a message: what is hashed is what is stored."""
    return _encoder.encode(message)


def decode(body: bytes) -> Message:
    return _decoder.decode(body)


def link(parent: bytes, body: bytes) -> bytes:
    """The id of an encoded message that follows `parent` (empty for the first): equal ids mean equal histories."""
    return hashlib.blake2b(parent + body, digest_size=ID_BYTES).digest()


def chain(messages: Iterable[Message]) -> Iterator[bytes]:
    """The id of each message, which covers it and everything before it."""
    parent = b""
    for message in messages:
        parent = link(parent, encode(message))
        yield parent


def pair(messages: Iterable[Message]) -> Pairing:
    """Pair every result with its call by id, however parallel calls and their results are interleaved.

    Where a record uses an id again, a result belongs to the oldest call with that id still unanswered.
    """
    exchanges: list[Exchange] = []
    waiting: dict[str, deque[int]] = {}
    early: list[Orphan] = []
    for index, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                waiting.setdefault(part.id, deque()).append(len(exchanges))
                exchanges.append(Exchange(call=part, asked=index))
            elif isinstance(part, ToolResult) and not _answer(exchanges, waiting, part, index):
                early.append(Orphan(result=part, message=index))
    # A few agents flush a result before the call that it answers.
    orphans = tuple(o for o in early if not _answer(exchanges, waiting, o.result, o.message))
    return Pairing(tuple(exchanges), orphans)


def _answer(exchanges: list[Exchange], waiting: dict[str, deque[int]], result: ToolResult, index: int) -> bool:
    places = waiting.get(result.call_id)
    if not places:
        return False
    place = places.popleft()
    exchanges[place] = Exchange(call=exchanges[place].call, asked=exchanges[place].asked, result=result, answered=index)
    return True


_decoder = msgspec.json.Decoder(Message)


def total(usages: Iterable[Usage | None]) -> Usage:
    """The sum of usages; its cost is unknown where none of them has one."""
    known = [usage for usage in usages if usage is not None]
    costs = [usage.cost_dollars for usage in known if usage.cost_dollars is not None]
    return Usage(
        input=sum(usage.input for usage in known),
        output=sum(usage.output for usage in known),
        cached=sum(usage.cached for usage in known),
        cache_written=sum(usage.cache_written for usage in known),
        cache_written_hour=sum(usage.cache_written_hour for usage in known),
        cost_dollars=sum(costs) if costs else None,
    )


def without(usage: Usage, part: Usage) -> Usage:
    """What is left of a usage when a part of it is counted elsewhere."""
    dollars = usage.cost_dollars
    return Usage(
        input=max(usage.input - part.input, 0),
        output=max(usage.output - part.output, 0),
        cached=max(usage.cached - part.cached, 0),
        cache_written=max(usage.cache_written - part.cache_written, 0),
        cache_written_hour=max(usage.cache_written_hour - part.cache_written_hour, 0),
        cost_dollars=None if dollars is None else max(dollars - (part.cost_dollars or 0.0), 0.0),
    )
