"""Programs that a person named, run to their end: bounded in time and in what is kept of their output."""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

from whet.agent.tools.processes import Tape
from whet.errors import WhetError
from whet.values import Value

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
    tape = Tape(OUTPUT_BYTES)
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
