"""Files are read in pages, written whole, and edited where the text is unique."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.tools.rooms import Room, ask_for


def test_what_is_written_is_read_again(room: Room) -> None:
    box = room.box()
    written = ask_for(box, "write_file", path="a/b/c.txt", content="één\ntwo\n")
    assert written.result.error is False
    assert (room.work / "a/b/c.txt").read_text() == "één\ntwo\n"
    assert ask_for(box, "read_file", path="a/b/c.txt").result.text == "één\ntwo"
    assert ask_for(box, "read_file", path=str(room.work / "a/b/c.txt")).result.text == "één\ntwo"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_pages_put_together_give_the_file(room: Room, text: str, offset: int, limit: int) -> None:
    (room.work / "x").write_text(text)
    lines = text.removesuffix("\n").split("\n")
    answer = ask_for(room.box(), "read_file", path="x", offset=offset, limit=limit)
    wanted = lines[offset - 1 : offset - 1 + limit]
    if wanted:
        shown = answer.result.text
        assert shown.startswith("\n".join(wanted))
        assert ("more from offset" in shown[len("\n".join(wanted)) :]) is (len(lines) > offset - 1 + limit)
    else:
        assert answer.result.error is True


def test_a_mode_is_kept(room: Room) -> None:
    script = room.work / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    ask_for(room.box(), "write_file", path="run.sh", content="new")
    assert script.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("path", ["missing.txt", "folder", "binary", "/dev/zero", "pipe"])
def test_what_cannot_be_read_is_told(room: Room, path: str) -> None:
    (room.work / "folder").mkdir()
    (room.work / "binary").write_bytes(b"\x7fELF\0\0")
    os.mkfifo(room.work / "pipe")
    answer = ask_for(room.box(), "read_file", path=path)
    assert answer.result.error is True
    assert answer.result.text


def test_a_missing_file_names_what_is_there(room: Room) -> None:
    (room.work / "src").mkdir()
    (room.work / "src" / "main.py").write_text("")
    assert "main.py" in ask_for(room.box(), "read_file", path="src/mian.py").result.text


def test_what_lies_elsewhere_is_not_told_by_its_names(room: Room) -> None:
    assert "victim" not in ask_for(room.box(), "read_file", path=f"{room.outside}/vixtim").result.text


def test_a_huge_file_is_read_in_part(room: Room) -> None:
    with (room.work / "huge").open("wb") as file:
        file.write(b"x" * 10_000_000 + b"\n")
        file.write(b"line\n" * 1_000_000)
    answer = ask_for(room.box(), "read_file", path="huge")
    assert len(answer.result.text) < 100_000
    assert "characters left out" in answer.result.text
    assert "more from offset" in answer.result.text


def test_an_edit_replaces_the_one_place(room: Room) -> None:
    (room.work / "x.py").write_text("a = 1\nb = 2\n")
    answer = ask_for(room.box(), "edit", path="x.py", old="b = 2", new="b = 3")
    assert answer.result.error is False
    assert "line 2" in answer.result.text
    assert (room.work / "x.py").read_text() == "a = 1\nb = 3\n"


def test_an_edit_keeps_the_line_ends_of_the_file(room: Room) -> None:
    (room.work / "x").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    ask_for(room.box(), "edit", path="x", old="one\ntwo", new="1\n2")
    assert (room.work / "x").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_an_ambiguous_edit_names_the_lines(room: Room) -> None:
    (room.work / "x").write_text("same\nother\nsame\n")
    box = room.box()
    answer = ask_for(box, "edit", path="x", old="same", new="new")
    assert answer.result.error is True
    assert "lines 1, 3" in answer.result.text
    assert (room.work / "x").read_text() == "same\nother\nsame\n"
    assert ask_for(box, "edit", path="x", old="same", new="new", all=True).result.error is False
    assert (room.work / "x").read_text() == "new\nother\nnew\n"


def test_an_edit_that_misses_shows_the_nearest_lines(room: Room) -> None:
    (room.work / "x.py").write_text("import os\n\ndef compute_total(items):\n    return sum(items)\n")
    answer = ask_for(room.box(), "edit", path="x.py", old="def compute_totals(items):", new="x")
    assert answer.result.error is True
    assert "def compute_total(items):" in answer.result.text
    assert "from line 1" in answer.result.text


@pytest.mark.parametrize("path", ["missing", "latin", "folder"])
def test_what_cannot_be_edited_is_told_and_left(room: Room, path: str) -> None:
    (room.work / "latin").write_bytes(b"caf\xe9 old")
    (room.work / "folder").mkdir()
    assert ask_for(room.box(), "edit", path=path, old="old", new="new").result.error is True
    assert (room.work / "latin").read_bytes() == b"caf\xe9 old"


def test_nothing_is_left_behind_by_writing(room: Room) -> None:
    box = room.box()
    for number in range(5):
        ask_for(box, "write_file", path="x", content=str(number))
    assert [each.name for each in room.work.iterdir()] == ["x"]


def test_a_file_that_may_not_be_written_is_told(room: Room, tmp_path: Path) -> None:
    answer = ask_for(room.box(), "write_file", path=f"{tmp_path}/x", content="x")
    assert answer.result.error is True
    assert not (tmp_path / "x").exists()
