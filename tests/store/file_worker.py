"""A process of its own that writes files: `python file_worker.py ORDER ROOT ARGUMENT`."""

import sys
from pathlib import Path

from whet.ledger.patches import Action
from whet.store import files, memory_files
from whet.store.memory_files import MemoryFolder
from whet.told.memory import NoteChange, Refusal


def write_for_ever(root: Path, size: str) -> None:
    """Replace one file by one letter after the other, until somebody ends the process."""
    place = files.beneath(root, "deep", "file")
    letter = 0
    while True:
        body = bytes([ord("a") + letter % 26]) * int(size)
        files.write(place, body, expected=files.read(place))
        letter += 1
        sys.stdout.write(".")
        sys.stdout.flush()


def add_notes(root: Path, who: str) -> None:
    for number in range(6):
        made = memory_files.change(MemoryFolder(root), "memory", [NoteChange(Action.ADD, f"note {who}.{number}")])
        if isinstance(made, Refusal):
            sys.exit(made.message)


def count_up(root: Path, times: str) -> None:
    """Add one to the number in a file, again whenever somebody else was faster."""
    place = files.beneath(root, "number")
    done = 0
    while done < int(times):
        body = files.read(place)
        try:
            files.write(place, b"%d" % (int(body or 0) + 1), expected=body)
        except files.Conflict:
            continue
        done += 1


ORDERS = {"write": write_for_ever, "notes": add_notes, "count": count_up}

if __name__ == "__main__":
    ORDERS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
