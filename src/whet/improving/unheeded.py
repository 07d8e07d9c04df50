"""Rules that are told and not followed: the next step of the ladder for each, proposed to a person with the counts."""

import time

from whet.changes.pending import propose
from whet.errors import WhetError
from whet.improving.heeded import following
from whet.ledger.entries import Actor, Item
from whet.ledger.patches import RuleSituation
from whet.lessons.reminders import pattern_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.targets.drawing import is_movable
from whet.targets.hooked import hooked_agents
from whet.targets.reaching import Reader, reads
from whet.targets.settings import load as load_targets
from whet.trials.drafts import Way
from whet.trials.ideas import Became, Idea, IdeaOutcome
from whet.trials.ladder import next_rung, step_of


def unheeded(home: Home, database: Database) -> tuple[Idea, ...]:
    """The next step for each rule that needs one; nothing is proposed yet."""
    rules = ledger_of(home, database).state().rules
    asked = [rule for rule in rules if not rule.canary and rule.situation != RuleSituation()]
    fared = following(home, database, asked)
    targets, hooked = load_targets(home), hooked_agents(home, now=time.time())
    found: list[Idea] = []
    for rule in asked:
        may_move, may_remind = is_movable(rule, targets, hooked), _is_remindable(rule, hooked)
        if rung := next_rung(rule, fared[rule.name], is_movable=may_move, is_remindable=may_remind):
            patch = step_of(rule, rung, fared[rule.name])
            found.append(Idea(f"the rule {rule.name}: {patch.reason}; {rung}", Way.UNHEEDED, patch))
    return tuple(found)


def propose_steps(home: Home, database: Database) -> tuple[IdeaOutcome, ...]:
    """Let each step wait for a person, who alone takes it."""
    return tuple(_propose(home, database, idea) for idea in unheeded(home, database))


def _is_remindable(rule: Item, hooked: frozenset[str]) -> bool:
    """Whether a hook can know the calls of a rule, and an agent that the rule is for has hooks."""
    return pattern_of(rule.situation) is not None and any(reads(Reader(agent), rule) for agent in hooked)


def _propose(home: Home, database: Database, idea: Idea) -> IdeaOutcome:
    assert idea.patch is not None
    try:
        waits = propose(home, database, idea.patch, actor=Actor.POLICY, now=time.time())
    except WhetError as error:
        return IdeaOutcome(idea, Became.REFUSED, error.message)
    return IdeaOutcome(idea, Became.WAITS, f"whet pending show {waits.number}", entry=waits.number)
