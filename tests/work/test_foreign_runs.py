"""Runs of jobs in a database that others can write to: what runs is what stands in the home's own file, or nothing."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from team import ALICE, MALLORY, Team, team
from whet.errors import WhetError
from whet.own.jobs.job import Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, RunState, finished
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import identity_of, opened, owner_of
from whet.work import job_runs
from whet.work.clock import look
from whet.work.orders import DirectSteps
from work.job_scenes import carried_out, ordered, write

WHEN = 1_790_000_000.0


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_url, f"runs_{abs(hash(str(tmp_path)))}", tmp_path / "owner") as made:
        yield made


@pytest.fixture
def alice(shop: Team, tmp_path: Path) -> Home:
    home = shop.home(tmp_path / "home", ALICE)
    write(home, good(tmp_path))
    return home


def good(folder: Path) -> Job:
    script = f"echo ran >> {folder}/good"
    return Job("news", "every 2h", added=WHEN, script=script, deliver="file", to=str(folder / "out"))


def evil(folder: Path) -> Job:
    return replace(good(folder), script=f"touch {folder}/evil", deliver="command", to=f"touch {folder}/sent")


def forge(shop: Team, home: Home, record: JobRecord) -> None:
    """A row of mallory's in alice's name."""
    with shop.rows(MALLORY) as rows:
        rows.execute(
            "INSERT INTO job_runs (id, home, job, scheduled, state, handing, body, seal) VALUES"
            " (%s, %s, %s, %s, %s, %s, %s, '') ON CONFLICT (id) DO UPDATE SET state = excluded.state,"
            " handing = excluded.handing, body = excluded.body",
            (
                record.id,
                identity_of(home),
                record.job.name,
                record.scheduled,
                record.state.value,
                record.handing.value,
                msgspec.json.encode(record),
            ),
        )


def history(home: Home) -> list[JobRecord]:
    with opened(home) as database:
        return list(job_records.runs(database, owner_of(home), limit=9))


def due(job: Job) -> JobRecord:
    return JobRecord("forged", job, WHEN)


def ended(job: Job) -> JobRecord:
    return finished(due(job), JobResult(JobOutcome.DONE, "Forged words."), now=WHEN)


def undelivered(job: Job) -> JobRecord:
    return replace(ended(job), handing=DeliveryOutcome.FAILED, next_try=0.0)


@pytest.mark.parametrize("make", [due, ended, undelivered])
@pytest.mark.parametrize("job", [good, evil])
def test_a_run_that_another_wrote_down_is_not_carried_out_and_says_so(
    shop: Team, alice: Home, tmp_path: Path, make: Callable[[Job], JobRecord], job: Callable[[Path], Job]
) -> None:
    """Of a job that is not alice's, and of alice's own: neither its script nor its report reaches anything."""
    forged = make(job(tmp_path))
    forge(shop, alice, forged)
    assert look(alice, now=WHEN) == "0 due, 0 to deliver again"
    for procedure in (job_runs.job, job_runs.delivery):
        with contextlib.suppress(WhetError):
            procedure(alice, DirectSteps(forged.id), job_runs.JobRequest(forged.id))
    assert {path.name for path in tmp_path.iterdir()} == {"home", "owner"}
    [told] = history(alice)
    assert told.result is not None
    assert "recorded by another home" in told.result.error


def test_a_row_that_another_changed_is_not_carried_out(shop: Team, alice: Home, tmp_path: Path) -> None:
    record = ordered(alice, good(tmp_path))
    forge(shop, alice, replace(record, job=evil(tmp_path)))
    with pytest.raises(WhetError, match="recorded by another home"):
        job_runs.job(alice, DirectSteps(record.id), job_runs.JobRequest(record.id))
    assert {path.name for path in tmp_path.iterdir()} == {"home", "owner"}


def test_a_row_in_the_place_of_a_run_to_come_gives_way(shop: Team, alice: Home, tmp_path: Path) -> None:
    scheduled = WHEN + 7200
    forge(shop, alice, replace(ended(evil(tmp_path)), id=job_runs.run_id(alice, "news", scheduled)))
    assert look(alice, now=scheduled).startswith("1 due")
    [record, told] = history(alice)
    assert (record.state, record.job) == (RunState.ORDERED, good(tmp_path))
    assert told.result is not None
    assert "recorded by another home" in told.result.error


def test_a_run_whose_job_changed_or_went_is_not_carried_out_and_says_so(home: Home, tmp_path: Path) -> None:
    """In any database: the run was written down for another job than the one that stands there now."""
    write(home, evil(tmp_path))
    changed = carried_out(home, ordered(home, good(tmp_path)))
    assert changed.result is not None
    assert "has changed since this run was recorded" in changed.result.error
    assert "has changed since" in changed.handing_error
    (home.folder / "jobs" / "news.toml").unlink()
    gone = carried_out(home, ordered(home, good(tmp_path)))
    assert gone.result is not None
    assert "There is no job news" in gone.result.error
    assert {path.name for path in tmp_path.iterdir()} <= {"home"}


def test_a_skill_that_changed_after_the_run_began_stops_it(home: Home, tmp_path: Path) -> None:
    skill = home.folder / "skills" / "botany" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: botany\ndescription: Plants.\n---\nLeaves grow on twigs.\n")
    script = f"sed -i 's/twigs/trees/' {skill}"
    job = replace(
        good(tmp_path), prompt="Count.", workdir="/", skills=("botany",), script=script, deliver="none", to=""
    )
    write(home, job)
    record = carried_out(home, ordered(home, job))
    assert record.result is not None
    assert "changed after this run started" in record.result.error
