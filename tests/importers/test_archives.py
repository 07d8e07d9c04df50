"""Zip files: each member that can be read is, whatever the others are."""

import json
import zipfile
from pathlib import Path

import pytest

from whet.importers.source import ReadLimits, Source, Unreadable

SMALL = ReadLimits(document_bytes=2000)


def reasons(source: Source) -> list[str]:
    return [skipped.reason for skipped in source.skipped]


def zipped(folder: Path, **members: bytes) -> Path:
    path = folder / "file.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(f"{name}.json", body)
    return path


def test_the_members_of_a_zip_file_are_values(tmp_path: Path) -> None:
    source = Source(zipped(tmp_path, one=b'{"a":1}', two=b"[2]"))
    assert source.kind == "zip"
    assert list(source.members()) == [("one.json", {"a": 1}), ("two.json", [2])]


def test_a_member_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    source = Source(zipped(tmp_path, bad=b"{", huge=b" " * 3000, good=b"{}"), limits=SMALL)
    assert list(source.members()) == [("good.json", {})]
    assert [reason.partition(" ")[0] for reason in reasons(source)] == ["bad.json:", "huge.json"]


def test_a_damaged_member_is_reported(tmp_path: Path) -> None:
    path = zipped(tmp_path, one=json.dumps(list(range(1000))).encode(), two=b"{}")
    body = bytearray(path.read_bytes())
    body[60:90] = b"\xff" * 30
    path.write_bytes(body)
    source = Source(path)
    assert list(source.members()) == [("two.json", {})]
    assert len(source.skipped) == 1


@pytest.mark.parametrize("keep", [4, 30, -10])
def test_a_cut_off_zip_file_is_unreadable(tmp_path: Path, keep: int) -> None:
    path = zipped(tmp_path, one=b'{"a":1}')
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(Unreadable, match="broken zip file"):
        list(Source(path).members())
