"""Eight processes at once, for Whet and for the original's way."""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import rival_learner
from fault_operations import NOW, Tally, agrees, changes_of, home_of, patch, start, sync_all, target_of
from whet.changes.apply import apply, revert
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.ledger.marked_block import Block, find
from whet.ledger.patch_faults import TextLimits
from whet.ledger.patches import Form
from whet.own.told import skills
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.telling.targets.drawing import offered
from whet.telling.targets.sync import SyncOrder, sync

PROCESSES, ROUNDS = 8, 15
ROOMY = TextLimits(rules=1000, rulebook=1_000_000)
FORMS = {3: (Form.SKILL, "s{}-{}"), 4: (Form.NOTE, "memory/n{}-{}")}  # of every five changes; the others are rules


def crowd_whet(work: Path) -> Tally:
    """Eight processes apply rules, notes and skills, revert some, and sync, all in one home and one project."""
    folder = work / "crowd"
    start(folder)
    sync_all(folder)
    first = changes_of(folder)
    file = folder / "project" / "CLAUDE.md"

    def torn() -> bool:
        found = find(file.read_bytes())
        return not isinstance(found, Block) or found.edited

    reports, looks, bad = _crowd(partial(_whet_member, folder), torn)
    wrong: Counter[str] = Counter(torn=bad)
    sync_all(folder)
    with opened(home_of(folder)) as database:
        state = ledger_of(home_of(folder), database).state()
    kept = [text for report in reports for text in report["kept"]]
    reverted = [text for report in reports for text in report["reverted"]]
    texts = [item.text for item in (*state.rules, *state.notes, *state.skills)]
    copies = (folder / "project" / ".claude" / "skills").glob("*/SKILL.md")
    told = [path.read_text() for path in (file, home_of(folder).folder / "memory.md", *copies)]
    wrong["lost"] += sum(text not in texts or not any(text in each for each in told) for text in kept)
    wrong["lost"] += sum(text in texts or any(text in each for each in told) for text in reverted)
    wrong["unlogged"] += not agrees(folder)
    made = sum(len(report["kept"]) + 2 * len(report["reverted"]) for report in reports)
    written = changes_of(folder) - first
    wrong["unlogged"] += abs(made - written)
    wrong["failed"] += sum(report["failed"] for report in reports)
    return Tally(made, written, wrong, looks)


def _whet_member(folder: Path, member: int) -> dict[str, list[str]]:
    kept: list[str] = []
    reverted: list[str] = []
    home = home_of(folder)
    with opened(home) as database:
        order = SyncOrder(home, partial(offered, home, ledger_of(home, database)))
        for number in range(ROUNDS):
            words = " ".join(_word(member, number, place) for place in range(5))
            form, name = FORMS.get(number % 5, (Form.RULE, "r{}-{}"))
            name = name.format(member, number)
            one = patch(form, name, skills.compose(name, words, words) if form is Form.SKILL else f"{words}.")
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
