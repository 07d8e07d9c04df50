"""What reviews of a session were begun, and what they have learned: asked in every conversation, so it needs little."""

import re

from whet.ledger.entries import Entry, Step
from whet.own.told.review_when import Reviewed, ReviewKind, summary
from whet.sessions.transcripts import Ending, Purpose
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.rows import SESSION_COLUMNS, Session, session_of

_ID = re.compile(r"-review-(memory|skill|combined)-(\d+)")  # behind the id of the session


def reviews_of(database: Database, session: str) -> tuple[Reviewed, ...]:
    """The reviews of a session that were begun, from their names."""
    rows = database.query(
        "SELECT own.native_id, parent.native_id FROM sessions AS own"
        " JOIN sessions AS parent ON parent.id = own.parent_id WHERE own.parent_id = ? AND own.purpose = ?",
        (session, Purpose.REVIEW.value),
    )
    found = (_ID.fullmatch(own.removeprefix(parent)) for own, parent in rows)
    return tuple(Reviewed(ReviewKind(each[1]), int(each[2])) for each in found if each)


def news(home: Home, database: Database, session: str, *, since: float) -> tuple[str, ...]:
    """What reviews of a session that ended since then have learned, a line for each that learned anything or failed."""
    rows = database.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE parent_id = ? AND purpose = ? AND ended > ? ORDER BY ended",
        (session, Purpose.REVIEW.value, since),
    )
    ended = [each for each in map(session_of, rows) if each.ending != Ending.UNKNOWN]
    return tuple(filter(None, (_told(home, database, each) for each in ended)))


def _told(home: Home, database: Database, session: Session) -> str:
    failed = f"A review ended early: {session.ending}. {session.facts.ending_detail}".strip()
    is_whole = session.ending in (Ending.FINISHED, Ending.BUDGET)
    return " ".join(filter(None, ("" if is_whole else failed, summary(made_by(home, database, session.id)))))


def made_by(home: Home, database: Database, session: str) -> tuple[Entry, ...]:
    """The entries of the ledger that came from a session, without what it proposed and then took back."""
    entries = ledger_of(home, database).entries()
    made = [entry for entry in entries if any(proof.session == session for proof in entry.patch.proofs)]
    gone = {entry.about for entry in made if entry.step is Step.EXPIRED}
    return tuple(entry for entry in made if entry.number not in gone)
