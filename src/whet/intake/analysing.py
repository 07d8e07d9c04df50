"""The analyses of sessions in files, storing nothing: side by side, compared with each other, copies counted once."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.failures.analysis import Analysis, analyse, compared
from whet.failures.summaries import JudgedSession
from whet.failures.usual import usual_by_circle
from whet.formats.source import Skipped
from whet.intake.reading import read_transcripts
from whet.sessions.copies import NO_PLACES, Seen, copied_count, copied_places, history_of
from whet.sessions.transcripts import Transcript
from whet.shipped.data import failure_weights
from whet.shipped.kinds import known_kinds
from whet.store.adding import opening
from whet.store.side_by_side import process_pool

POOL_FROM_BYTES = 4 << 20


class FoundSession(NamedTuple):
    """A session of a file: its analysis, its place in the file, and its history by message ids."""

    analysis: Analysis
    place: int
    title: str
    ended: float
    history: tuple[bytes, ...]


class FilesRead:
    """The sessions of the files so far: their histories, and where those lie that begin with the same message."""

    def __init__(self) -> None:
        self.histories = Seen()
        self.kin: dict[bytes, list[tuple[Path, int]]] = {}


def analyse_files(
    files: Iterable[Path], *, ignore_flags: bool = False, processors: int | None = None
) -> Iterator[JudgedSession | Skipped]:
    """All sessions of the files in their order. With many files, every processor reads and analyses some."""
    paths = tuple(files)
    seen, judged = FilesRead(), list[JudgedSession]()
    for path, items in zip(paths, _read_all(paths, ignore_flags, processors), strict=True):
        for item in items:
            if isinstance(item, Skipped):
                yield item
            else:
                judged += _counted(path, item, seen, ignore_flags)
    usual = usual_by_circle((one.analysis.circle, one.analysis.size) for one in judged)
    for one in judged:
        yield one._replace(analysis=compared(one.analysis, failure_weights(), usual))


def _counted(path: Path, found: FoundSession, seen: FilesRead, ignore_flags: bool) -> list[JudgedSession]:
    """The session without what it copied from an earlier one; nothing where it is only a copy."""
    analysis, shared = found.analysis, seen.histories.shared(found.history)
    kin = seen.kin.setdefault(found.history[0], []) if found.history else []
    if shared:
        again = _read_again(path, found.place)
        relatives = (message for place in kin for message in _read_again(*place).messages)
        if copied := copied_places(again.messages, shared, relatives):
            analysis = _analysed(again, ignore_flags, copied)
    kin.append((path, found.place))
    return [] if analysis.copied.whole else [JudgedSession(analysis, found.title, 0, found.ended)]


def _read_again(path: Path, place: int) -> Transcript:
    return [each for each in read_transcripts(path) if isinstance(each, Transcript)][place]


def _read_all(
    paths: Sequence[Path], ignore_flags: bool, processors: int | None
) -> Iterator[list[FoundSession | Skipped]]:
    work = partial(_of_file, ignore_flags=ignore_flags)
    workers = min(processors or os.cpu_count() or 1, len(paths))
    if workers <= 1 or sum(map(_size, paths)) < POOL_FROM_BYTES:
        yield from map(work, paths)
        return
    with process_pool(workers) as pool:
        yield from pool.map(work, paths)


def _of_file(path: Path, *, ignore_flags: bool) -> list[FoundSession | Skipped]:
    found: list[FoundSession | Skipped] = []
    place = 0
    for item in read_transcripts(path):
        if isinstance(item, Skipped):
            found.append(item)
            continue
        title = item.title or opening(item.messages)
        dated = copied_count(item.messages, len(item.messages)) > 0
        history = history_of(item.messages) if dated else ()
        found.append(FoundSession(_analysed(item, ignore_flags, NO_PLACES), place, title, item.ended or 0.0, history))
        place += 1
    return found


def _analysed(transcript: Transcript, ignore_flags: bool, copied: frozenset[int]) -> Analysis:
    """The analysis under the id that the session has in its file."""
    found = analyse(transcript, failure_weights(), known_kinds(), ignore_flags=ignore_flags, copied=copied)
    return replace(found, session=transcript.native_id)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
