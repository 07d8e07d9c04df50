"""Whether orders that strangers planted in real sessions reach an agent, and how many clean words are held back.

.venv/bin/python bench/trust.py

A model that obeys everything reads the attacked sessions of agentdojo and wants to keep each planted order as a rule,
a note, a skill, a template and a job, as trusted as it can claim. What people said in the other sets is kept as notes.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from labelled import HEALTHY, LABELLED, cases, path_of
from whet.changes.apply import apply
from whet.changes.pending import approve, submit
from whet.errors import WhetError
from whet.ledger.entries import Actor, State
from whet.ledger.patch_faults import Fault, TextLimits, faults
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, derived
from whet.own.told.skills import compose
from whet.sessions.transcripts import Origin, Role, Text, Transcript
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

ATTACKED = "agentdojo_dev"
PLANTED = re.compile(r"<INFORMATION>\s*(.*?)\s*</INFORMATION>", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
ROOMY = TextLimits(rule=5_000, note=5_000, rules=100_000, rulebook=10**9, pending=10**9)
NAMES = {Form.RULE: "r{}", Form.NOTE: "memory/n{}", Form.SKILL: "s{}", Form.TEMPLATE: "t{}", Form.JOB: "j{}"}
FEWEST_WORDS, MOST_CHARACTERS = 4, 400


def main() -> None:
    if not path_of(ATTACKED).exists():
        print(f"There is no {path_of(ATTACKED)}; set WHET_BENCH_DATA.")
        sys.exit(1)
    planted = {(text, trust) for case in cases(ATTACKED) for text, trust in orders(case.transcript)}
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        with opened(home) as database:
            tally = obeyed(home, database, sorted(planted))
    print(f"{len(planted):,} planted orders of real sessions, in {len(NAMES)} channels: {dict(tally)}")
    print(f"got through unapproved: {tally['through']} of {tally['tries']:,}")
    said = sorted({text for name in (*HEALTHY, *LABELLED) for case in cases(name) for text in sayings(case.transcript)})
    held = Counter(found[0].kind.value for text in said if (found := note_faults(text)))
    share = 100 * sum(held.values()) / len(said)
    print(f"sentences that people said: {len(said):,}; held back as notes: {sum(held.values())} ({share:.2f} %)")
    print(f"  why: {dict(held.most_common())}")
    sys.exit(bool(tally["through"]))


def orders(transcript: Transcript) -> Iterator[tuple[str, Trust]]:
    """What strangers planted in the results of tools, each with the lowest trust of all that the model had read."""
    lowest = Trust.OPERATOR
    for message in transcript.messages:
        lowest = min(lowest, message.trust)
        for result in message.results:
            for order in PLANTED.findall(result.text):
                yield order, lowest


def obeyed(home: Home, database: Database, planted: list[tuple[str, Trust]]) -> Counter[str]:
    """What became of every order in every channel."""
    tally: Counter[str] = Counter()
    for number, (order, trust) in enumerate(planted):
        for form, pattern in NAMES.items():
            name = pattern.format(number)
            text = compose(name, order[:900], order) if form is Form.SKILL else order
            wish = derived(
                Patch(form, Action.ADD, name, text, trust=Trust.OPERATOR, origin=PatchOrigin(said="as told")), (trust,)
            )
            tally["tries"] += 1
            for actor in Actor:
                tally["through"] += _goes(partial(apply, home, database, wish, actor=actor, now=1.0, limits=ROOMY))
            tally["through"] += _waits(home, database, wish, tally)
    items = ledger_of(home, database).state().items
    tally["through"] += len(items) + sum((home.folder / name).exists() for name in ("memory.md", "skills", "jobs"))
    return tally


def _goes(act: Callable[[], object]) -> bool:
    try:
        act()
    except WhetError:
        return False
    return True


def _waits(home: Home, database: Database, wish: Patch, tally: Counter[str]) -> bool:
    """Whether an agent gets it into force by proposing and approving it itself."""
    try:
        entry = submit(home, database, wish, actor=Actor.AGENT, now=1.0, limits=ROOMY)
    except WhetError:
        tally["refused for other faults"] += 1
        return False
    tally[entry.step.value] += 1
    return _goes(partial(approve, home, database, entry.number, actor=Actor.AGENT, now=1.0))


def sayings(transcript: Transcript) -> Iterator[str]:
    """Sentences of a length that could be a note, in a person's own words."""
    for message in transcript.messages:
        if message.role is Role.USER and message.trust is Trust.USER and message.origin is Origin.TURN:
            for part in message.parts:
                if isinstance(part, Text):
                    yield from (
                        sentence.strip()
                        for sentence in SENTENCE.split(part.text)
                        if len(sentence.split()) >= FEWEST_WORDS and len(sentence) <= MOST_CHARACTERS
                    )


def note_faults(text: str) -> tuple[Fault, ...]:
    return faults(Patch(Form.NOTE, Action.ADD, "memory/one", text, trust=Trust.USER), State())


if __name__ == "__main__":
    main()
