"""Procedures in real sessions: how many are found, where they stand already, and how many orders merely recur.

.venv/bin/python bench/procedures.py

For each project of `bench/learning.py`, over all of its sessions: the requests that took several commands, the triples
of different commands that recur in the same order in three sessions (what counting alone would propose), and the
procedures, each with its sessions and the text that had told the agent of it.
"""

import os
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from whet.failures.view import gather
from whet.formats.source import Skipped
from whet.intake.reading import read_transcripts
from whet.lessons.finding import copies_of
from whet.lessons.procedure_drafts import procedure_lesson
from whet.lessons.procedures import SESSIONS_NEEDED, procedures
from whet.lessons.worked_orders import WorkedOrder, worked_orders
from whet.sessions.transcripts import Transcript

PROJECTS = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "projects"


def transcripts(folder: Path) -> list[Transcript]:
    read = (each for path in sorted(folder.glob("*.jsonl.gz")) for each in read_transcripts(path))
    return [each for each in read if not isinstance(each, Skipped)]


def recurring(orders: list[WorkedOrder]) -> int:
    """How many triples of commands three sessions ran in the same order."""
    sessions: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for order in orders:
        for triple in combinations([step.form for step in order.steps], 3):
            sessions[triple].add(order.session)
    return sum(len(each) >= SESSIONS_NEEDED for each in sessions.values())


def main() -> None:
    for folder in sorted(each for each in PROJECTS.iterdir() if each.is_dir()):
        every = transcripts(folder)
        copies = copies_of(every)
        orders = [each for one in every if one.id not in copies for each in worked_orders(gather(one))]
        found = procedures(orders, copies)
        print(
            f"{folder.name}: {len(every)} sessions, {len(orders)} requests, {recurring(orders)} triples recur, "
            f"{len(found)} procedures"
        )
        for each in found:
            draft = procedure_lesson(each, folder.name, is_declared=False).draft
            print(
                f"  {draft.name}, {each.sessions} sessions, trust {draft.trust.label}; in {each.stands_in or 'no text'}"
            )
            print(f"  {draft.situation}\n{draft.text}")


if __name__ == "__main__":
    main()
