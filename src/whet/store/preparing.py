"""A session made ready for the store, without the database; and added to it with its messages, many at a time."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from whet.sessions.copies import places
from whet.sessions.transcripts import (
    Message,
    Origin,
    Pairing,
    Role,
    Transcript,
    encode,
    link,
    pair,
    session_id,
    total,
)
from whet.store.database import Database
from whet.store.rows import SessionFacts, blanks, portions
from whet.store.words import indexed, marks, vectors
from whet.text.words import cut

TITLE_CHARACTERS = 200
MERGED_PAGES = 500  # at a time, so that other writers need not wait for long
WORKED = 2  # changes; fewer mean that there was nothing to merge


class MessageRow(NamedTuple):
    """One message as it is stored."""

    id: bytes
    role: str
    at: float | None
    model: str
    body: bytes
    words: str
    tools: tuple[str, ...]  # called or answering in it
    vectors: tuple[bytes, ...] | None = None  # the words as Postgres takes them, where they were made beforehand


class SessionColumns(NamedTuple):
    """What a record says of its session, as the table has it."""

    source: str
    native_id: str
    parent_id: str
    title: str
    model: str
    folder: str
    branch: str
    purpose: str
    ending: str
    started: float | None
    ended: float | None
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_dollars: float | None
    facts: bytes


class PreparedSession(NamedTuple):
    """A session ready to be kept."""

    id: str
    columns: SessionColumns
    rows: tuple[MessageRow, ...]

    @property
    def head(self) -> bytes:
        return self.rows[-1].id if self.rows else b""


class Provenance(NamedTuple):
    """Where and when a session was found. `modified` dates a session that carries no time of its own."""

    path: str
    modified: float
    now: float

    def dated(self, prepared: PreparedSession) -> float:
        return prepared.columns.ended or self.modified


class NewSession(NamedTuple):
    """A session that is not stored; `base` is the one that holds its first `shared` messages."""

    prepared: PreparedSession
    provenance: Provenance
    base: int | None = None
    shared: int = 0


ADDED = f"id, {', '.join(SessionColumns._fields)}, head, message_count, base, base_count, path, dated, imported_at"


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
    columns = SessionColumns(
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
    return PreparedSession(transcript.id, columns, rows)


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


def _index_words(database: Database, rows: Iterable[tuple[int, MessageRow]]) -> None:
    """Make messages, each with its number, findable by their words."""
    if database.dialect == "sqlite":
        database.insert(
            "message_index",
            ("rowid", "words"),
            ((no, f"{row.words} {marks(row.role, row.tools)}") for no, row in rows),
        )
    else:
        database.insert(
            "message_index",
            ("message", "words"),
            ((no, vector) for no, row in rows for vector in row.vectors or vectors(row.words)),
        )


def with_vectors(row: MessageRow) -> MessageRow:
    """The message for Postgres alone, with its words counted: most of the work of writing it, done by who reads it."""
    return row._replace(words="", vectors=tuple(vectors(row.words)))


def tidy(database: Database) -> None:
    """Merge the parts in which many writes leave SQLite's index, since a search has to look into each of them."""
    if database.dialect != "sqlite":
        return
    changes = WORKED
    while changes >= WORKED:
        with database.writing():
            [(before,)] = database.query("SELECT total_changes()")
            database.execute("INSERT INTO message_index (message_index, rank) VALUES ('merge', ?)", (MERGED_PAGES,))
            [(after,)] = database.query("SELECT total_changes()")
        changes = after - before


def add_sessions(database: Database, new: Sequence[NewSession]) -> None:
    """Add sessions with those of their messages that no other holds."""
    for some in portions(new):
        values = ", ".join([f"({blanks(ADDED.split(', '))})"] * len(some))
        numbers: dict[str, int] = dict(
            database.query(
                f"INSERT INTO sessions ({ADDED}) VALUES {values} RETURNING id, no",
                [value for each in some for value in _values(each)],
            )
        )
        own = [(numbers[each.prepared.id], each.shared, each.prepared.rows[each.shared :]) for each in some]
        add_messages(database, *own)


def _values(new: NewSession) -> tuple[object, ...]:
    prepared, found = new.prepared, new.provenance
    counts = (prepared.head, len(prepared.rows), new.base, new.shared)
    return (prepared.id, *prepared.columns, *counts, found.path, found.dated(prepared), found.now)


def add_messages(database: Database, *new: tuple[int, int, Sequence[MessageRow]]) -> None:
    """Give sessions, by their numbers, messages of their own from a position on. None of them may be stored already."""
    placed = [(session, position, row) for session, start, rows in new for position, row in enumerate(rows, start)]
    if not placed:
        return
    [(first,)] = database.query("SELECT coalesce(max(no), 0) + 1 FROM messages")
    numbered = [(no, row) for no, (_, _, row) in enumerate(placed, first)]
    database.insert(
        "messages",
        ("no", "id", "session", "position", "role", "at", "model", "body"),
        (
            (no, row.id, session, position, row.role, row.at, row.model, row.body)
            for no, (session, position, row) in enumerate(placed, first)
        ),
    )
    database.insert("uses", ("message", "tool"), ((no, tool) for no, row in numbered for tool in row.tools))
    _index_words(database, numbered)
