"""A transcript made ready for the store: encoded and hashed; no database needed."""

from collections.abc import Iterable, Iterator

import msgspec

from whet.sessions.example_marks import places
from whet.sessions.transcripts import Message, Origin, Pairing, Role, Transcript, encode, link, pair, session_id
from whet.sessions.usage import total
from whet.store.rows import MessageRow, PreparedSession, SessionFacts
from whet.store.words import indexed
from whet.text.words import cut

TITLE_CHARACTERS = 200


def prepare(transcript: Transcript) -> PreparedSession:
    """Everything of keeping a transcript that needs no database."""
    rows = tuple(_rows(transcript.messages))
    usage = transcript.usage or total(message.usage for message in transcript.messages)
    facts = SessionFacts(
        version=transcript.version,
        ending_detail=transcript.ending_detail,
        parent=transcript.parent,
        own_title=transcript.title,
        tools=transcript.tools,
        checks=transcript.checks,
        usage=transcript.usage,
    )
    columns = (
        transcript.source,
        storable(transcript.native_id),
        session_id(transcript.source, transcript.parent) if transcript.parent else "",
        storable(transcript.title or opening(transcript.messages)),
        storable(transcript.model),
        storable(transcript.folder),
        storable(transcript.branch),
        transcript.purpose.value,
        transcript.ending.value,
        transcript.started,
        transcript.ended,
        usage.input,
        usage.output,
        usage.cached,
        usage.cost_dollars,
        msgspec.json.encode(facts),
    )
    return PreparedSession(transcript.id, columns, transcript.ended, rows[-1].id if rows else b"", rows)


def opening(messages: Iterable[Message]) -> str:
    """The first words of the person, which name a session that has no title."""
    for message in messages:
        if message.role is Role.USER and message.origin is Origin.TURN and message.text.strip():
            return cut(" ".join(message.text[: TITLE_CHARACTERS * 4].split()), TITLE_CHARACTERS)
    return ""


def storable(text: str) -> str:
    """Text that every database takes: Postgres refuses the zero character."""
    return text.replace("\0", "")


def row_of(message: Message, parent: bytes, tools: Iterable[str], *, is_example: bool = False) -> MessageRow:
    """A message that follows another as it is stored, with the tools that it calls or that answer in it.

    A warm start's example is found in the session that it came from, and not where it did not happen.
    """
    body = encode(message)
    return MessageRow(
        id=link(parent, body),
        role=message.role.value,
        at=message.at,
        model=storable(message.model),
        body=body,
        words="" if is_example else indexed(message),
        tools=() if is_example else tuple(sorted(tools)),
    )


def _rows(messages: tuple[Message, ...]) -> Iterator[MessageRow]:
    tools = _tools(pair(messages))
    examples = places(messages)
    parent = b""
    for index, message in enumerate(messages):
        row = row_of(message, parent, tools.get(index, ()), is_example=index in examples)
        parent = row.id
        yield row


def _tools(pairing: Pairing) -> dict[int, set[str]]:
    """The tools that each message calls or that answer in it."""
    tools: dict[int, set[str]] = {}
    for exchange in pairing.exchanges:
        name = storable(exchange.call.name)
        tools.setdefault(exchange.asked, set()).add(name)
        if exchange.answered is not None:
            tools.setdefault(exchange.answered, set()).add(name)
    for orphan in pairing.orphans:
        tools.setdefault(orphan.message, set()).add(storable(orphan.result.tool))
    return tools
