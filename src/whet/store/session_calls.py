"""The calls of each session in short, so that patterns are counted in all of them in seconds; what it says of rules."""

from collections.abc import Iterable, Sequence

from whet.lessons.claim_calls import SessionCalls, calls_of
from whet.lessons.following import RuleFinding
from whet.outcomes.view import gather
from whet.sessions.copies import own_part
from whet.store import derived
from whet.store.database import Database
from whet.store.decoding import blob, decoded_or_none, uncollected
from whet.store.derived import TEACHING, Derived, code_version
from whet.store.rows import Session
from whet.store.side_by_side import Progress, StoredTranscript, go_through


def keep_calls(
    database: Database,
    sessions: Sequence[Session],
    *,
    progress: Progress = lambda _: None,
    processors: int | None = None,
) -> int:
    """Keep the calls of those of these sessions that are new, have grown or were kept by an older version; how many."""
    version = code_version(*TEACHING)
    rows = derived.kept(database, Derived.CALLS, sessions, "d.made_from, d.version")
    known = {no: blob(head) for no, head, made_by in rows if made_by == version}
    waiting = [session for session in sessions if known.get(session.no) != session.head]

    def keep(session: Session, found: SessionCalls | None) -> None:
        derived.keep(database, Derived.CALLS, session, found or SessionCalls(), version=version)

    if waiting:
        go_through(database, waiting, _find, keep, progress=progress, processors=processors)
    return len(waiting)


def kept_calls(database: Database, sessions: Sequence[Session]) -> dict[str, SessionCalls]:
    """What is kept of these sessions, by their ids, in their order."""
    version = code_version(*TEACHING)
    with uncollected():
        rows = derived.kept(database, Derived.CALLS, sessions, "d.record, d.version")
        found = {no: decoded_or_none(record, SessionCalls) for no, record, made_by in rows if made_by == version}
    return {session.id: calls for session in sessions if (calls := found.get(session.no)) is not None}


def _find(stored: StoredTranscript) -> SessionCalls:
    return calls_of(gather(own_part(stored.decoded(), stored.copied)))


def kept_findings(database: Database, sessions: Sequence[Session]) -> dict[int, dict[str, RuleFinding]]:
    """What is kept of these sessions, by a key of all that it depends on; nothing of one that was written to since."""
    heads = {session.no: session.head for session in sessions}
    found: dict[int, dict[str, RuleFinding]] = {no: {} for no in heads}
    for no, head, record in derived.kept(database, Derived.FINDINGS, sessions, "d.made_from, d.record"):
        if blob(head) == heads[no]:
            found[no] = decoded_or_none(record, dict[str, RuleFinding]) or {}
    return found


def keep_findings(database: Database, found: Iterable[tuple[Session, dict[str, RuleFinding]]]) -> None:
    """Keep all that is known of these sessions."""
    fresh = list(found)
    if fresh:
        with database.writing():
            for session, findings in fresh:
                derived.keep(database, Derived.FINDINGS, session, findings, version="")
