"""How trials are shown: the plan before, a line while they run, and the verdict with what it rests on."""

import os
import sys
from collections.abc import Iterator

import msgspec

from whet.agent.providers.local_weights import EMBEDDED
from whet.cli.output import plain
from whet.evidence.final_look import cases_to_prove
from whet.evidence.verdicts import Ruling, Verdict, record_of
from whet.store.home import find_home
from whet.store.settings_file import load
from whet.text.words import many, short
from whet.trials.attempts import ARMS, ArmTally
from whet.trials.continuing import missing_cases
from whet.trials.design import Price, Trial, TrialProgress, TrialResult, TrialStop, plan
from whet.trials.outcome_words import counted, more_needed, outlook, ruled

COLOURS = {Ruling.ACCEPT: "green", Ruling.UNDECIDED: "yellow", Ruling.REJECT: "red"}
FIXTURE = " It is a fixture for trying and testing, too small to judge for a capable one."
NEXT = {
    Ruling.ACCEPT: "`whet rules add` or `whet lessons approve` puts it in force; a trial alone does not.",
    Ruling.UNDECIDED: "`whet cases` lists what can be tried on, `whet cases add ID` makes more.",
    Ruling.REJECT: "leave it, or try other words.",
}
STOPS = {
    TrialStop.EVIDENCE: "stopped early: the evidence suffices",
    TrialStop.CASES: "all cases were run",
    TrialStop.BUDGET: "stopped: the budget ran out",
    TrialStop.INVALID: "stopped: most attempts were invalid",
    TrialStop.CHANGED: "stopped: the agent changed",
    TrialStop.OPEN: "not finished",
}


class LiveLine:
    """The live line of a trial, on a terminal only."""

    def __init__(self) -> None:
        self._is_live = sys.stderr.isatty()
        self._shown = ""

    def __enter__(self) -> "LiveLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_live and self._shown:
            sys.stderr.write("\r\x1b[K")

    def show(self, progress: TrialProgress) -> None:
        text = progress_text(progress)
        if self._is_live and text != self._shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        self._shown = text


def progress_text(progress: TrialProgress) -> str:
    verdict = progress.result.verdict
    rates = ", ".join(f"{ARMS[each.arm]} {each.passed}/{each.attempts}" for each in progress.result.tallies)
    return (
        f"{progress.attempts} of at most {progress.planned} attempts · {rates} · evidence of help"
        f" {_evidence(verdict.evidence_help)}, of harm {_evidence(verdict.evidence_harm)};"
        f" decided at {1 / verdict.alpha:.0f}{_cost(progress.result)}"
    )


def plan_record(trial: Trial) -> dict[str, object]:
    found = plan(trial)
    return {
        "trial": trial.id,
        "form": trial.change.form,
        "name": trial.change.name,
        "model": trial.conditions.model,
        "agent": trial.conditions.agent,
        "cases": len(trial.cases.tried),
        "guards": len(trial.cases.guards),
        "screened": trial.cases.screened,
        "seeds": trial.design.seeds,
        "arms": trial.design.arms,
        "alpha": trial.design.alpha,
        "minimum_effect": found.minimum_effect,
        "attempts_most": found.attempts_most,
        "attempts_expected": found.attempts_expected,
        "cost_most": found.cost_most if trial.of_one.dollars is not None else None,
        "minutes_most": found.attempts_most * trial.of_one.seconds / 60 if trial.conditions.agent else None,
        "tokens_most": found.attempts_most * (trial.of_one.input + trial.of_one.output),
        "cache": trial.change.price,
    }


def account(agent: str) -> str:
    """What a person should know of another agent before they let it start."""
    from whet.proving.executing import network_said  # who only reads what a trial found needs no agent's formats

    return (
        f"{agent} runs in your name and on your account. Whether your plan allows use by a program is for you to know"
        f" and to allow. {network_said(agent, load(find_home(os.environ)), os.environ)}"
    )


def judge_line(model: str, agent: str) -> str:
    """Which model judges for which agent, in a sentence; before anything is spent."""
    if agent:
        served = f" with {plain(model)}" if model else ""
        return f"{plain(agent)}{served} runs the cases itself: the verdict is for it."
    fixture = FIXTURE if _is_embedded(model) else ""
    return (
        f"{plain(model)} runs the cases in Whet's own agent: the verdict is for that model.{fixture}"
        " To judge for another agent: --agent NAME."
    )


def _is_embedded(model: str) -> bool:
    return model.removeprefix("local:") in ("local", EMBEDDED.name)


def plan_lines(trial: Trial) -> Iterator[str]:
    found = plan(trial)
    arms = " and ".join(ARMS[arm] for arm in trial.design.arms)
    guards = f" and {many(len(trial.cases.guards), 'standing case')}" if trial.cases.guards else ""
    yield (
        f"Trying the {trial.change.form} [bold]{plain(trial.change.name)}[/] on {plain(_who(trial))}: "
        f"{many(len(trial.cases.tried), 'case')}{guards}, {many(trial.design.seeds, 'seed')}, {arms}."
    )
    yield judge_line(trial.conditions.model, trial.conditions.agent.name if trial.conditions.agent else "")
    if trial.cases.screened:
        guarding = len(set(trial.cases.screened) & set(trial.cases.guards))
        yield (
            f"{many(len(trial.cases.screened), 'case')} passed every screening attempt and cannot show that it helps: "
            f"{guarding} guard against harm, {len(trial.cases.screened) - guarding} left out."
        )
    if trial.before.cases:
        known = trial.before
        yield f"It goes on from {many(known.cases, 'case')}: helped in {known.helped}, harmed in {known.harmed}."
    missing = missing_cases(
        trial.before, len(trial.cases.tried), alpha=trial.design.alpha, placebo=bool(trial.design.placebo)
    )
    if missing:
        yield f"Too few cases to prove anything, even if it helps in every one: {missing} more needed."
    elif found.minimum_effect < 1:
        smallest = f"{100 * found.minimum_effect:.0f} points"
        yield f"80 % power to detect {smallest}, at alpha {found.alpha:.2g}."
        enough = cases_to_prove(trial.design.alpha, capital=trial.before.against_base.help)
        yield f"If none gets worse, {many(enough, 'case')} that it helps in would prove it."
    else:
        yield f"Too few cases to decide at alpha {found.alpha:.2g}: add cases or seeds."
    tokens = found.attempts_most * (trial.of_one.input + trial.of_one.output)
    dollars = f", about ${found.cost_most:.2f}" if trial.of_one.dollars is not None else ""
    price = _price(trial.change.price)
    yield f"At most {found.attempts_most} attempts, roughly {short(tokens)} tokens{dollars}. {price}"
    if trial.conditions.agent:
        yield from _agent_lines(trial, found.attempts_most)


def _who(trial: Trial) -> str:
    if trial.conditions.agent is None:
        return trial.conditions.model
    return " ".join(
        filter(
            None,
            (
                trial.conditions.agent.name,
                trial.conditions.agent.version,
                trial.conditions.model and f"with {trial.conditions.model}",
            ),
        )
    )


def _agent_lines(trial: Trial, attempts: int) -> Iterator[str]:
    """What another agent may take in the person's name, and what they have to know before they allow it."""
    assert trial.conditions.agent is not None
    minutes, allowance = trial.of_one.seconds / 60, trial.design.allowance
    yield f"Each attempt takes at most {minutes:.3g} min, all of them {attempts * minutes:.3g} min."
    limits = (
        f"${allowance.dollars:g}" if allowance.dollars is not None else "",
        f"{short(allowance.tokens)} tokens" if allowance.tokens is not None else "",
        f"{allowance.seconds / 60:.3g} min" if allowance.seconds is not None else "",
    )
    named = " or ".join(filter(None, limits))
    yield f"It ends at {named}." if named else "No budget is set: --budget 2$ or --budget 30min ends it there."
    yield plain(account(trial.conditions.agent.name))


def result_record(trial: Trial, progress: TrialProgress) -> dict[str, object]:
    result = progress.result
    record: dict[str, object] = {
        "trial": trial.id,
        "form": trial.change.form,
        "name": trial.change.name,
        "model": trial.conditions.model,
        "agent": trial.conditions.agent,
        "entry": progress.entry,
        **record_of(result.verdict),
        "stop": result.stop,
        "held_back": result.held_back,
        "lesson": record_of(result.lesson) if result.lesson else None,
        "form_effect": record_of(result.form) if result.form else None,
        "guards": record_of(result.guard) if result.guard else None,
        "arms": {each.arm.value: _tally_record(each) for each in result.tallies},
        "useless": {"always": result.always, "never": result.never},
        "spent": msgspec.structs.asdict(result.spent),
        "reused": result.reused,
        "invalid": result.invalid,
        "invalid_why": result.invalid_why,
        "known": msgspec.structs.asdict(progress.after),
        "left_out": progress.left_out,
        "more": more._asdict() if (more := more_needed(progress)) else None,
        "cache": {"invalidated_tokens": progress.price.invalidated, "added_tokens": progress.price.added},
    }
    return record


def result_lines(progress: TrialProgress) -> Iterator[str]:
    result, verdict = progress.result, progress.result.verdict
    after = outlook(progress) or ruled(progress)
    yield (
        f"[bold {COLOURS[verdict.ruling]}]{verdict.ruling.value.capitalize()}[/]: {counted(progress)}; {plain(after)}."
    )
    if verdict.ruling is Ruling.UNDECIDED and more_needed(progress):
        yield "New cases go on from here, at the same bar: run the same command with more of them."
    if progress.left_out:
        yield (
            f"It stands on cases that it was not written from; {many(progress.left_out, 'case')} from the sessions that"
            " it was written from did not count."
        )
    yield f"Effect {_effect(verdict)}, {many(verdict.cases, 'case')}; {STOPS[result.stop]}."
    yield (
        f"Evidence of help {_evidence(verdict.evidence_help)}, of harm {_evidence(verdict.evidence_harm)};"
        f" decided at {1 / verdict.alpha:.0f}."
    )
    if result.lesson and result.form:
        yield (
            f"Placebo effect {_points(result.form.effect)}; effect beyond the placebo {_effect(result.lesson)}"
            f" ({result.lesson.ruling.value} against the placebo)."
        )
    if result.guard:
        yield f"Standing cases: {_effect(result.guard)}, {many(result.guard.cases, 'case')}."
    for each in result.tallies:
        yield _tally_line(each)
    yield from _remarks(result)
    yield f"{_spent(result)} {_price(progress.price)} Ledger entry {progress.entry}."


def _tally_record(each: ArmTally) -> dict[str, object]:
    return {**msgspec.structs.asdict(each), "rate": each.rate, "interval": list(each.interval)}


def _tally_line(each: ArmTally) -> str:
    first = f"first success at turn {each.first_success_turn:.1f}" if each.first_success_turn else "no call worked"
    return (
        f"  {ARMS[each.arm]:<8} {each.passed} of {each.attempts} ({each.interval.low:.0%} to {each.interval.high:.0%})"
        f" · early errors {each.early_error_rate:.0%} · {first} · {each.errors:.1f} errors · {each.tools:.1f} tools"
        f" · {short(each.tokens)} tokens"
    )


def _remarks(result: TrialResult) -> Iterator[str]:
    for names, how in ((result.always, "always"), (result.never, "never")):
        if names:
            listed = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
            yield f"[dim]Not informative, because they {how} pass in both arms: {plain(listed)}.[/]"
    if result.invalid:
        yield f"[dim]{many(result.invalid, 'invalid attempt')}, not counted: {plain(result.invalid_why)}.[/]"
    counts = {each.arm: each.invalid for each in result.tallies}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{ARMS[arm]} {count}" for arm, count in counts.items())
        yield f"[yellow]The arms differ in invalid attempts ({listed}): the change may have a part in that.[/]"


def _spent(result: TrialResult) -> str:
    spent = result.spent
    reused = f", {result.reused} reused" if result.reused else ""
    dollars = f", ${spent.dollars:.4f}" if spent.dollars is not None else ""
    tokens = spent.input + spent.output
    return f"{spent.model_calls} model calls{reused}, {short(tokens)} tokens{dollars}, {spent.seconds:.0f} s."


def _price(price: Price) -> str:
    if not price.invalidated:
        return f"It adds {price.added:,} tokens to each session and keeps the cached prompt valid."
    return f"It adds {price.added:,} tokens to each session and invalidates {price.invalidated:,} cached ones once."


def _cost(result: TrialResult) -> str:
    return f" · ${result.spent.dollars:.2f}" if result.spent.dollars is not None else ""


def _effect(verdict: Verdict) -> str:
    return f"{_points(verdict.effect)} ({_points(verdict.interval.low)} to {_points(verdict.interval.high)})"


def _points(effect: float) -> str:
    return f"{100 * effect:+.0f} points"


def _evidence(evidence: float) -> str:
    return f"{evidence:.1f}" if evidence < 1000 else f"{evidence:.2g}"
