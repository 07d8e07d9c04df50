"""What a job is made from, looked up where it stands, and the programs that a person named, run to their end."""

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

from whet.agent.tools.processes import BoundedOutput
from whet.agent.warm_start import AUTO
from whet.errors import WhetError
from whet.own.jobs.job import Job
from whet.own.runs.models import address_of
from whet.store import skill_files, template_files
from whet.store.home import Home
from whet.store.settings_file import load
from whet.text.words import names
from whet.values import Value

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
    expect_script(job)
    expect_outside(home, job)


def folder_of(job: Job) -> Path:
    folder = Path(os.path.expanduser(job.workdir)) if job.workdir else Path.home()
    if not folder.is_dir():
        raise WhetError(
            f"There is no folder {folder}.", advice=f"Set the workdir of job {job.name} to an existing folder."
        )
    return folder


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
    if path is None or not job.prompt or not job.workdir:
        return
    if path.resolve().is_relative_to(Path(os.path.expanduser(job.workdir)).resolve()):
        raise WhetError(
            f"{path} is in {job.workdir}, where the job's agent can write: it could change its own task.",
            advice="Move it to another folder, or set workdir to another folder.",
        )


def expect_outside(home: Home, job: Job) -> None:
    """Raise where a report would stand in the home: its files tell agents what to do, and nobody approved the words."""
    named = os.environ.get(job.to[1:], "") if job.to.startswith("$") else job.to
    target = Path(os.path.expanduser(job.workdir)) / Path(os.path.expanduser(named))
    if job.deliver == "file" and target.resolve().is_relative_to(home.folder.resolve()):
        raise WhetError(
            f"{target} is in Whet's home, and agents read what is there.",
            advice="Deliver to a file elsewhere.",
        )


SHELL = ("/bin/sh", "-c")
GLANCE_SECONDS = 0.05
PIECE_BYTES = 65_536
OUTPUT_BYTES = 200_000


class ProgramEnd(Value, frozen=True):
    """How a program ended. Without an exit code it was killed: it took too long, or somebody stopped it."""

    exit_code: int | None
    output: str


class Program(NamedTuple):
    """A command line, where it runs, with what, and for how long."""

    line: str
    folder: Path
    environment: Mapping[str, str]
    seconds: float
    given: str = ""  # on standard input


def run(program: Program, *, interrupt: Event) -> ProgramEnd:
    """Run a program. One that takes too long is killed with its whole process group."""
    with tempfile.TemporaryFile() as given:
        given.write(program.given.encode(errors="replace"))
        given.seek(0)
        try:
            popen = subprocess.Popen(
                [*SHELL, program.line],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=program.folder,
                env=dict(program.environment),
                start_new_session=True,
            )
        except OSError as error:
            raise WhetError(
                f"{program.line!r} cannot be run in {program.folder}: {error.strerror or error}.",
                advice="Check the folder and the command line.",
            ) from error
    return _follow(popen, time.monotonic() + program.seconds, interrupt)


def _follow(popen: "subprocess.Popen[bytes]", deadline: float, interrupt: Event) -> ProgramEnd:
    """Read until the program itself ends; what it leaves running in the background is not waited for."""
    assert popen.stdout is not None
    tape = BoundedOutput(OUTPUT_BYTES)
    is_killed = False
    with popen.stdout as pipe, selectors.DefaultSelector() as selector:
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            has_ended = popen.poll() is not None
            piece = _piece(pipe.fileno()) if selector.select(0 if has_ended else GLANCE_SECONDS) else None
            if piece:
                tape.add(piece)
            elif piece == b"" or has_ended:
                break
            if not has_ended and (interrupt.is_set() or time.monotonic() >= deadline):
                is_killed = True
                break
    is_killed = not _wait_for_end(popen, deadline, interrupt) or is_killed
    if is_killed:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
    code = popen.wait()
    return ProgramEnd(None if is_killed else code if code >= 0 else 128 - code, tape.take().text)


def _wait_for_end(popen: "subprocess.Popen[bytes]", deadline: float, interrupt: Event) -> bool:
    """Wait for one that closed its output and goes on; False where it takes too long."""
    while popen.poll() is None:
        if interrupt.wait(GLANCE_SECONDS) or time.monotonic() >= deadline:
            return False
    return True


def _piece(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, PIECE_BYTES)
    except BlockingIOError:
        return None
