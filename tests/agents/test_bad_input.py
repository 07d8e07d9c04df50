"""Files that no agent meant to write: each is read as far as it goes, or refused with a reason, in every format."""

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mutations import make_ids_equal, make_parents_cyclic, nest_deeply, repeat_lines, with_values
from reading_contract import Reading, hold, hold_transcript, session_files
from whet.agents.formats.source import Format, Skipped, Source
from whet.agents.recognising import formats, recognise
from whet.intake.reading import ReadOrder, read_transcripts
from whet.sessions.transcripts import Transcript

each_format = pytest.mark.parametrize("known", formats(), ids=lambda known: known.name)


def original(known: Format) -> bytes:
    return session_files(known)[0].read_bytes()


def kept_in(*kinds: str) -> pytest.MarkDecorator:
    """The formats whose example is a file of one of these kinds."""
    chosen = [known for known in formats() if {Source(path).kind for path in session_files(known)[:1]} & set(kinds)]
    return pytest.mark.parametrize("known", chosen, ids=lambda known: known.name)


def read(path: Path, known: Format) -> tuple[list[Transcript], list[str]]:
    """The sessions of a file, and every reason why something is not among them."""
    every = list(read_transcripts(path, ReadOrder(format=known.name)))
    found = [each for each in every if not isinstance(each, Skipped)]
    for transcript in found:
        hold_transcript(transcript)
    return found, [each.reason for each in every if isinstance(each, Skipped)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"type": "session_start", "id": "a", "title": "x"}, "session a has no messages"),
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, "contains no session"),
    ],
)
def test_a_file_without_a_conversation_is_reported(tmp_path: Path, line: dict[str, str], why: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line) + "\n")
    assert [each.reason for each in read_transcripts(path) if isinstance(each, Skipped)] == [why]


@each_format
@pytest.mark.parametrize("tenths", [1, 4, 7, 9])
def test_a_cut_off_file_gives_a_part_or_a_reason(tmp_path: Path, known: Format, tenths: int) -> None:
    body = original(known)
    path = tmp_path / "cut"
    path.write_bytes(body[: len(body) * tenths // 10])
    hold(path, known)
    found, reasons = read(path, known)
    assert found or reasons


@kept_in("jsonl")
def test_a_file_cut_off_in_its_last_line_keeps_the_lines_before_it(tmp_path: Path, known: Format) -> None:
    lines = original(known).splitlines(keepends=True)
    path = tmp_path / "growing.jsonl"
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
    _, reasons = read(path, known)
    assert "line not finished yet" in reasons


@each_format
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n \n", id="blank"),
        pytest.param(bytes(range(256)) * 64, id="binary"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(500), id="picture"),
        pytest.param(b"PK\x03\x04" + bytes(500), id="half a zip file"),
        pytest.param(b"SQLite format 3\0" + bytes(500), id="half a database"),
        pytest.param(b"\x1f\x8b\x08" + bytes(100), id="half a gzip file"),
        pytest.param(gzip.compress(b""), id="nothing compressed"),
        pytest.param(b"{}", id="empty object"),
        pytest.param(b"[]", id="empty list"),
        pytest.param(b"[[[]], 1, null]", id="list of others"),
        pytest.param(b'null\n1\n"x"\n', id="lines of others"),
        pytest.param(b"{}\n" * 50, id="empty objects"),
        pytest.param(b"[" * 100_000, id="open brackets"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="deep object"),
    ],
)
def test_what_is_no_session_is_taken_by_nobody(tmp_path: Path, known: Format, body: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(body)
    assert hold(path, known) in (Reading.UNKNOWN, Reading.UNREADABLE)
    found, _ = read(path, known)
    assert sum(len(transcript.messages) for transcript in found) == 0


@kept_in("json", "jsonl")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_a_file_in_another_encoding_is_refused_or_read_line_by_line(
    tmp_path: Path, known: Format, encoding: str
) -> None:
    marked = with_values(original(known), _with_umlauts)
    text = "\n".join(json.dumps(json.loads(line), ensure_ascii=False) for line in marked.split(b"\n") if line.strip())
    path = tmp_path / "file"
    path.write_bytes(text.encode(encoding, "replace"))
    found, reasons = read(path, known)
    assert reasons
    assert not any("�" in message.text for transcript in found for message in transcript.messages)


def _with_umlauts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_umlauts(item) if key != "type" else item for key, item in value.items()}
    if isinstance(value, list):
        return [_with_umlauts(item) for item in value]
    return f"{value} größer" if isinstance(value, str) and " " in value else value


@each_format
@pytest.mark.parametrize("seed", range(3))
def test_cyclic_parents_and_equal_ids_end(tmp_path: Path, known: Format, seed: int) -> None:
    path = tmp_path / "file"
    for mutation in (make_parents_cyclic, make_ids_equal, repeat_lines):
        path.write_bytes(mutation(Random(seed), original(known)))
        hold(path, known)


@each_format
@pytest.mark.parametrize("seed", range(4))
def test_deep_nesting_in_any_field_is_read_or_refused(tmp_path: Path, known: Format, seed: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(nest_deeply(Random(seed), original(known)))
    hold(path, known)


@kept_in("json", "jsonl")
def test_a_compressed_example_is_the_same_session(tmp_path: Path, known: Format) -> None:
    path = session_files(known)[0]
    compressed = tmp_path / f"{path.name}.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert recognise(Source(compressed)) is known
    plain = [transcript.messages for transcript in known.read(Source(path))]
    assert [transcript.messages for transcript in known.read(Source(compressed))] == plain
