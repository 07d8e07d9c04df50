"""What every importer promises for every file, good or bad: the one check behind the fuzz and bad-input tests."""

from enum import StrEnum
from pathlib import Path

import msgspec

from whet.agents.formats.source import Format, Source, Unreadable
from whet.agents.recognising import recognise
from whet.sessions.transcripts import Message, Transcript, chain, decode, encode, pair
from whet.sessions.trust import Trust

EXAMPLES = Path(__file__).parent.parent / "examples" / "sessions"


class Reading(StrEnum):
    """How the reading of a file went."""

    READ = "read"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


def examples(known: Format) -> list[Path]:
    """The files of a format's example, with what lies beside the sessions."""
    return sorted(path for path in (EXAMPLES / known.name).rglob("*") if path.is_file())


def session_files(known: Format) -> list[Path]:
    """Those of the example's files that the format reads."""
    return [path for path in examples(known) if known.sniff(Source(path))]


def hold(path: Path, named: Format | None = None) -> Reading:
    """Read a file as what it seems to be, and as the format that a person may name for it.

    Any error but `Unreadable` is a bug.
    """
    try:
        known = recognise(Source(path))
    except Unreadable:
        known = None
    if named is not None and named is not known:
        _hold_format(path, named)
    return Reading.UNKNOWN if known is None else _hold_format(path, known)


def _hold_format(path: Path, known: Format) -> Reading:
    try:
        source = Source(path)
        for transcript in known.read(source):
            hold_transcript(transcript)
    except Unreadable:
        return Reading.UNREADABLE
    for skipped in source.skipped:
        assert skipped.reason
        assert skipped.path == str(path)
    return Reading.READ


def hold_transcript(transcript: Transcript) -> None:
    """A transcript can be hashed, stored, loaded again as it was, and paired without losing anything."""
    assert transcript.source
    assert transcript.id
    assert msgspec.json.decode(msgspec.json.encode(transcript), type=Transcript) == transcript
    assert len(list(chain(transcript.messages))) == len(transcript.messages)
    for message in transcript.messages:
        hold_message(message)
    paired = pair(transcript.messages)
    asked = sum(len(message.calls) for message in transcript.messages)
    answered = sum(len(message.results) for message in transcript.messages)
    assert len(paired.exchanges) == asked
    assert sum(exchange.result is not None for exchange in paired.exchanges) + len(paired.orphans) == answered


def hold_message(message: Message) -> None:
    assert decode(encode(message)) == message
    assert message.trust in Trust
