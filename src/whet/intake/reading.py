"""One file read into sessions that are ready to keep. No database is needed, so this runs in any process."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.agents.executor import is_of_reader
from whet.agents.formats.source import Skipped, Source, Unreadable
from whet.agents.recognising import format_named, recognise
from whet.own.examples.prefills import is_prefill, recognised
from whet.secrets.redactor import redact
from whet.sessions.transcripts import Transcript
from whet.store.adding import prepare, with_vectors
from whet.store.database import Dialect
from whet.store.rows import PreparedSession


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
