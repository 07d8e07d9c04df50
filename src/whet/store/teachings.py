"""What sessions teach, kept so that only new and changed ones are read again; and what projects teach together.

The calls of each session in short, so that patterns are counted in all of them in seconds, and how rules fared in it
are kept likewise. In a team a row names its maker: what another member wrote in a session is a stranger's word.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from whet.lessons.claim_evidence import SessionCalls, calls_of
from whet.lessons.condensed import distrusted as doubted
from whet.lessons.finding import SessionTeaching, teaching_of
from whet.lessons.following import RuleFinding
from whet.lessons.record import distrusted
from whet.sessions.copies import own_part
from whet.sessions.trust import Trust
from whet.store import derived
from whet.store.database import CannotWrite, Database, Row
from whet.store.derived import KEPT, TEACHING, Derived, code_version, own_name, whose
from whet.store.rows import Session, ask_for_all, blob, decoded_or_none
from whet.store.sessions import is_own
from whet.store.side_by_side import Progress, StoredTranscript, go_through
from whet.trouble.outcomes.view import gather

Taught = TypeVar("Taught")
TAUGHT_AT_ONCE = 50
MARK = "\x1f"  # which no path and no name of a repository has


def keep_teachings(database: Database, *, progress: Progress = lambda _: None, processors: int | None = None) -> int:
    """Find what every session teaches that is new, has grown or was read by an older version; how many there were."""
    version = code_version(*TEACHING)
    waiting = derived.waiting(database, (Derived.TEACHING,), version, without_own_work=True)

    def keep(session: Session, found: SessionTeaching | None) -> None:
        # What nobody can read teaches nothing.
        derived.keep(database, Derived.TEACHING, session, found or SessionTeaching(), version=version)

    go_through(database, waiting, _taught, keep, progress=progress, processors=processors)
    return len(waiting)


def _taught(stored: StoredTranscript) -> SessionTeaching:
    teaching = teaching_of(own_part(stored.decoded(), stored.copied))
    return teaching if stored.is_believed else _distrusted(teaching)


def kept_teachings(database: Database, sessions: list[Session]) -> Iterator[tuple[Session, SessionTeaching]]:
    """What is kept of these sessions; nothing of one that nobody has read yet."""
    for start in range(0, len(sessions), TAUGHT_AT_ONCE):
        batch = sessions[start : start + TAUGHT_AT_ONCE]
        found: dict[int, object] = dict(derived.kept(database, Derived.TEACHING, batch))
        for session in batch:
            teaching = decoded_or_none(found.get(session.no, b"{}"), SessionTeaching) or SessionTeaching()
            yield session, _named(teaching if is_own(database, session) else _distrusted(teaching), session.maker)


def teaching_stamps(database: Database) -> dict[int, tuple[bytes, str, str]]:
    """What tells the kept teaching of each session from any other: the head and version it was made of, its maker."""
    sql = f"SELECT s.no, d.made_from, d.version, d.maker {KEPT}"
    rows = database.query(sql, whose(database, Derived.TEACHING))
    return {int(session): (blob(head), version, maker) for session, head, version, maker in rows}


def _distrusted(teaching: SessionTeaching) -> SessionTeaching:
    """What another member wrote: all of it is a stranger's."""
    changed = tuple(replace(each, trust=Trust.EXTERNAL) for each in teaching.changes.changed)
    return replace(
        teaching,
        pieces=distrusted(teaching.pieces),
        changes=replace(teaching.changes, changed=changed),
        condensed=None if teaching.condensed is None else doubted(teaching.condensed),
    )


def _named(teaching: SessionTeaching, maker: str) -> SessionTeaching:
    """With the name of the member whose session it is, where there is a team."""
    if not maker:
        return teaching
    condensed = None if teaching.condensed is None else replace(teaching.condensed, who=maker)
    return replace(teaching, pieces=tuple(replace(piece, who=maker) for piece in teaching.pieces), condensed=condensed)


def session_calls(
    database: Database,
    sessions: Sequence[Session],
    *,
    progress: Progress = lambda _: None,
    processors: int | None = None,
) -> dict[str, SessionCalls]:
    """The calls of these sessions by their ids, in their order; of those that are new or have grown found and kept."""
    version = code_version(*TEACHING)
    known = derived.current(database, Derived.CALLS, sessions, SessionCalls, version=version)

    def keep(session: Session, found: SessionCalls | None) -> None:
        known[session.no] = found or SessionCalls()
        derived.keep(database, Derived.CALLS, session, known[session.no], version=version)

    if waiting := [session for session in sessions if session.no not in known]:
        with contextlib.suppress(CannotWrite):
            go_through(database, waiting, _found_calls, keep, progress=progress, processors=processors)
    return {session.id: known[session.no] for session in sessions if session.no in known}


def _found_calls(stored: StoredTranscript) -> SessionCalls:
    return calls_of(gather(own_part(stored.decoded(), stored.copied)))


def kept_findings(database: Database, sessions: Sequence[Session]) -> dict[int, dict[str, RuleFinding]]:
    """What is kept of these sessions, by a key of all that it depends on; nothing of one that was written to since."""
    return derived.current(database, Derived.FINDINGS, sessions, dict[str, RuleFinding], version="")


def keep_findings(database: Database, found: Iterable[tuple[Session, dict[str, RuleFinding]]]) -> None:
    """Keep all that is known of these sessions."""
    fresh = list(found)
    if fresh:
        with derived.keeping(database):
            for session, findings in fresh:
                derived.keep(database, Derived.FINDINGS, session, findings, version="")


def row_of_source(project: str, source: str) -> str:
    """Under which name what a source other than the sessions' own teachings finds in a project is kept."""
    return f"{project}{MARK}{source}"


def kept_lessons(database: Database, project: str, key: str, kind: type[Taught]) -> Taught | None:
    """What is kept of a project, if it was made from just this."""
    rows = _lessons(database, "record", " AND name = ? AND version = ?", _row_of(database, project), key)
    return decoded_or_none(rows[0][0], kind) if rows else None


def all_kept_lessons(database: Database, kind: type[Taught]) -> tuple[Taught, ...]:
    """What is kept of every project, as it was when it was last looked at."""
    found = (decoded_or_none(record, kind) for (record,) in _lessons(database, "record", " ORDER BY name"))
    return tuple(each for each in found if each is not None)


def keep_lessons(database: Database, project: str, key: str, sessions: Iterable[int], lessons: object) -> None:
    """Keep what these sessions teach; nothing where one of them was forgotten meanwhile."""
    numbers = tuple(sessions)
    with derived.keeping(database):
        if len(list(ask_for_all(database, "SELECT no FROM sessions WHERE no IN", numbers))) == len(numbers):
            made_from = f" {' '.join(map(str, numbers))} ".encode()
            body = msgspec.json.encode(lessons)
            database.execute(
                f"{derived.INSERT} VALUES (?, 0, ?, ?, ?, 1, ?) {derived.OR_REPLACE}",
                (Derived.LESSONS.value, _row_of(database, project), key, made_from, body),
            )


def drop_other_lessons(database: Database, projects: Iterable[str]) -> None:
    """Remove what is kept of projects that are not among these; what belongs to none stays."""
    known = {"", *projects}
    gone = [name for (name,) in _lessons(database, "name") if name.partition(MARK)[0] not in known]
    if gone:
        with derived.keeping(database):
            database.many(
                "DELETE FROM derived WHERE kind = ? AND session = 0 AND name = ?",
                [(Derived.LESSONS.value, name) for name in gone],
            )


def _lessons(database: Database, columns: str, where: str = "", *values: object) -> list[Row]:
    """What this member keeps of projects."""
    sql = f"SELECT {columns} FROM derived WHERE kind = ? AND session = 0 AND maker = ?{where}"
    return database.query(sql, (Derived.LESSONS.value, own_name(database), *values))


def _row_of(database: Database, project: str) -> str:
    """Under which name the lessons of a project stand: of each member their own."""
    member = own_name(database)
    return f"{project}{MARK}{member}" if member else project
