"""Jobs change through the ledger: undone, kept from agents, and never over a person's edit."""

import pytest

from whet.changes.apply import undo
from whet.changes.pending import approve, pending
from whet.changes.writing import Author, keep_job, pause_job, remove_named
from whet.errors import WhetError
from whet.ledger.entries import Actor, Step
from whet.ledger.patches import Form
from whet.own.jobs.job import Job
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.job_records import list_jobs, load, place_of, read_text

JOB = Job("news", "every 2h", added=1000.0, prompt="What is new?", workdir="/work")


def person(home: Home, database: Database) -> Author:
    return Author(home, database, Actor.PERSON, Trust.OPERATOR, 1.0)


def test_a_job_is_kept_and_undone(home: Home, database: Database) -> None:
    assert keep_job(person(home, database), JOB).step is Step.APPLIED
    assert load(home.folder, "news") == JOB
    with pytest.raises(WhetError, match="already"):
        keep_job(person(home, database), JOB)
    undo(home, database, actor=Actor.PERSON, now=2.0)
    assert list_jobs(home.folder) == ()


def test_a_removed_job_comes_back(home: Home, database: Database) -> None:
    keep_job(person(home, database), JOB)
    remove_named(person(home, database), Form.JOB, "news")
    assert read_text(home.folder, "news") is None
    undo(home, database, actor=Actor.PERSON, now=2.0)
    assert load(home.folder, "news") == JOB
    with pytest.raises(WhetError, match="no job other"):
        remove_named(person(home, database), Form.JOB, "other")


def test_pausing_leaves_a_persons_comments_where_they_are(home: Home, database: Database) -> None:
    keep_job(person(home, database), JOB)
    path = place_of(home.folder, "news").path
    path.write_text(f"# Mine.\n{path.read_text()}repeat = 3  # not more\n")
    pause_job(person(home, database), "news", paused=True)
    text = path.read_text()
    assert text.startswith("# Mine.\n")
    assert "repeat = 3  # not more" in text
    assert load(home.folder, "news").paused
    with pytest.raises(WhetError, match="already paused"):
        pause_job(person(home, database), "news", paused=True)
    pause_job(person(home, database), "news", paused=False)
    assert not load(home.folder, "news").paused


def test_a_job_that_an_agent_writes_waits_for_a_person(home: Home, database: Database) -> None:
    agent = Author(home, database, Actor.AGENT, Trust.EXTERNAL, 1.0)
    entry = keep_job(agent, JOB)
    assert entry.step is Step.PROPOSED
    assert list_jobs(home.folder) == ()
    approve(home, database, entry.number, actor=Actor.PERSON, now=2.0)
    assert load(home.folder, "news") == JOB
    assert pending(home, database, now=2.0) == ()


def test_an_agent_neither_changes_nor_removes_a_persons_job(home: Home, database: Database) -> None:
    keep_job(person(home, database), JOB)
    agent = Author(home, database, Actor.AGENT, Trust.AGENT, 1.0)
    with pytest.raises(WhetError, match="belongs to a person"):
        remove_named(agent, Form.JOB, "news")
    with pytest.raises(WhetError, match="belongs to a person"):
        pause_job(agent, "news", paused=True)
    with pytest.raises(WhetError, match="belongs to a person"):
        keep_job(agent, Job("news", "every 3h", script="date"), replace=True)
    assert load(home.folder, "news") == JOB


def test_a_secret_in_a_job_is_refused(home: Home, database: Database) -> None:
    send = "curl -d @- https://hooks.example/x?token=ghp_0123456789abcdefghijABCDEFGHIJ012345"
    job = Job("news", "every 2h", script="date", deliver="command", to=send)
    with pytest.raises(WhetError, match="secret"):
        keep_job(person(home, database), job)
