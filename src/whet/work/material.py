"""What a job is made from, looked up where it stands: its folder, its prompt, its script, its skills, its model."""

import os
import shlex
from pathlib import Path

from whet.agent.warm_start import AUTO
from whet.errors import WhetError
from whet.jobs.job import Job
from whet.runs.models import address_of
from whet.store import skill_files, template_files
from whet.store.home import Home
from whet.store.settings_file import load
from whet.text.words import names

PROMPT_BYTES = 1_000_000
INTERPRETERS = names("sh bash zsh dash env python python3 node ruby perl nice timeout")


def expect_ready(home: Home, job: Job) -> None:
    """Raise WhetError, with what is allowed, for a job that could not be carried out as things are."""
    for name in job.skills:
        skill_files.load(home.folder, name)
    if job.warm and job.warm != AUTO:
        template_files.load(home.folder, job.warm)
    if job.model:
        address_of(load(home), job.model)
    folder_of(job)
    prompt_of(job)
    expect_script(job)
    expect_outside(home, job)


def folder_of(job: Job) -> Path:
    folder = Path(os.path.expanduser(job.workdir)) if job.workdir else Path.home()
    if not folder.is_dir():
        raise WhetError(
            f"There is no folder {folder}.", advice=f"Set the workdir of job {job.name} to an existing folder."
        )
    return folder


def prompt_of(job: Job) -> str:
    """What the agent is told to do, as the person wrote it; read anew where it stands in a file."""
    if not job.prompt_file:
        return job.prompt
    path = Path(os.path.expanduser(job.prompt_file))
    expect_apart(job, path)
    try:
        with path.open("rb") as file:
            text = file.read(PROMPT_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(
            f"The prompt file {path} cannot be read: {error}.", advice="Restore it, or change the job."
        ) from None
    if not text.strip():
        raise WhetError(f"The prompt file {path} is empty.", advice="Write the task into it.")
    return text


def expect_apart(job: Job, path: Path) -> None:
    """Raise where an agent at work in the job's folder could write its own orders."""
    if job.workdir and path.resolve().is_relative_to(Path(os.path.expanduser(job.workdir)).resolve()):
        raise WhetError(
            f"{path} is in {job.workdir}, where the job's agent can write: it could change its own task.",
            advice="Move it to another folder, or set workdir to another folder.",
        )


def script_file(job: Job) -> Path | None:
    """The file that the script's command line runs, as far as it can be told."""
    try:
        words = shlex.split(job.script)
    except ValueError:
        return None
    name = next((word for word in words if Path(word).name not in INTERPRETERS and not word.startswith("-")), "")
    path = Path(os.path.expanduser(job.workdir)) / Path(os.path.expanduser(name))
    return path if name and "/" in name and path.is_file() else None


def expect_script(job: Job) -> None:
    """Raise where the job's own agent could change its script, which runs outside of the sandbox."""
    path = script_file(job)
    if path is not None and (job.prompt or job.prompt_file):
        expect_apart(job, path)


def expect_outside(home: Home, job: Job) -> None:
    """Raise where a report would stand in the home: its files tell agents what to do, and nobody approved the words."""
    named = os.environ.get(job.to[1:], "") if job.to.startswith("$") else job.to
    target = Path(os.path.expanduser(job.workdir)) / Path(os.path.expanduser(named))
    if job.deliver == "file" and target.resolve().is_relative_to(home.folder.resolve()):
        raise WhetError(
            f"{target} is in Whet's home, and agents read what is there.",
            advice="Deliver to a file elsewhere.",
        )
