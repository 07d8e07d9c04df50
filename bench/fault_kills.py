"""Kills at random times, for Whet and for the original's way."""

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import rival_learner
from fault_operations import (
    Tally,
    add_notes,
    add_rule,
    add_skill,
    agrees,
    changes_of,
    files_of,
    home_of,
    settle_home,
    start,
    sync_all,
    undo_last,
)
from whet.errors import WhetError
from whet.store.ledger import HEAD, ledger_of, noted
from whet.store.opening import opened

LONGEST_SECONDS = 0.3


def kill_whet(work: Path, kills: int, *, seed: int) -> Tally:
    """A process that applies, syncs, undoes and writes notes and skills for ever, killed again and again."""
    folder, rng = work / "whet", random.Random(seed)
    start(folder)
    wrong: Counter[str] = Counter()
    total = 0
    allowed = _contents(work / "states")
    for _ in range(kills):
        before = changes_of(folder)
        acknowledged = _killed(partial(_whet_for_ever, folder), rng.uniform(0, LONGEST_SECONDS))
        total += acknowledged
        told = {name: body for name, body in files_of(folder).items() if "skills" not in name}
        home = home_of(folder).folder
        is_note_torn = (home / HEAD).exists() and noted(home) is None
        wrong["torn"] += is_note_torn or any(body not in allowed.get(name, ()) for name, body in told.items())
        try:
            settle_home(folder)
            sync_all(folder)
        except WhetError as error:
            wrong[f"stuck: {error.message}"] += 1
            continue
        wrong["lost"] += changes_of(folder) < before + acknowledged
        wrong["unlogged"] += not agrees(folder)
        _clean(folder)
    return Tally(kills, total, wrong)


def kill_original(work: Path, kills: int, *, seed: int) -> Tally:
    folder, rng = work / "original", random.Random(seed)
    wrong: Counter[str] = Counter()
    total = 0
    for _ in range(kills):
        shutil.rmtree(folder, ignore_errors=True)
        rival_learner.prepare(folder)
        total += _killed(partial(_original_for_ever, folder), rng.uniform(0, LONGEST_SECONDS))
        prompt = (folder / "prompt.md").read_text()
        states = (rival_learner.HEAD, f"{rival_learner.HEAD}{rival_learner.RULE}\n")
        if prompt not in states:
            wrong["torn"] += 1
        elif (prompt == states[1]) != bool(rival_learner.logged(folder)):
            wrong["unlogged"] += 1
    return Tally(kills, total, wrong)


def _killed(work: Callable[[], Iterator[int]], seconds: float) -> int:
    """How many changes a process acknowledged before it was killed; each counts what `work` yields."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.write(writing, b"\0")
        for number in work():
            os.write(writing, bytes([number]))
        os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as acknowledged:
        acknowledged.read(1)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return sum(acknowledged.read())


def _whet_for_ever(folder: Path) -> Iterator[int]:
    """Yields how many changes of the ledger each step made."""
    while True:
        add_rule(folder)
        yield 1
        sync_all(folder)
        yield 0
        undo_last(folder)
        yield 1
        add_notes(folder)
        yield 2
        undo_last(folder)
        yield 2
        add_skill(folder)
        yield 1
        sync_all(folder)
        yield 0
        undo_last(folder)
        yield 1


def _original_for_ever(folder: Path) -> Iterator[int]:
    while True:
        rival_learner.act(folder)
        yield 1
        rival_learner.act_back(folder)
        yield 1


def _contents(folder: Path) -> dict[str, set[bytes | None]]:
    """Every content that each file may have."""
    found: dict[str, set[bytes | None]] = {}
    start(folder)
    for step in (sync_all, add_rule, sync_all, undo_last, sync_all, add_notes, undo_last, add_skill, undo_last):
        for name, body in files_of(folder).items():
            found.setdefault(name, set()).add(body)
        step(folder)
    found["project/CLAUDE.md"].add(files_of(folder)["project/CLAUDE.md"])
    return found


def _clean(folder: Path) -> None:
    """What was in force when the kill came is undone, so that the next process begins as the first did."""
    with opened(home_of(folder)) as database:
        items = ledger_of(home_of(folder), database).state().items
    names = {item.name for item in items}
    if names & {"read-first", "user/style", "memory/port", "deploy"}:
        undo_last(folder)
        sync_all(folder)
