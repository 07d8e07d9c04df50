"""What the rows of the store hold, as values. A row that cannot be read is damage: it is said, and stops nobody."""

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeVar, get_type_hints

import msgspec

from whet.errors import WhetError
from whet.sessions.transcripts import Message, RecordedCheck, Usage, decode
from whet.store.database import Database, Row
from whet.values import Value

Kind = TypeVar("Kind")
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
