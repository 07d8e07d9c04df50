"""Rules that a trial proved on one model, beside the agents that run others: evidence for them, and no proof yet."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import Entry, Item, Step
from whet.ledger.patches import Patch
from whet.targets.agents import known
from whet.targets.rendering import holds_for
from whet.targets.settings import Target

AGAINST = frozenset((Step.REVERTED, Step.REJECTED, Step.REFUSED))


class UnprovedRule(NamedTuple):
    """A rule, the patch that was proved, and an agent that would be told it if its models were proved too."""

    rule: Item
    proved: Patch
    agent: str
    model: str  # a word in the names of the models that the agent runs


def unproved(rules: Iterable[Item], entries: Sequence[Entry], targets: Sequence[Target]) -> Iterator[UnprovedRule]:
    """What is not told to an agent only because it was proved on another model.

    A scope that a person gave is their order; only one that a trial left behind is a matter of evidence.
    """
    for rule in rules:
        proved = _proof(rule, entries)
        if proved is None or rule.canary:
            continue
        everywhere = replace(rule, scope=replace(rule.scope, models=()))
        left_out = (target for target in targets if holds_for(target, everywhere) and not holds_for(target, rule))
        for name in dict.fromkeys(target.agent for target in left_out):
            agent = known(name)
            if agent is not None and not _was_decided(rule, agent.models[0], entries):
                yield UnprovedRule(rule, proved, name, agent.models[0])


def told_of(found: Iterable[UnprovedRule], *, tries: bool) -> str:
    """One line for a person on all of them; empty where there are none."""
    rules = tuple(found)
    if not rules:
        return ""
    pairs = dict.fromkeys(
        f"{each.rule.name} (proved on {', '.join(each.rule.scope.models)}, not yet on {each.model} of {each.agent})"
        for each in rules
    )
    way = (
        "`whet improve` tries them there as canaries"
        if tries
        else "to try them there: `whet config set rules.unproved canary`, then `whet improve`"
    )
    return f"Not told everywhere: {'; '.join(pairs)}. {way[0].upper()}{way[1:]}."


def _was_decided(rule: Item, model: str, entries: Sequence[Entry]) -> bool:
    """Whether live sessions or a person spoke against a rule for a model already."""
    return any(
        entry.step in AGAINST and entry.patch.name == rule.name and model in entry.patch.scope.models
        for entry in entries
    )


def _proof(rule: Item, entries: Sequence[Entry]) -> Patch | None:
    """The patch of the trial that accepted a rule for the models of its scope."""
    if not rule.scope.models:
        return None
    accepted = (entry.patch for entry in reversed(entries) if entry.step is Step.ACCEPTED)
    return next((each for each in accepted if (each.name, each.text) == (rule.name, rule.text)), None)
