"""The ladder for a rule that is told and not followed: said with an example, told at the start, at the call, dropped.

Each step is a change that a person decides on. What came of it is counted anew, for a changed rule begins anew.
"""

from enum import StrEnum

from msgspec.structs import replace

from whet.ledger.entries import Item
from whet.ledger.patches import (
    Action,
    Form,
    Patch,
    PatchBasis,
    PatchOrigin,
    PatchWriter,
    RuleSituation,
    SessionCounts,
    digest,
)
from whet.lessons.following import Following
from whet.sessions.trust import Trust

LEAST_TOLD = 5
"""In so many sessions its situation came up and it was told, before anything is proposed."""

ENOUGH = 0.5
"""The share of those in which it was followed, from which on it stays as it is."""

MOST_LETTERS = 120
EXAMPLE = "Example: where you would run"


class Rung(StrEnum):
    """One step of the ladder."""

    EXAMPLE = "say it again with an example"
    START = "tell it when a session starts, and not in the agent's file"
    REMINDER = "remind of it at a call in the form that goes wrong, once in a session"
    DROP = "drop it"


def is_unheeded(rule: Item, fared: Following) -> bool:
    """Whether a rule was told often enough and followed in fewer than half of these sessions.

    One that is reminded of is judged by the sessions in which it was, and by what they did after that.
    """
    told, followed = fared.told, fared.told_followed
    if rule.scope.at_call:
        told, followed = fared.reminded, fared.reminded_followed
    return told >= LEAST_TOLD and followed < ENOUGH * told


def next_rung(rule: Item, fared: Following, *, is_movable: bool, is_remindable: bool) -> Rung | None:
    """What is to be proposed for a rule; nothing for one on trial, and no person's own rule is ever to be dropped.

    One is movable that stands in a file whose readers have hooks, and remindable where hooks know its calls.
    """
    if rule.canary or not is_unheeded(rule, fared):
        return None
    if _has_example(rule.situation) and EXAMPLE not in rule.text:
        return Rung.EXAMPLE
    if is_movable and not rule.scope.at_start:
        return Rung.START
    if is_remindable and not rule.scope.at_call:
        return Rung.REMINDER
    return Rung.DROP if rule.trust is not Trust.OPERATOR else None


def step_of(rule: Item, rung: Rung, fared: Following) -> Patch:
    """The change that takes the step, with the counts as its origin."""
    example = f" {EXAMPLE} `{rule.situation.call}`, run `{rule.situation.fix}`."
    texts = {Rung.EXAMPLE: rule.text.rstrip() + example, Rung.DROP: ""}
    scopes = {Rung.START: replace(rule.scope, at_start=True), Rung.REMINDER: replace(rule.scope, at_call=True)}
    basis, counts = PatchBasis.TOLD, SessionCounts(fared.told, followed=fared.told_followed)
    if rule.scope.at_call:
        basis, counts = PatchBasis.REMINDED, SessionCounts(fared.reminded, followed=fared.reminded_followed)
    return Patch(
        Form.RULE,
        Action.REMOVE if rung is Rung.DROP else Action.CHANGE,
        rule.name,
        texts.get(rung, rule.text),
        scopes.get(rung, rule.scope),
        origin=PatchOrigin(PatchWriter.POLICY, basis=basis, counts=counts),
        trust=min(rule.trust, Trust.AGENT),
        before=digest(rule.text),
        situation=rule.situation,
        example="" if rung is Rung.DROP else rule.example,
    )


def _has_example(situation: RuleSituation) -> bool:
    """Whether its calls can be quoted: both known, short and on one line."""
    return all(
        part and len(part) <= MOST_LETTERS and part.isprintable() and "`" not in part
        for part in (situation.call, situation.fix)
    )
