"""Canaries: which sessions are told a rule that is tried live, and what their outcomes say about it.

Who is told is drawn by a hash, which knows nothing of how a session will go. So each outcome, measured from what was
usual until then, is as likely to count for the rule as against it if the rule does nothing, whatever else changes
over the weeks. Bets on that are as fair as bets can be, and their capital may be looked at after every session
(docs/decisions/0014).

A rule with a situation of its own goes by its own failure among sessions in it. One that makes that rarer by doing less
has gained nothing: the time that was lost, corrections, checks and tokens of all its sessions are watched too. One that
is clearly worse stops the promotion, and with more evidence reverts the rule.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from statistics import fmean, median
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence.betting import constant, log_capital, tally
from whet.evidence.coin_looks import CoinLook, CoinSession, SideLook, coin_looks
from whet.evidence.intervals import Interval, unrefuted
from whet.lessons.rungs import CanaryMove, LiveComparison, LiveGuard
from whet.sessions.transcripts import RecordedCheck
from whet.trials.told_rules import SHARE
from whet.trouble.values import SessionTrouble
from whet.values import Value

ALPHA = 0.01
"""The risk of promoting a rule that does not help, and that of reverting one that does no harm, at all looks."""

LEAST_EFFECT = 0.1
"""The share of failed sessions that a template must save to be worth its tokens."""

USUAL_LOSS, USUAL_WEIGHT = 0.5, 1.0


class Observation(NamedTuple):
    """How it went in one session, or in several that drew together: 0 is well, 1 is lost."""

    told: bool
    loss: float
    share: float = SHARE  # of the units that were told when this one drew


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


ALPHA_HELP, ALPHA_HARM, ALPHA_GUARD = 0.01, 0.009, 0.00025
"""The error rates at all looks: of a promotion, of a reversal by the endpoint, of one by each of the four guards."""


class LiveUnit(NamedTuple):
    """What drew together, and what was measured of it; None where it was not, or its situation did not come up."""

    told: bool
    loss: float
    failed: int | None = None  # how many failures of its own; at most one for a rule alone
    corrected: bool | None = None
    unchecked: bool | None = None
    tokens: int | None = None


class EndpointVerdict(Value, frozen=True):
    """What the endpoint and the guards say together. `held_by` names what stops a promotion or brought a reversal."""

    comparison: LiveComparison
    guards: tuple[LiveGuard, ...]
    held_by: str = ""


def in_situation(units: Sequence[LiveUnit], *, share: float) -> list[Observation]:
    """The units in which the rule's situation came up: the loss is 1 where it failed of its own."""
    return [Observation(each.told, float(each.failed > 0), share) for each in units if each.failed is not None]


def judge_endpoint(units: Sequence[LiveUnit], *, share: float) -> EndpointVerdict:
    """What the units say, in the order in which they were counted. The first look that is enough decides."""
    found = look_at(units, share=share)
    guards = tuple(_guards(units, share=share))
    worse = [guard.name for guard in guards if guard.reverts]
    if worse and found.decision is not CanaryMove.REVERT:
        return EndpointVerdict(replace(found, decision=CanaryMove.REVERT, decided_at=None), guards, ", ".join(worse))
    held = [guard.name for guard in guards if guard.stops]
    if _more_failures(units, share=share) > 0:
        held.append("failures in all, for its situation came up more often")
    if found.decision is CanaryMove.PROMOTE and held:
        return EndpointVerdict(replace(found, decision=CanaryMove.WAIT, decided_at=None), guards, ", ".join(held))
    return EndpointVerdict(found, guards)


def judge_in_bundle(units: Sequence[LiveUnit], bundle: CanaryMove, *, lessons: int, share: float) -> LiveComparison:
    """What becomes of one lesson of a bundle: that of all, unless it harms on its own.

    Where the bundle is promoted, one that failed more often with it than without is taken back all the same, and one
    of which nothing is known yet waits until it is.
    """
    found = look_at(units, share=share, alpha_harm=ALPHA_HARM / lessons)
    if found.decision is CanaryMove.REVERT:
        return found
    if bundle is CanaryMove.PROMOTE:
        more = _more_failures(units, share=share)
        bundle = CanaryMove.REVERT if more > 0 else CanaryMove.WAIT if more == 0 else CanaryMove.PROMOTE
    return replace(found, decision=bundle, decided_at=None)


def look_at(units: Sequence[LiveUnit], *, share: float, alpha_harm: float = ALPHA_HARM) -> LiveComparison:
    """The comparison with what the looks decide. Evidence is scaled so that at 1 / alpha a look is enough."""
    sessions = [CoinSession(each.told, each.failed) for each in units if each.failed is not None]
    decision, last = CanaryMove.WAIT, None
    for last in coin_looks(sessions, share=share, alpha_help=ALPHA_HELP, alpha_harm=alpha_harm):
        decision = _decision(last)
        if decision is not CanaryMove.WAIT:
            break
    return replace(
        compare(in_situation(units, share=share), alpha=ALPHA_HELP),
        decision=decision,
        evidence_help=_evidence(last.helped) if last else 1.0,
        evidence_harm=_evidence(last.harmed) if last else 1.0,
        decided_at=last.at if last and decision is not CanaryMove.WAIT else None,
    )


def _decision(look: CoinLook) -> CanaryMove:
    if look.helped.is_enough:
        return CanaryMove.PROMOTE
    return CanaryMove.REVERT if look.harmed.is_enough else CanaryMove.WAIT


def _evidence(side: SideLook) -> float:
    return side.allowed / max(side.chance, 1e-12) / ALPHA_HELP


def _more_failures(units: Sequence[LiveUnit], *, share: float) -> float:
    """How many failures more there were with the rule than its share of all of them."""
    return sum(each.failed or 0 for each in units if each.told) - share * sum(each.failed or 0 for each in units)


def _guards(units: Sequence[LiveUnit], *, share: float) -> Iterator[LiveGuard]:
    for name, losses in (
        ("time lost", [each.loss for each in units]),
        ("corrections", [each.corrected for each in units]),
        ("changes without a check", [each.unchecked for each in units]),
        ("tokens", list(_token_losses(units))),
    ):
        known = [(each.told, loss) for each, loss in zip(units, losses, strict=True) if loss is not None]
        found = decide(moves_of(Observation(told, float(loss), share) for told, loss in known), alpha=ALPHA_GUARD)
        told, untold = ([float(loss) for side, loss in known if side is wanted] for wanted in (True, False))
        yield LiveGuard(name, _mean(told), _mean(untold), found.evidence_harm, found.decision is CanaryMove.REVERT)


def _token_losses(units: Sequence[LiveUnit]) -> Iterator[float | None]:
    """Tokens between 0 and 1 by what was usual before: as many as usual are a half."""
    before: list[int] = []
    for each in units:
        if each.tokens is None:
            yield None
            continue
        usual = median(before) if before else each.tokens
        yield each.tokens / (each.tokens + usual) if each.tokens + usual else 0.5
        before.append(each.tokens)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
