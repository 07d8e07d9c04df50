"""A real store for the page: every example session, and something of everything that a view shows."""

import time
from pathlib import Path

import msgspec

from command import runner
from whet.changes.apply import apply, try_out
from whet.changes.pending import propose
from whet.evidence.verdicts import judge, way
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, Proof
from whet.sessions.trust import Trust
from whet.store.attempts import keep_attempt
from whet.store.canary_counts import CountedUnit, count
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.records import keep_progress
from whet.trials.attempts import Arm, Attempt, Measures, tally
from whet.trials.design import TrialProgress, TrialResult, TrialStop

NOW = 1_773_000_000.0
PROOF = Proof("67f1f8f31b5a6fb2a48b", 2, "retry_loop", "order not found: T48213")
PROPOSED = Patch(
    Form.RULE,
    Action.ADD,
    "ask-for-the-number",
    "If an order is not found, ask the customer for its number.\nDo not look it up again in the same way.",
    origin=PatchOrigin(said="The same lookup failed three times in a row."),
    trust=Trust.TOOL,
    proofs=(PROOF,),
)
RULE = Patch(Form.RULE, Action.ADD, "tidy", "Remove unused imports.", trust=Trust.OPERATOR)


def filled_home(folder: Path) -> Home:
    """A home with every example session, a rule, a canary with what was counted, a trial, and a change to decide on."""
    whet = runner(folder / "home", folder)
    examples = Path(__file__).parents[1] / "examples" / "sessions"
    assert whet("import", str(examples)).code == 0
    assert whet("report").code == 0
    home = Home(folder / "home")
    with opened(home) as database:
        apply(home, database, RULE, actor=Actor.PERSON, now=NOW)
        canary = msgspec.structs.replace(RULE, name="calm", text="Stop after two failures.")
        told = try_out(home, database, canary, actor=Actor.PERSON, now=NOW)
        ids = [each.id for each in list_sessions(database, Filters(), limit=30)]
        units = [CountedUnit(id, n % 2 == 0, 0.2 if n % 2 == 0 else 0.8, 1, ids=(id,)) for n, id in enumerate(ids)]
        count(database, told.number, units, now=NOW)
        propose(home, database, PROPOSED, actor=Actor.AGENT, now=time.time())
    keep_trial(home)
    return home


def keep_trial(home: Home) -> None:
    attempts = [
        Attempt(f"case-{n}", arm, seed, Measures(passed=arm is Arm.CANDIDATE or n == 0), session="", trial="t-1")
        for n in range(4)
        for arm in Arm
        for seed in range(2)
    ]
    moves = [0.0, 1.0, 1.0, 1.0]
    verdict = judge(moves)
    result = TrialResult(
        verdict,
        TrialStop.CASES,
        lesson=verdict,
        way=way(moves, verdict, planned=None),
        form=judge([0.0] * 4),
        tallies=tuple(tally(arm, attempts) for arm in Arm),
    )
    progress = TrialProgress("t-1", result, len(attempts), len(attempts))
    with opened(home) as database:
        ledger = ledger_of(home, database)
        entry = Entry(0, Step.UNDECIDED, RULE, Actor.POLICY, NOW, verdict=msgspec.json.encode(progress).decode())
        number = ledger.append([entry])[0].number
        keep_progress(database, "t-1", msgspec.structs.replace(progress, entry=number), now=NOW)
        for place, attempt in enumerate(attempts):
            keep_attempt(database, str(place), attempt, now=NOW)
