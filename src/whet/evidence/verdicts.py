"""Accept, reject or undecided: what the differences between two arms say, with a stated error rate."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from whet.evidence.betting import aimed, constant, log_capital, tally
from whet.evidence.intervals import Interval, in_order, order_free
from whet.values import Value

ALPHA = 0.05
HIGHEST = 1e300


class Ruling(StrEnum):
    """What a verdict says about the candidate."""

    ACCEPT = "accept"
    REJECT = "reject"
    UNDECIDED = "undecided"


class Verdict(Value, frozen=True):
    """A ruling with its grounds. The error rate of each side is at most alpha, at any number of looks.

    >>> import whet
    >>> verdict = whet.judge([0, 1, 0, -1, 0, 0, 1, 0])
    >>> verdict.ruling.value, verdict.effect, verdict.cases, verdict.interval.low < 0 < verdict.interval.high
    ('undecided', 0.125, 8, True)
    """

    ruling: Ruling
    effect: float
    interval: Interval  # each bound holds with 1 - alpha
    evidence_help: float  # accept from 1 / alpha on
    evidence_harm: float  # reject from 1 / alpha on
    cases: int
    attempts: int  # 0 where they were not counted
    stopped_at: int | None  # cases after which the evidence was enough, in the fixed order; None while undecided
    alpha: float


def record_of(verdict: Verdict) -> dict[str, object]:
    """A verdict as programs read it."""
    return {
        "verdict": verdict.ruling.value,
        "effect": verdict.effect,
        "interval": list(verdict.interval),
        "evidence_help": verdict.evidence_help,
        "evidence_harm": verdict.evidence_harm,
        "cases": verdict.cases,
        "attempts": verdict.attempts,
        "stopped_at": verdict.stopped_at,
        "alpha": verdict.alpha,
    }


def in_words(verdict: Verdict) -> str:
    """A verdict in a line for a person who has to decide."""
    low, high = (100 * bound for bound in verdict.interval)
    cases = "1 case" if verdict.cases == 1 else f"{verdict.cases} cases"
    return f"tried: {verdict.ruling.value}, {100 * verdict.effect:+.0f} points ({low:+.0f} to {high:+.0f}) over {cases}"


def fixed_order(cases: Iterable[str]) -> list[str]:
    """The cases in an order that no outcome can influence and that mixes kinds of cases: by hash."""
    return sorted(cases, key=lambda case: hashlib.sha256(case.encode("utf-8", "surrogatepass")).digest())


def judge(
    differences: Sequence[float], *, alpha: float = ALPHA, attempts: int = 0, planned: int | None = None
) -> Verdict:
    """The verdict on differences (candidate minus base, one a case, in [-1, 1]), given in their fixed order.

    Without a plan, all cases together decide and their order does not matter: the verdict may be asked for again
    whenever cases were added. With `planned`, the number of cases that was fixed before the first outcome, bets aim
    at that number and the first crossing decides: sharper, if all looks are at beginnings of this one order.
    """
    if planned is None:
        helped, harmed, interval = _by_all(differences, alpha)
    else:
        helped, harmed, interval = _by_plan(differences, alpha, planned)
    ruling, stopped_at = _rule(helped, harmed)
    return Verdict(
        ruling=ruling,
        effect=math.fsum(differences) / len(differences) if differences else 0.0,
        interval=interval,
        evidence_help=helped.evidence,
        evidence_harm=harmed.evidence,
        cases=len(differences),
        attempts=attempts,
        stopped_at=stopped_at,
        alpha=alpha,
    )


class _Side(NamedTuple):
    """The evidence of one side, and after how many cases it was enough; None where it is not."""

    evidence: float
    crossed: int | None


def _rule(helped: _Side, harmed: _Side) -> tuple[Ruling, int | None]:
    enough = [
        (side.crossed, ruling)
        for side, ruling in ((helped, Ruling.ACCEPT), (harmed, Ruling.REJECT))
        if side.crossed is not None
    ]
    if not enough:
        return Ruling.UNDECIDED, None
    crossed, ruling = min(enough, key=lambda one: one[0])
    return ruling, crossed


def _by_all(differences: Sequence[float], alpha: float) -> tuple[_Side, _Side, Interval]:
    goal = 1 / alpha
    sides = []
    for sign in (1, -1):
        signed = [sign * difference for difference in differences]
        evidence = math.exp(min(log_capital(tally(signed)), math.log(HIGHEST)))
        crossed = (_crossing(constant(signed), goal) or len(signed)) if evidence >= goal else None
        sides.append(_Side(evidence, crossed))
    return sides[0], sides[1], order_free(differences, alpha=alpha)


def _by_plan(differences: Sequence[float], alpha: float, planned: int) -> tuple[_Side, _Side, Interval]:
    goal = 1 / alpha
    sides = []
    for sign in (1, -1):
        signed = [sign * difference for difference in differences]
        crossed = _crossing(aimed(signed, planned=planned, goal=goal), goal)
        ways = islice(aimed(signed, planned=planned, goal=goal), crossed)
        sides.append(_Side(max(ways, default=1.0), crossed))
    return sides[0], sides[1], in_order(differences, planned=planned, alpha=alpha)


def _crossing(capitals: Iterator[float], goal: float) -> int | None:
    return next((done for done, capital in enumerate(capitals, start=1) if capital >= goal), None)
