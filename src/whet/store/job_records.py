"""Runs of jobs in the database: what is accounted for, what is open, and what came of each.

A run is acted on only where this home wrote it down: others that share the database can write rows too.

Jobs on disk: jobs/NAME.toml in the home, which people edit.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.ledger.patches import NAMES, Form
from whet.own.jobs import job
from whet.own.jobs.job import ENDING, FOLDER, Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, RunState
from whet.store.database import Database, Row
from whet.store.files import FoundFile, NamedFiles
from whet.store.opening import Owner
from whet.store.rows import blob, decoded_or_none, replacing

JobFile = FoundFile[Job]
JOBS = NamedFiles(
    "job", FOLDER, ENDING, lambda text, name: job.read(text, name=name),
    lambda name: "" if NAMES[Form.JOB].fullmatch(name) else f"{name[:80]!r} is not a valid job name",
)  # fmt: skip
list_jobs, load, read_text, place_of = JOBS.all, JOBS.load, JOBS.text, JOBS.place
RUN = "job run"
ID_LETTERS = 12
RUN_COLUMNS = "id, home, job, scheduled, state, handing, body, seal"
ROW = "id, job, scheduled, body, seal"
NOT_OURS = "This run was recorded by another home or by an older Whet, so it did not run."
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
    return next((mark for mark in marks(database, home) if mark.job == job), None)


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


def move_mark(database: Database, mark: JobMark) -> None:
    """Set a mark to where it is now, also backwards: for a clock that was set back."""
    with database.writing():
        forget_mark(database, mark.home, mark.job)
        keep_mark(database, mark)


def account(database: Database, owner: Owner, record: JobRecord, mark: JobMark) -> bool:
    """Write a run down and move the mark to it, both or neither; False where another clock was first."""
    with database.writing():
        known = mark_of(database, owner.id, record.job.name)
        if known is None or known.accounted >= record.scheduled:
            return False
        keep_mark(database, mark._replace(accounted=record.scheduled, made=known.made + 1))
        return add(database, owner, record)


def is_known(database: Database, owner: Owner, id: str) -> bool:
    """Whether this home has written a run down under that id."""
    return bool(_own(owner, _rows(database, "id = ?", id)))


def add(database: Database, owner: Owner, record: JobRecord) -> bool:
    """Write a run down that is not there yet; what another put in its place gives way."""
    with database.writing():
        if is_known(database, owner, record.id):
            return False
        save(database, owner, record)
        return True


def save(database: Database, owner: Owner, record: JobRecord) -> None:
    """Keep a run as it stands now."""
    body = msgspec.json.encode(record)
    seal = owner.seal(RUN, record.id, body.decode())
    known = (record.id, owner.id, record.job.name, record.scheduled, record.state.value, record.handing.value)
    database.execute(replacing("job_runs", "id", RUN_COLUMNS), (*known, body, seal))


def record_of(database: Database, owner: Owner, id: str) -> JobRecord:
    """The run as this home wrote it down; raises WhetError where it did not."""
    rows = _rows(database, "id = ?", id)
    if not rows:
        raise WhetError(f"There is no run {id}.", advice="To list the runs, run `whet jobs show --runs`.")
    found = _own(owner, rows)
    if not found:
        raise WhetError(NOT_OURS, advice="Check who can write to the team's database.")
    return found[0]


def runs(database: Database, owner: Owner, job: str = "", *, limit: int) -> tuple[JobRecord, ...]:
    """The newest runs first, of one job or of all, to be shown. Of what others wrote only that they did is told."""
    newest = "home = ? AND (? = '' OR job = ?) ORDER BY scheduled DESC LIMIT ?"
    rows = _rows(database, newest, owner.id, job, job, limit)
    return tuple(_decoded(owner, row) or _stranger(row) for row in rows)


def open_runs(database: Database, owner: Owner) -> tuple[JobRecord, ...]:
    """What has not ended, the oldest first."""
    return _own(owner, _rows(database, "home = ? AND state <> ? ORDER BY scheduled", owner.id, RunState.ENDED))


def waiting(database: Database, owner: Owner) -> tuple[JobRecord, ...]:
    """Runs that ended, and whose report nobody has tried to hand over yet."""
    where = "home = ? AND handing = ? AND state = ?"
    return _own(owner, _rows(database, where, owner.id, DeliveryOutcome.WAITING, RunState.ENDED))


def undelivered(database: Database, owner: Owner) -> tuple[JobRecord, ...]:
    """Runs whose report is still to be handed over."""
    return _own(owner, _rows(database, "home = ? AND handing = ? ORDER BY scheduled", owner.id, DeliveryOutcome.FAILED))


def turn_away(database: Database, owner: Owner) -> None:
    """Take away runs in this home's name that it did not write down and that ask for something; that they were there
    stays on record, under an id that no run has."""
    asking = "home = ? AND (state <> ? OR handing IN (?, ?))"
    for row in _rows(database, asking, owner.id, RunState.ENDED, DeliveryOutcome.WAITING, DeliveryOutcome.FAILED):
        if _decoded(owner, row) is None:
            stranger = _stranger(row)
            database.execute("DELETE FROM job_runs WHERE id = ?", (stranger.id,))
            told = msgspec.structs.replace(stranger, id=owner.seal(RUN, stranger.id)[:ID_LETTERS])
            save(database, owner, told)


def prune(database: Database, home: str, job: str, *, before: float) -> None:
    """Let go of the ended runs of a job that were due before then; a report that waits stays."""
    database.execute(
        "DELETE FROM job_runs WHERE home = ? AND job = ? AND scheduled < ? AND state = ? AND handing NOT IN (?, ?)",
        (home, job, before, RunState.ENDED.value, DeliveryOutcome.FAILED.value, DeliveryOutcome.WAITING.value),
    )


def _rows(database: Database, where: str, *values: object) -> list[Row]:
    return database.query(f"SELECT {ROW} FROM job_runs WHERE {where}", values)


def _own(owner: Owner, rows: Iterable[Row]) -> tuple[JobRecord, ...]:
    return tuple(record for row in rows if (record := _decoded(owner, row)) is not None)


def _decoded(owner: Owner, row: Row) -> JobRecord | None:
    """The run in a row, where this home wrote it and it can be read."""
    id, _, _, body, seal = row
    text = blob(body).decode(errors="replace")
    if not owner.has_sealed(seal, RUN, id, text):
        return None
    return decoded_or_none(text.encode(), JobRecord)


def _stranger(row: Row) -> JobRecord:
    """A run that another wrote, as this home tells of it: nothing of it is taken but its name and its time."""
    id, job, scheduled, *_ = row
    told = JobResult(JobOutcome.FAILED, error=NOT_OURS)
    return JobRecord(id, Job(job), scheduled, state=RunState.ENDED, result=told)
