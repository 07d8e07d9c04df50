"""What is derived from sessions and can be made again at any time, in one table.

A row is used as long as the code and the session that it was made from are unchanged. In a team it names its maker: of
one's own sessions only what one made oneself is read, and of what each member keeps apart only one's own.
"""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

import whet
from whet.sessions.transcripts import OWN_PURPOSES
from whet.store.database import CannotWrite, Database, Row
from whet.store.rows import (
    SESSION_COLUMNS,
    Session,
    ask_for_all,
    blanks,
    blob,
    decoded_or_none,
    session_of,
    uncollected,
)

Kind = TypeVar("Kind")
# The packages whose code decides what is found in a session, what it teaches,
FINDING = ("text", "sessions", "secrets", "trouble")
TEACHING = (*FINDING, "evidence", "ledger", "lessons")
LEARNING = (*TEACHING, "reading", "improving")  # and what the sessions of a project teach together


INSERT = "INSERT INTO derived (kind, session, name, version, made_from, counts, record)"
OR_REPLACE = (
    "ON CONFLICT (kind, session, name) DO UPDATE SET version = excluded.version, made_from = excluded.made_from,"
    " counts = excluded.counts, record = excluded.record"
)
# A row of one kind beside each session that has it; `whose` gives its values.
KEPT = """FROM sessions AS s JOIN derived AS d ON d.kind = ? AND d.session = s.no AND d.name = ?
    AND (d.maker IN ('', ?) OR d.name = '' AND s.maker NOT IN ('', ?))"""
OF_SESSION = ", ".join(f"s.{column.strip()}" for column in SESSION_COLUMNS.split(","))


class Derived(StrEnum):
    """What a row holds."""

    ANALYSIS = "analysis"
    SHORT = "short"  # of an analysis, as counts need it
    TROUBLE = "trouble"  # without the words of people: roll-ups read many of them
    SAID = "said"  # these words
    HEADS = "heads"  # how commands were used, and which of them were taken for checks
    TEACHING = "teaching"
    CALLS = "calls"  # of each member, as are the following
    FINDINGS = "findings"
    LESSONS = "lessons"  # of a project and not of a session


@cache
def code_version(*packages: str) -> str:
    """The version of what some packages compute: a digest of their code, so that nobody has to raise a number."""
    digest = hashlib.blake2b(whet.__version__.encode(), digest_size=8)
    for package in sorted(packages):
        for path in sorted(Path(whet.__file__).parent.joinpath(package).rglob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def keep(
    database: Database, kind: Derived, session: Session, record: object, *, version: str, counts: bool = True
) -> None:
    """Keep what was made of a session, in the place of what was kept; nothing where it was forgotten meanwhile."""
    database.execute(
        f"{INSERT} SELECT ?, no, ?, ?, ?, ?, ? FROM sessions WHERE no = ? {OR_REPLACE}",
        (
            kind.value,
            _whose(database, kind),
            version,
            session.head,
            int(counts),
            msgspec.json.encode(record),
            session.no,
        ),
    )


@contextlib.contextmanager
def keeping(database: Database) -> Iterator[None]:
    """A transaction for what can be made again: on a full or read-only disk nothing is kept, and reading goes on."""
    with contextlib.suppress(CannotWrite), database.writing():
        yield


def drop(database: Database, sessions: Iterable[int], kinds: Sequence[Derived] = tuple(Derived)) -> None:
    """Let all of these kinds be made again that was made of these sessions."""
    values = [kind.value for kind in kinds]
    sql = f"DELETE FROM derived WHERE kind IN ({blanks(values)}) AND session = ?"
    database.many(sql, [(*values, no) for no in sessions])


def waiting(
    database: Database, kinds: Sequence[Derived], version: str, *, without_own_work: bool = False
) -> list[Session]:
    """The sessions of which not all of these is kept as it would be made now."""
    where, values = _is_waiting(database, kinds, version)
    if without_own_work:
        where, values = f"s.purpose NOT IN (?, ?) AND {where}", [*OWN_PURPOSES, *values]
    rows = database.query(f"SELECT {OF_SESSION} FROM sessions AS s WHERE {where} ORDER BY s.no", values)
    return [session_of(row) for row in rows]


def is_any_waiting(database: Database, kinds: Sequence[Derived], version: str) -> bool:
    """Whether there is such a session."""
    where, values = _is_waiting(database, kinds, version)
    return bool(database.query(f"SELECT 1 FROM sessions AS s WHERE {where} LIMIT 1", values))


def _is_waiting(database: Database, kinds: Sequence[Derived], version: str) -> tuple[str, list[object]]:
    where = f"""(SELECT count(*) FROM derived AS d WHERE d.kind IN ({blanks(kinds)}) AND d.session = s.no
        AND d.name = '' AND d.version = ? AND d.made_from = s.head
        AND (d.maker IN ('', ?) OR s.maker NOT IN ('', ?))) < ?"""
    return where, [*(kind.value for kind in kinds), version, database.member, database.member, len(kinds)]


def kept(database: Database, kind: Derived, sessions: Sequence[Session], columns: str = "record") -> Iterator[Row]:
    """The number of each of these sessions of which something is kept, and the columns asked for."""
    sql = f"SELECT s.no, {columns} {KEPT} WHERE s.no IN"
    return ask_for_all(database, sql, [session.no for session in sessions], whose(database, kind))


def value(database: Database, kind: Derived, session: Session, form: type[Kind]) -> Kind | None:
    """What is kept of one session, as it was when it was made."""
    rows = list(kept(database, kind, [session]))
    return decoded_or_none(rows[0][1], form) if rows else None


def current(
    database: Database, kind: Derived, sessions: Sequence[Session], form: type[Kind], *, version: str
) -> dict[int, Kind]:
    """What was made by this version of those of these sessions that are as they were, by their numbers."""
    heads = {session.no: session.head for session in sessions}
    with uncollected():
        rows = kept(database, kind, sessions, "d.record, d.version, d.made_from")
        found = {
            no: decoded_or_none(record, form)
            for no, record, made_by, head in rows
            if made_by == version and blob(head) == heads[no]
        }
    return {no: one for no, one in found.items() if one is not None}


def whose(database: Database, kind: Derived) -> tuple[str, str, str, str]:
    """The values of `KEPT`."""
    return kind.value, _whose(database, kind), database.member, database.member


def _whose(database: Database, kind: Derived) -> str:
    """Under which name a row of a session stands: of some kinds each member of a team has one."""
    return own_name(database) if kind in (Derived.CALLS, Derived.FINDINGS) else ""


def own_name(database: Database) -> str:
    """The member whose row it is; in a file of one's own nobody has to be named."""
    return "" if database.dialect == "sqlite" else database.member
