"""Zip files: each member that can be read is, whatever the others are."""

import json
import zipfile
from pathlib import Path

import pytest

from whet.agents.formats.source import ReadLimits, Source, Unreadable

SMALL = ReadLimits(document_bytes=2000)


def zipped(folder: Path, **members: bytes) -> Path:
    path = folder / "file.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(f"{name}.json", body)
    return path


def test_the_members_of_a_zip_file_are_values(tmp_path: Path) -> None:
    source = Source(zipped(tmp_path, one=b'{"a":1}', two=b"[2]"))
    assert source.kind == "zip"
    with source.archive() as archive:
        assert {name: archive.read(name) for name in archive.names} == {"one.json": {"a": 1}, "two.json": [2]}


def test_a_member_that_cannot_be_read_says_why_and_the_others_can(tmp_path: Path) -> None:
    with Source(zipped(tmp_path, bad=b"{", huge=b" " * 3000, good=b"{}"), limits=SMALL).archive() as archive:
        for name in ("bad.json", "huge.json"):
            with pytest.raises(Unreadable, match=name):
                archive.read(name)
        assert archive.read("good.json") == {}


def test_a_damaged_member_is_unreadable(tmp_path: Path) -> None:
    path = zipped(tmp_path, one=json.dumps(list(range(1000))).encode(), two=b"{}")
    body = bytearray(path.read_bytes())
    body[60:90] = b"\xff" * 30
    path.write_bytes(body)
    with Source(path).archive() as archive:
        with pytest.raises(Unreadable):
            archive.read("one.json")
        assert archive.read("two.json") == {}


@pytest.mark.parametrize("keep", [4, 30, -10])
def test_a_cut_off_zip_file_is_unreadable(tmp_path: Path, keep: int) -> None:
    path = zipped(tmp_path, one=b'{"a":1}')
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(Unreadable, match="broken zip file"), Source(path).archive():
        pass
