"""Processes of the terminal: started, watched, and ended with all that they started in their turn."""

import contextlib
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from whet.agent.tools.output import Tape, Taped

POLL_SECONDS = 0.05
GRACE_SECONDS = 5.0
MOST_AT_ONCE = 20
_CHILD = re.compile(rb'"child-pid":\s*(\d+)')


class Launch(NamedTuple):
    """How a command is started: a program, options that name open descriptors, and the rest of the line."""

    program: tuple[str, ...]
    rest: tuple[str, ...]
    environment: dict[str, str]
    folder: Path
    files: tuple[tuple[str, bytes], ...] = ()  # options that take the descriptor of a file that holds these bytes
    leash: str = ""  # the option that takes the end of a pipe: when we are gone, so is the command
    tells: str = ""  # the option that takes a pipe, to tell of the process in whose end all others end


class Process:
    """One command at work. A thread of its own starts it and reads what it prints, so that it never has to wait.

    The thread must be the one that starts it: the kernel ends a sandbox with the thread that it came from.
    """

    def __init__(self, launch: Launch, command: str, *, limit: int) -> None:
        self.command = command
        self.tape = Tape(limit)
        self.started = time.monotonic()
        self.exit_code: int | None = None
        self.fault = ""
        self._popen: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._leash = -1
        self._supervised = bool(launch.leash)
        self._ready, self.done = threading.Event(), threading.Event()
        threading.Thread(target=self._run, args=(launch,), name="whet-process", daemon=True).start()
        self._ready.wait()

    def wait(self, seconds: float, interrupt: threading.Event) -> str:
        """Wait for its end: `done`, or why it goes on: `time` or `interrupt`."""
        deadline = time.monotonic() + seconds
        while not self.done.wait(max(0.0, min(POLL_SECONDS, deadline - time.monotonic()))):
            if interrupt.is_set():
                return "interrupt"
            if time.monotonic() >= deadline:
                return "time"
        return "done"

    def stop(self) -> None:
        """End it and all that it started, now."""
        self._let_go()
        if self._popen is not None and not self.done.is_set():
            # A supervisor on a leash ends what it watches and then itself; anything else is ended by group.
            if self._supervised and self.done.wait(GRACE_SECONDS):
                return
            self._end_group()
            self.done.wait(GRACE_SECONDS)

    def _end_group(self) -> None:
        """End what is left of the group; macOS says "not permitted" of a group of the dead."""
        if self._popen is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def _run(self, launch: Launch) -> None:
        descriptors: list[int] = []
        telling = -1
        try:
            options: list[str] = []
            for option, body in launch.files:
                descriptors.append(_holding(body))
                options += (option, str(descriptors[-1]))
            if launch.leash:
                end, self._leash = os.pipe()
                descriptors.append(end)
                options += (launch.leash, str(end))
            if launch.tells:
                telling, end = os.pipe()
                descriptors.append(end)
                options += (launch.tells, str(end))
            self._popen = subprocess.Popen(
                [*launch.program, *options, *launch.rest],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=launch.environment,
                cwd=launch.folder,
                start_new_session=True,
                pass_fds=descriptors,
            )
        except OSError as error:
            self.fault = error.strerror or str(error)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
            self._ready.set()
        last = _watched(telling) if telling >= 0 else -1
        if self._popen is not None:
            self._drain(self._popen)
        _see_out(last)
        if not (launch.leash or launch.tells):
            self._end_group()
        self._let_go()
        self.done.set()

    def _drain(self, popen: "subprocess.Popen[bytes]") -> None:
        assert popen.stdout is not None
        with popen.stdout as pipe:
            while piece := os.read(pipe.fileno(), 65_536):
                self.tape.add(piece)
        code = popen.wait()
        self.exit_code = code if code >= 0 else 128 - code

    def _let_go(self) -> None:
        with self._lock:  # a descriptor that is closed twice may be another's by then
            leash, self._leash = self._leash, -1
        if leash >= 0:
            os.close(leash)


class Processes:
    """The background processes of a session, by their handles."""

    def __init__(self) -> None:
        self._running: dict[str, Process] = {}
        self._count = 0

    def keep(self, start: Callable[[], Process]) -> tuple[str, Process] | None:
        """Start one more; None where there are too many."""
        if sum(not process.done.is_set() for process in self._running.values()) >= MOST_AT_ONCE:
            return None
        self._count += 1
        handle = f"p{self._count}"
        self._running[handle] = start()
        return handle, self._running[handle]

    def get(self, handle: str) -> Process | None:
        return self._running.get(handle)

    def all(self) -> tuple[tuple[str, Process], ...]:
        return tuple(self._running.items())

    def close(self) -> None:
        for process in self._running.values():
            process.stop()
        self._running.clear()


def _watched(telling: int) -> int:
    """A descriptor of the process that holds all others of a sandbox, as the sandbox tells of it; -1 for none."""
    with os.fdopen(telling, "rb") as pipe:
        found = _CHILD.search(pipe.read())
    with contextlib.suppress(OSError):
        return os.pidfd_open(int(found[1])) if found else -1
    return -1


def _see_out(last: int) -> None:
    """Wait until that process is gone: the one that we started ends a moment before those that it held."""
    if last >= 0:
        poll = select.poll()
        poll.register(last, select.POLLIN)
        poll.poll(GRACE_SECONDS * 1_000)
        os.close(last)


def _holding(body: bytes) -> int:
    """A descriptor of a file without a name that holds these bytes."""
    descriptor = os.memfd_create("whet")
    os.write(descriptor, body)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


__all__ = ["Launch", "Process", "Processes", "Taped"]
