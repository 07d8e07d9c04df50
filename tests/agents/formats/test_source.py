"""The reading layer: whatever a file holds, records, a document or a reason come out, in bounded memory."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengths import long
from memory import peak
from whet.agents.formats.source import ReadLimits, Record, Source, Unreadable

SMALL = ReadLimits(line_bytes=1000, document_bytes=2000, skipped=5)


def file(folder: Path, body: bytes, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_bytes(body)
    return path


def reasons(source: Source) -> list[tuple[int, str]]:
    return [(skipped.line, skipped.reason) for skipped in source.skipped]


def values(source: Source) -> list[dict[str, object]]:
    return [record.value for record in source.records()]


# Records


def test_records_come_with_the_numbers_of_their_lines(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n\n  \n{"b":2}\n'))
    assert list(source.records()) == [Record(1, {"a": 1}), Record(4, {"b": 2})]
    assert source.skipped == []


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), min_size=2))
def test_every_object_written_as_a_line_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, object]]
) -> None:
    body = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    source = Source(file(tmp_path_factory.mktemp("source"), body.encode("utf-8", "replace")))
    assert len(values(source)) == len(records)
    assert source.skipped == []


def test_a_last_line_still_being_written_is_left_for_next_time(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n{"b":2}\n{"c": "hal'))
    assert values(source) == [{"a": 1}, {"b": 2}]
    assert reasons(source) == [(3, "line not finished yet")]


def test_a_last_line_without_its_newline_is_taken_when_it_is_whole(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n{"b":2}'))
    assert values(source) == [{"a": 1}, {"b": 2}]


def test_a_damaged_line_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n{"b":\n[3]\n"x"\n{"c":3}\n'))
    assert values(source) == [{"a": 1}, {"c": 3}]
    assert [line for line, _ in reasons(source)] == [2, 3, 4]
    assert reasons(source)[1:] == [(3, "not a JSON object but a list"), (4, "not a JSON object but a string")]


def test_a_damaged_first_line_does_not_make_the_file_a_document(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":\n{"b":2}\n{"c":3}\n'))
    assert source.kind == "jsonl"
    assert values(source) == [{"b": 2}, {"c": 3}]


def test_a_byte_order_mark_and_windows_line_ends_are_no_trouble(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'\xef\xbb\xbf{"a":1}\r\n\r\n{"b":2}\r\n'))
    assert (source.kind, source.sample) == ("jsonl", ({"a": 1}, {"b": 2}))
    assert values(source) == [{"a": 1}, {"b": 2}]
    assert source.skipped == []


def test_a_line_in_another_encoding_is_reported(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n{"name":"M\xfcller"}\n{"b":2}\n'))
    assert values(source) == [{"a": 1}, {"b": 2}]
    assert reasons(source) == [(2, "not UTF-8 text")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named_for_what_it_is(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(Unreadable, match="UTF-16 text; save it as UTF-8"):
        Source(file(tmp_path, '{"a":1}\n{"b":2}\n'.encode(encoding)))


def test_a_line_over_the_limit_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    body = b'{"a":1}\n{"b":"' + b"x" * 3000 + b'"}\n{"c":3}\n'
    source = Source(file(tmp_path, body), limits=SMALL)
    assert values(source) == [{"a": 1}, {"c": 3}]
    assert [line for line, _ in reasons(source)] == [2]


def test_a_first_line_over_the_limit_does_not_hide_the_rest(tmp_path: Path) -> None:
    body = b'{"b":"' + b"x" * 3000 + b'"}\n{"c":3}\n'
    source = Source(file(tmp_path, body), limits=SMALL)
    assert source.kind == "jsonl"
    assert source.sample == ({"c": 3},)
    assert values(source) == [{"c": 3}]


def test_a_long_first_line_is_sampled_whole(tmp_path: Path) -> None:
    body = json.dumps({"text": "x" * (3 << 20)}).encode()
    source = Source(file(tmp_path, body + b"\n" + body + b"\n"))
    assert source.kind == "jsonl"
    assert "text" in source.sample[0]


def test_a_file_of_nothing_but_damaged_lines_is_given_up(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n' + b"oops\n" * 100), limits=SMALL)
    with pytest.raises(Unreadable, match="more than 5 lines skipped; line 2: not JSON"):
        list(source.records())


@pytest.mark.parametrize("size", [1 << 27, pytest.param(1 << 30, marks=long)])
def test_a_huge_line_is_passed_over_in_bounded_memory(tmp_path: Path, size: int) -> None:
    path = tmp_path / "huge.jsonl"
    with open(path, "wb") as sparse:
        sparse.write(b'{"a":1}\n{"b":"')
        sparse.seek(size)
        sparse.write(b'"}\n{"c":3}\n')
    with peak() as used:
        source = Source(path)
        assert values(source) == [{"a": 1}, {"c": 3}]
    assert reasons(source) == [(2, "line longer than 32 MiB")]
    assert used[0] < 64 << 20


# Documents


def test_one_value_over_many_lines_is_a_document(tmp_path: Path) -> None:
    source = Source(file(tmp_path, json.dumps({"a": [1, {"b": 2}]}, indent=2).encode()))
    assert (source.kind, source.document) == ("json", {"a": [1, {"b": 2}]})
    assert values(source) == [{"a": [1, {"b": 2}]}]


def test_one_record_is_a_document_and_a_record(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'{"a":1}\n'))
    assert (source.kind, source.document, source.sample) == ("json", {"a": 1}, ({"a": 1},))
    assert list(source.records()) == [Record(1, {"a": 1})]


def test_the_items_of_a_list_are_its_records(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b'[\n{"a":1},\n3,\n{"b":2}\n]\n'))
    assert source.kind == "json"
    assert values(source) == [{"a": 1}, {"b": 2}]
    assert reasons(source) == [(2, "not a JSON object but a number")]


def test_a_cut_off_document_is_unreadable_with_its_reason(tmp_path: Path) -> None:
    source = Source(file(tmp_path, json.dumps({"a": list(range(50))}, indent=2).encode()[:-20]))
    assert source.sample == ()
    with pytest.raises(Unreadable, match="not JSON"):
        _ = source.document


def test_a_document_over_the_limit_is_unreadable_and_not_a_thousand_bad_lines(tmp_path: Path) -> None:
    body = json.dumps([{"number": number} for number in range(500)], indent=2).encode()
    source = Source(file(tmp_path, body), limits=SMALL)
    with pytest.raises(Unreadable, match="one JSON value larger than"):
        list(source.records())


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b" " * (2 << 20), "other"),
        (b"\x7fELF\x02\x01\x01\x00", "other"),
        (b"hello", "other"),
        (b"{}", "json"),
        (b"[]\n", "json"),
        (b"{}\n{}\n", "jsonl"),
        (b"\n\n{}\n{}\n", "jsonl"),
    ],
)
def test_the_kind_of_a_file_follows_from_its_content(tmp_path: Path, body: bytes, kind: str) -> None:
    source = Source(file(tmp_path, body))
    assert source.kind == kind


# Compressed files


def test_a_compressed_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    body = b'{"a":1}\n{"b":2}\n'
    source = Source(file(tmp_path, gzip.compress(body), "file.jsonl.gz"))
    assert source.compressed
    assert values(source) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("cut", [12, 200])
def test_a_cut_off_compressed_file_is_unreadable(tmp_path: Path, cut: int) -> None:
    body = gzip.compress(b"".join(json.dumps({"n": hash(str(n))}).encode() + b"\n" for n in range(5000)))
    with pytest.raises(Unreadable, match="cannot be read"):
        list(Source(file(tmp_path, body[:cut])).records())


def test_a_damaged_compressed_file_is_unreadable(tmp_path: Path) -> None:
    body = bytearray(gzip.compress(b'{"a":1}\n' * 5000))
    body[20:40] = bytes(20)
    with pytest.raises(Unreadable, match="cannot be read"):
        list(Source(file(tmp_path, bytes(body))).records())


def test_a_compression_bomb_is_refused_without_unpacking_it_all(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as bomb:
        bomb.write(b'{"a":1}\n{"a":"')
        for _ in range(100):
            bomb.write(bytes(1 << 20))
    with peak() as used, pytest.raises(Unreadable, match="expands to more than"):
        list(Source(path, limits=ReadLimits(line_bytes=4 << 20)).records())
    assert used[0] < 24 << 20


# Files that are none


def test_a_folder_and_a_missing_file_are_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="not a file"):
        Source(tmp_path)
    with pytest.raises(Unreadable, match="no such file"):
        Source(tmp_path / "none.jsonl")


def test_the_name_in_the_report_may_differ_from_the_path(tmp_path: Path) -> None:
    source = Source(file(tmp_path, b"{}"), name="-")
    source.skip("why")
    assert [(skipped.path, skipped.line) for skipped in source.skipped] == [("-", 0)]


def test_a_session_that_is_too_long_to_hold_is_refused_with_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"a": 1}\n' * 11)
    limits = ReadLimits(session_records=10)
    with pytest.raises(Unreadable, match="a session of more than 10 records"):
        list(Source(path, limits=limits).session_records())
    assert len(list(Source(path, limits=limits).records())) == 11
