"""Jobs on disk: jobs/NAME.toml in the home, which people edit."""

from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.jobs import job
from whet.jobs.job import ENDING, FOLDER, Job
from whet.ledger.patches import NAMES, Form
from whet.store.files import Place, beneath, decoded, entries, read


class JobFile(NamedTuple):
    """A file of jobs' with what is in it: a job, or the fault that keeps it from being one."""

    name: str
    job: Job | None
    fault: str = ""


def list_jobs(home: Path) -> tuple[JobFile, ...]:
    """Every job in the order of names; one that cannot be read is listed with its fault."""
    files = (entry.name for entry in entries(beneath(home, FOLDER)) if entry.kind == "file")
    return tuple(_found(home, name.removesuffix(ENDING)) for name in files if name.endswith(ENDING))


def load(home: Path, name: str) -> Job:
    """One job; raises WhetError where there is none, or none that can be read."""
    text = read_text(home, name)
    if text is None:
        known = ", ".join(found.name for found in list_jobs(home)) or "none yet"
        raise WhetError(f"There is no job {name}.", advice=f"Jobs: {known}.")
    return job.read(text, name=name)


def read_text(home: Path, name: str) -> str | None:
    """The text of a job's file; None where there is none. A name that could lead elsewhere is refused."""
    place = place_of(home, name)
    body = read(place)
    return None if body is None else decoded(body, place.path)


def place_of(home: Path, name: str) -> Place:
    if NAMES[Form.JOB].fullmatch(name) is None:
        raise WhetError(f"{name[:80]!r} is not a valid job name.", advice="Use lower-case words joined by hyphens.")
    return beneath(home, FOLDER, f"{name}{ENDING}")


def _found(home: Path, name: str) -> JobFile:
    try:
        return JobFile(name, load(home, name))
    except WhetError as error:
        return JobFile(name, None, f"{error.message} {error.advice}".strip())
