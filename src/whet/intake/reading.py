"""One file read into sessions that are ready to keep. No database is needed, so this runs in any process."""

import contextlib
import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.agents.executor import is_of_reader
from whet.agents.formats.source import Skipped, Source, Unreadable
from whet.agents.recognising import format_named, formats, recognise
from whet.errors import WhetError
from whet.own.examples.warm_start import is_prefill, recognised
from whet.secrets.redactor import redact
from whet.sessions.transcripts import Transcript
from whet.store.database import Dialect
from whet.store.rows import PreparedSession, prepare, with_vectors

SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv"})
COMPANIONS = ("-wal", "-shm", "-journal")


class ReadOrder(NamedTuple):
    """How files are to be read. `secrets` are exact values to redact; None turns redaction off.

    What is read is ready for a database of the `dialect`. `piped` is a file that holds what came through a pipe: it has
    no name of its own.
    """

    format: str = ""
    since: float | None = None
    secrets: tuple[str, ...] | None = ()
    piped: Path | None = None
    dialect: Dialect = "sqlite"


READ_ALL = ReadOrder()


class ReadySession(NamedTuple):
    """A session ready to keep, and how many secrets were taken out of it."""

    source: str
    prepared: PreparedSession
    redacted: int


def read_file(path: Path, order: ReadOrder, *, name: str = "") -> Iterator[ReadySession | Skipped]:
    """The sessions of a file made ready to keep, one at a time, then whatever of it was left out."""
    for item in read_transcripts(path, order, name=name):
        yield item if isinstance(item, Skipped) else _ready(item, order)


def read_transcripts(path: Path, order: ReadOrder = READ_ALL, *, name: str = "") -> Iterator[Transcript | Skipped]:
    """The transcripts of a file as they are, one at a time, then whatever of it was left out."""
    try:
        source = Source(path, name=name)
    except (Unreadable, OSError) as error:
        yield Skipped(path=name or str(path), reason=_reason(error))
        return
    try:
        yield from _transcripts(source, order)
    except (Unreadable, OSError) as error:
        source.skip(_reason(error))
    except RecursionError:
        source.skip("nested too deeply")
    yield from source.skipped


def _transcripts(source: Source, order: ReadOrder) -> Iterator[Transcript]:
    known = format_named(order.format) if order.format else recognise(source)
    if known is None:
        raise Unreadable("empty" if source.kind == "empty" else "not a session of a known format")
    seen: set[str] = set()
    found = False
    for record in known.read(source):
        found = True
        transcript = replace(record, messages=recognised(record.messages))
        if not transcript.messages:
            source.skip(f"session {transcript.native_id} has no messages")
        elif is_prefill(transcript.messages):
            source.skip("a prefill: examples of a template, not a session")
        elif is_of_reader(transcript.messages):
            source.skip("a reader of Whet at work, not a session of yours")
        elif transcript.id in seen:
            source.skip(f"the session id {transcript.native_id} occurs more than once in this file")
        elif order.since is None or (transcript.ended or order.since) >= order.since:
            seen.add(transcript.id)
            yield transcript
    if not found and not source.skipped:
        raise Unreadable("contains no session")


def _ready(transcript: Transcript, order: ReadOrder) -> ReadySession:
    if order.secrets is None:
        return ReadySession(transcript.source, _prepared(transcript, order), 0)
    clean = redact(transcript, order.secrets)
    return ReadySession(transcript.source, _prepared(clean.transcript, order), sum(clean.counts.values()))


def _prepared(transcript: Transcript, order: ReadOrder) -> PreparedSession:
    prepared = prepare(transcript)
    if order.dialect == "sqlite":
        return prepared
    return prepared._replace(rows=tuple(map(with_vectors, prepared.rows)))


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


class AgentPlace(NamedTuple):
    """An agent's usual place on this machine, as a person would write it, and the files found there."""

    format: str
    title: str
    shown: str
    files: tuple[Path, ...]


def usual_places(person: Path, environment: Mapping[str, str], folders: Iterable[str] = ()) -> Iterator[AgentPlace]:
    """Every place where a known agent keeps sessions, found or not: beneath the person's own folder or its own home.

    Of an agent that keeps them where the person works, every one of `folders` where it did.
    """
    for known in formats():
        moved = environment.get(known.variable, "") if known.variable else ""
        for pattern in known.places:
            base, within, shown = person, pattern, f"~/{pattern}"
            if moved:
                base, within = Path(os.path.expanduser(moved)), pattern.partition("/")[2]
                shown = str(base / within)
            found = (path for path in base.glob(within) if path.is_file())
            yield AgentPlace(known.name, known.title, shown, tuple(by_age(found)))
    yield from places_beside({str(person), *folders})


def places_beside(folders: Iterable[str]) -> Iterator[AgentPlace]:
    """What agents that keep sessions where the person works left in these folders."""
    for known in formats():
        if known.beside:
            beside = (Path(folder, name) for folder in sorted(folders) for name in known.beside)
            found = (path for path in beside if path.is_absolute() and path.is_file())
            yield AgentPlace(known.name, known.title, "the folders where agents worked", tuple(by_age(found)))


def named_files(arguments: Iterable[str]) -> Iterator[Path]:
    """The files that paths, folders and globs mean; one that is not there is the person's mistake."""
    for argument in arguments:
        path = Path(os.path.expanduser(argument))
        if path.is_dir():
            yield from by_age(_within(path))
        elif path.exists():
            yield path
        elif matches := sorted({*glob.glob(str(path), recursive=True)} - {str(path)}):  # a link that leads nowhere
            yield from named_files(matches)
        else:
            raise WhetError(
                f"There is no file {argument}.", advice="Give a file, a folder, a glob, or - for standard input."
            )


def by_age(files: Iterable[Path]) -> list[Path]:
    """The oldest first, so that what is imported last, and ranked first, is the newest; not what is gone meanwhile."""
    found: list[tuple[int, str, Path]] = []
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            found.append((path.stat().st_mtime_ns, str(path), path))
    return [path for _, _, path in sorted(found)]


def _within(folder: Path) -> Iterator[Path]:
    beside = {name for known in formats() for name in known.beside}
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in names:
            path = Path(parent, name)
            # Pipes and devices could block for ever; a database's companions belong to the database.
            if path.is_file() and not name.endswith(COMPANIONS) and (not name.startswith(".") or name in beside):
                yield path
