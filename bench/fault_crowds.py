"""Kills at random times, and many processes at once, for Whet and for the original's way."""

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import rival_learner
from fault_operations import (
    NOW,
    add_notes,
    add_rule,
    add_skill,
    files_of,
    home_of,
    patch,
    settle_home,
    start,
    sync_all,
    target_of,
    undo_last,
)
from whet.blocks import Block, find
from whet.errors import WhetError
from whet.faults import Limits
from whet.learning.apply import apply, revert
from whet.learning.changing import ledger_of
from whet.ledger import CHANGES, Actor
from whet.patches import Form
from whet.store.opening import opened
from whet.targets.offering import offered
from whet.targets.sync import Order, sync

PROCESSES, ROUNDS = 8, 15
LONGEST_SECONDS = 0.3
ROOMY = Limits(rules=1000, rulebook=1_000_000)


class Tally(NamedTuple):
    """How many tries, and what went wrong in them."""

    tries: int
    acknowledged: int
    wrong: Counter[str]
    looks: int = 0  # of a reader meanwhile


# ---- kills at random times


def kill_whet(work: Path, kills: int, *, seed: int) -> Tally:
    """A process that applies, syncs, undoes and writes notes and skills for ever, killed again and again."""
    folder, rng = work / "whet", random.Random(seed)
    start(folder)
    wrong: Counter[str] = Counter()
    total = 0
    allowed = _contents(work / "states")
    for _ in range(kills):
        before = _changes(folder)
        acknowledged = _killed(partial(_whet_for_ever, folder), rng.uniform(0, LONGEST_SECONDS))
        total += acknowledged
        torn = any(body not in allowed.get(name, ()) for name, body in files_of(folder).items() if "skills" not in name)
        wrong["torn"] += torn
        try:
            settle_home(folder)
            sync_all(folder)
        except WhetError as error:
            wrong[f"stuck: {error.message}"] += 1
            continue
        wrong["lost"] += _changes(folder) < before + acknowledged
        wrong["unlogged"] += not _agrees(folder)
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


def _changes(folder: Path) -> int:
    with opened(home_of(folder)) as database:
        return sum(entry.step in CHANGES for entry in ledger_of(home_of(folder), database).entries())


def _agrees(folder: Path) -> bool:
    """Whether the files say exactly what the ledger says is in force."""
    with opened(home_of(folder)) as database:
        state = ledger_of(home_of(folder), database).state()
    found = {name: body.decode() for name, body in files_of(folder).items()}
    notes = [line for name in ("home/user.md", "home/memory.md") for line in found.get(name, "").splitlines()]
    said = [line.removeprefix("- ") for line in notes if line.startswith("- ")]
    skills = {name.split("/", 2)[2]: body for name, body in found.items() if name.startswith("home/skills/")}
    copies = {name.split("/", 3)[3] for name in found if name.startswith("project/.claude/skills/")}
    wanted = {f"{item.name}/SKILL.md": item.text for item in state.skills}
    wanted |= {item.name: item.text for item in state.of(Form.FILE)}
    block = find(found["project/CLAUDE.md"].encode())
    rules = block.text if isinstance(block, Block) else ""
    return (
        sorted(said) == sorted(item.text for item in state.notes)
        and skills == wanted
        and {name for name in copies if not name.endswith(".whet.json")} == set(wanted)
        and rules.count("\n- ") == len(state.rules)
        and all(f"- {item.text}" in rules for item in state.rules)
    )


def _clean(folder: Path) -> None:
    """What was in force when the kill came is undone, so that the next process begins as the first did."""
    with opened(home_of(folder)) as database:
        items = ledger_of(home_of(folder), database).state().items
    names = {item.name for item in items}
    if names & {"read-first", "user/style", "memory/port", "deploy"}:
        undo_last(folder)
        sync_all(folder)


# ---- many processes at once


def crowd_whet(work: Path) -> Tally:
    """Eight processes apply rules and notes, revert some, and sync, all in one home and one file."""
    folder = work / "crowd"
    start(folder)
    sync_all(folder)
    file = folder / "project" / "CLAUDE.md"

    def torn() -> bool:
        found = find(file.read_bytes())
        return not isinstance(found, Block) or found.edited

    reports, looks, bad = _crowd(partial(_whet_member, folder), torn)
    wrong: Counter[str] = Counter(torn=bad)
    sync_all(folder)
    with opened(home_of(folder)) as database:
        ledger = ledger_of(home_of(folder), database)
        state, entries = ledger.state(), ledger.entries()
    kept = [text for report in reports for text in report["kept"]]
    reverted = [text for report in reports for text in report["reverted"]]
    texts = [item.text for item in (*state.rules, *state.notes)]
    block = find(file.read_bytes())
    shown = block.text if isinstance(block, Block) else ""
    page = (home_of(folder).folder / "memory.md").read_text()
    written = sum(entry.step in CHANGES for entry in entries)
    wrong["lost"] += sum(text not in texts or (text not in shown and text not in page) for text in kept)
    wrong["lost"] += sum(text in texts or text in shown or text in page for text in reverted)
    wrong["unlogged"] += not _agrees(folder)
    made = sum(len(report["kept"]) + 2 * len(report["reverted"]) for report in reports)
    wrong["failed"] += sum(report["failed"] for report in reports)
    return Tally(made, written, wrong, looks)


def _whet_member(folder: Path, member: int) -> dict[str, list[str]]:
    kept: list[str] = []
    reverted: list[str] = []
    home = home_of(folder)
    with opened(home) as database:
        order = Order(home, partial(offered, home, ledger_of(home, database)))
        for number in range(ROUNDS):
            words = " ".join(_word(member, number, place) for place in range(5))
            form, name = (
                (Form.NOTE, f"memory/n{member}-{number}") if number % 5 == 4 else (Form.RULE, f"r{member}-{number}")
            )
            one = patch(form, name, f"{words}.")
            entry = apply(home, database, one, actor=Actor.PERSON, now=NOW, limits=ROOMY)
            if number % 3 == 2:
                revert(home, database, entry.number, actor=Actor.PERSON, now=NOW)
            (reverted if number % 3 == 2 else kept).append(one.text)
            sync(order, (target_of(folder),))
    return {"kept": kept, "reverted": reverted}


def crowd_original(work: Path) -> Tally:
    folder = work / "crowd-original"
    rival_learner.prepare(folder)
    prompt = folder / "prompt.md"

    def torn() -> bool:
        text = prompt.read_text()
        return not text.startswith(rival_learner.HEAD) or not text.endswith("\n")

    reports, looks, bad = _crowd(partial(_original_member, folder), torn)
    kept = [text for report in reports for text in report["kept"]]
    lines, log = prompt.read_text().splitlines(), rival_learner.logged(folder)
    wrong = Counter(torn=bad, lost=sum(text not in lines for text in kept))
    wrong["unlogged"] = sum(line not in log for line in lines if line.startswith("- "))
    wrong["failed"] = sum(report["failed"] for report in reports)
    return Tally(len(kept), len(log), wrong, looks)


def _original_member(folder: Path, member: int) -> dict[str, list[str]]:
    kept = []
    for number in range(ROUNDS):
        kept.append(f"- {' '.join(_word(member, number, place) for place in range(5))}.")
        rival_learner.apply_rule(folder, kept[-1])
    return {"kept": kept, "reverted": []}


def _crowd(
    work: Callable[[int], dict[str, list[str]]], torn: Callable[[], bool]
) -> tuple[list[dict[str, Any]], int, int]:
    """What each process says that it did, and how often a reader meanwhile saw something torn."""
    members = []
    for member in range(PROCESSES):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            try:
                report = {**work(member), "failed": 0}
            except (WhetError, OSError) as error:
                report = {"kept": [], "reverted": [], "failed": 1, "error": str(error)}
            with os.fdopen(writing, "w") as pipe:
                pipe.write(json.dumps(report))
            os._exit(0)
        os.close(writing)
        members.append((child, reading))
    looks = bad = 0
    running = {child for child, _ in members}
    while running:
        bad += torn()
        looks += 1
        running -= {child for child in running if os.waitpid(child, os.WNOHANG)[0]}
        time.sleep(0.0005)
    reports = []
    for _, reading in members:
        with os.fdopen(reading) as pipe:
            reports.append(json.loads(pipe.read()))
    for report in reports:
        if report.get("error"):
            print(f"  a process failed: {report['error']}")
    return reports, looks, bad


def _word(member: int, number: int, place: int) -> str:
    """A word that no other rule has, so that none is a near-duplicate."""
    rng = random.Random(member * 10_000 + number * 10 + place)
    return "".join(rng.choice("bcdfghklmnprstvz") + rng.choice("aeiou") for _ in range(3))
