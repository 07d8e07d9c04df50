"""Canaries: which sessions are told a rule that is tried live, and what their outcomes say about it.

Who is told is drawn by a hash, which knows nothing of how a session will go. So each outcome, measured from what was
usual until then, is as likely to count for the rule as against it if the rule does nothing, whatever else changes
over the weeks. Bets on that are as fair as bets can be, and their capital may be looked at after every session
(docs/decisions/0014).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from statistics import fmean
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence.betting import constant, log_capital, tally
from whet.evidence.intervals import Interval, unrefuted
from whet.ledger.entries import Item, State
from whet.ledger.patches import digest
from whet.lessons.rungs import CanaryMove, LiveComparison
from whet.sessions.transcripts import RecordedCheck
from whet.trials.draws import is_told
from whet.trouble.values import SessionTrouble

ALPHA = 0.01
"""The risk of promoting a rule that does not help, and that of reverting one that does no harm, at all looks."""

LEAST_EFFECT = 0.1
"""The share of failed sessions that a template must save to be worth its tokens."""

SHARE = 0.5
USUAL_LOSS, USUAL_WEIGHT = 0.5, 1.0


class Observation(NamedTuple):
    """How it went in one session, or in several that drew together: 0 is well, 1 is lost."""

    told: bool
    loss: float
    share: float = SHARE  # of the units that were told when this one drew


def key_of(item: Item) -> str:
    """What a canary's draws are made by: the entry that began it and its text, so that each new try draws anew.

    The lessons of a bundle draw as one.
    """
    if item.bundle:
        return f"bundle/{item.bundle}"
    return f"{item.number}/{item.name}/{digest(item.text)}"


def told_rules(rules: Iterable[Item], before: Mapping[int, Item | None], unit: str) -> tuple[Item, ...]:
    """The rules that a unit is told, the oldest first. One that is not told of a change keeps what stood before.

    Without a unit there is nothing to draw by, and no canary is told.
    """
    told: list[Item] = []
    for rule in rules:
        item: Item | None = rule
        while item is not None and item.canary and not (unit and is_told(key_of(item), unit, item.share)):
            item = before.get(item.number)
        told += [item] if item is not None else []
    return tuple(told)


def replaced_by(state: State) -> dict[int, Item | None]:
    """What stood where a canary is now, by the number of its entry."""
    return {change.number: change.before for change in state.done if change.after and change.after.canary}


def loss_of(trouble: SessionTrouble, checks: Iterable[RecordedCheck]) -> float | None:
    """How badly a session went: by its own checks where it has any, else by how it ended and what of it was lost.

    One that ends with a failed call or a red check is lost; of any other counts the share that bought nothing. None
    where the agent neither did nor said anything.
    """
    marks = [mark for check in checks if (mark := _mark(check)) is not None]
    if marks:
        return 1 - fmean(marks)
    if trouble.ends_failed is None:
        return None
    return 1.0 if trouble.ends_failed else trouble.lost_share


def _mark(check: RecordedCheck) -> float | None:
    if check.passed is not None:
        return float(check.passed)
    return check.score if check.score is not None and 0 <= check.score <= 1 else None


def compare(observations: Sequence[Observation], *, alpha: float = ALPHA, since: int = 0) -> LiveComparison:
    """What the observations say, in the order in which they were first looked at. The first crossing decides.

    Those before `since` only tell what was usual.
    """
    decision, decided_at, helped, harmed = decide(list(moves_of(observations))[since:], alpha=alpha)
    shown = observations[since:]
    told, untold = ([each.loss for each in shown if each.told is side] for side in (True, False))
    return LiveComparison(
        decision=decision,
        told=len(told),
        untold=len(untold),
        loss_told=fmean(told) if told else None,
        loss_untold=fmean(untold) if untold else None,
        effect=_effect(shown),
        interval=_interval(observations, alpha=alpha, since=since),
        evidence_help=helped,
        evidence_harm=harmed,
        alpha=alpha,
        decided_at=decided_at,
    )


def judge_template(observations: Sequence[Observation], *, since: int = 0) -> LiveComparison:
    """What the sessions since the last verdict say of a template, which costs tokens: too small an effect is none."""
    found = compare(observations, since=since)
    is_worthless = found.decision is CanaryMove.REVERT or found.interval.high < LEAST_EFFECT
    return replace(found, decision=CanaryMove.REVERT) if is_worthless else found


def moves_of(observations: Iterable[Observation], *, effect: float = 0.0) -> Iterator[float]:
    """Each observation as a gain, from -1 on, of whoever bets on more than `effect`: 0 on average if that is all.

    Each is measured by the share that it drew with, so shares may differ. What was usual until then is taken off
    first: it costs nothing in fairness, for it is known before the outcome.
    """
    usual, weight = USUAL_LOSS, USUAL_WEIGHT
    for told, loss, share in observations:
        rarer = min(share, 1 - share)
        gain = (share - told) * (loss - usual) / (1 - rarer)
        yield (gain - rarer * effect) / (1 + rarer * effect)
        usual = (usual * weight + loss) / (weight + 1)
        weight += 1


def mirrored(observations: Iterable[Observation]) -> Iterator[Observation]:
    """The same with the sides exchanged: a bet on harm is one that it helps not to be told."""
    return (Observation(not told, loss, 1 - share) for told, loss, share in observations)


def _interval(observations: Sequence[Observation], *, alpha: float, since: int) -> Interval:
    """The effects that neither side's bets have refuted."""

    def log_won(sides: Sequence[Observation], effect: float) -> float:
        return log_capital(tally(islice(moves_of(sides, effect=effect), since, None)))

    goal, others = math.log(1 / alpha), list(mirrored(observations))
    low = unrefuted(lambda effect: log_won(observations, effect), goal)
    return Interval(low, -unrefuted(lambda effect: log_won(others, effect), goal))


def _effect(observations: Sequence[Observation]) -> float:
    """How much less those lose that were told, compared among those that drew with the same share."""
    drawn: dict[float, tuple[list[float], list[float]]] = {}
    for told, loss, share in observations:
        drawn.setdefault(share, ([], []))[told].append(loss)
    compared = [
        (fmean(untold) - fmean(told), len(told) * len(untold) / (len(told) + len(untold)))
        for untold, told in drawn.values()
        if told and untold
    ]
    total = sum(weight for _, weight in compared)
    return sum(difference * weight for difference, weight in compared) / total if total else 0.0


class CanaryDecision(NamedTuple):
    """A decision, after how many moves, and the evidence of help and of harm up to there."""

    decision: CanaryMove
    at: int | None
    evidence_help: float
    evidence_harm: float


def decide(moves: Iterable[float], *, alpha: float = ALPHA) -> CanaryDecision:
    """Follow both sides' capital until one of them has enough."""
    known = list(moves)
    helped, harmed = 1.0, 1.0
    sides = zip(constant(known), constant(-move for move in known), strict=True)
    for number, (helped, harmed) in enumerate(sides, start=1):
        if max(helped, harmed) >= 1 / alpha:
            decision = CanaryMove.PROMOTE if helped > harmed else CanaryMove.REVERT
            return CanaryDecision(decision, number, helped, harmed)
    return CanaryDecision(CanaryMove.WAIT, None, helped, harmed)
