"""What each session teaches, kept beside its analysis: made once, and again where the session or the version changed.

In a team a row names its maker. What another member wrote in it is a stranger's word, and of one's own sessions only
what one made oneself is read.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from whet.lessons.condensed import distrusted as doubted
from whet.lessons.finding import TEACHING_VERSION, SessionTeaching, teaching_of
from whet.lessons.pieces import distrusted
from whet.sessions.copies import own_part
from whet.sessions.transcripts import Purpose
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.decoding import blob, decoded_or_none
from whet.store.rows import SESSION_COLUMNS, Session, session_of
from whet.store.sessions import is_own
from whet.store.side_by_side import Progress, StoredTranscript, go_through

Taught = TypeVar("Taught")
BATCH = 500
TAUGHT_AT_ONCE = 50
SOURCE_MARK = "\x1f"  # which no path and no name of a repository has
BEHIND = (Purpose.TRIAL.value, Purpose.REVIEW.value)


def row_of_source(project: str, source: str) -> str:
    """Under which name what a source other than the sessions' own teachings finds in a project is kept."""
    return f"{project}{SOURCE_MARK}{source}"


def kept_lessons(database: Database, project: str, key: str, kind: type[Taught]) -> Taught | None:
    """What is kept of a project, if it was made from just this."""
    rows = database.query(
        "SELECT record FROM project_lessons WHERE project = ? AND maker = ? AND key = ?",
        (project, _maker(database), key),
    )
    return decoded_or_none(rows[0][0], kind) if rows else None


def all_kept_lessons(database: Database, kind: type[Taught]) -> tuple[Taught, ...]:
    """What is kept of every project, as it was when it was last looked at."""
    rows = database.query("SELECT record FROM project_lessons WHERE maker = ? ORDER BY project", (_maker(database),))
    found = (decoded_or_none(record, kind) for (record,) in rows)
    return tuple(each for each in found if each is not None)


def keep_lessons(database: Database, project: str, key: str, sessions: Iterable[int], lessons: object) -> None:
    """Keep what these sessions teach; nothing where one of them was forgotten meanwhile."""
    numbers = tuple(sessions)
    named = f" {' '.join(map(str, numbers))} "
    with database.writing():
        if not _are_all_there(database, numbers):
            return
        database.execute(
            "INSERT INTO project_lessons (project, key, sessions, record) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (project, maker) DO UPDATE SET key = excluded.key, sessions = excluded.sessions,"
            " record = excluded.record",
            (project, key, named, msgspec.json.encode(lessons)),
        )


def drop_other_lessons(database: Database, projects: Iterable[str]) -> None:
    """Remove what is kept of projects that are not among these; what belongs to none stays."""
    maker, known = _maker(database), {"", *projects}
    rows = database.query("SELECT project FROM project_lessons WHERE maker = ?", (maker,))
    gone = [(project, maker) for (project,) in rows if project.partition(SOURCE_MARK)[0] not in known]
    if gone:
        with database.writing():
            database.many("DELETE FROM project_lessons WHERE project = ? AND maker = ?", gone)


def _are_all_there(database: Database, numbers: tuple[int, ...]) -> bool:
    there = 0
    for start in range(0, len(numbers), BATCH):
        batch = numbers[start : start + BATCH]
        [(found,)] = database.query(f"SELECT count(*) FROM sessions WHERE no IN ({', '.join('?' * len(batch))})", batch)
        there += found
    return there == len(numbers)


def _maker(database: Database) -> str:
    return "" if database.dialect == "sqlite" else database.member


def keep_teachings(database: Database, *, progress: Progress = lambda _: None, processors: int | None = None) -> int:
    """Find what every session teaches that is new, has grown or was read by an older version; how many there were."""
    rows = database.query(WAITING, (*BEHIND, TEACHING_VERSION, database.member, database.member))
    waiting = [session_of(row) for row in rows]

    def keep(session: Session, found: SessionTeaching | None) -> None:
        _keep(database, session, found or SessionTeaching())  # what nobody can read teaches nothing

    go_through(database, waiting, _find, keep, progress=progress, processors=processors)
    return len(waiting)


def _find(stored: StoredTranscript) -> SessionTeaching:
    teaching = teaching_of(own_part(stored.decoded(), stored.copied))
    return teaching if stored.is_believed else _distrusted(teaching)


def kept_teachings(database: Database, sessions: list[Session]) -> Iterator[tuple[Session, SessionTeaching]]:
    """What is kept of these sessions; nothing of one that nobody has read yet."""
    for start in range(0, len(sessions), TAUGHT_AT_ONCE):
        batch = sessions[start : start + TAUGHT_AT_ONCE]
        places = ", ".join("?" * len(batch))
        rows = database.query(
            f"SELECT session, maker, record FROM teachings WHERE session IN ({places})",
            [session.no for session in batch],
        )
        found = {no: (maker, bytes(record)) for no, maker, record in rows}
        for session in batch:
            yield session, _read(database, session, *found.get(session.no, ("", b"{}")))


def teaching_stamps(database: Database) -> dict[int, tuple[bytes, int, str]]:
    """What tells the kept teaching of each session from any other: the head and version it was made of, its maker."""
    rows = database.query("SELECT session, head, version, maker FROM teachings")
    return {int(session): (blob(head), version, maker) for session, head, version, maker in rows}


def _read(database: Database, session: Session, maker: str, record: bytes) -> SessionTeaching:
    own = is_own(database, session) and (database.dialect == "sqlite" or maker in ("", database.member))
    teaching = decoded_or_none(record, SessionTeaching)
    if teaching is None:
        return SessionTeaching()
    return _named(teaching if own else _distrusted(teaching), session.maker)


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


def _keep(database: Database, session: Session, teaching: SessionTeaching) -> None:
    database.execute("DELETE FROM teachings WHERE session = ?", (session.no,))
    # A session that was forgotten meanwhile teaches nothing.
    database.execute(
        "INSERT INTO teachings (session, head, version, record) SELECT no, ?, ?, ? FROM sessions WHERE no = ?",
        (session.head, TEACHING_VERSION, msgspec.json.encode(teaching), session.no),
    )


WAITING = f"""
    SELECT {", ".join(f"s.{column.strip()}" for column in SESSION_COLUMNS.split(","))}
    FROM sessions AS s LEFT JOIN teachings AS t ON t.session = s.no
    WHERE s.purpose NOT IN (?, ?) AND (t.session IS NULL OR t.version <> ? OR t.head <> s.head
    OR (s.maker IN ('', ?) AND t.maker NOT IN ('', ?))) ORDER BY s.no
"""
