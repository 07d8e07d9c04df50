"""The chain of hashes through every session: each message's id covers it and all before it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from whet.sessions.transcripts import decode, link
from whet.store.database import Database
from whet.store.decoding import blob
from whet.store.rows import SESSION_COLUMNS, Session, session_of

PAGE = 200


class ChainFault(NamedTuple):
    """A session whose messages are not those that its head covers, from a position on."""

    session: Session
    position: int
    reason: str


def chain_faults(database: Database, *, progress: Callable[[int, int], None] = lambda *_: None) -> Iterator[ChainFault]:
    """Every session that is not whole; `progress` hears how many of how many have been looked at."""
    [(total,)] = database.query("SELECT count(*) FROM sessions")
    for done, session in enumerate(stored_sessions(database)):
        if done % PAGE == 0:
            progress(done, total)
        fault = _fault(database, session)
        if fault is not None:
            yield fault


def stored_sessions(database: Database) -> Iterator[Session]:
    """Every session, a page at a time."""
    last = -1
    sql = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE no > ? ORDER BY no LIMIT ?"
    while rows := database.query(sql, (last, PAGE)):
        yield from map(session_of, rows)
        last = rows[-1][0]


def _fault(database: Database, session: Session) -> ChainFault | None:
    first = session.base_count
    parent = id_at(database, session.base, first - 1) if first else b""
    if parent is None:
        return ChainFault(session, 0, "its beginning is missing")
    rows = database.query(
        "SELECT position, id, body FROM messages WHERE session = ? AND position >= ? AND position < ?"
        " ORDER BY position",
        (session.no, first, session.message_count),
    )
    for expected, (position, stored, body) in enumerate(rows, start=first):
        parent = link(parent, blob(body))
        reason = _reason(expected == position, parent == blob(stored), blob(body))
        if reason:
            return ChainFault(session, expected, reason)
    if first + len(rows) < session.message_count:
        return ChainFault(session, first + len(rows), "messages are missing")
    if parent != session.head:
        return ChainFault(session, session.message_count, "its head is another session's")
    return None


def _reason(is_next: bool, is_linked: bool, body: bytes) -> str:
    if not is_next:
        return "messages are missing"
    if not is_linked:
        return "a message was changed"
    try:
        decode(body)
    except (msgspec.MsgspecError, ValueError):
        return "a message cannot be read"
    return ""


def id_at(database: Database, session: int | None, position: int) -> bytes | None:
    """The id of a message of a session, which it or one that it stands on holds; None where it is missing."""
    owner, seen = session, set[int]()
    while owner is not None and owner not in seen:
        seen.add(owner)
        found = database.query("SELECT base, base_count FROM sessions WHERE no = ?", (owner,))
        if not found:
            return None
        base, count = found[0]
        if position >= count:
            rows = database.query("SELECT id FROM messages WHERE session = ? AND position = ?", (owner, position))
            return blob(rows[0][0]) if rows else None
        owner = base
    return None
