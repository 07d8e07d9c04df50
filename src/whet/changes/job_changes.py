"""Jobs kept and removed through the ledger; what a person wrote by hand is theirs."""

from whet.changes.author import Author, expect_own, give
from whet.errors import WhetError
from whet.jobs.job import Job, check, written
from whet.ledger.entries import Entry
from whet.ledger.patches import Action, Form, Patch, digest
from whet.store.job_files import list_jobs, load, read_text
from whet.text.toml import assigned

NOT_YOURS = "Ask the person to change it."


def keep(author: Author, job: Job, *, replace: bool = False) -> Entry:
    """Put a job in its file. One that an agent wrote, or that came from elsewhere, waits for a person."""
    text = written(check(job))
    old = read_text(author.home.folder, job.name)
    if old is not None and not replace:
        raise WhetError(f"A job named {job.name} already exists.", advice="Choose another name, or remove it first.")
    if old == text:
        raise WhetError(f"Job {job.name} is unchanged.", advice="Nothing to change.")
    if old is not None:
        expect_own(author, Form.JOB, job.name, advice=NOT_YOURS)
    action = Action.ADD if old is None else Action.CHANGE
    return give(author, [Patch(Form.JOB, action, job.name, text, before=digest(old))])[0]


def pause(author: Author, name: str, *, paused: bool) -> Entry:
    """Let a job wait, or go on; all else that stands in its file stays as it is, comments too."""
    old = read_text(author.home.folder, name) or ""
    if load(author.home.folder, name).paused is paused:
        raise WhetError(
            f"Job {name} is already {'paused' if paused else 'active'}.", advice="To list the jobs, run `whet jobs`."
        )
    expect_own(author, Form.JOB, name, advice=NOT_YOURS)
    text = assigned(old, ("paused",), paused)
    return give(author, [Patch(Form.JOB, Action.CHANGE, name, text, before=digest(old))])[0]


def remove(author: Author, name: str) -> Entry:
    """Take a job away; it can be brought back by undoing that."""
    old = read_text(author.home.folder, name)
    if old is None:
        known = ", ".join(found.name for found in list_jobs(author.home.folder)) or "none yet"
        raise WhetError(f"There is no job {name}.", advice=f"Jobs: {known}.")
    expect_own(author, Form.JOB, name, advice=NOT_YOURS)
    return give(author, [Patch(Form.JOB, Action.REMOVE, name, before=digest(old))])[0]
