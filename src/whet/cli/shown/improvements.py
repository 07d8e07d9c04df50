"""How an improvement is told: what was tried, what was kept, what was refused and why, and how sure that is."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from whet.cli.output import cautions, plain, reviewed
from whet.evidence.verdicts import Verdict
from whet.improving.outlook import OWN_PROMPT
from whet.ledger.patches import Form
from whet.lessons.record import Lesson
from whet.text.showing import shown
from whet.text.words import many, short
from whet.trials.improvements import ImproveReport, LessonOutcome, LessonResult, WordingOrigin, way_of, why_of

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


def report_record(report: ImproveReport) -> dict[str, object]:
    """The report for programs; what the sessions held is left to `whet lessons`."""
    return {
        "sessions": report.sessions,
        "lessons": report.lessons,
        "stopped": report.stopped,
        "left": report.left,
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
    yield f"[bold]{number}.[/] {plain(why_of(lesson))}: {_what(lesson)} {_became(outcome)}{_because(outcome.why)}"
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
        yield f"[bold]{each.entry}[/] the {patch.form.value} {plain(patch.name)}{where}: “{_brief(patch.text)}”"
        yield f"   to decide: `whet lessons approve {each.entry}` or `whet lessons refuse {each.entry}`"
        if each.most.attempts:
            agent = f" --agent {each.judge}" if each.judge and " " not in each.judge else ""
            yield f"   to try it first: `whet try {each.entry}{agent}`: {_cost(each)}"
    untried = dict.fromkeys(each.why for each in waiting if each.why and not each.most.attempts)
    yield from (f"No trial of {'these' if len(waiting) > 1 else 'it'} yet: {plain(shown(why))}." for why in untried)
    if len(waiting) > WAITING_SHOWN:
        yield f"… and {len(waiting) - WAITING_SHOWN} more: `whet lessons --waiting`"


def _brief(text: str) -> str:
    words = " ".join(shown(text).split())
    return plain(words if len(words) <= BRIEF_LETTERS else f"{words[: BRIEF_LETTERS - 1]}…")


def _record(outcome: LessonOutcome) -> dict[str, object]:
    lesson, most = outcome.lesson, outcome.most
    patch = lesson.patch if lesson.is_worded else None
    return {
        "why": why_of(lesson),
        "way": way_of(lesson),
        "form": patch.form.value if patch else None,
        "name": patch.name if patch else None,
        "text": patch.text if patch and patch.form in TOLD else None,
        "became": outcome.became.value,
        "because": outcome.why,
        "trust": patch.trust.label if patch else None,
        "project": patch.scope.project or None if patch else None,
        "goes_to": outcome.goes_to,
        "judge": outcome.judge or None,
        "verdict": msgspec.to_builtins(outcome.verdict) if outcome.verdict else None,
        "entry": outcome.entry,
        "attempts": outcome.attempts,
        "attempts_most": most.attempts,
        "tokens_most": most.tokens,
        "dollars_most": most.dollars,
        "minimum_effect": most.minimum_effect,
        "spent": msgspec.to_builtins(outcome.spent),
    }


def _what(lesson: Lesson) -> str:
    if not lesson.is_worded:
        return "a rule"
    way = way_of(lesson)
    return f"the {lesson.patch.form.value} [bold]{plain(lesson.patch.name)}[/] ({WAYS.get(way, way)})"


def _became(outcome: LessonOutcome) -> str:
    would_wait = outcome.became is LessonResult.PLANNED and not outcome.most.attempts
    return "[bold]would be proposed[/]" if would_wait else WORDS[outcome.became]


def _because(why: str) -> str:
    return f": {plain(shown(why))}" if why else ""


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
