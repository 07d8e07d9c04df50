"""What the attempts of a trial say: verdicts, what takes an acceptance away, and when a trial ends."""

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence.verdicts import FRESH, Capital, Ruling, Verdict, judge, way, within_margin
from whet.trials.attempts import (
    Arm,
    Attempt,
    AttemptPlace,
    change_of_agent,
    differences,
    tally,
    total_spent,
    useless,
    why_invalid,
)
from whet.trials.design import FAULTS, PastEvidence, Trial, TrialResult, TrialStop, carry, is_spent

GUARD_COST = 1.5  # times the tokens or the minutes that standing cases may take on average
TELLING_SECONDS = 30.0  # shorter attempts vary with what else a machine does
GUARD_CHECKS = 0.5  # of the tests, builds and lints that have to be run in them as before
GUARD_LOSS = 0.1  # standing cases may lose so much on average before an acceptance is held back


def judged(trial: Trial, attempts: Sequence[Attempt]) -> TrialResult:
    """What the attempts so far say, and whether more are needed. It may be asked after every wave."""
    spent = total_spent(attempts)
    fault = _fault(trial, attempts)
    invalid = Counter(attempt.invalid for attempt in attempts if attempt.invalid)
    with_placebo = trial.design.placebo
    # The final look is taken when nothing more will be run; what was spent does not depend on which arm did better.
    is_over = fault is None and (_is_run(trial, attempts) or is_spent(trial.design.allowance, spent))

    def compared(arm: Arm, against: Arm, cases: tuple[str, ...], before: Capital = FRESH) -> Verdict:
        return _compared(trial, attempts, (arm, against), cases, before=before, is_over=is_over)

    verdict = compared(Arm.CANDIDATE, Arm.BASE, trial.cases.tried, trial.before.against_base)
    lesson = (
        compared(Arm.CANDIDATE, Arm.PLACEBO, trial.cases.tried, trial.before.against_placebo) if with_placebo else None
    )
    guard = compared(Arm.CANDIDATE, Arm.BASE, trial.cases.guards) if trial.cases.guards else None
    ruling, held_back = (Ruling.UNDECIDED, fault.why) if fault else _ruled(trial, attempts, verdict, lesson, guard)
    alike = useless(attempts)
    moves = differences(attempts, _begun(trial.cases.tried, attempts), arm=Arm.CANDIDATE, against=Arm.BASE)
    result = TrialResult(
        verdict=replace(verdict, ruling=ruling),
        stop=TrialStop.OPEN,
        lesson=lesson,
        way=way(moves, verdict, planned=len(trial.cases.tried), before=trial.before.against_base),
        form=compared(Arm.PLACEBO, Arm.BASE, trial.cases.tried) if with_placebo else None,
        guard=guard,
        held_back=held_back,
        always=alike.always,
        never=alike.never,
        tallies=tuple(tally(arm, attempts) for arm in trial.design.arms),
        spent=spent,
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
    if changed := change_of_agent(trial.conditions.agent, attempts):
        return _Fault(TrialStop.CHANGED, changed)
    lost = why_invalid(attempts)
    return _Fault(TrialStop.INVALID, lost) if lost else None


def left_to_next(trial: Trial, attempts: Sequence[Attempt], result: TrialResult) -> PastEvidence:
    """What this trial leaves to the next one of the same change: its capital, and the cases that told something.

    One that could not go on, whatever its evidence, leaves what was there before it.
    """
    if result.stop in FAULTS:
        return trial.before
    tried = [
        trial.cases.contents.get(case, case)
        for case in trial.cases.tried
        if differences(attempts, (case,), arm=Arm.CANDIDATE, against=Arm.BASE)
    ]
    return carry(trial.before, result.verdict, result.lesson, tried)


def _compared(
    trial: Trial,
    attempts: Sequence[Attempt],
    arms: tuple[Arm, Arm],
    cases: tuple[str, ...],
    *,
    before: Capital,
    is_over: bool,
) -> Verdict:
    arm, against = arms
    known = frozenset(cases)
    made = sum(each.arm in arms and each.case in known and not each.invalid for each in attempts)
    found = differences(attempts, _begun(cases, attempts), arm=arm, against=against)
    alpha, margin, planned = trial.design.alpha, trial.design.margin, len(cases)
    verdict = judge(found, alpha=alpha, attempts=made, planned=planned, before=before, is_over=is_over)
    is_asked = margin and cases == trial.cases.tried
    return within_margin(verdict, found, margin, planned=planned, before=before) if is_asked else verdict


def _is_run(trial: Trial, attempts: Sequence[Attempt]) -> bool:
    return len({each.case for each in attempts}) == len(trial.cases.tried) + len(trial.cases.guards)


def _begun(cases: tuple[str, ...], attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The cases up to the last that was begun: what is looked at is always a beginning of the fixed order."""
    begun = {attempt.case for attempt in attempts}
    last = max((number for number, case in enumerate(cases) if case in begun), default=-1)
    return cases[: last + 1]


def _ruled(
    trial: Trial, attempts: Sequence[Attempt], verdict: Verdict, lesson: Verdict | None, guard: Verdict | None
) -> tuple[Ruling, str]:
    """The ruling of the gate after placebo and standing cases had their say: they can only take an acceptance away."""
    if verdict.ruling is Ruling.REJECT:
        return verdict.ruling, ""
    if guard is not None and guard.ruling is Ruling.REJECT:
        return Ruling.REJECT, "the standing cases were harmed"
    if verdict.ruling is Ruling.ACCEPT and lesson is not None and lesson.ruling is not Ruling.ACCEPT:
        return Ruling.UNDECIDED, "it is not proved that it helps more than a placebo"
    if verdict.ruling is Ruling.ACCEPT and guard is not None:
        if guard.effect < -GUARD_LOSS:
            return Ruling.UNDECIDED, f"the standing cases fell by {-100 * guard.effect:.0f} points"
        if len(_begun(trial.cases.guards, attempts)) < len(trial.cases.guards):
            return Ruling.UNDECIDED, "not all standing cases were run"
        if dearer := _dearer(trial, attempts):
            return Ruling.UNDECIDED, dearer
    return verdict.ruling, ""


def _dearer(trial: Trial, attempts: Sequence[Attempt]) -> str:
    """What standing cases take more of with the change, or do less of: a failure spared must not be paid elsewhere.

    A case that is done with the change alone is none of them: it may cost more than giving up does.
    """
    found = ((case, differences(attempts, (case,), arm=Arm.CANDIDATE, against=Arm.BASE)) for case in trial.cases.guards)
    guards = frozenset(case for case, moves in found if all(move <= 0 for move in moves))
    made = [each for each in attempts if each.case in guards and not each.invalid]
    both = {each.case for each in made if each.arm is Arm.BASE} & {
        each.case for each in made if each.arm is Arm.CANDIDATE
    }
    base, told = (
        [each.measures for each in made if each.arm is arm and each.case in both] for arm in (Arm.BASE, Arm.CANDIDATE)
    )
    if not base or not told:
        return ""
    tokens, seconds = (
        [[of(each) for each in side] for side in (base, told)]
        for of in (attrgetter("tokens"), attrgetter("spent.seconds"))
    )
    for name, sides, least in (("tokens", tokens, 0.0), ("time", seconds, TELLING_SECONDS)):
        before, after = map(fmean, sides)
        if before > least and after > GUARD_COST * before:
            return f"the standing cases take {after / before:.1f} times the {name}"
    before, after = (fmean(each.checks for each in side) for side in (base, told))
    return "fewer checks are run in the standing cases" if after < GUARD_CHECKS * before else ""


def _stop(trial: Trial, attempts: Sequence[Attempt], result: TrialResult) -> TrialStop:
    guarded = {each.case for each in attempts} >= set(trial.cases.guards)
    if result.verdict.ruling is not Ruling.UNDECIDED or (_is_settled(result) and guarded):
        return TrialStop.EVIDENCE
    if _is_run(trial, attempts):
        return TrialStop.CASES
    return TrialStop.BUDGET if is_spent(trial.design.allowance, result.spent) else TrialStop.OPEN


def _is_settled(result: TrialResult) -> bool:
    """Whether more cases can say nothing new, against the base or against the placebo."""
    lesson = result.lesson
    return result.verdict.stopped_at is not None and (lesson is None or lesson.stopped_at is not None)


def is_needed(trial: Trial, result: TrialResult, place: AttemptPlace) -> bool:
    """Whether an attempt can still change anything: once the evidence is enough, only the standing cases can."""
    return place.case in trial.cases.guards or not (result.held_back and _is_settled(result))
