"""Sessions made ready to keep, and added with their messages, as many at a time as there are."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from whet.sessions.example_marks import places
from whet.sessions.transcripts import Message, Origin, Pairing, Role, Transcript, encode, link, pair, session_id, total
from whet.store.database import Database, Row
from whet.store.rows import COLUMNS, MessageRow, PreparedSession, SessionFacts
from whet.store.words import indexed, marks, vectors
from whet.text.words import cut

TITLE_CHARACTERS = 200
MERGED_PAGES = 500  # at a time, so that other writers need not wait for long
WORKED = 2  # changes; fewer mean that there was nothing to merge
AT_ONCE = 500  # sessions or ids in one statement, which takes some ten thousand parameters at most
ADDED = f"id, {COLUMNS}, head, message_count, base, base_count, path, dated, imported_at"
Item = TypeVar("Item")


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


def index_words(database: Database, rows: Iterable[tuple[int, MessageRow]]) -> None:
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
            ((no, vector) for no, row in rows for vector in vectors_of(row)),
        )


def with_vectors(row: MessageRow) -> MessageRow:
    """The message for Postgres alone, with its words counted: most of the work of writing it, done by who reads it."""
    return row._replace(words="", vectors=tuple(vectors(row.words)))


def vectors_of(row: MessageRow) -> Iterable[bytes]:
    return vectors(row.words) if row.vectors is None else row.vectors


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


class NewSession(NamedTuple):
    """A session that is not stored; `base` is the one that holds its first `shared` messages."""

    prepared: PreparedSession
    path: str
    dated: float
    imported_at: float
    base: int | None = None
    shared: int = 0


class NewMessages(NamedTuple):
    """Messages that a stored session gets from a position on."""

    session: int
    start: int
    rows: tuple[MessageRow, ...]


def add_sessions(database: Database, new: Sequence[NewSession]) -> None:
    """Add sessions with those of their messages that no other holds."""
    for some in _some(new):
        places = ", ".join("?" * len(ADDED.split(",")))
        values = ", ".join([f"({places})"] * len(some))
        numbers: dict[str, int] = dict(
            database.query(
                f"INSERT INTO sessions ({ADDED}) VALUES {values} RETURNING id, no",
                [value for each in some for value in _values(each)],
            )
        )
        add_messages(
            database,
            [NewMessages(numbers[each.prepared.id], each.shared, each.prepared.rows[each.shared :]) for each in some],
        )


def _values(new: NewSession) -> tuple[object, ...]:
    prepared = new.prepared
    counts = (prepared.head, len(prepared.rows), new.base, new.shared)
    return (prepared.id, *prepared.columns, *counts, new.path, new.dated, new.imported_at)


def add_messages(database: Database, new: Iterable[NewMessages]) -> None:
    """Give sessions messages of their own. None of them may be stored already."""
    placed = [(each.session, position, row) for each in new for position, row in enumerate(each.rows, start=each.start)]
    if not placed:
        return
    [(first,)] = database.query("SELECT coalesce(max(no), 0) + 1 FROM messages")
    database.insert(
        "messages",
        ("no", "id", "session", "position", "role", "at", "model", "body"),
        (
            (no, row.id, session, position, row.role, row.at, row.model, row.body)
            for no, (session, position, row) in enumerate(placed, start=first)
        ),
    )
    numbered = [(no, row) for no, (_, _, row) in enumerate(placed, start=first)]
    database.insert("uses", ("message", "tool"), ((no, tool) for no, row in numbered for tool in row.tools))
    index_words(database, numbered)


def ask_for_all(database: Database, sql: str, values: Sequence[object]) -> Iterator[Row]:
    """The rows of a question that ends in `IN`, for however many values."""
    for some in _some(values):
        yield from database.query(f"{sql} ({', '.join('?' * len(some))})", some)


def _some(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))
