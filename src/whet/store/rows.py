"""What a session and its messages look like on their way into the database, and as they come out of it.

A row that cannot be read is damage: it is said, and keeps nobody from the rest.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import msgspec

from whet.errors import WhetError
from whet.sessions.transcripts import Message, RecordedCheck, Usage, decode
from whet.store.database import Row
from whet.values import Value


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


class PreparedSession(NamedTuple):
    """A session ready to be kept."""

    id: str
    columns: tuple[object, ...]
    ended: float | None
    head: bytes
    rows: tuple[MessageRow, ...]

    @property
    def folder(self) -> str:
        return str(self.columns[FOLDER])


COLUMNS = (
    "source, native_id, parent_id, title, model, folder, branch, purpose, ending, started, ended,"
    " input_tokens, output_tokens, cached_tokens, cost_dollars, facts"
)
FOLDER = COLUMNS.split(", ").index("folder")


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


SESSION_COLUMNS = f"no, id, {COLUMNS}, message_count, path, head, base, base_count, dated, maker"


def session_of(row: Row) -> Session:
    """A session from its row of `SESSION_COLUMNS`."""
    values = list(row)
    values[17] = _facts(values[17])
    values[20] = values[20] if isinstance(values[20], bytes) else b""
    return Session(*values)


def _facts(body: bytes) -> SessionFacts:
    try:
        return msgspec.json.decode(body, type=SessionFacts)
    except msgspec.MsgspecError:  # a row that others wrote: it says nothing, and keeps nobody from the rest
        return SessionFacts()


Kind = TypeVar("Kind")


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
