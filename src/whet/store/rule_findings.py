"""What each session says of rules, kept under keys of all that it depends on besides the session.

In a team each member has rows of their own: the server names the maker, and nobody reads what another wrote.
"""

from collections.abc import Iterable, Sequence

import msgspec

from whet.lessons.following import RuleFinding
from whet.store.database import Database
from whet.store.decoding import blob, decoded_or_none
from whet.store.rows import Session


def kept_findings(database: Database, sessions: Sequence[Session]) -> dict[int, dict[str, RuleFinding]]:
    """What is kept of these sessions, by key; nothing of one that was written to since."""
    found: dict[int, dict[str, RuleFinding]] = {session.no: {} for session in sessions}
    heads = {session.no: session.head for session in sessions}
    rows = database.query(
        f"SELECT session, head, record FROM rule_findings WHERE maker = ? AND session IN ({_places(sessions)})",
        (_maker(database), *heads),
    )
    for no, head, record in rows:
        if blob(head) == heads[no]:
            found[no] = decoded_or_none(record, dict[str, RuleFinding]) or {}
    return found


def keep_findings(database: Database, found: Iterable[tuple[Session, dict[str, RuleFinding]]]) -> None:
    """Keep all that is known of these sessions; nothing of one that was forgotten meanwhile."""
    rows = [(session.head, msgspec.json.encode(findings), session.no) for session, findings in found]
    if not rows:
        return
    with database.writing():
        database.many(
            "INSERT INTO rule_findings (session, head, record) SELECT no, ?, ? FROM sessions WHERE no = ?"
            " ON CONFLICT (session, maker) DO UPDATE SET head = excluded.head, record = excluded.record",
            rows,
        )


def _places(sessions: Sequence[Session]) -> str:
    return ", ".join("?" * len(sessions))


def _maker(database: Database) -> str:
    return "" if database.dialect == "sqlite" else database.member
