"""The calls of each session in short, kept so that the patterns of claims are counted over all of them in seconds."""

from collections.abc import Iterable, Sequence

import msgspec

from whet.lessons.claim_calls import CALLS_VERSION, SessionCalls, calls_of
from whet.outcomes.view import gather
from whet.sessions.copies import own_part
from whet.store.database import Database
from whet.store.decoding import blob, decoded_or_none, uncollected
from whet.store.rows import Session
from whet.store.side_by_side import Progress, StoredTranscript, go_through

BATCH = 500


def keep_calls(
    database: Database,
    sessions: Sequence[Session],
    *,
    progress: Progress = lambda _: None,
    processors: int | None = None,
) -> int:
    """Keep the calls of those of these sessions that are new, have grown or were kept by an older version; how many."""
    known = {no: blob(head) for no, head in _kept(database, sessions, "head")}
    waiting = [session for session in sessions if known.get(session.no) != session.head]

    def keep(session: Session, found: SessionCalls | None) -> None:
        database.execute(
            "INSERT INTO session_calls (session, head, version, record) SELECT no, ?, ?, ? FROM sessions WHERE no = ?"
            " ON CONFLICT (session, maker) DO UPDATE SET head = excluded.head, version = excluded.version,"
            " record = excluded.record",
            (session.head, CALLS_VERSION, msgspec.json.encode(found or SessionCalls()), session.no),
        )

    if waiting:
        go_through(database, waiting, _find, keep, progress=progress, processors=processors)
    return len(waiting)


def kept_calls(database: Database, sessions: Sequence[Session]) -> dict[str, SessionCalls]:
    """What is kept of these sessions, by their ids, in their order."""
    with uncollected():
        found = {no: decoded_or_none(record, SessionCalls) for no, record in _kept(database, sessions, "record")}
    return {session.id: calls for session in sessions if (calls := found.get(session.no)) is not None}


def _find(stored: StoredTranscript) -> SessionCalls:
    return calls_of(gather(own_part(stored.decoded(), stored.copied)))


def _kept(database: Database, sessions: Sequence[Session], column: str) -> Iterable[tuple[int, object]]:
    maker = "" if database.dialect == "sqlite" else database.member
    for start in range(0, len(sessions), BATCH):
        batch = [session.no for session in sessions[start : start + BATCH]]
        rows = database.query(
            f"SELECT session, {column} FROM session_calls WHERE maker = ? AND version = ?"
            f" AND session IN ({', '.join('?' * len(batch))})",
            (maker, CALLS_VERSION, *batch),
        )
        yield from ((int(no), value) for no, value in rows)
