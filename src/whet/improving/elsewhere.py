"""Rules that were proved on one model, carried to agents that run others: as canaries where the person allows it."""

import time

from whet.changes.apply import Refused, try_out
from whet.changes.pending import propose
from whet.ledger.entries import Actor
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.settings_file import load
from whet.targets.settings import load as load_targets
from whet.targets.unproved import UnprovedRule, told_of, unproved
from whet.trials.canaries import SHARE
from whet.trials.drafts import Way
from whet.trials.ideas import Became, Idea, IdeaOutcome, again
from whet.values import Value


class CarriedElsewhere(Value, frozen=True):
    """What became a canary for other agents, and in a line what is still left out there."""

    outcomes: tuple[IdeaOutcome, ...] = ()
    left_out: str = ""


def left_out_elsewhere(home: Home, database: Database) -> str:
    """In a line, what agents are not told only because it was proved on another model."""
    return told_of(_found(home, database), tries=load(home).rules.unproved == "canary")


def carry_elsewhere(home: Home, database: Database, *, share: float) -> CarriedElsewhere:
    """Tell a share of the sessions of other agents what was proved elsewhere, where the setting allows it."""
    if load(home).rules.unproved != "canary":
        return CarriedElsewhere(left_out=left_out_elsewhere(home, database))
    by_rule: dict[str, UnprovedRule] = {}
    for each in _found(home, database):  # one rule is on trial for one agent at a time
        by_rule.setdefault(each.rule.name, each)
    outcomes = tuple(_carry(home, database, each, share=share) for each in by_rule.values())
    return CarriedElsewhere(outcomes, left_out_elsewhere(home, database))


def _found(home: Home, database: Database) -> tuple[UnprovedRule, ...]:
    ledger = ledger_of(home, database)
    return tuple(unproved(ledger.state().rules, ledger.entries(), load_targets(home)))


def _carry(home: Home, database: Database, found: UnprovedRule, *, share: float) -> IdeaOutcome:
    proved_on = ", ".join(found.rule.scope.models)
    idea = Idea(
        f"the rule {found.rule.name} was proved on {proved_on}, not yet on {found.model} of {found.agent}",
        Way.AGAIN,
        again(found.rule, found.proved, found.model),
    )
    assert idea.patch is not None
    part = share if 0 < share < 1 else SHARE
    if idea.patch.is_foreign:
        waits = propose(home, database, idea.patch, actor=Actor.POLICY, now=time.time())
        return IdeaOutcome(idea, Became.WAITS, f"whet canary start --pending {waits.number}", entry=waits.number)
    try:
        entry = try_out(home, database, idea.patch, actor=Actor.POLICY, now=time.time(), share=part)
    except Refused as error:
        return IdeaOutcome(idea, Became.REFUSED, error.message)
    return IdeaOutcome(idea, Became.CANARY, entry=entry.number)
