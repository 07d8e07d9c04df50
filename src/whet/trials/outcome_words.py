"""What came of a trial in words that people use, and what it would take to be sure."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from whet.evidence import power
from whet.evidence.verdicts import Ruling, Verdict
from whet.text.words import many, short
from whet.trials.attempts import ARMS, ArmTally
from whet.trials.design import USUAL_PASS_RATE, Price, TrialProgress, TrialResult, TrialStop, missing_cases

MOST_RUNS = 100_000
STOPS = {
    TrialStop.EVIDENCE: "stopped early: the evidence suffices",
    TrialStop.CASES: "all cases were run",
    TrialStop.BUDGET: "stopped: the budget ran out",
    TrialStop.INVALID: "stopped: most attempts were invalid",
    TrialStop.CHANGED: "stopped: the agent changed",
    TrialStop.OPEN: "not finished",
}


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


def result_words(progress: TrialProgress) -> Iterator[str]:
    """What a trial came to, a sentence each: its ruling first, then what it rests on, for every surface alike."""
    result, verdict = progress.result, progress.result.verdict
    after = outlook(progress) or ruled(progress)
    yield f"{verdict.ruling.value.capitalize()}: {counted(progress)}; {after}."
    if verdict.ruling is Ruling.UNDECIDED and more_needed(progress):
        yield "New cases go on from here, at the same bar: run the same command with more of them."
    if progress.left_out:
        yield (
            f"It stands on cases that it was not written from; {many(progress.left_out, 'case')} from the sessions that"
            " it was written from did not count."
        )
    yield f"Effect {effect_words(verdict)}, {many(verdict.cases, 'case')}; {STOPS[result.stop]}."
    yield (
        f"Evidence of help {evidence_words(verdict.evidence_help)}, of harm {evidence_words(verdict.evidence_harm)};"
        f" decided at {1 / verdict.alpha:.0f}."
    )
    if result.lesson and result.form:
        yield (
            f"Placebo effect {_points(result.form.effect)}; effect beyond the placebo {effect_words(result.lesson)}"
            f" ({result.lesson.ruling.value} against the placebo)."
        )
    if result.guard:
        yield f"Standing cases: {effect_words(result.guard)}, {many(result.guard.cases, 'case')}."
    yield from map(_tally_words, result.tallies)
    yield from _remarks(result)
    entry = f" Ledger entry {progress.entry}." if progress.entry else ""
    yield f"{_spent(result)} {price_words(progress.price)}{entry}"


def _tally_words(each: ArmTally) -> str:
    first = f"first success at turn {each.first_success_turn:.1f}" if each.first_success_turn else "no call worked"
    return (
        f"{ARMS[each.arm]}: {each.passed} of {each.attempts} ({each.interval.low:.0%} to {each.interval.high:.0%})"
        f" · early errors {each.early_error_rate:.0%} · {first} · {each.errors:.1f} errors · {each.tools:.1f} tools"
        f" · {short(each.tokens)} tokens"
    )


def _remarks(result: TrialResult) -> Iterator[str]:
    for names, how in ((result.always, "always"), (result.never, "never")):
        if names:
            listed = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
            yield f"Not informative, because they {how} pass in both arms: {listed}."
    if result.invalid:
        yield f"{many(result.invalid, 'invalid attempt')}, not counted: {result.invalid_why}."
    counts = {each.arm: each.invalid for each in result.tallies}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{ARMS[arm]} {count}" for arm, count in counts.items())
        yield f"The arms differ in invalid attempts ({listed}): the change may have a part in that."


def _spent(result: TrialResult) -> str:
    spent = result.spent
    reused = f", {result.reused} reused" if result.reused else ""
    dollars = f", ${spent.dollars:.4f}" if spent.dollars is not None else ""
    tokens = spent.input + spent.output
    return f"{spent.model_calls} model calls{reused}, {short(tokens)} tokens{dollars}, {spent.seconds:.0f} s."


def price_words(price: Price) -> str:
    """What a change costs each session."""
    if not price.invalidated:
        return f"It adds {price.added:,} tokens to each session and keeps the cached prompt valid."
    return f"It adds {price.added:,} tokens to each session and invalidates {price.invalidated:,} cached ones once."


def effect_words(verdict: Verdict) -> str:
    """An effect with its interval."""
    return f"{_points(verdict.effect)} ({_points(verdict.interval.low)} to {_points(verdict.interval.high)})"


def _points(effect: float) -> str:
    return f"{100 * effect:+.0f} points"


def evidence_words(evidence: float) -> str:
    """A number of evidence, as short as it can be."""
    return f"{evidence:.1f}" if evidence < 1000 else f"{evidence:.2g}"
