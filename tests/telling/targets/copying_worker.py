"""Copies one skill into a folder and takes it away again, many times: what several syncs at once may do."""

import sys
from pathlib import Path

from whet.store.files import Conflict
from whet.telling.targets.skill_folders import CopyOptions, copied, copy, withdraw

CONTENT = {"SKILL.md": b"See references/steps.md\n", "references/steps.md": b"1. Build\n"}


def main(folder: Path, rounds: int) -> None:
    hand = CopyOptions("home")
    for _ in range(rounds):
        try:
            copy(folder, "deploy", CONTENT, hand)
            for name in copied(folder, "home"):
                withdraw(folder, name, hand)
        except Conflict:
            continue  # a sync looks again then


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
