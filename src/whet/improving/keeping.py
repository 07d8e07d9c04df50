"""What becomes of a change when its trial has ended: what the verdict says, done once."""

import time

from msgspec.structs import replace

from whet.changes.apply import Refused, apply, try_out
from whet.changes.pending import propose
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling, Verdict
from whet.ledger.entries import Actor, Entry
from whet.ledger.patches import Form, Patch
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.trials.design import TrialProgress
from whet.trials.drafts import Way
from whet.trials.ideas import Became, Idea, IdeaOutcome, retires

BECAME = {Ruling.REJECT: Became.REJECTED, Ruling.UNDECIDED: Became.UNDECIDED}


def keep(home: Home, idea: Idea, progress: TrialProgress, *, share: float) -> IdeaOutcome:
    """Do what the verdict says; what was done before a crash is found and not done again."""
    verdict = progress.result.verdict
    outcome = IdeaOutcome(idea, Became.UNDECIDED, verdict=verdict, entry=progress.entry, attempts=progress.attempts)
    assert idea.patch is not None
    with opened(home) as database:
        if idea.way is Way.RETIRE:
            return _retire(home, database, idea.patch, verdict, outcome)
        if verdict.ruling is Ruling.UNDECIDED and idea.way is Way.EVIDENCE:
            return _ask(home, database, _tried(idea.patch, progress.trial), outcome)
        if verdict.ruling is not Ruling.ACCEPT:
            return replace(outcome, became=BECAME[verdict.ruling], why=progress.result.held_back)
        if idea.way is Way.TEMPLATE:
            return replace(outcome, became=Became.KEPT, why="`--warm auto` may choose it")
        return _put_in_force(home, database, _tried(idea.patch, progress.trial), outcome, share=share)


def _put_in_force(home: Home, database: Database, patch: Patch, outcome: IdeaOutcome, *, share: float) -> IdeaOutcome:
    """Tell an accepted rule to a share of the sessions, and a note to all, for nothing tells it to a share.

    What has words that nobody vouches for waits for a person, and so does every skill.
    """
    known = ledger_of(home, database).state().get(patch.form, patch.name)
    if known is not None and (known.text, known.scope) == (patch.text, patch.scope):
        became = Became.CANARY if patch.form is Form.RULE else Became.KEPT
        return replace(outcome, became=became, entry=known.number)
    if patch.is_foreign or patch.form is Form.SKILL:
        return _ask(home, database, patch, outcome)
    try:
        if share >= 1 or patch.form is Form.NOTE:
            entry = apply(home, database, patch, actor=Actor.POLICY, now=time.time())
            return replace(outcome, became=Became.KEPT, entry=entry.number)
        entry = try_out(home, database, patch, actor=Actor.POLICY, now=time.time(), share=share)
    except (Refused, Conflict) as error:
        return replace(outcome, became=Became.REFUSED, why=error.message)
    return replace(outcome, became=Became.CANARY, entry=entry.number)


def _tried(patch: Patch, trial: str) -> Patch:
    return replace(patch, origin=replace(patch.origin, trial=trial, untried=None))


def _ask(home: Home, database: Database, patch: Patch, outcome: IdeaOutcome) -> IdeaOutcome:
    """Let what was tried wait for a person, with its verdict."""
    try:
        entry = propose(home, database, patch, actor=Actor.POLICY, now=time.time())
    except WhetError as error:
        return replace(outcome, became=Became.REFUSED, why=error.message)
    return replace(outcome, became=Became.WAITS, entry=entry.number, why=f"whet pending approve {entry.number}")


def let_wait(home: Home, database: Database, patch: Patch, *, untried: str) -> Entry:
    """Let a patch wait for a person that there was no trial of, and say why."""
    told = replace(patch, origin=replace(patch.origin, untried=untried))
    return propose(home, database, told, actor=Actor.POLICY, now=time.time())


def _retire(home: Home, database: Database, patch: Patch, verdict: Verdict, outcome: IdeaOutcome) -> IdeaOutcome:
    """Take a rule away that no longer helps; a person's own waits for that person."""
    if not retires(verdict):
        return replace(outcome, became=Became.KEPT, why="without it, more fails" if _fails(verdict) else "not sure")
    rule = ledger_of(home, database).state().get(Form.RULE, patch.name)
    if rule is None:
        return replace(outcome, became=Became.RETIRED)
    if rule.trust is Trust.OPERATOR:
        entry = propose(home, database, patch, actor=Actor.POLICY, now=time.time())
        return replace(outcome, became=Became.WAITS, entry=entry.number, why=f"whet pending approve {entry.number}")
    entry = apply(home, database, patch, actor=Actor.POLICY, now=time.time())
    return replace(outcome, became=Became.RETIRED, entry=entry.number)


def _fails(verdict: Verdict) -> bool:
    return verdict.ruling is Ruling.REJECT
