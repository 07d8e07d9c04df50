"""Jobs in the home and their runs in the database."""

import os
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.own.jobs.job import Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, RunState, finished, handed
from whet.store import job_records
from whet.store.database import Database
from whet.store.job_records import JobMark, list_jobs, load, read_text
from whet.store.opening import UNSHARED, Owner

JOB = Job("news", "every 2h", script="date")


def test_a_broken_file_is_listed_with_its_fault(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "good.toml").write_text('schedule = "every 2h"\nscript = "date"\n')
    (folder / "bad.toml").write_text('schedul = "every 2h"\n')
    (folder / "notes.txt").write_text("no job")
    found = {each.name: each for each in list_jobs(tmp_path)}
    assert set(found) == {"good", "bad"}
    assert found["good"].value is not None
    assert "Did you mean schedule?" in found["bad"].fault


def test_a_job_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "good.toml").write_text('schedule = "every 2h"\nscript = "date"\n')
    with pytest.raises(WhetError) as caught:
        load(tmp_path, "nothing")
    assert caught.value.advice == "Jobs: good."


@pytest.mark.parametrize("name", ["../settings", "a/b", "", "A", ".x"])
def test_a_name_never_leads_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(WhetError, match="not a valid job name"):
        read_text(tmp_path, name)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "secret.toml").write_text('schedule = "every 2h"\nscript = "date"\n')
    os.symlink(tmp_path / "secret.toml", tmp_path / "jobs" / "news.toml")
    assert list_jobs(tmp_path) == ()
    with pytest.raises(WhetError):
        read_text(tmp_path, "news")


def test_a_time_is_accounted_for_once(database: Database) -> None:
    mark = JobMark("", "news", "s", 0.0)
    job_records.keep_mark(database, mark)
    assert job_records.account(database, UNSHARED, JobRecord("one", JOB, 60.0), mark)
    assert not job_records.account(database, UNSHARED, JobRecord("two", JOB, 60.0), mark), "another clock was first"
    assert not job_records.account(database, UNSHARED, JobRecord("three", JOB, 30.0), mark), "nothing goes back"
    assert job_records.mark_of(database, "", "news") == JobMark("", "news", "s", 60.0, 1)
    assert [record.id for record in job_records.open_runs(database, UNSHARED)] == ["one"]


def test_a_mark_never_goes_back(database: Database) -> None:
    job_records.keep_mark(database, JobMark("", "news", "s", 60.0))
    job_records.keep_mark(database, JobMark("", "news", "t", 30.0))
    assert job_records.mark_of(database, "", "news") == JobMark("", "news", "t", 60.0)
    assert job_records.mark_of(database, "other", "news") is None


def test_runs_are_found_by_what_is_still_to_do(database: Database) -> None:
    ended = finished(JobRecord("b", Job("news", deliver="file"), 2.0), JobResult(JobOutcome.DONE, "x"), now=3.0)
    failed = handed(ended, DeliveryOutcome.FAILED, "no", now=4.0)
    job_records.save(database, UNSHARED, JobRecord("a", JOB, 1.0, state=RunState.RUNNING))
    assert job_records.add(database, UNSHARED, ended)
    assert not job_records.add(database, UNSHARED, ended)
    assert [each.id for each in job_records.waiting(database, UNSHARED)] == ["b"]
    job_records.save(database, UNSHARED, failed)
    assert job_records.undelivered(database, UNSHARED) == (failed,)
    assert [each.id for each in job_records.open_runs(database, UNSHARED)] == ["a"]
    assert [each.id for each in job_records.runs(database, UNSHARED, "news", limit=9)] == ["b", "a"]
    assert job_records.runs(database, Owner("elsewhere"), limit=9) == ()
    with pytest.raises(WhetError, match="no run z"):
        job_records.record_of(database, UNSHARED, "z")


def test_old_reports_go_and_what_still_waits_stays(database: Database) -> None:
    old = finished(JobRecord("old", Job("news", deliver="file"), 1.0), JobResult(JobOutcome.DONE), now=1.0)
    for record in (
        handed(old, DeliveryOutcome.DELIVERED, "", now=1.0),
        handed(JobRecord("failed", old.job, 1.0, state=RunState.ENDED), DeliveryOutcome.FAILED, "no", now=1.0),
        JobRecord("open", JOB, 1.0),
        JobRecord("new", JOB, 100.0, state=RunState.ENDED),
    ):
        job_records.save(database, UNSHARED, record)
    job_records.prune(database, "", "news", before=50.0)
    assert {each.id for each in job_records.runs(database, UNSHARED, limit=9)} == {"failed", "open", "new"}
