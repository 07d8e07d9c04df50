"""Memory on disk: people's edits and Hermes' own files."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.ledger.patches import Action
from whet.own.told.memory import Memory, NoteChange, Reason, Refusal
from whet.store.memory_files import MemoryFolder, change, hermes_shelf, load


def adding(*texts: str) -> list[NoteChange]:
    return [NoteChange(Action.ADD, text) for text in texts]


def texts(memory: Memory | Refusal) -> list[str]:
    assert isinstance(memory, Memory)
    return [note.text for note in memory.notes]


def test_a_page_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert load(MemoryFolder(tmp_path), "memory") == Memory("memory")


def test_notes_are_a_list_that_people_can_edit(tmp_path: Path) -> None:
    change(MemoryFolder(tmp_path), "user", adding("Prefers tables.", "Works at night;\nsleeps late."))
    path = tmp_path / "user.md"
    assert path.read_text() == "- Prefers tables.\n- Works at night;\n  sleeps late.\n"
    path.write_text("# Me\n\n* Prefers lists.\n")
    assert texts(change(MemoryFolder(tmp_path), "user", adding("Lives in Oslo."))) == [
        "Prefers lists.",
        "Lives in Oslo.",
    ]
    assert path.read_text() == "# Me\n\n* Prefers lists.\n- Lives in Oslo.\n"


def test_a_refused_batch_writes_nothing(tmp_path: Path) -> None:
    change(MemoryFolder(tmp_path), "memory", adding("one"))
    made = change(MemoryFolder(tmp_path), "memory", [*adding("two"), NoteChange(Action.REMOVE, match="three")])
    assert isinstance(made, Refusal)
    assert made.reason is Reason.MISSING
    assert (tmp_path / "memory.md").read_text() == "- one\n"


def test_the_files_of_hermes_are_read_and_written_in_their_form(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("Project uses uv.\n§\nTests need\na database.")
    shelf = hermes_shelf(tmp_path)
    assert texts(load(shelf, "memory")) == ["Project uses uv.", "Tests need\na database."]
    change(shelf, "memory", [NoteChange(Action.CHANGE, "Project uses pip.", "uv"), *adding("Third.")])
    assert (folder / "MEMORY.md").read_text() == "Project uses pip.\n§\nTests need\na database.\n§\nThird."
    change(shelf, "user", adding("Likes brevity."))
    assert (folder / "USER.md").read_text() == "Likes brevity."


def test_a_file_of_hermes_is_not_written_while_hermes_holds_its_lock(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    worker = f"""
from pathlib import Path
from whet.own.told.memory import NoteChange
from whet.ledger.patches import Action
from whet.store.memory_files import change, hermes_shelf
print("ready", flush=True)
change(hermes_shelf(Path({str(tmp_path)!r})), "memory", [NoteChange(Action.ADD, "late")])
"""
    with (folder / "MEMORY.md.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen([sys.executable, "-c", worker], stdout=subprocess.PIPE)
        assert waiting.stdout is not None
        waiting.stdout.readline()
        (folder / "MEMORY.md").write_text("early")
    waiting.communicate(timeout=PATIENCE_SECONDS)
    assert waiting.returncode == 0
    assert (folder / "MEMORY.md").read_text() == "early\n§\nlate"


def test_a_file_that_is_no_text_gives_advice(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_bytes(b"\xff\xfe")
    with pytest.raises(WhetError, match="not UTF-8"):
        load(MemoryFolder(tmp_path), "memory")


def test_there_are_two_pages_and_no_other(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no notes called"):
        load(MemoryFolder(tmp_path), "../secret")
