"""What a session and its messages look like on their way into the database, and as they come out of it.

A session is made ready without the database, and added with its messages, many at a time. A row that cannot be read is
damage: it is said, and stops nobody.
"""

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeVar, get_type_hints

import msgspec

from whet.errors import WhetError
from whet.sessions.copies import places
from whet.sessions.transcripts import (
    Message,
    Origin,
    Pairing,
    RecordedCheck,
    Role,
    Transcript,
    Usage,
    decode,
    encode,
    link,
    pair,
    session_id,
    total,
)
from whet.store.database import Database, Row
from whet.store.words import indexed, marks, vectors
from whet.text.words import cut
from whet.values import Value

Kind = TypeVar("Kind")
TITLE_CHARACTERS = 200
AT_ONCE = 500  # sessions or ids in one statement, which takes some ten thousand parameters at most


class SessionFacts(Value, frozen=True):
    """What is kept of a session besides its columns."""

    version: str = ""
    ending_detail: str = ""
    parent: str = ""
    own_title: str = ""
    tools: tuple[str, ...] = ()
    checks: tuple[RecordedCheck, ...] = ()
    usage: Usage | None = None
    prompt_key: str = ""  # of the prompt that a session of our own was told
    run_key: str = ""  # of the run without its conversation
    draw_id: str = msgspec.field(default="", name="lot")  # by which canaries were drawn for it


class Session(NamedTuple):
    """A stored session without its messages.

    >>> import whet
    >>> with whet.Store() as store:
    ...     print([(session.title, session.message_count) for session in store.sessions(source="opencode")])
    [('Nights counted one too many', 16)]
    """

    no: int
    id: str
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
    facts: SessionFacts
    message_count: int
    path: str
    head: bytes
    base: int | None
    base_count: int
    dated: float  # when it ended, or when its file was written where it carries no time
    maker: str = ""  # the member of a team who last wrote it


SESSION_COLUMNS = ", ".join(Session._fields)


def session_of(row: Row) -> Session:
    """A session from its row of `SESSION_COLUMNS`."""
    found = Session._make(row)
    facts = decoded_or_none(found.facts, SessionFacts) or SessionFacts()  # what others wrote may say nothing
    return found._replace(facts=facts, head=blob(found.head))


class DamagedRow(WhetError):
    """What the database holds of something cannot be read."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The {what} is damaged in the database.", advice="Run `whet doctor`, which finds all damage and its fix."
        )


def blob(value: object) -> bytes:
    """The bytes in a column; a damaged file may hold something else there, which says nothing."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


def decoded_row(body: object, kind: type[Kind], what: str) -> Kind:
    """The value in a row; raises DamagedRow where there is none."""
    try:
        return msgspec.json.decode(blob(body), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedRow(what) from error


def decoded_or_none(body: object, kind: type[Kind]) -> Kind | None:
    """The value in a row; None where it cannot be read."""
    try:
        return msgspec.json.decode(blob(body), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def made(kind: Callable[..., Kind], row: Sequence[object]) -> Kind:
    """A named tuple from the columns of its fields, where a database has a number, any number, for true or false."""
    flags = _flags(kind)
    return kind(*(bool(each) if at in flags and each is not None else each for at, each in enumerate(row)))


@cache
def _flags(kind: Callable[..., object]) -> frozenset[int]:
    return frozenset(at for at, each in enumerate(get_type_hints(kind).values()) if each in (bool, bool | None))


def columns_of(value: Iterable[object]) -> tuple[object, ...]:
    """The columns that `made` makes a named tuple from."""
    return tuple(int(each) if isinstance(each, bool) else each for each in value)


def decoded_message(body: object, what: str) -> Message:
    """The message in a row; raises DamagedRow where there is none."""
    try:
        return decode(blob(body))
    except (msgspec.MsgspecError, ValueError) as error:
        raise DamagedRow(what) from error


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Values hold no cycles, and the collector would walk millions of them again and again to find none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def ask_for_all(database: Database, sql: str, values: Sequence[object], before: Sequence[object] = ()) -> Iterator[Row]:
    """The rows of a question that ends in `IN`, for however many values; `before` are those that it asks for first."""
    for some in portions(values):
        yield from database.query(f"{sql} ({blanks(some)})", (*before, *some))


def portions(items: Sequence[Kind]) -> Iterator[Sequence[Kind]]:
    """The items, as many at a time as one statement takes."""
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def blanks(values: Sequence[object]) -> str:
    """The places of so many parameters in a statement."""
    return ", ".join("?" * len(values))


def replacing(table: str, key: str, columns: str) -> str:
    """The statement that adds a row, or puts it in the place of the one that has its key."""
    names = columns.split(", ")
    given = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return f"INSERT INTO {table} ({columns}) VALUES ({blanks(names)}) ON CONFLICT ({key}) DO UPDATE SET {given}"


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
