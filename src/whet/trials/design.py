"""Trials: the same cases with and without a patch, in a fixed order, until the evidence is enough."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence import power
from whet.evidence.error_budget import BudgetParts
from whet.evidence.verdicts import ALPHA, Ruling, Verdict, fixed_order, judge
from whet.ledger.patches import Form
from whet.runs.run import Sampling, Spent
from whet.text import tokens
from whet.trials.attempts import (
    Arm,
    ArmTally,
    Attempt,
    AttemptPlace,
    TrialAgent,
    change_of_agent,
    differences,
    tally,
    total_spent,
    useless,
    why_invalid,
)
from whet.values import Value

WAVE_ATTEMPTS = 12  # given out at once, so that several workers have something to do
AGENT_WAVE_ATTEMPTS = 6  # of another agent, whose attempts cost more: the allowance is looked at more often
USUAL_PASS_RATE = 0.5
GUARD_LOSS = 0.1  # standing cases may lose so much on average before an acceptance is held back


class Allowance(Value, frozen=True):
    """What a trial may spend in all; None sets no limit. Seconds are those of the attempts, added up."""

    dollars: float | None = None
    tokens: int | None = None
    seconds: float | None = None


class Price(Value, frozen=True):
    """What a change costs each session: prompt tokens after the changed place, read anew once, and tokens it adds."""

    invalidated: int = 0
    added: int = 0


class Trial(Value, frozen=True):
    """A trial before its first outcome: what is fixed, and the keys of what it is made of.

    The cases stand in the order in which they are tried; standing cases are among them as `guards`.
    """

    cases: tuple[str, ...]
    guards: tuple[str, ...] = ()
    seeds: int = 1
    arms: tuple[Arm, ...] = (Arm.BASE, Arm.CANDIDATE, Arm.PLACEBO)
    alpha: float = ALPHA
    allowance: Allowance = Allowance()
    id: str = ""
    form: Form = Form.RULE  # of what is tried
    name: str = ""
    materials: Mapping[str, str] = {}  # the key of each case, by its name
    patches: Mapping[Arm, str] = {}  # the key of each arm's change
    model: str = ""
    sampling: Sampling = Sampling()
    hidden: tuple[str, ...] = ()  # folders that no tool may see
    price: Price = Price()
    of_one: Spent = Spent()  # about what one attempt costs
    fresh: bool = False  # nothing is reused that another trial paid for
    about: int = 0  # the entry that waits for a decision on it
    agent: TrialAgent | None = None  # who carries the attempts out; None: Whet's own
    screened: tuple[str, ...] = ()  # cases that always passed beforehand: left out, or among the guards


class TrialStop(StrEnum):
    """Why a trial ended."""

    EVIDENCE = "evidence"  # enough for a ruling
    CASES = "cases"  # all were run
    BUDGET = "budget"  # the allowance is spent
    INVALID = "invalid"  # most attempts tell nothing
    CHANGED = "changed"  # the agent is not the one that it began with
    OPEN = "open"  # it goes on


class TrialResult(Value, frozen=True):
    """What a trial says. The gate is `verdict`, candidate against base; the others explain it."""

    verdict: Verdict
    stop: TrialStop
    lesson: Verdict | None = None  # candidate against placebo: what the content is worth
    form: Verdict | None = None  # placebo against base: what any text or example of that form is worth
    guard: Verdict | None = None  # candidate against base on the standing cases
    held_back: str = ""  # why the evidence decides nothing
    always: tuple[str, ...] = ()  # cases that passed in every attempt of both arms: they tell nothing
    never: tuple[str, ...] = ()
    tallies: tuple[ArmTally, ...] = ()
    spent: Spent = Spent()
    reused: int = 0
    invalid: int = 0
    invalid_why: str = ""  # what was said of most of them


class TrialProgress(Value, frozen=True):
    """How far a trial is, and what the ledger holds of it."""

    trial: str
    result: TrialResult
    attempts: int
    planned: int
    price: Price = Price()
    entry: int = 0  # of the ledger, once it is there
    parts: BudgetParts = BudgetParts.EVEN  # of the error budget; those stored without it had even ones


def design(
    cases: Iterable[str], guards: Iterable[str], *, seeds: int, placebo: bool, alpha: float, allowance: Allowance
) -> Trial:
    """A trial before its first attempt: each case once, in an order that nobody chose."""
    standing = frozenset(guards)
    return Trial(
        cases=tuple(fixed_order(set(cases) - standing)),
        guards=tuple(fixed_order(standing)),
        seeds=seeds,
        arms=(Arm.BASE, Arm.CANDIDATE, *((Arm.PLACEBO,) if placebo else ())),
        alpha=alpha,
        allowance=allowance,
    )


def waves(trial: Trial) -> Iterator[tuple[AttemptPlace, ...]]:
    """The attempts in the order in which they are made, a few whole cases at a time, standing cases in between.

    From wave to wave the arms take turns at being first, so that a slow hour favours none; within a wave each arm's
    attempts follow one another, so that a cache of its prompt is of use.
    """
    most = AGENT_WAVE_ATTEMPTS if trial.agent else WAVE_ATTEMPTS
    each = max(1, most // (len(trial.arms) * trial.seeds))
    order = _mixed(trial.cases, trial.guards)
    for number, start in enumerate(range(0, len(order), each)):
        first = number % len(trial.arms)
        yield tuple(
            AttemptPlace(case, arm, seed)
            for arm in (*trial.arms[first:], *trial.arms[:first])
            for case in order[start : start + each]
            for seed in range(1, trial.seeds + 1)
        )


def _mixed(cases: Sequence[str], guards: Sequence[str]) -> tuple[str, ...]:
    """Both in their own order, the guards spread evenly among the others."""
    ranked = [((number + 0.5) / len(cases), 0, case) for number, case in enumerate(cases)]
    ranked += [((number + 0.5) / len(guards), 1, case) for number, case in enumerate(guards)]
    return tuple(case for _, _, case in sorted(ranked, key=lambda one: one[:2]))


def judged(trial: Trial, attempts: Sequence[Attempt]) -> TrialResult:
    """What the attempts so far say, and whether more are needed. It may be asked after every wave."""
    verdict = _compared(trial, attempts, Arm.CANDIDATE, Arm.BASE, trial.cases)
    guard = _compared(trial, attempts, Arm.CANDIDATE, Arm.BASE, trial.guards) if trial.guards else None
    fault = _fault(trial, attempts)
    ruling, held_back = (Ruling.UNDECIDED, fault.why) if fault else _ruled(trial, attempts, verdict, guard)
    invalid = Counter(attempt.invalid for attempt in attempts if attempt.invalid)
    with_placebo = Arm.PLACEBO in trial.arms
    alike = useless(attempts)
    result = TrialResult(
        verdict=replace(verdict, ruling=ruling),
        stop=TrialStop.OPEN,
        lesson=_compared(trial, attempts, Arm.CANDIDATE, Arm.PLACEBO, trial.cases) if with_placebo else None,
        form=_compared(trial, attempts, Arm.PLACEBO, Arm.BASE, trial.cases) if with_placebo else None,
        guard=guard,
        held_back=held_back,
        always=alike.always,
        never=alike.never,
        tallies=tuple(tally(arm, attempts) for arm in trial.arms),
        spent=total_spent(attempts),
        reused=sum(attempt.reused for attempt in attempts),
        invalid=invalid.total(),
        invalid_why=invalid.most_common(1)[0][0] if invalid else "",
    )
    return replace(result, stop=fault.stop if fault else _stop(trial, attempts, result))


class _Fault(NamedTuple):
    """Why a trial cannot go on, whatever its evidence."""

    stop: TrialStop
    why: str


def _fault(trial: Trial, attempts: Sequence[Attempt]) -> _Fault | None:
    """A trial is about one agent, and about what it does: neither holds where it changed, or hardly ever worked."""
    if changed := change_of_agent(trial.agent, attempts):
        return _Fault(TrialStop.CHANGED, changed)
    lost = why_invalid(attempts)
    return _Fault(TrialStop.INVALID, lost) if lost else None


def is_affordable(trial: Trial) -> bool:
    """Whether all attempts fit the allowance, if each costs what one is thought to."""
    of_one = trial.of_one
    attempts = (len(trial.cases) + len(trial.guards)) * trial.seeds * len(trial.arms)
    whole = Spent(
        input=of_one.input * attempts,
        output=of_one.output * attempts,
        seconds=of_one.seconds * attempts,
        dollars=None if of_one.dollars is None else of_one.dollars * attempts,
    )
    return not _is_spent(trial.allowance, whole)


def plan(trial: Trial) -> power.TrialPlan:
    """What a trial can find, and about what it will cost."""
    spread = power.deviation(USUAL_PASS_RATE, trial.seeds)
    cost = trial.of_one.dollars or 0.0
    found = power.plan(len(trial.cases), trial.seeds, alpha=trial.alpha, spread=spread, cost_of_attempt=cost)
    share = len(trial.arms) / 2
    return replace(
        found,
        attempts_most=int(found.attempts_most * share) + len(trial.guards) * trial.seeds * len(trial.arms),
        attempts_expected=found.attempts_expected * share,
        cost_most=found.cost_most * share,
        cost_expected=found.cost_expected * share,
    )


def cache_price(base: str, candidate: str, *, inserted: Iterable[str] = ()) -> Price:
    """What changing one prompt into the other costs a session that had the first in its cache.

    `inserted` are messages that come between the prompt and the conversation.
    """
    shared = next(
        (place for place, (old, new) in enumerate(zip(base, candidate, strict=False)) if old != new),
        min(len(base), len(candidate)),
    )
    grown = tokens.estimate(candidate) - tokens.estimate(base)
    return Price(
        invalidated=tokens.estimate(base[shared:]) if base != candidate else 0,
        added=grown + sum(tokens.estimate(text) for text in inserted),
    )


def _compared(trial: Trial, attempts: Sequence[Attempt], arm: Arm, against: Arm, cases: tuple[str, ...]) -> Verdict:
    known = frozenset(cases)
    made = sum(each.arm in (arm, against) and each.case in known and not each.invalid for each in attempts)
    found = differences(attempts, _begun(cases, attempts), arm=arm, against=against)
    return judge(found, alpha=trial.alpha, attempts=made, planned=len(cases))


def _begun(cases: tuple[str, ...], attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The cases up to the last that was begun: what is looked at is always a beginning of the fixed order."""
    begun = {attempt.case for attempt in attempts}
    last = max((number for number, case in enumerate(cases) if case in begun), default=-1)
    return cases[: last + 1]


def _ruled(trial: Trial, attempts: Sequence[Attempt], verdict: Verdict, guard: Verdict | None) -> tuple[Ruling, str]:
    """The ruling of the gate after the standing cases had their say: they can only take an acceptance away."""
    if guard is None or verdict.ruling is Ruling.REJECT:
        return verdict.ruling, ""
    if guard.ruling is Ruling.REJECT:
        return Ruling.REJECT, "the standing cases were harmed"
    if verdict.ruling is Ruling.ACCEPT:
        if guard.effect < -GUARD_LOSS:
            return Ruling.UNDECIDED, f"the standing cases fell by {-100 * guard.effect:.0f} points"
        if len(_begun(trial.guards, attempts)) < len(trial.guards):
            return Ruling.UNDECIDED, "not all standing cases were run"
    return verdict.ruling, ""


def _stop(trial: Trial, attempts: Sequence[Attempt], result: TrialResult) -> TrialStop:
    guarded = {each.case for each in attempts} >= set(trial.guards)
    if result.verdict.ruling is not Ruling.UNDECIDED or (result.verdict.stopped_at is not None and guarded):
        return TrialStop.EVIDENCE
    if len({each.case for each in attempts}) == len(trial.cases) + len(trial.guards):
        return TrialStop.CASES
    return TrialStop.BUDGET if _is_spent(trial.allowance, result.spent) else TrialStop.OPEN


def is_needed(trial: Trial, result: TrialResult, place: AttemptPlace) -> bool:
    """Whether an attempt can still change anything: once the gate accepts, only the standing cases can."""
    decided = result.held_back and result.verdict.stopped_at is not None
    return place.case in trial.guards or not decided


def _is_spent(allowance: Allowance, spent: Spent) -> bool:
    limits = (
        (spent.dollars or 0.0, allowance.dollars),
        (spent.input + spent.output, allowance.tokens),
        (spent.seconds, allowance.seconds),
    )
    return any(limit is not None and value >= limit for value, limit in limits)
