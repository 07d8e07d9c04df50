"""Sessions in the store: kept once, grown by what is new, read, listed and forgotten.

Messages are stored under the id that covers them and all before them, each owned by one session. A session that
shares its beginning with another keeps only what differs: `base` names the one that holds its first `base_count`.

Which messages of a stored session are copies: what it shares with others of its kin, the earlier stored ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from whet.errors import WhetError
from whet.sessions.copies import NO_PLACES, copied_places
from whet.sessions.transcripts import Ending, Message, Purpose, Transcript, link
from whet.sessions.trust import Trust
from whet.store import derived
from whet.store.database import Database
from whet.store.left_out import forget_left_out
from whet.store.rows import (
    SESSION_COLUMNS,
    DamagedRow,
    MessageRow,
    NewSession,
    PreparedSession,
    Provenance,
    Session,
    SessionColumns,
    add_messages,
    add_sessions,
    ask_for_all,
    blob,
    decoded_message,
    session_of,
)

COLUMNS = ", ".join(SessionColumns._fields)
KEPT_WITH = ("head", "message_count", "path", "dated")
KIN = f"""
    WITH RECURSIVE kin (no, id, base, parent_id) AS (
        SELECT no, id, base, parent_id FROM sessions WHERE no = ?
        UNION SELECT s.no, s.id, s.base, s.parent_id FROM sessions AS s JOIN kin AS k
            ON s.no = k.base OR s.base = k.no OR s.id = k.parent_id OR s.parent_id = k.id
        WHERE s.purpose <> '{Purpose.SUBTASK.value}'
    ) SELECT no FROM kin
"""
HAS_HEIR = f"""
    SELECT 1 FROM sessions WHERE (base = ? OR parent_id = ?) AND purpose <> '{Purpose.SUBTASK.value}' LIMIT 1
"""
Change = Literal["imported", "updated", "unchanged", "conflict"]
# What goes with a session, whoever claimed it. First what was claimed of it, or without a quote in a pass that read it,
# and has no quote from another one.
FORGOTTEN = (
    """DELETE FROM claims WHERE (pass IN (SELECT pass FROM sessions_read WHERE session = ?)
        OR claim IN (SELECT o.claim FROM claims AS o JOIN claim_quotes AS q ON q.claim = o.number WHERE q.session = ?))
        AND NOT EXISTS (SELECT 1 FROM claims AS o JOIN claim_quotes AS q ON q.claim = o.number
            WHERE q.session <> ? AND o.claim <> '' AND o.claim = claims.claim
            AND o.project = claims.project AND o.maker = claims.maker)""",
    "DELETE FROM claim_quotes WHERE session = ?",
    "DELETE FROM sessions_read WHERE session = ?",
)


def copied_in(database: Database, session: Session, messages: Sequence[Message]) -> frozenset[int]:
    """The places of the messages that a session copied from sessions that were stored before it."""
    if not messages:
        return NO_PLACES
    relatives = _said_before(database, session, messages) if session.base_count < len(messages) else ()
    return copied_places(messages, session.base_count, relatives)


def count_kin_again(database: Database, session: Session) -> None:
    """Let the later sessions of the kin be gone through again: what they copied depends on what this one holds."""
    derived.drop(database, [no for no in _kin(database, session) if no > session.no])


def _kin(database: Database, session: Session) -> list[int]:
    """The numbers of the other sessions that have a beginning or a parent in common with one; of most there is none."""
    is_alone = session.base is None and (not session.parent_id or session.purpose == Purpose.SUBTASK.value)
    if is_alone and not database.query(HAS_HEIR, (session.no, session.id)):
        return []
    return sorted(int(no) for (no,) in database.query(KIN, (session.no,)) if no != session.no)


def _said_before(database: Database, session: Session, messages: Sequence[Message]) -> Iterator[Message]:
    """What earlier sessions of the kin hold themselves of the time in which this one's own messages were said."""
    own = [message.at for message in messages[session.base_count :] if message.at is not None]
    earlier = [no for no in _kin(database, session) if no < session.no] if own else []
    for no in earlier:
        rows = database.query(
            "SELECT body FROM messages WHERE session = ? AND at >= ? AND at <= ?", (no, min(own), max(own))
        )
        for (body,) in rows:
            try:
                yield decoded_message(body, f"session {no}")
            except DamagedRow:  # what nobody can read repeats nothing
                continue


class KeepResult(NamedTuple):
    """What keeping a transcript changed, how many messages it added, and what a person should know of it."""

    change: Change
    messages: int
    note: str = ""


def keep(database: Database, prepared: PreparedSession, provenance: Provenance) -> KeepResult:
    """Keep a session wholly or not at all. Keeping it again changes nothing; a grown one gains what is new."""
    with database.writing():
        session = stored(database, prepared.id)
        kept = _compared(database, session, prepared, provenance.path)
        if session is None:
            _insert(database, prepared, provenance)
        elif kept.change == "updated":
            _bring_up_to_date(database, session, prepared, provenance)
        return kept


def keep_all(database: Database, found: Sequence[tuple[PreparedSession, Provenance]]) -> list[KeepResult]:
    """Keep sessions in their order, as `keep` does each; new ones that follow each other are added together."""
    with database.writing():
        seen = _stored_already(database, [prepared for prepared, _ in found])
        new, kept = list[NewSession](), list[KeepResult]()
        for prepared, provenance in found:
            marks = _marks(prepared)
            if seen.isdisjoint(marks):
                new.append(NewSession(prepared, provenance))
                kept.append(KeepResult("imported", len(prepared.rows)))
            else:
                add_sessions(database, new)
                new.clear()
                kept.append(keep(database, prepared, provenance))
            seen |= marks
        add_sessions(database, new)
        return kept


def _marks(prepared: PreparedSession) -> set[str | bytes]:
    """What tells whether anything of a session is stored: its id, and that of its first message.

    Whatever message is stored, all before it are stored too.
    """
    return {prepared.id, *(row.id for row in prepared.rows[:1])}


def _stored_already(database: Database, found: Iterable[PreparedSession]) -> set[str | bytes]:
    """The marks of these sessions that are in the store."""
    marks = set[str | bytes]().union(*map(_marks, found))
    ids = [mark for mark in marks if isinstance(mark, str)]
    messages = [mark for mark in marks if isinstance(mark, bytes)]
    return {
        *(str(id) for (id,) in ask_for_all(database, "SELECT id FROM sessions WHERE id IN", ids)),
        *(bytes(id) for (id,) in ask_for_all(database, "SELECT id FROM messages WHERE id IN", messages)),
    }


def compare(database: Database, prepared: PreparedSession, *, path: str) -> KeepResult:
    """What `keep` would do, without doing it."""
    return _compared(database, stored(database, prepared.id), prepared, path)


def is_own(database: Database, session: Session) -> bool:
    """Whether this member wrote a session, or nobody else can have."""
    return database.dialect == "sqlite" or session.maker in ("", database.member)


def is_believed(database: Database, session: Session) -> bool:
    """Whether this member wrote a session and its messages are those that its head covers."""
    if database.dialect == "sqlite":  # a file of one's own, where nobody changes them
        return True
    parent = b""
    for body in _bodies(database, session) if is_own(database, session) else ():
        parent = link(parent, blob(body))
    return is_own(database, session) and parent == session.head


def load(database: Database, session: Session) -> Transcript:
    """The whole transcript of a stored session. What another member wrote in it, or changed, is a stranger's word."""
    return load_as(database, session, believed=is_believed(database, session))


def load_as(database: Database, session: Session, *, believed: bool) -> Transcript:
    """The same by one who has asked already whether it is believed."""
    found = tuple(messages(database, session))
    if not believed:
        found = tuple(map(_distrusted, found))
    return Transcript(
        source=session.source,
        native_id=session.native_id,
        messages=found,
        parent=session.facts.parent,
        title=session.facts.own_title,
        model=session.model,
        folder=session.folder,
        branch=session.branch,
        version=session.facts.version,
        purpose=Purpose(session.purpose),
        ending=Ending(session.ending),
        ending_detail=session.facts.ending_detail,
        started=session.started,
        ended=session.ended,
        tools=session.facts.tools,
        checks=session.facts.checks,
        usage=session.facts.usage,
    )


def own_messages(database: Database, session: Session) -> tuple[Message, ...]:
    """The messages of a session that is to go on; raises WhetError for one that another member wrote or changed."""
    if not is_believed(database, session):
        raise WhetError(
            f"The session {session.native_id} belongs to another member and cannot be continued here.",
            advice="Start a new one; to read this one, run `whet show`.",
        )
    return tuple(messages(database, session))


def messages(database: Database, session: Session, *, start: int = 0, stop: int | None = None) -> Iterator[Message]:
    """The messages of a session in order, from the sessions that hold them; a stranger's are not believed."""
    believed = is_own(database, session)
    for body in _bodies(database, session, start=start, stop=stop):
        message = decoded_message(body, f"session {session.native_id}")
        yield message if believed else _distrusted(message)


def _bodies(database: Database, session: Session, *, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    end = session.message_count if stop is None else min(stop, session.message_count)
    for owner, first, last in _segments(database, session, end):
        if last <= start:
            continue
        for (body,) in database.query(
            "SELECT body FROM messages WHERE session = ? AND position >= ? AND position < ? ORDER BY position",
            (owner, max(first, start), last),
        ):
            yield body


def _distrusted(message: Message) -> Message:
    return replace(message, trust=Trust.EXTERNAL)


def forget(database: Database, session_id: str) -> int:
    """Remove a session and all of its messages that no other session shares; how many were removed."""
    with database.writing():
        session = stored(database, session_id)
        if session is None:
            return 0
        # Its file must be read again, should a person want the session back.
        database.execute("DELETE FROM files WHERE path = ?", (session.path,))
        forget_left_out(database, [session.path])
        for statement in FORGOTTEN:
            database.execute(statement, (session.id,) * statement.count("?"))
        return _remove(database, session)


def _segments(database: Database, session: Session, end: int) -> list[tuple[int, int, int]]:
    """Which session holds which range of the messages before `end`, in order."""
    segments: list[tuple[int, int, int]] = []
    owner, base, base_count, seen = session.no, session.base, session.base_count, {session.no}
    while True:
        if end > base_count:
            segments.append((owner, base_count, end))
        end = min(end, base_count)
        if end <= 0:
            return segments[::-1]
        found = database.query("SELECT no, base, base_count FROM sessions WHERE no = ?", (base,))
        if not found or found[0][0] in seen:  # in a circle nobody holds the beginning
            raise DamagedRow(f"session {session.native_id}")
        owner, base, base_count = found[0]
        seen.add(owner)


def message_id(database: Database, session: Session, position: int) -> bytes | None:
    """The id of a message of a session, which it or one that it stands on holds; None where it is missing."""
    owner, _, _ = _segments(database, session, position + 1)[-1]
    rows = database.query("SELECT id FROM messages WHERE session = ? AND position = ?", (owner, position))
    return blob(rows[0][0]) if rows else None


def stored(database: Database, session_id: str) -> Session | None:
    """The session with exactly this id, if it is there."""
    rows = database.query(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?", (session_id,))
    return session_of(rows[0]) if rows else None


def _compared(database: Database, session: Session | None, prepared: PreparedSession, path: str) -> KeepResult:
    if session is None:
        return KeepResult("imported", len(prepared.rows) - _shared(database, prepared.rows))
    if session.head == prepared.head:
        current = database.query(f"SELECT {COLUMNS} FROM sessions WHERE no = ?", (session.no,))[0]
        return KeepResult("unchanged" if tuple(current) == prepared.columns else "updated", 0)
    if _holds(database, session, prepared):
        return KeepResult("unchanged", 0, "the stored session is longer than this file")
    if not _begins(session, prepared) and session.path != path:
        return KeepResult("conflict", 0, f"another session with the id {session.native_id} came from {session.path}")
    return KeepResult("updated", len(prepared.rows) - _shared(database, prepared.rows))


def _bring_up_to_date(database: Database, session: Session, prepared: PreparedSession, provenance: Provenance) -> None:
    count = session.message_count
    if session.head == prepared.head:
        _update(database, session.no, prepared, provenance)
    elif _begins(session, prepared) and not is_stored(database, prepared.rows[count].id):
        add_messages(database, (session.no, count, prepared.rows[count:]))
        _update(database, session.no, prepared, provenance)
        count_kin_again(database, session)
    else:
        _remove(database, session)
        _insert(database, prepared, provenance)


def _begins(session: Session, prepared: PreparedSession) -> bool:
    """Whether the stored messages are the beginning of the new ones."""
    count = session.message_count
    return count == 0 or (count < len(prepared.rows) and prepared.rows[count - 1].id == session.head)


def _holds(database: Database, session: Session, prepared: PreparedSession) -> bool:
    """Whether the new messages are only the beginning of the stored ones, as in an older copy of the file."""
    count = len(prepared.rows)
    if count >= session.message_count:
        return False
    if count == 0:
        return True
    return message_id(database, session, count - 1) == prepared.head


def _insert(database: Database, prepared: PreparedSession, provenance: Provenance) -> None:
    shared = _shared(database, prepared.rows)
    base = None
    if shared:
        base = database.query("SELECT session FROM messages WHERE id = ?", (prepared.rows[shared - 1].id,))[0][0]
    add_sessions(database, [NewSession(prepared, provenance, base, shared)])


def _update(database: Database, no: int, prepared: PreparedSession, provenance: Provenance) -> None:
    changed = ", ".join(f"{column} = ?" for column in (*SessionColumns._fields, *KEPT_WITH))
    counts = (prepared.head, len(prepared.rows), provenance.path, provenance.dated(prepared))
    database.execute(f"UPDATE sessions SET {changed} WHERE no = ?", (*prepared.columns, *counts, no))


def _shared(database: Database, rows: tuple[MessageRow, ...]) -> int:
    """How many of the first messages are stored already; whatever is stored, all before it is stored too."""
    if not rows or not is_stored(database, rows[0].id):  # as of nearly every new session
        return 0
    low, high = 1, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        if is_stored(database, rows[middle - 1].id):
            low = middle
        else:
            high = middle - 1
    return low


def is_stored(database: Database, message_id: bytes) -> bool:
    """Whether some session holds the message with this history."""
    return bool(database.query("SELECT 1 FROM messages WHERE id = ?", (message_id,)))


def _remove(database: Database, session: Session) -> int:
    """Delete a session; messages that others stand on go to the one that needs the most. How many were deleted."""
    count_kin_again(database, session)
    heirs = database.query(
        "SELECT no, base_count FROM sessions WHERE base = ? ORDER BY base_count DESC, no", (session.no,)
    )
    if heirs:
        heir, needed = heirs[0]
        database.execute(
            "UPDATE messages SET session = ? WHERE session = ? AND position < ?", (heir, session.no, needed)
        )
        database.execute(
            "UPDATE sessions SET base = ?, base_count = ? WHERE no = ?", (session.base, session.base_count, heir)
        )
        database.execute("UPDATE sessions SET base = ? WHERE base = ?", (heir, session.no))
        derived.drop(database, [no for no, _ in heirs])
    [(count,)] = database.query("SELECT count(*) FROM messages WHERE session = ?", (session.no,))
    database.execute("DELETE FROM messages WHERE session = ?", (session.no,))
    database.execute("DELETE FROM sessions WHERE no = ?", (session.no,))
    return int(count)
