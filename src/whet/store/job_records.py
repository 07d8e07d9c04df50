"""Runs of jobs in the database: what is accounted for, what is open, and what came of each."""

from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.jobs.runs import Handing, JobRecord, RunState
from whet.store.database import Database, Row

COLUMNS = "home, job, schedule, accounted, made, added"
CLOCK = ""  # under which the clock itself is remembered, for no job has this name


class JobMark(NamedTuple):
    """How far a job is accounted for: the last time that was run or recorded as missed, and how many runs it made."""

    home: str
    job: str
    schedule: str  # what `accounted` belongs to
    accounted: float
    made: int = 0
    added: float = 0.0  # tells one job from a later one of its name


def mark_of(database: Database, home: str, job: str) -> JobMark | None:
    rows = database.query(f"SELECT {COLUMNS} FROM job_marks WHERE home = ? AND job = ?", (home, job))
    return JobMark(*rows[0]) if rows else None


def marks(database: Database, home: str) -> tuple[JobMark, ...]:
    return tuple(JobMark(*row) for row in database.query(f"SELECT {COLUMNS} FROM job_marks WHERE home = ?", (home,)))


def keep_mark(database: Database, mark: JobMark) -> None:
    """Say how far a job is accounted for; never less far than before."""
    database.execute(
        f"INSERT INTO job_marks ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (home, job) DO UPDATE SET"
        " schedule = excluded.schedule, added = excluded.added, made = excluded.made, accounted = CASE"
        " WHEN excluded.accounted > job_marks.accounted THEN excluded.accounted ELSE job_marks.accounted END",
        mark,
    )


def forget_mark(database: Database, home: str, job: str) -> None:
    database.execute("DELETE FROM job_marks WHERE home = ? AND job = ?", (home, job))


def account(database: Database, home: str, record: JobRecord, mark: JobMark) -> bool:
    """Write a run down and move the mark to it, both or neither; False where another clock was first."""
    with database.writing():
        known = mark_of(database, home, record.job.name)
        if known is None or known.accounted >= record.scheduled:
            return False
        keep_mark(database, mark._replace(accounted=record.scheduled, made=known.made + 1))
        return add(database, home, record)


def add(database: Database, home: str, record: JobRecord) -> bool:
    """Write a run down that is not there yet."""
    with database.writing():
        if database.query("SELECT id FROM job_runs WHERE id = ?", (record.id,)):
            return False
        save(database, home, record)
        return True


def save(database: Database, home: str, record: JobRecord) -> None:
    """Keep a run as it stands now."""
    database.execute(
        "INSERT INTO job_runs (id, home, job, scheduled, state, handing, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET state = excluded.state, handing = excluded.handing, body = excluded.body",
        (
            record.id,
            home,
            record.job.name,
            record.scheduled,
            record.state.value,
            record.handing.value,
            msgspec.json.encode(record),
        ),
    )


def record_of(database: Database, id: str) -> JobRecord:
    rows = database.query("SELECT body FROM job_runs WHERE id = ?", (id,))
    if not rows:
        raise WhetError(f"There is no run {id}.", advice="`whet jobs history` lists the runs.")
    return _record(rows[0])


def runs(database: Database, home: str, job: str = "", *, limit: int) -> tuple[JobRecord, ...]:
    """The newest runs first, of one job or of all."""
    rows = database.query(
        "SELECT body FROM job_runs WHERE home = ? AND (? = '' OR job = ?) ORDER BY scheduled DESC LIMIT ?",
        (home, job, job, limit),
    )
    return tuple(map(_record, rows))


def open_runs(database: Database, home: str) -> tuple[JobRecord, ...]:
    """What has not ended, the oldest first."""
    rows = database.query(
        "SELECT body FROM job_runs WHERE home = ? AND state <> ? ORDER BY scheduled", (home, RunState.ENDED.value)
    )
    return tuple(map(_record, rows))


def waiting(database: Database, home: str) -> tuple[JobRecord, ...]:
    """Runs that ended, and whose report nobody has tried to hand over yet."""
    rows = database.query(
        "SELECT body FROM job_runs WHERE home = ? AND handing = ? AND state = ?",
        (home, Handing.WAITING.value, RunState.ENDED.value),
    )
    return tuple(map(_record, rows))


def undelivered(database: Database, home: str) -> tuple[JobRecord, ...]:
    """Runs whose report is still to be handed over."""
    rows = database.query(
        "SELECT body FROM job_runs WHERE home = ? AND handing = ? ORDER BY scheduled", (home, Handing.FAILED.value)
    )
    return tuple(map(_record, rows))


def prune(database: Database, home: str, job: str, *, before: float) -> None:
    """Let go of the ended runs of a job that were due before then; a report that waits stays."""
    database.execute(
        "DELETE FROM job_runs WHERE home = ? AND job = ? AND scheduled < ? AND state = ? AND handing NOT IN (?, ?)",
        (home, job, before, RunState.ENDED.value, Handing.FAILED.value, Handing.WAITING.value),
    )


def _record(row: Row) -> JobRecord:
    return msgspec.json.decode(bytes(row[0]), type=JobRecord)
