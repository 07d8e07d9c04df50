"""Which messages of a stored session are copies: what it shares with others of its kin, the earlier stored ones."""

from collections.abc import Iterator, Sequence

from whet.sessions.copies import NO_PLACES, copied_places
from whet.sessions.transcripts import Message, Purpose
from whet.store.database import Database
from whet.store.decoding import DamagedRow, decoded_message
from whet.store.rows import Session

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


def copied_in(database: Database, session: Session, messages: Sequence[Message]) -> frozenset[int]:
    """The places of the messages that a session copied from sessions that were stored before it."""
    if not messages:
        return NO_PLACES
    relatives = _said_before(database, session, messages) if session.base_count < len(messages) else ()
    return copied_places(messages, session.base_count, relatives)


def count_kin_again(database: Database, session: Session) -> None:
    """Let the later sessions of the kin be gone through again: what they copied depends on what this one holds."""
    later = [(no,) for no in _kin(database, session) if no > session.no]
    if later:
        database.many("UPDATE analyses SET shared = -1 WHERE session = ?", later)
        database.many("UPDATE teachings SET version = 0 WHERE session = ?", later)


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
