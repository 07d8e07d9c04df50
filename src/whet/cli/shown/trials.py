"""How trials and improvements are shown: the plan, a line while they run, and the verdict with what it rests on."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import asdict

from whet.agent.providers.local_weights import EMBEDDED
from whet.cli.output import cautions, fields, plain, reviewed, step_line
from whet.evidence.betting import cases_to_prove
from whet.evidence.verdicts import Ruling, Verdict, record_of
from whet.improving.keeping import OWN_PROMPT
from whet.ledger.patches import Form
from whet.store.home import find_home
from whet.store.settings_file import load
from whet.text.showing import shown
from whet.text.words import cut, many, short
from whet.trials.attempts import ARMS
from whet.trials.design import Trial, TrialProgress, missing_cases, plan
from whet.trials.improvements import ImproveReport, LessonOutcome, LessonResult, WordingOrigin, way_of, why_of
from whet.trials.outcome_words import evidence_words, more_needed, price_words, result_words

COLOURS = {Ruling.ACCEPT: "green", Ruling.UNDECIDED: "yellow", Ruling.REJECT: "red"}
FIXTURE = " It is a fixture for trying and testing, too small to judge for a capable one."
NEXT = {
    Ruling.ACCEPT: "`whet rules add` or `whet lessons approve` puts it in force; a trial alone does not.",
    Ruling.UNDECIDED: "`whet cases` lists what can be tried on, `whet cases add ID` makes more.",
    Ruling.REJECT: "leave it, or try other words.",
}


WAITING_SHOWN = 5
BRIEF_LETTERS = 160
TOLD = (Form.RULE, Form.NOTE, Form.SKILL)
WORDS = {
    LessonResult.CANARY: "[green]kept as a canary[/]",
    LessonResult.RETIRED: "[green]retired[/]",
    LessonResult.KEPT: "[green]kept[/]",
    LessonResult.REJECTED: "[red]rejected[/]",
    LessonResult.UNDECIDED: "[yellow]undecided[/]",
    LessonResult.REFUSED: "[dim]not tried[/]",
    LessonResult.WAITS: "[yellow]needs your approval[/]",
    LessonResult.UNTRIED: "[yellow]not tried[/]",
    LessonResult.PLANNED: "[bold]would be tried[/]",
}
# Where the words of a lesson are from, for people.
WAYS = {
    WordingOrigin.EVIDENCE: "from your sessions",
    WordingOrigin.RETIRE: "to be retired",
    WordingOrigin.ROOM: "to make room",
    WordingOrigin.UNHEEDED: "told and not followed",
}
NEXT_STEPS = (
    (LessonResult.WAITS, "`whet lessons --waiting` to approve or refuse."),
    (LessonResult.PLANNED, "the same command without --dry-run."),
    (LessonResult.CANARY, "`whet live look` compares sessions with and without it."),
)


@contextlib.contextmanager
def trial_line() -> Iterator[Callable[[TrialProgress], None]]:
    """The line of a trial that moves while it runs, on a terminal only."""
    with step_line("Trial") as step:
        yield lambda progress: step(plain(progress_text(progress)))


def progress_text(progress: TrialProgress) -> str:
    verdict, dollars = progress.result.verdict, progress.result.spent.dollars
    rates = ", ".join(f"{ARMS[each.arm]} {each.passed}/{each.attempts}" for each in progress.result.tallies)
    return (
        f"{progress.attempts} of at most {progress.planned} attempts · {rates} · evidence of help"
        f" {evidence_words(verdict.evidence_help)}, of harm {evidence_words(verdict.evidence_harm)};"
        f" decided at {1 / verdict.alpha:.0f}{f' · ${dollars:.2f}' if dollars is not None else ''}"
    )


def plan_record(trial: Trial) -> dict[str, object]:
    found = plan(trial)
    return {
        "trial": trial.id,
        **fields(trial.change, "form", "name"),
        **fields(trial.conditions, "model", "agent"),
        "cases": len(trial.cases.tried),
        "guards": len(trial.cases.guards),
        "screened": trial.cases.screened,
        **fields(trial.design, "seeds", "arms", "alpha"),
        **fields(found, "minimum_effect", "attempts_most", "attempts_expected"),
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
    fixture = FIXTURE if model.removeprefix("local:") in ("local", EMBEDDED.name) else ""
    return (
        f"{plain(model)} runs the cases in Whet's own agent: the verdict is for that model.{fixture}"
        " To judge for another agent: --agent NAME."
    )


def plan_lines(trial: Trial) -> Iterator[str]:
    found, model, agent = plan(trial), trial.conditions.model, trial.conditions.agent
    who = " ".join(filter(None, (agent.name, agent.version, model and f"with {model}"))) if agent else model
    arms = " and ".join(ARMS[arm] for arm in trial.design.arms)
    guards = f" and {many(len(trial.cases.guards), 'standing case')}" if trial.cases.guards else ""
    yield (
        f"Trying the {trial.change.form} [bold]{plain(trial.change.name)}[/] on {plain(who)}: "
        f"{many(len(trial.cases.tried), 'case')}{guards}, {many(trial.design.seeds, 'seed')}, {arms}."
    )
    yield judge_line(model, agent.name if agent else "")
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
    price = price_words(trial.change.price)
    yield f"At most {found.attempts_most} attempts, roughly {short(tokens)} tokens{dollars}. {price}"
    if agent:
        yield from _agent_lines(trial, agent.name, found.attempts_most)


def _agent_lines(trial: Trial, agent: str, attempts: int) -> Iterator[str]:
    """What another agent may take in the person's name, and what they have to know before they allow it."""
    minutes, allowance = trial.of_one.seconds / 60, trial.design.allowance
    yield f"Each attempt takes at most {minutes:.3g} min, all of them {attempts * minutes:.3g} min."
    limits = (
        f"${allowance.dollars:g}" if allowance.dollars is not None else "",
        f"{short(allowance.tokens)} tokens" if allowance.tokens is not None else "",
        f"{allowance.seconds / 60:.3g} min" if allowance.seconds is not None else "",
    )
    named = " or ".join(filter(None, limits))
    yield f"It ends at {named}." if named else "No budget is set: --budget 2$ or --budget 30min ends it there."
    yield plain(account(agent))


def result_record(trial: Trial, progress: TrialProgress) -> dict[str, object]:
    result = progress.result
    return {
        "trial": trial.id,
        **fields(trial.change, "form", "name"),
        **fields(trial.conditions, "model", "agent"),
        "entry": progress.entry,
        **record_of(result.verdict),
        **fields(result, "stop", "held_back"),
        "lesson": record_of(result.lesson) if result.lesson else None,
        "form_effect": record_of(result.form) if result.form else None,
        "guards": record_of(result.guard) if result.guard else None,
        "arms": {each.arm: {**asdict(each), **fields(each, "rate", "interval")} for each in result.tallies},
        "useless": {"always": result.always, "never": result.never},
        "spent": asdict(result.spent),
        **fields(result, "reused", "invalid", "invalid_why"),
        "known": asdict(progress.after),
        "left_out": progress.left_out,
        "more": more._asdict() if (more := more_needed(progress)) else None,
        "cache": {"invalidated_tokens": progress.price.invalidated, "added_tokens": progress.price.added},
    }


def result_lines(progress: TrialProgress) -> Iterator[str]:
    first, *rest = map(plain, result_words(progress))
    ruling = progress.result.verdict.ruling
    yield f"[bold {COLOURS[ruling]}]{first.partition(':')[0]}[/]:{first.partition(':')[2]}"
    yield from rest


def report_record(report: ImproveReport) -> dict[str, object]:
    """The report for programs; what the sessions held is left to `whet lessons`."""
    return {
        **fields(report, "sessions", "lessons", "stopped", "left"),
        "waiting": [{**_record(each), "way": WordingOrigin.WAITS} for each in report.waiting],
        "outcomes": [_record(each) for each in report.outcomes],
    }


def report_lines(report: ImproveReport, named: Callable[[str], str] = str) -> Iterator[str]:
    offered = sum(each.became is not LessonResult.REFUSED for each in report.outcomes)
    yield f"{many(offered, 'new proposal')} from {many(report.sessions, 'session')}."
    for number, outcome in enumerate(report.outcomes, start=1):
        yield from _outcome_lines(number, outcome)
    yield from _waiting_lines(report.waiting, named)
    if not (report.outcomes or report.waiting):
        yield "Nothing recurs often enough to justify a change. Next: import more sessions with `whet import`."
    if report.left:
        yield f"{many(report.left, 'more idea')} left for another run: --most takes more, `whet lessons` lists lessons."
    if report.stopped:
        yield f"[bold]{report.stopped}[/]"


def _outcome_lines(number: int, outcome: LessonOutcome) -> Iterator[str]:
    lesson, patch = outcome.lesson, outcome.lesson.patch
    way = way_of(lesson)
    what = f"the {patch.form} [bold]{plain(patch.name)}[/] ({WAYS.get(way, way)})" if lesson.is_worded else "a rule"
    would_wait = outcome.became is LessonResult.PLANNED and not outcome.most.attempts
    became = "[bold]would be proposed[/]" if would_wait else WORDS[outcome.became]
    because = f": {plain(shown(outcome.why))}" if outcome.why else ""
    yield f"[bold]{number}.[/] {plain(why_of(lesson))}: {what} {became}{because}"
    if patch.text and patch.form in TOLD:
        yield from reviewed(patch.text, style="italic")
        yield from cautions(patch.text)
    if outcome.goes_to:
        places = plain(shown(", ".join(outcome.goes_to)))
        only_here = len(outcome.goes_to) == 1 and outcome.goes_to[0].startswith(OWN_PROMPT)
        places += ", to no other agent yet (`whet setup`)" if only_here else ""
        yield f"   [dim]would go to {places} · judged by {plain(outcome.judge)}[/]"
    if outcome.verdict is not None:
        yield f"   {_sure(outcome.verdict)}{f' · entry {outcome.entry}' if outcome.entry else ''}"
    if outcome.became is LessonResult.PLANNED and outcome.most.attempts:
        yield f"   {_cost(outcome)}"


def _waiting_lines(waiting: Sequence[LessonOutcome], named: Callable[[str], str]) -> Iterator[str]:
    """What a person has yet to decide, with the command that decides it and what a trial would cost."""
    if waiting:
        yield f"[bold]Proposed before, and waiting for you: {many(len(waiting), 'change')}.[/]"
    for each in waiting[:WAITING_SHOWN]:
        patch = each.lesson.patch
        where = f" for {plain(shown(named(patch.scope.project)))}" if patch.scope.project else ""
        words = plain(cut(" ".join(shown(patch.text).split()), BRIEF_LETTERS))
        yield f"[bold]{each.entry}[/] the {patch.form} {plain(patch.name)}{where}: “{words}”"
        yield f"   to decide: `whet lessons approve {each.entry}` or `whet lessons refuse {each.entry}`"
        if each.most.attempts:
            agent = f" --agent {each.judge}" if each.judge and " " not in each.judge else ""
            yield f"   to try it first: `whet try {each.entry}{agent}`: {_cost(each)}"
    untried = dict.fromkeys(each.why for each in waiting if each.why and not each.most.attempts)
    yield from (f"No trial of {'these' if len(waiting) > 1 else 'it'} yet: {plain(shown(why))}." for why in untried)
    if len(waiting) > WAITING_SHOWN:
        yield f"… and {len(waiting) - WAITING_SHOWN} more: `whet lessons --waiting`"


def _record(outcome: LessonOutcome) -> dict[str, object]:
    lesson, most = outcome.lesson, outcome.most
    patch = lesson.patch if lesson.is_worded else None
    return {
        "why": why_of(lesson),
        "way": way_of(lesson),
        **(fields(patch, "form", "name") if patch else {"form": None, "name": None}),
        "text": patch.text if patch and patch.form in TOLD else None,
        "became": outcome.became,
        "because": outcome.why,
        "trust": patch.trust.label if patch else None,
        "project": patch.scope.project or None if patch else None,
        "goes_to": outcome.goes_to,
        "judge": outcome.judge or None,
        **fields(outcome, "verdict", "entry", "attempts"),
        **{f"{name}_most": getattr(most, name) for name in ("attempts", "tokens", "dollars")},
        "minimum_effect": most.minimum_effect,
        "spent": outcome.spent,
    }


def _sure(verdict: Verdict) -> str:
    low, high = (100 * bound for bound in verdict.interval)
    return (
        f"{100 * verdict.effect:+.0f} points ({low:+.0f} to {high:+.0f}) over {many(verdict.cases, 'case')}; evidence"
        f" of help {verdict.evidence_help:.3g}, of harm {verdict.evidence_harm:.3g};"
        f" decided at {1 / verdict.alpha:.0f}; error rate at most {100 * verdict.alpha:.2g} %"
    )


def _cost(outcome: LessonOutcome) -> str:
    most = outcome.most
    dollars = f", about ${most.dollars:.2f}" if most.dollars is not None else ""
    found = most.minimum_effect or 1.0
    finds = f"80 % power to detect {100 * found:.0f} points" if found < 1 else "too few cases to decide"
    return f"at most {many(most.attempts, 'attempt')}, {short(most.tokens)} tokens{dollars}; {finds}"
