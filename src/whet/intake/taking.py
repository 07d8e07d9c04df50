"""An import: files are read side by side in worker processes, and kept in batches by this one."""

import contextlib
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from whet.agents.formats.source import Skipped
from whet.errors import WhetError
from whet.intake.reading import ReadOrder, ReadySession, read_file
from whet.secrets.redactor import Redactor
from whet.store import sessions
from whet.store.database import Database, Unreachable
from whet.store.home import Home, holds
from whet.store.left_out import LeftOutFile, alike, forget_left_out, forgotten, keep_left_out
from whet.store.listing import Filters, count_sessions
from whet.store.rows import Provenance, ask_for_all, uncollected
from whet.store.side_by_side import process_pool
from whet.store.words import tidy
from whet.telling.targets.known_projects import remember_projects

READER = "7"  # raised when what is read or redacted changes: unchanged files are then read again
BATCH_BYTES = 8 << 20
POOL_FROM_BYTES = 8 << 20
LARGE_FILE_BYTES = 16 << 20
IN_FLIGHT_BYTES = 48 << 20
COMPANION_LOG = "-wal"
PIPE = "-"

Progress = Callable[[str, int], None]


@dataclass(slots=True)
class ImportReport:
    """Counts of one import, added to as it goes."""

    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    messages: int = 0
    redacted: int = 0
    never: int = 0  # sessions that the person never wants back
    files: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)  # where the sessions took place that were read

    def add(self, more: "ImportReport") -> None:
        """Count what else was done."""
        self.imported += more.imported
        self.updated += more.updated
        self.unchanged += more.unchanged
        self.messages += more.messages
        self.redacted += more.redacted
        self.never += more.never
        self.files += more.files
        self.skipped += more.skipped
        self.folders |= more.folders
        for source, count in more.sources.items():
            self.sources[source] = self.sources.get(source, 0) + count

    @property
    def sessions(self) -> int:
        return self.imported + self.updated + self.unchanged

    def as_json(self) -> dict[str, object]:
        return {
            "imported": self.imported,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "messages": self.messages,
            "redacted": self.redacted,
            "never": self.never,
            "files": self.files,
            "sources": self.sources,
            "skipped": [{"path": s.path, "line": s.line or None, "reason": s.reason} for s in self.skipped],
        }


class ImportStopped(WhetError):
    """An import that came to no good end: why, and what was kept of it before."""

    def __init__(self, error: WhetError, report: ImportReport) -> None:
        super().__init__(
            f"The import stopped: {error.message} {kept_so_far(report)}",
            advice=f"{error.advice} Importing again adds only what is missing.",
        )
        self.report = report


class ImportInterrupted(KeyboardInterrupt):
    """An import that a person stopped; what was read until then is kept."""

    def __init__(self, report: ImportReport) -> None:
        super().__init__()
        self.report = report


def kept_so_far(report: ImportReport) -> str:
    """What is stored of an import that did not end, in a sentence."""
    number = report.imported + report.updated
    if not number:
        return "Nothing was imported."
    return f"{number:,} session{' was' if number == 1 else 's were'} imported before that."


class FileStamp(NamedTuple):
    """What tells whether a file has changed since it was imported."""

    size: int
    modified: int


class ImportFile(NamedTuple):
    """A file to import; `name` is what the report calls it."""

    path: Path
    name: str
    stamp: FileStamp


class FilePiece(NamedTuple):
    """Some of what is in a file; `last` says that the file has been read to its end."""

    file: ImportFile
    items: list[ReadySession | Skipped]
    first: bool = True
    last: bool = True


@uncollected()
def take(
    database: Database,
    home: Home,
    paths: Iterable[Path],
    order: ReadOrder,
    *,
    dry_run: bool = False,
    progress: Progress,
) -> ImportReport:
    """Import files and say what became of each; `progress` hears of each file's name and size as it is done.

    Raises ImportStopped where the store fails, and ImportInterrupted for an interrupt; both say what was kept.
    """
    report, order = ImportReport(), order._replace(dialect=database.dialect)
    before = count_sessions(database, Filters())
    files = list(_changed(database, home, paths, order, report=report))
    batch: list[FilePiece] = []
    never = frozenset(each.id for each in forgotten(home))

    def keep_batch() -> None:
        report.add(_keep(database, batch, order, never=never, dry_run=dry_run))
        batch.clear()

    try:
        size = 0
        for piece in _read_all(files, order):
            batch.append(piece)
            size += _size(piece)
            if size >= BATCH_BYTES:
                keep_batch()
                size = 0
            if piece.last:
                progress(piece.file.name, piece.file.stamp.size)
        keep_batch()
        if report.messages and not dry_run:
            tidy(database)
            remember_projects(database)
    except KeyboardInterrupt as stop:
        keep_batch()
        # What came in the middle of keeping a batch was kept, and counts as unchanged since.
        report.imported = max(report.imported, count_sessions(database, Filters()) - before)
        raise ImportInterrupted(report) from stop
    except Unreachable:
        raise  # whoever carries out orders waits for the server, and imports again
    except WhetError as error:
        raise ImportStopped(error, report) from error
    return report


def _size(piece: FilePiece) -> int:
    return sum(len(row.body) for item in piece.items if isinstance(item, ReadySession) for row in item.prepared.rows)


def stamp_of(path: Path) -> FileStamp:
    """Size and time of a file, and of its write-ahead log where it is a database with one."""
    stamps = [path.stat()]
    with contextlib.suppress(OSError):
        stamps.append(Path(f"{path}{COMPANION_LOG}").stat())
    return FileStamp(sum(each.st_size for each in stamps), max(each.st_mtime_ns for each in stamps))


def _changed(
    database: Database, home: Home, paths: Iterable[Path], order: ReadOrder, *, report: ImportReport
) -> Iterator[ImportFile]:
    """The files that need reading; those that are as they were count as unchanged."""
    known = {row[0]: row[1:] for row in database.query("SELECT path, size, modified, reader, sessions FROM files")}
    for path in dict.fromkeys(paths):
        name = PIPE if path == order.piped else os.path.abspath(path)
        report.files += 1
        if holds(home, path):
            report.skipped.append(Skipped(path=name, reason="Whet's own database"))
            continue
        try:
            stamp = stamp_of(path)
        except OSError as error:
            report.skipped.append(Skipped(path=name, reason=error.strerror or str(error)))
            continue
        before = known.get(name)
        if before and before[:3] == (*stamp, _reader(order)) and not order.format:
            report.unchanged += before[3]
        else:
            yield ImportFile(path, name, stamp)


def _reader(order: ReadOrder) -> str:
    return f"{READER}{'' if order.secrets is None else ' redacted'}"


def _read_all(files: list[ImportFile], order: ReadOrder) -> Iterator[FilePiece]:
    """Every file with what is in it; small files in worker processes where there is enough to do."""
    small = [file for file in files if file.stamp.size < LARGE_FILE_BYTES]
    processors = os.cpu_count() or 1
    if processors > 1 and len(small) > 1 and sum(file.stamp.size for file in small) >= POOL_FROM_BYTES:
        yield from _read_side_by_side(small, order, processors)
    else:
        yield from (FilePiece(file, _read_whole(file, order)) for file in small)
    for file in files:
        if file.stamp.size >= LARGE_FILE_BYTES:
            yield FilePiece(file, [], last=False)
            for item in read_file(file.path, order, name=file.name):
                yield FilePiece(file, [item], first=False, last=False)
            yield FilePiece(file, [], first=False)


def _read_whole(file: ImportFile, order: ReadOrder) -> list[ReadySession | Skipped]:
    return list(read_file(file.path, order, name=file.name))


def _read_side_by_side(files: list[ImportFile], order: ReadOrder, processors: int) -> Iterator[FilePiece]:
    """Files in order, with at most so many bytes of them under way that memory stays bounded."""
    waiting = deque(files)
    under_way: deque[tuple[ImportFile, Future[list[ReadySession | Skipped]]]] = deque()
    flying = 0
    with process_pool(processors) as pool:
        while waiting or under_way:
            while waiting and (flying == 0 or flying + waiting[0].stamp.size <= IN_FLIGHT_BYTES):
                file = waiting.popleft()
                flying += file.stamp.size
                under_way.append((file, pool.submit(_read_whole, file, order)))
            file, future = under_way.popleft()
            yield FilePiece(file, future.result())
            flying -= file.stamp.size


def _keep(
    database: Database, batch: list[FilePiece], order: ReadOrder, *, never: frozenset[str], dry_run: bool
) -> ImportReport:
    """Keep what was read, in one transaction; a file counts as read only together with all of its sessions."""
    now, report = time.time(), ImportReport()
    with database.reading() if dry_run else database.writing():
        found = list(_sessions_of(batch, report, never=never))
        if dry_run:
            kept = [sessions.compare(database, item.prepared, path=file.name) for file, item in found]
        else:
            forget_left_out(database, [piece.file.name for piece in batch if piece.first])
            kept = sessions.keep_all(database, [(item.prepared, _provenance(file, now)) for file, item in found])
        for (file, item), one in zip(found, kept, strict=True):
            _count(report, file, item, one)
        if not dry_run:
            if order.since is None:
                _remember(database, [piece.file for piece in batch if piece.last], order)
            _keep_reasons(database, report.skipped, order)
    return report


def _sessions_of(
    batch: list[FilePiece], report: ImportReport, *, never: frozenset[str]
) -> Iterator[tuple[ImportFile, ReadySession]]:
    """The sessions to keep; the report counts the others."""
    for file, items, _, _ in batch:
        for item in items:
            if isinstance(item, Skipped):
                report.skipped.append(item)
            elif item.prepared.id in never:
                report.never += 1
            else:
                yield file, item


def _provenance(file: ImportFile, now: float) -> Provenance:
    return Provenance(file.name, file.stamp.modified / 1e9, now)


def _keep_reasons(database: Database, skipped: list[Skipped], order: ReadOrder) -> None:
    """Keep why something was left out, alike reasons of a file together, and without the secrets in them."""
    found: dict[tuple[str, str], list[int]] = {}
    for each in skipped:
        found.setdefault((each.path, alike(each.reason)), []).append(each.line)
    clean = Redactor(order.secrets or ()).text if order.secrets is not None else str
    keep_left_out(
        database, [LeftOutFile(path, clean(why), len(lines), min(lines)) for (path, why), lines in found.items()]
    )


def _count(report: ImportReport, file: ImportFile, item: ReadySession, kept: sessions.KeepResult) -> None:
    if kept.change == "conflict":
        report.skipped.append(Skipped(path=file.name, reason=kept.note))
        return
    if kept.note:
        report.skipped.append(Skipped(path=file.name, reason=kept.note))
    if kept.change == "imported":
        report.imported += 1
    elif kept.change == "updated":
        report.updated += 1
    else:
        report.unchanged += 1
    report.messages += kept.messages
    report.redacted += item.redacted
    report.folders.add(item.prepared.columns.folder)
    report.sources[item.source] = report.sources.get(item.source, 0) + 1


def _remember(database: Database, files: list[ImportFile], order: ReadOrder) -> None:
    counts = Counter(
        path
        for (path,) in ask_for_all(database, "SELECT path FROM sessions WHERE path IN", [file.name for file in files])
    )
    database.many(
        "INSERT INTO files (path, size, modified, reader, sessions) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified,"
        " reader = excluded.reader, sessions = excluded.sessions",
        [(file.name, *file.stamp, _reader(order), counts[file.name]) for file in files],
    )
