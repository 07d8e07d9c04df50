"""Accept, reject or undecided: what the differences between two arms say, with a stated error rate."""

import bisect
import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence.betting import MOST_LOOKED, PRICE, aimed, can_look, constant, log_capital, paid, tally
from whet.evidence.intervals import Interval, in_order, order_free
from whet.values import Value

ALPHA = 0.05
HIGHEST = 1e300


class Ruling(StrEnum):
    """What a verdict says about the candidate."""

    ACCEPT = "accept"
    REJECT = "reject"
    UNDECIDED = "undecided"


class Capital(Value, frozen=True):
    """What earlier cases have won for each side; 1 where there were none."""

    help: float = 1.0
    harm: float = 1.0


FRESH = Capital()


class Verdict(Value, frozen=True):
    """A ruling with its grounds. The error rate of each side is at most alpha, at any number of looks.

    With a plan and several seeds that is promised for changes that do nothing, not for every one whose mean is 0.

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
    helped: int = 0  # cases in which the candidate did better
    harmed: int = 0  # worse
    margin: float = 0.0  # where accepting says no more than: not worse by more than this


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
        "helped": verdict.helped,
        "harmed": verdict.harmed,
        **({"margin": verdict.margin} if verdict.margin else {}),
    }


def fixed_order(cases: Iterable[str]) -> list[str]:
    """The cases in an order that no outcome can influence and that mixes kinds of cases: by hash."""
    return sorted(cases, key=lambda case: hashlib.sha256(case.encode("utf-8", "surrogatepass")).digest())


def judge(
    differences: Sequence[float],
    *,
    alpha: float = ALPHA,
    attempts: int = 0,
    planned: int | None = None,
    before: Capital = FRESH,
    is_over: bool = False,
) -> Verdict:
    """The verdict on differences (candidate minus base, one a case, in [-1, 1]), given in their fixed order.

    Without a plan, all cases together decide and their order does not matter: the verdict may be asked for again
    whenever cases were added. With `planned`, the number of cases that was fixed before the first outcome, most of
    the capital waits for one exact look at that number: sharper, if all looks are at beginnings of this one order.
    `before` is what other cases have won for the same change; a plan goes on with it. `is_over` says that no more cases
    will come, for a reason that does not depend on which arm did better: then the look is taken now.
    """
    if planned is None:
        helped, harmed, interval = _by_all(differences, alpha)
    else:
        turned = [-difference for difference in differences]
        helped = planned_side(differences, planned=planned, alpha=alpha, capital=before.help, is_over=is_over)
        harmed = planned_side(turned, planned=planned, alpha=alpha, capital=before.harm, is_over=is_over)
        interval = in_order(differences, planned=planned, alpha=alpha)
    return _verdict(differences, helped, harmed, interval, alpha=alpha, attempts=attempts)


def judge_once(differences: Sequence[float], *, alpha: float = ALPHA, attempts: int = 0) -> Verdict:
    """The verdict on all the cases that there will be, judged for the first time: all is for one exact look at them.

    With one seed this is the exact sign test.
    """
    if not can_look(differences):
        return judge(differences, alpha=alpha, attempts=attempts, planned=len(differences))
    helped = _look_once(differences, alpha)
    harmed = _look_once([-difference for difference in differences], alpha)
    interval = in_order(differences, planned=len(differences), alpha=alpha)
    return _verdict(differences, helped, harmed, interval, alpha=alpha, attempts=attempts)


def _verdict(
    differences: Sequence[float],
    helped: "SideEvidence",
    harmed: "SideEvidence",
    interval: Interval,
    *,
    alpha: float,
    attempts: int,
) -> Verdict:
    ruling, stopped_at = _rule(helped, harmed)
    return Verdict(
        ruling=ruling,
        effect=math.fsum(differences) / len(differences) if differences else 0.0,
        interval=_agreeing(interval, ruling),
        evidence_help=helped.evidence,
        evidence_harm=harmed.evidence,
        cases=len(differences),
        attempts=attempts,
        stopped_at=stopped_at,
        alpha=alpha,
        helped=sum(each > 0 for each in differences),
        harmed=sum(each < 0 for each in differences),
    )


def within_margin(
    verdict: Verdict, differences: Sequence[float], margin: float, *, planned: int, before: Capital = FRESH
) -> Verdict:
    """The verdict on the same differences where accepting means: no worse by more than the margin.

    What is left out cannot be expected to help, so the bets are against a mean of minus the margin.
    """
    found = _aim(differences[:planned], planned, 1 / verdict.alpha, before.help, mean=-margin)
    harmed = verdict.stopped_at if verdict.ruling is Ruling.REJECT else None
    ruling, stopped_at = _rule(found, SideEvidence(verdict.evidence_harm, harmed))
    low, high = verdict.interval
    bounds = Interval(max(low, -margin), high) if ruling is Ruling.ACCEPT else Interval(min(low, -margin), high)
    return replace(
        verdict, ruling=ruling, stopped_at=stopped_at, evidence_help=found.evidence, interval=bounds, margin=margin
    )


def cases_to_show(margin: float, alpha: float, *, capital: float = 1.0) -> int:
    """How many cases are needed at least, if none of them ends otherwise without what is left out."""
    least = max(1, math.ceil(math.log(1 / (alpha * capital)) / -math.log1p(-margin) - 1e-9))

    def is_enough(cases: int) -> bool:
        return _aim([0.0] * cases, cases, 1 / alpha, capital, mean=-margin).crossed is not None

    return bisect.bisect_left(range(2 * least), True, lo=least, key=is_enough)


def way(
    differences: Sequence[float], verdict: Verdict, *, planned: int | None, before: Capital = FRESH
) -> tuple[float, ...]:
    """The evidence of help after each case as the verdict counts it, up to the case at which it was enough.

    It ends at the number of the verdict: the last step includes the one exact look at the planned end.
    """
    if planned is None:
        walked: Iterable[float] = constant(differences)
    elif planned <= MOST_LOOKED and not verdict.margin:
        walked = _held(differences[:planned], before.help)
    else:
        wanted = 1 / verdict.alpha / before.help
        bets = aimed(differences[:planned], planned=planned, goal=wanted, mean=-verdict.margin)
        walked = (before.help * won for won in bets)
    taken = tuple(walked)
    if planned is not None:
        taken = taken[: _crossing(iter(taken), 1 / verdict.alpha)]
    return (*taken[:-1], verdict.evidence_help) if taken else ()


class SideEvidence(NamedTuple):
    """The evidence of one side, and after how many cases it was enough; None where it is not."""

    evidence: float
    crossed: int | None


def _rule(helped: SideEvidence, harmed: SideEvidence) -> tuple[Ruling, int | None]:
    enough = [
        (side.crossed, ruling)
        for side, ruling in ((helped, Ruling.ACCEPT), (harmed, Ruling.REJECT))
        if side.crossed is not None
    ]
    if not enough:
        return Ruling.UNDECIDED, None
    crossed, ruling = min(enough, key=lambda one: one[0])
    return ruling, crossed


def _by_all(differences: Sequence[float], alpha: float) -> tuple[SideEvidence, SideEvidence, Interval]:
    goal = 1 / alpha
    sides = []
    for sign in (1, -1):
        signed = [sign * difference for difference in differences]
        evidence = math.exp(min(log_capital(tally(signed)), math.log(HIGHEST)))
        crossed = (_crossing(constant(signed), goal) or len(signed)) if evidence >= goal else None
        sides.append(SideEvidence(evidence, crossed))
    return sides[0], sides[1], order_free(differences, alpha=alpha)


def planned_side(
    differences: Sequence[float], *, planned: int, alpha: float, capital: float = 1.0, is_over: bool = False
) -> SideEvidence:
    """The evidence of help alone, for a number of cases that was planned before."""
    if planned > MOST_LOOKED:
        return _aim(differences, planned, 1 / alpha, capital)
    taken = differences[:planned]
    return _bet_and_look(taken, 1 / alpha, capital, is_over=is_over or len(taken) == planned)


def _look_once(differences: Sequence[float], alpha: float) -> SideEvidence:
    evidence = paid(differences, price=1.0, goal=1 / alpha) if differences else 1.0
    return SideEvidence(evidence, len(differences) if evidence >= 1 / alpha else None)


def _bet_and_look(differences: Sequence[float], goal: float, capital: float, *, is_over: bool) -> SideEvidence:
    """Constant bets with a small part of the capital, and one exact look at the planned end with the rest."""
    held = capital
    for done, now in enumerate(_held(differences, capital), start=1):
        held = now
        if held >= goal:
            return SideEvidence(min(held, HIGHEST), done)
    if is_over:
        price = PRICE * capital
        held += paid(differences, price=price, goal=goal) - price
    return SideEvidence(held, len(differences) if held >= goal else None)


def _held(differences: Iterable[float], capital: float) -> Iterator[float]:
    """What is held after each case while the larger part of the capital waits for the look at the end."""
    price = PRICE * capital
    return (price + (capital - price) * won for won in constant(differences))


def _aim(differences: Sequence[float], planned: int, goal: float, capital: float, *, mean: float = 0.0) -> SideEvidence:
    """Bets against a mean of at most this, that aim at the planned number of cases; what is left of them goes on."""
    wanted = goal / capital
    way = tuple(aimed(differences, planned=planned, goal=wanted, mean=mean))
    crossed = _crossing(iter(way), wanted)
    won = (1.0, *way[:crossed])[-1]
    return SideEvidence(goal if crossed and capital * won < goal else capital * won, crossed)


def _agreeing(interval: Interval, ruling: Ruling) -> Interval:
    """The interval with 0 on the side that the ruling says: the look decides about 0 and nothing else."""
    low = max(interval.low, 0.0) if ruling is Ruling.ACCEPT else min(interval.low, 0.0)
    high = min(interval.high, 0.0) if ruling is Ruling.REJECT else max(interval.high, 0.0)
    return Interval(low, high)


def _crossing(capitals: Iterator[float], goal: float) -> int | None:
    return next((done for done, capital in enumerate(capitals, start=1) if capital >= goal), None)
