"""Jobs as the tests run them: written to the home, carried out here and now."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.own.jobs.job import Job, written
from whet.own.jobs.runs import JobRecord
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import opened, owner_of
from whet.work import job_runs
from whet.work.orders import DirectSteps

WORKER = Path(__file__).with_name("job_worker.py")
SECONDS = 4 * PATIENCE_SECONDS  # for many workers, one after the other


def deaths(home: Home, folder: Path) -> int:
    """Let one worker after the other work until nothing is left; how many of them died."""
    environment = {
        **os.environ,
        "WHET_HOME": str(home.folder),
        "WHET_DATABASE_URL": home.database_url,
        "PYTHONPATH": str(WORKER.parents[1]),
    }
    done = subprocess.run(
        [sys.executable, str(WORKER), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    died, code = done.stdout.split()
    assert code == "0", done.stderr
    return int(died)


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def write(home: Home, job: Job) -> None:
    folder = home.folder / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{job.name}.toml").write_text(written(job))


def ordered(home: Home, job: Job, *, missed_count: int = 0) -> JobRecord:
    """A run of the job, written down."""
    record = JobRecord(f"run-{job.name}", job, 1_790_000_000.0, missed_count=missed_count)
    with opened(home) as database:
        job_records.save(database, owner_of(home), record)
    return record


def carried_out(home: Home, record: JobRecord) -> JobRecord:
    """What is on record after the run."""
    with contextlib.suppress(WhetError):
        job_runs.job(home, DirectSteps(record.id), job_runs.JobRequest(record.id))
    with opened(home) as database:
        return job_records.record_of(database, owner_of(home), record.id)


def ran(home: Home, job: Job, *, missed_count: int = 0) -> JobRecord:
    write(home, job)
    return carried_out(home, ordered(home, job, missed_count=missed_count))


def script(path: Path, *lines: str) -> str:
    """A model that says these lines."""
    path.write_text("\n".join(lines))
    return f"scripted:{path}"
