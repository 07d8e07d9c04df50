"""What each session teaches, kept beside its analysis: made once, and again where the session or the version changed.

In a team a row names its maker. What another member wrote in it is a stranger's word, and of one's own sessions only
what one made oneself is read.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from whet.lessons.condensed import distrusted as doubted
from whet.lessons.finding import SessionTeaching, teaching_of
from whet.lessons.pieces import distrusted
from whet.sessions.copies import own_part
from whet.sessions.trust import Trust
from whet.store import derived
from whet.store.database import Database
from whet.store.derived import KEPT, TEACHING, Derived, code_version, own_name, whose
from whet.store.rows import Session, blob, decoded_or_none
from whet.store.sessions import is_own
from whet.store.side_by_side import Progress, StoredTranscript, go_through

Taught = TypeVar("Taught")
BATCH = 500
TAUGHT_AT_ONCE = 50
MARK = "\x1f"  # which no path and no name of a repository has


def row_of_source(project: str, source: str) -> str:
    """Under which name what a source other than the sessions' own teachings finds in a project is kept."""
    return f"{project}{MARK}{source}"


def kept_lessons(database: Database, project: str, key: str, kind: type[Taught]) -> Taught | None:
    """What is kept of a project, if it was made from just this."""
    rows = database.query(
        "SELECT record FROM derived WHERE kind = ? AND session = 0 AND name = ? AND maker = ? AND version = ?",
        (Derived.LESSONS.value, _row_of(database, project), own_name(database), key),
    )
    return decoded_or_none(rows[0][0], kind) if rows else None


def all_kept_lessons(database: Database, kind: type[Taught]) -> tuple[Taught, ...]:
    """What is kept of every project, as it was when it was last looked at."""
    found = (decoded_or_none(record, kind) for _, record in _all_lessons(database))
    return tuple(each for each in found if each is not None)


def keep_lessons(database: Database, project: str, key: str, sessions: Iterable[int], lessons: object) -> None:
    """Keep what these sessions teach; nothing where one of them was forgotten meanwhile."""
    numbers = tuple(sessions)
    named = f" {' '.join(map(str, numbers))} "
    with database.writing():
        if not _are_all_there(database, numbers):
            return
        database.execute(
            "INSERT INTO derived (kind, session, name, version, made_from, record) VALUES (?, 0, ?, ?, ?, ?)"
            " ON CONFLICT (kind, session, name) DO UPDATE SET version = excluded.version,"
            " made_from = excluded.made_from, record = excluded.record",
            (Derived.LESSONS.value, _row_of(database, project), key, named.encode(), msgspec.json.encode(lessons)),
        )


def drop_other_lessons(database: Database, projects: Iterable[str]) -> None:
    """Remove what is kept of projects that are not among these; what belongs to none stays."""
    known = {"", *projects}
    gone = [name for name, _ in _all_lessons(database) if name.partition(MARK)[0] not in known]
    if gone:
        with database.writing():
            database.many(
                "DELETE FROM derived WHERE kind = ? AND session = 0 AND name = ?",
                [(Derived.LESSONS.value, name) for name in gone],
            )


def _all_lessons(database: Database) -> list[tuple[str, object]]:
    return [
        (name, record)
        for name, record in database.query(
            "SELECT name, record FROM derived WHERE kind = ? AND session = 0 AND maker = ? ORDER BY name",
            (Derived.LESSONS.value, own_name(database)),
        )
    ]


def _row_of(database: Database, project: str) -> str:
    """Under which name the lessons of a project stand: of each member their own."""
    member = own_name(database)
    return f"{project}{MARK}{member}" if member else project


def _are_all_there(database: Database, numbers: tuple[int, ...]) -> bool:
    there = 0
    for start in range(0, len(numbers), BATCH):
        batch = numbers[start : start + BATCH]
        [(found,)] = database.query(f"SELECT count(*) FROM sessions WHERE no IN ({', '.join('?' * len(batch))})", batch)
        there += found
    return there == len(numbers)


def keep_teachings(database: Database, *, progress: Progress = lambda _: None, processors: int | None = None) -> int:
    """Find what every session teaches that is new, has grown or was read by an older version; how many there were."""
    version = code_version(*TEACHING)
    waiting = derived.waiting(database, (Derived.TEACHING,), version, without_own_work=True)

    def keep(session: Session, found: SessionTeaching | None) -> None:
        # What nobody can read teaches nothing.
        derived.keep(database, Derived.TEACHING, session, found or SessionTeaching(), version=version)

    go_through(database, waiting, _find, keep, progress=progress, processors=processors)
    return len(waiting)


def _find(stored: StoredTranscript) -> SessionTeaching:
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
