"""The original's way to change a prompt, written anew from its description: the rival in bench/faults.py.

It reads the whole file, copies it to a backup, opens it for writing, writes it, and appends a line to a log.
"""

import json
import shutil
import time
from pathlib import Path
from typing import NamedTuple

HEAD = "# Prompt\nYou are a careful agent.\n"
RULE = "- Read a file in full before you edit it."


class Seen(NamedTuple):
    """What stands in the files, and what the log says is in force; they must be old together or new together."""

    files: dict[str, bytes]
    in_force: tuple[tuple[str, str, str], ...]


def apply_rule(folder: Path, rule: str) -> None:
    prompt = folder / "prompt.md"
    text = prompt.read_text()
    if rule in text:
        return
    backups = folder / "backups"
    backups.mkdir(exist_ok=True)
    shutil.copy2(prompt, backups / f"prompt_{time.time_ns()}.md")
    with open(prompt, "w") as file:
        file.write(f"{text}{rule}\n")
    _log(folder, "apply", rule)


def roll_back(folder: Path) -> None:
    newest = max((folder / "backups").iterdir(), key=lambda path: path.name)
    shutil.copy2(newest, folder / "prompt.md")
    _log(folder, "rollback", newest.name)


def logged(folder: Path) -> tuple[str, ...]:
    """The rules in force as its log tells them; a rollback takes the last one back."""
    rules: list[str] = []
    log = folder / "log.jsonl"
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            rules.append("unreadable")
            continue
        if entry["action"] == "apply":
            rules.append(entry["rule"])
        elif rules:
            rules.pop()
    return tuple(rules)


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prompt.md").write_text(HEAD)


def prepare_applied(folder: Path) -> None:
    prepare(folder)
    apply_rule(folder, RULE)


def act(folder: Path) -> None:
    apply_rule(folder, RULE)


def act_back(folder: Path) -> None:
    roll_back(folder)


def recover(folder: Path) -> None:
    """It has nothing that looks after an interrupted change."""


def look(folder: Path) -> Seen:
    return Seen(
        {"prompt.md": (folder / "prompt.md").read_bytes()}, tuple(("rule", "", rule) for rule in logged(folder))
    )


def _log(folder: Path, action: str, rule: str) -> None:
    with open(folder / "log.jsonl", "a") as log:
        log.write(json.dumps({"action": action, "rule": rule, "at": time.time()}) + "\n")
