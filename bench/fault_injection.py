"""Faults put into the system calls of one write of state, one at a time, by strace."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from fault_operations import Operation, files_of
from rival_learner import Seen
from whet.errors import WhetError

CALLS = (
    "open,openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "ftruncate,truncate,flock,fcntl,fchmod,fchmodat,fchown,link,linkat,utimensat,sendfile,copy_file_range,fallocate"
)
# A full or read-only disk stays so, a bad block does not.
FAULTS = {"kill -9": "signal=KILL:when={}", "ENOSPC": "error=ENOSPC:when={}+", "EIO": "error=EIO:when={}"}
FAULTS["EROFS"] = "error=EROFS:when={}+"
# A lock changes no state, and one that fails makes others wait for minutes.
LOCK_FAULTS = {"flock": ("kill -9", "EIO"), "fcntl": ("kill -9",)}
LINE = re.compile(r"^(\w+)\((.*)", re.MULTILINE)
STRACE = ("strace", "-y", "-qq", "-s", "200")
PATIENCE_SECONDS = 150


class Point(NamedTuple):
    """The n-th use of a system call, which touches state."""

    call: str
    number: int


class Result(NamedTuple):
    """What one fault left behind: the state is old or new, or something is wrong."""

    point: Point
    fault: str
    state: str  # old, new
    wrong: str = ""  # torn, disagreement, lost, stuck, missed
    detail: str = ""


class Run(NamedTuple):
    """How a traced write ended."""

    acknowledged: bool
    killed: bool
    trouble: str
    log: str


def trace(act: Callable[[], None], *options: str) -> Run:
    """Do it in a process of its own, traced from its first step on, and in no other: a fork starts in no time."""
    with tempfile.TemporaryFile() as said, tempfile.NamedTemporaryFile() as log:
        child = os.fork()
        if not child:
            os.dup2(said.fileno(), 2)
            _act(act)
        os.waitpid(child, os.WUNTRACED)
        with subprocess.Popen([*STRACE, "-o", log.name, "-p", str(child), *options], stderr=subprocess.PIPE) as tracer:
            _await_tracer(child, tracer)
            os.kill(child, signal.SIGCONT)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        trouble = said.read().decode(errors="replace")
        return Run(code == 0, code == -signal.SIGKILL, trouble, Path(log.name).read_text(errors="replace"))


def _act(act: Callable[[], None]) -> NoReturn:
    code = 2
    try:
        os.kill(os.getpid(), signal.SIGSTOP)
        act()
        code = 0
    except WhetError as error:
        code = 1
        os.write(2, error.message.encode())
    except BaseException:  # noqa: BLE001 - the traceback is what is looked for
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)  # even if the fault keeps it from telling


def _await_tracer(child: int, tracer: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "TracerPid:\t0\n" in Path(f"/proc/{child}/status").read_text():
        if tracer.poll() is not None or time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            raise SystemExit(f"strace does not work here: {tracer.stderr.read().decode() if tracer.stderr else ''}")
        time.sleep(0.0005)


def points(operation: Operation, folder: Path) -> list[Point]:
    """Every system call that names the folder and may change something, by its number among the calls of its name."""
    run = trace(partial(operation.act, folder), "-e", f"trace={CALLS}")
    if not run.acknowledged:
        raise SystemExit(f"{operation.name} does not work: {run.trouble}")
    counts: Counter[str] = Counter()
    found = []
    for call, arguments in LINE.findall(run.log):
        counts[call] += 1
        if str(folder) in arguments and "O_RDONLY" not in arguments:
            found.append(Point(call, counts[call]))
    return found


def inject_everywhere(operation: Operation, work: Path, *, every: int = 1) -> Iterator[Result]:
    """One run for every point and every fault, each on a fresh copy of the same beginning."""
    base, clean, folder = work / "base", work / "run-0", work / "run-1"
    operation.prepare(base)
    shutil.copytree(base, clean)
    before = operation.look(base)
    found = points(operation, clean)[::every]
    sides = (before, operation.look(clean))
    for point in found:
        for fault in LOCK_FAULTS.get(point.call, FAULTS):
            shutil.copytree(base, folder)
            options = f"trace={point.call}", f"inject={point.call}:{FAULTS[fault].format(point.number)}"
            run = trace(partial(operation.act, folder), *(word for option in options for word in ("-e", option)))
            yield _named(judge(operation, folder, sides, acknowledged=run.acknowledged), point, fault, run)
            shutil.rmtree(folder)


def _named(result: Result, point: Point, fault: str, run: Run) -> Result:
    """The result with its place; a fault that did not strike, or that showed a traceback, is told too."""
    struck = run.killed if fault == "kill -9" else "(INJECTED)" in run.log
    wrong, detail = result.wrong, result.detail
    if not struck:
        wrong, detail = wrong or "missed", detail or run.log[-200:]
    elif "Traceback" in run.trouble and not wrong:
        wrong, detail = "traceback", run.trouble
    return Result(point, fault, result.state, wrong, detail)


def judge(operation: Operation, folder: Path, sides: tuple[Seen, Seen], *, acknowledged: bool) -> Result:
    """Whether what is left is the old or the new state, at once and after the next command."""
    before, after = sides
    nowhere = Point("", 0)
    raw = files_of(folder)
    for name in {*raw, *before.files, *after.files}:
        body = raw.get(name)
        if body not in (before.files.get(name), after.files.get(name)) and not _is_transient(name):
            return Result(nowhere, "", "else", "torn", f"{name}: {body!r:.120}")
    try:
        operation.recover(folder)
        seen = operation.look(folder)
    except (WhetError, OSError, ValueError) as error:
        return Result(nowhere, "", "else", "stuck", str(error))
    state = "old" if _same(seen, before) else "new" if _same(seen, after) else "else"
    if state == "else":
        return Result(nowhere, "", state, "disagreement", f"{_differing(seen, after)}")
    if acknowledged and state == "old" and not _same(before, after):
        return Result(nowhere, "", state, "lost")
    return Result(nowhere, "", state)


def _is_transient(name: str) -> bool:
    """The marker in a copied skill, which the next sync finishes, and the rival's backups and log."""
    return name.endswith((".whet.json", "log.jsonl")) or "backups/" in name


def _same(seen: Seen, other: Seen) -> bool:
    kept = [{name: body for name, body in one.files.items() if not _is_transient(name)} for one in (seen, other)]
    return kept[0] == kept[1] and seen.in_force == other.in_force


def _differing(seen: Seen, other: Seen) -> list[str]:
    names = {*seen.files, *other.files}
    files = sorted(name for name in names if seen.files.get(name) != other.files.get(name))
    return [*files, *(f"{form} {name}" for form, name, _ in set(seen.in_force) ^ set(other.in_force))]
