"""Trials and honesty: whether to believe a verdict, and how often a verdict is wrong."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.evidence.error_budget import SHARE, Past, used_up
from whet.evidence.verdicts import Ruling, Verdict
from whet.text.words import many, share
from whet.trials.attempts import ARMS, Arm, ArmTally, Attempt
from whet.trials.design import TrialProgress, TrialStop
from whet.web.charts import ChartPoint, over_time, spans
from whet.web.html import Child, Element, h
from whet.web.site import Column, PageLinks, dollars, empty, evidence, number, section, table, tiles, when

STOPS = {
    TrialStop.EVIDENCE: "the evidence suffices",
    TrialStop.CASES: "all were run",
    TrialStop.BUDGET: "the budget ran out",
    TrialStop.INVALID: "most attempts were invalid",
    TrialStop.CHANGED: "the agent changed",
    TrialStop.OPEN: "not finished",
}
IDENTICAL = "With both arms the same, at most 4.5 % of resampled trials were accepted at an error rate of 5 %."
MOST_DRAWN = 12
MOST_EVIDENCE = 3.0  # times what is needed: a picture of more shows nothing of the way


class ShownTrial(NamedTuple):
    """A trial as far as it is, with what it tries, and when it last moved."""

    progress: TrialProgress
    name: str
    changed: float

    @property
    def title(self) -> str:
        return self.name or self.progress.trial[:12]

    @property
    def verdict(self) -> Verdict:
        return self.progress.result.verdict


def trials(site: PageLinks, found: Sequence[ShownTrial]) -> Child:
    """All trials with effect and verdict, the latest first."""
    if not found:
        return None
    columns: list[Column[ShownTrial]] = [
        Column("what", lambda each: site.link(each.title, "trial", part=each.progress.trial)),
        Column("verdict", lambda each: _ruling(each.verdict.ruling)),
        Column("effect", lambda each: _effect(each.verdict)),
        number("attempts", lambda each: (_made(site, each.progress), f" of {each.progress.planned:,}")),
        number("cost", lambda each: dollars(each.progress.result.spent.dollars)),
        number("when", lambda each: when(each.changed)),
    ]
    title = "Effect of each change on the share of cases that pass, with its interval"
    picture = spans([_point(site, each) for each in found[:MOST_DRAWN]], title=title)
    return h("div", {}, picture, table(found, columns, caption="Trials"))


def _effect(verdict: Verdict) -> str:
    low, high = verdict.interval
    return f"{100 * verdict.effect:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f})"


def _point(site: PageLinks, each: ShownTrial) -> ChartPoint:
    words = f"{100 * each.verdict.effect:+.0f} points, {each.verdict.ruling}"
    return _compared(each.title, each.verdict, words, site.href("trial", part=each.progress.trial))


def _compared(label: str, verdict: Verdict, words: str = "", href: str = "") -> ChartPoint:
    return ChartPoint(label, verdict.effect, *verdict.interval, words or f"{100 * verdict.effect:+.0f} points", href)


def trial(site: PageLinks, found: ShownTrial, attempts: Sequence[Attempt]) -> Element:
    """One trial: evidence over cases with the threshold, every attempt, and the placebo beside it."""
    progress, result, verdict = found.progress, found.progress.result, found.verdict
    placebo: Child = None
    if result.form and result.lesson:
        compared = {
            "against nothing": verdict,
            "against the placebo": result.lesson,
            "placebo against nothing": result.form,
        }
        points = [_compared(label, each) for label, each in compared.items()]
        placebo = section("Placebo", spans(points, title="Is it the content, or any text of that length?"))
    attempted = ("known cost of ", _made(site, progress), f" of {progress.planned:,} attempts")
    return h(
        "div",
        {},
        h("p", {"class": "answer"}, _believe(verdict, result.held_back)),
        tiles(
            (_ruling(verdict.ruling), f"{many(verdict.cases, 'case')}; {STOPS[result.stop]}"),
            (f"{100 * verdict.effect:+.0f} points", _effect(verdict).partition("(")[2].rstrip(")")),
            (evidence(verdict.evidence_help), f"evidence of help; {1 / verdict.alpha:.0f} decides"),
            (evidence(verdict.evidence_harm), "evidence of harm"),
            (dollars(result.spent.dollars), attempted),
        ),
        h("p", {"class": "careful"}, f"Held back: {result.held_back}.") if result.held_back else None,
        section("Evidence over cases", _evidence(result.way, verdict.alpha)),
        section("Every attempt", _attempts(site, attempts)),
        placebo,
        section("Arms", _arms(site, progress)),
        h("p", {"class": "soft"}, "Sessions of this trial are marked as trials and count in no other number."),
    )


def _made(site: PageLinks, progress: TrialProgress) -> Child:
    """How many attempts were made, leading to their sessions."""
    return site.everywhere.counted(progress.attempts, trial=progress.trial)


def _believe(verdict: Verdict, held_back: str) -> str:
    """The answer to the view's question, in words."""
    needed = f"{1 / verdict.alpha:.0f}"
    if verdict.ruling is Ruling.ACCEPT:
        return "Yes, but it was held back." if held_back else f"Yes: the evidence of help reached {needed}."
    if verdict.ruling is Ruling.REJECT:
        return f"Yes: it harms. The evidence of harm reached {needed}."
    return f"Not yet: the evidence of help is {evidence(verdict.evidence_help)}, and {needed} would decide."


def _evidence(way: Sequence[float], alpha: float) -> Element:
    """The evidence that decides, case by case; it ends at the number of the verdict."""
    if not way:
        return empty("No case has an attempt in both arms yet, or an earlier version judged this trial.")
    goal = 1 / alpha
    points = [
        ChartPoint(str(number), won, won, won, f"after {many(number, 'case')}: {evidence(won)}; {goal:.0f} decides")
        for number, won in enumerate(way, start=1)
    ]
    most = min(max(1.2 * goal, *way), MOST_EVIDENCE * goal)
    about = (
        f"The line at {goal:.0f} is where the evidence is enough. At the last planned case all cases are judged"
        " together once more, so the evidence can jump there."
    )
    picture = over_time(points, title="Evidence of help after each case", most=most, goal=goal)
    return h("div", {}, picture, h("p", {"class": "soft"}, about))


def _attempts(site: PageLinks, attempts: Sequence[Attempt]) -> Element:
    """A row for each case and seed, with how it went in each arm."""
    if not attempts:
        return empty("No attempt yet.")
    made = {(each.case, each.seed, each.arm): each for each in attempts}

    def cell(row: tuple[str, int], arm: Arm) -> Child:
        each = made.get((*row, arm))
        if each is None:
            return None
        label = "invalid" if each.invalid else "passed" if each.measures.passed else "failed"
        why = f"{'from an earlier trial ' if each.reused else ''}{each.invalid or each.measures.why}".strip()
        words = f"{label} ↺" if each.reused else label
        drawn = h("span", {"class": f"chip {label}", "title": why or None}, words)
        return site.session(each.session, drawn) if each.session else drawn

    def column(arm: Arm) -> Column[tuple[str, int]]:
        return Column(ARMS[arm], lambda row: cell(row, arm))

    columns = [Column[tuple[str, int]]("case and seed", lambda row: f"{row[0]} · seed {row[1]}")]
    columns += [column(arm) for arm in ARMS if any(each.arm is arm for each in attempts)]
    again = "; ↺ was made in an earlier trial" if any(each.reused for each in attempts) else ""
    return table(sorted({key[:2] for key in made}), columns, caption=f"Each opens its session{again}")


def _arms(site: PageLinks, progress: TrialProgress) -> Element:
    def passed(each: ArmTally) -> Child:
        words = f"{each.passed} of {each.attempts}"
        return site.everywhere.link(words, "sessions", trial=progress.trial, arm=each.arm.value)

    columns: list[Column[ArmTally]] = [
        Column("arm", lambda each: ARMS[each.arm]),
        number("passed", passed),
        number("interval", lambda each: f"{100 * each.interval.low:.0f} to {100 * each.interval.high:.0f} %"),
        number("errors", lambda each: f"{each.errors:.1f}"),
        number("tokens", lambda each: f"{each.tokens:,.0f}"),
    ]
    return table(progress.result.tallies, columns, caption="The arms side by side")


def honesty(found: Sequence[ShownTrial], past: Sequence[Past], next_alpha: float) -> Child:
    """How often a verdict is wrong: what was accepted of texts that teach nothing, and the error budget."""
    if not past:
        return None
    placebos = [form for each in found if each.progress.entry and (form := each.progress.result.form)]
    false = sum(form.ruling is Ruling.ACCEPT for form in placebos)
    spent, accepted = used_up(past), sum(each.accepted for each in past)
    return section(
        "How often is a verdict wrong?",
        tiles(
            (f"{false} of {len(placebos)}", "placebos that would have been accepted"),
            (f"{accepted} of {len(past)}", f"trials accepted ({share(accepted, len(past))})"),
            (f"{100 * SHARE:.0f} %", "of accepted changes, at most and on average, may be false"),
            (f"{100 * spent:.0f} %", f"of the error budget is spent, {100 * (1 - spent):.0f} % is left"),
            (f"{100 * next_alpha:.2g} %", "error that the next trial may risk"),
        ),
        h("p", {"class": "soft"}, "A placebo teaches nothing, so an accepted one would be a false accept. ", IDENTICAL),
    )


def _ruling(ruling: Ruling) -> Element:
    name = {Ruling.ACCEPT: "good", Ruling.REJECT: "bad"}.get(ruling, "soft")
    return h("span", {"class": name}, ruling.value)
