"""What came of a trial in words that people use, and what it would take to be sure."""

import math
from typing import NamedTuple

from whet.evidence import power
from whet.evidence.verdicts import Ruling
from whet.trials.continuing import missing_cases
from whet.trials.design import USUAL_PASS_RATE, TrialProgress

MOST_RUNS = 100_000


class RunsNeeded(NamedTuple):
    """About how many more runs would tell, if the effect is what it seems, and what they cost where that is known."""

    cases: int
    runs: int
    dollars: float | None


def more_needed(progress: TrialProgress) -> RunsNeeded | None:
    """What it would take to be sure; None where nothing suggests that the change helps."""
    result, left = progress.result, progress.after
    verdict = result.verdict
    if verdict.effect <= 0 or not verdict.cases or not progress.attempts:
        return None
    arms = max(2, len(result.tallies))
    seeds = max(1, round(progress.attempts / arms / verdict.cases))
    placebo = result.lesson is not None
    capital = left.least if placebo else left.against_base.help
    alpha = min(0.4, verdict.alpha * capital)
    cases = power.cases_needed(verdict.effect, spread=power.deviation(USUAL_PASS_RATE, seeds), alpha=alpha)
    if cases is None or cases * seeds * arms > MOST_RUNS:
        return None
    cases = max(cases, missing_cases(left, 0, alpha=verdict.alpha, placebo=placebo))
    paid = progress.attempts - result.reused
    dollars = None if result.spent.dollars is None or not paid else result.spent.dollars / paid
    runs = cases * seeds * arms
    return RunsNeeded(cases, runs, None if dollars is None else dollars * runs)


def counted(progress: TrialProgress) -> str:
    """In how many cases it helped and harmed, over all trials of the same change."""
    verdict, left = progress.result.verdict, progress.after
    if verdict.margin:
        cases = left.cases if left.trials else verdict.cases
        worse, better = (left.harmed, left.helped) if left.trials else (verdict.harmed, verdict.helped)
        return f"without it {worse} of {cases} {'case' if cases == 1 else 'cases'} ended worse and {better} better"
    helped, harmed, cases = (
        (left.helped, left.harmed, left.cases) if left.trials else (verdict.helped, verdict.harmed, verdict.cases)
    )
    return f"helped in {helped} of {cases} {'case' if cases == 1 else 'cases'}" + (
        f", harmed in {harmed}" if harmed else ""
    )


def outlook(progress: TrialProgress) -> str:
    """What an undecided trial leaves open, and what would settle it; nothing where it was decided."""
    if progress.result.verdict.ruling is not Ruling.UNDECIDED:
        return ""
    if progress.result.verdict.margin and not progress.result.held_back:
        return _until_shown(progress)
    more = more_needed(progress)
    if progress.result.held_back:
        return progress.result.held_back
    if one_sided := _one_sided(progress):
        return one_sided
    if more is None:
        return "nothing suggests that it helps; only new cases in which it makes a difference would decide it"
    cost = f", ${_rounded(more.dollars):.2f}" if more.dollars else ""
    return f"too few to be sure; about {more.cases} more cases, {more.runs} runs{cost}"


def ruled(progress: TrialProgress) -> str:
    """What a verdict says of the change; nothing where it says nothing."""
    verdict = progress.result.verdict
    if verdict.margin:
        saved = f", {-progress.price.added:,} tokens saved at every start" if progress.price.added < 0 else ""
        within = f"no worse by more than {100 * verdict.margin:g} points without it{saved}"
        return {Ruling.ACCEPT: within, Ruling.REJECT: "it is worse without it"}.get(verdict.ruling, "")
    return {Ruling.ACCEPT: "it helps", Ruling.REJECT: "it harms"}.get(verdict.ruling, "")


def _until_shown(progress: TrialProgress) -> str:
    verdict, left = progress.result.verdict, progress.after
    missing = missing_cases(left, 0, alpha=verdict.alpha, placebo=False, margin=verdict.margin)
    within = f"that it is no worse by more than {100 * verdict.margin:g} points without it is not shown"
    return f"{within}; at least {max(missing, 1)} more cases that end alike would show it"


def _one_sided(progress: TrialProgress) -> str:
    """Why cases that all end alike decide nothing, and which ones would."""
    attempts = sum(each.attempts for each in progress.result.tallies)
    passed = sum(each.passed for each in progress.result.tallies)
    if not attempts or 0 < passed < attempts:
        return ""
    if passed:
        return "every attempt passed, with it and without; harder cases would decide it"
    return "no attempt ever passed, with it or without; easier cases or a more capable model would decide it"


def _rounded(dollars: float) -> float:
    """Up to the next cent: a price is never shown as nothing."""
    return math.ceil(100 * dollars) / 100
