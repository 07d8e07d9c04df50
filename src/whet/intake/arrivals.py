"""What waits in the spool taken in: draws kept, records imported. What cannot be read stays there with its reason.

A file is moved aside before it is looked at, so that what a hook writes meanwhile is another file, and it is removed
when all of it is in the store. Whoever dies in between leaves it for the next; importing twice changes nothing.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.agents.formats.source import Skipped
from whet.intake.reading import ReadOrder
from whet.intake.taking import READER, ImportReport, stamp_of, take
from whet.store.canary_counts import KeptDraw, Telling, keep_reminders, keep_session_draws, keep_tellings
from whet.store.database import Database
from whet.store.folders import locking
from whet.store.home import Home
from whet.telling.hooks.events import CALL, END, REMINDED, SPOOL, START, SUFFIX
from whet.telling.hooks.events import FOLDER as HOOKS
from whet.telling.hooks.starting import SessionDraw
from whet.values import Value

KEPT = "kept"
REASON = ".reason"
KEPT_SECONDS = 30 * 86_400.0
SUBAGENTS = "subagents/*.jsonl"  # what Claude Code writes beside the record of a session


class Arrival(Value, frozen=True):
    """One file of the spool: a session started and drew and was told this, was reminded of this, or ended."""

    event: str
    agent: str
    session: str
    at: float
    path: str = ""
    folder: str = ""
    draws: tuple[SessionDraw, ...] = ()
    entries: tuple[int, ...] = ()


class KeptReason(Value, frozen=True):
    """Why an arrival stays, and how its record looked then: while that is the same, it is not tried again."""

    reason: str
    stamp: str = ""


class Waiting(NamedTuple):
    """An arrival that was moved aside, and the file that it stands in."""

    file: Path
    arrival: Arrival


class SpoolReport(NamedTuple):
    """What became of a spool: how many files were done with, what was imported, what stays and why."""

    done: int
    report: ImportReport
    kept: tuple[Skipped, ...] = ()


def is_waiting(home: Home) -> bool:
    """Whether a hook left anything since it was last looked at."""
    return any(True for _ in _new(home.folder / SPOOL))


def kept_arrivals(home: Home) -> tuple[Skipped, ...]:
    """What stays in the spool because it cannot be read, with the reasons."""
    return tuple(_reasons(home.folder / SPOOL / KEPT))


def take_spool(home: Home, database: Database, *, secrets: tuple[str, ...] | None, now: float) -> SpoolReport:
    """Take in all that waits. Where another process is at it already, that one does."""
    folder = home.folder / SPOOL
    with _alone(folder) as is_first:
        if not is_first:
            return SpoolReport(0, ImportReport())
        for file in _new(folder):
            os.replace(file, folder / KEPT / file.name)
        waiting = tuple(_waiting(folder / KEPT))
        _keep_starts(database, [each for each in waiting if each.arrival.event == START])
        _keep_calls(database, [each for each in waiting if each.arrival.event == CALL])
        _clear_marks(home, now)
        ended = [each for each in waiting if each.arrival.event == END and _is_to_try(each, now) and _is_path(each)]
        paths = [path for each in ended for path in _records(Path(each.arrival.path))]
        report = take(
            database, home, paths, ReadOrder(secrets=secrets), progress=lambda _name, _size: None
        )  # files that are as they were count as unchanged
        done = sum(_settle(database, each, report) for each in ended)
        return SpoolReport(done, report, kept_arrivals(home))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """One at a time; False where another is at work or no hook has left anything yet."""
    if not folder.is_dir():
        yield False
        return
    (folder / KEPT).mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder / KEPT, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with locking(descriptor) as is_free:
        yield is_free


def _new(folder: Path) -> Iterator[Path]:
    found = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    return (file for file in found if not file.name.startswith(".") and file.is_file() and not file.is_symlink())


def _waiting(folder: Path) -> Iterator[Waiting]:
    for file in _new(folder):
        try:
            yield Waiting(file, msgspec.json.decode(file.read_bytes(), type=Arrival))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            _give_reason(file, KeptReason(f"not a file of the spool: {error}"))


def _keep_starts(database: Database, started: list[Waiting]) -> None:
    rows = [KeptDraw(*draw, each.agent, each.session, each.at) for _, each in started for draw in each.draws]
    keep_session_draws(database, rows)
    keep_tellings(database, [Telling(each.agent, each.session, each.entries, each.at) for _, each in started])
    for file, _ in started:
        file.unlink()


def _keep_calls(database: Database, reminded: list[Waiting]) -> None:
    keep_reminders(database, [Telling(each.agent, each.session, each.entries, each.at) for _, each in reminded])
    for file, _ in reminded:
        file.unlink()


def _clear_marks(home: Home, now: float) -> None:
    """Remove the marks of reminders whose sessions are long over."""
    folder = home.folder / HOOKS / REMINDED
    for mark in folder.iterdir() if folder.is_dir() else ():
        if mark.lstat().st_mtime < now - KEPT_SECONDS:
            mark.unlink(missing_ok=True)


def _is_path(waiting: Waiting) -> bool:
    """Whether the system can look for its record at all; else the reason is kept, and nothing waits for it."""
    file, arrival = waiting
    try:
        os.stat(arrival.path)
        list(_records(Path(arrival.path)))
    except FileNotFoundError:
        if arrival.path:
            return True
        _give_reason(file, KeptReason("it names no record", _stamp(arrival)))
        return False
    except (OSError, ValueError) as error:
        reason = f"no path of a record: {error.strerror if isinstance(error, OSError) else error}"
        _give_reason(file, KeptReason(reason, _stamp(arrival)))
        return False
    return True


def _is_to_try(waiting: Waiting, now: float) -> bool:
    """Whether its record is not the one that could not be read before; what is long gone leaves the spool."""
    file, arrival = waiting
    if arrival.at < now - KEPT_SECONDS and not os.path.exists(arrival.path):
        _forget(file)
        return False
    before = _reason_of(file)
    return before is None or before.stamp != _stamp(arrival)


def _settle(database: Database, waiting: Waiting, report: ImportReport) -> bool:
    """Take the file away when its session is in the store, else say why not."""
    file, arrival = waiting
    path = os.path.abspath(arrival.path)
    rows = database.query("SELECT sessions FROM files WHERE path = ?", (path,))
    if rows and rows[0][0]:
        _forget(file)
        return True
    reason = next((each.reason for each in report.skipped if each.path == path), "holds no session")
    _give_reason(file, KeptReason(reason, _stamp(arrival)))
    return False


def _records(path: Path) -> Iterator[Path]:
    yield path
    yield from sorted(path.with_suffix("").glob(SUBAGENTS))


def _stamp(arrival: Arrival) -> str:
    """How its record looks now, to the readers of this version."""
    try:
        return " ".join([READER, *map(str, stamp_of(Path(arrival.path)))])
    except (OSError, ValueError):
        return READER


def _forget(file: Path) -> None:
    file.unlink()
    file.with_suffix(REASON).unlink(missing_ok=True)


def _give_reason(file: Path, reason: KeptReason) -> None:
    temporary = file.with_name(f".new-{file.stem}{REASON}")
    temporary.write_bytes(msgspec.json.encode(reason))
    temporary.replace(file.with_suffix(REASON))


def _reason_of(file: Path) -> KeptReason | None:
    with contextlib.suppress(FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(file.with_suffix(REASON).read_bytes(), type=KeptReason)
    return None


def _reasons(folder: Path) -> Iterator[Skipped]:
    for file in _new(folder):
        found = _reason_of(file)
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            path = msgspec.json.decode(file.read_bytes(), type=Arrival).path
            file = Path(path) if path else file
        if found is not None:
            yield Skipped(path=str(file), reason=found.reason)
