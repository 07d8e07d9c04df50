"""Trials and honesty: whether to believe a verdict, and how often the gate errs."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from whet.evidence.error_budget import SHARE, Past, used_up
from whet.evidence.verdicts import Ruling, Verdict
from whet.text.words import many, share
from whet.trials.attempts import ARMS, Attempt
from whet.trials.design import TrialProgress, TrialStop
from whet.web.charts import ChartBar, ChartCell, ChartPoint, bars, grid, over_time, spans
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, dollars, empty, evidence, section, table, tile, when

STOPS = {
    TrialStop.EVIDENCE: "the evidence suffices",
    TrialStop.CASES: "all were run",
    TrialStop.BUDGET: "the budget ran out",
    TrialStop.INVALID: "most attempts were invalid",
    TrialStop.CHANGED: "the agent changed",
    TrialStop.OPEN: "not finished",
}
IDENTICAL = "With both arms the same, the gate accepted at most 4.5 % of resampled trials at an error rate of 5 %"
MOST_EVIDENCE = 3.0  # times what is needed: a picture of more shows nothing of the way


class ShownTrial(NamedTuple):
    """A trial as far as it is, with what it tries, and when it last moved."""

    progress: TrialProgress
    name: str
    changed: float


def trials(site: Site, found: Sequence[ShownTrial]) -> Element:
    """All trials with effect and verdict, the latest first."""
    if not found:
        return h(
            "div",
            {},
            empty(
                "No trial yet. ",
                code("whet try"),
                " tries what it proposes.",
            ),
        )
    rows = []
    for each in found:
        result = each.progress.result
        low, high = result.verdict.interval
        rows.append(
            (
                site.link(each.name or each.progress.trial[:12], "trial", part=each.progress.trial),
                _ruling(result.verdict.ruling),
                f"{100 * result.verdict.effect:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f})",
                (_made(site, each.progress), f" of {each.progress.planned:,}"),
                dollars(result.spent.dollars),
                when(each.changed),
            )
        )
    headings = ("what", "verdict", "effect", "attempts", "cost", "when")
    points = [_point(site, each) for each in found[:12]]
    return h(
        "div",
        {},
        spans(points, title="Effect of each change on the share of cases that pass, with its interval"),
        table(headings, rows, caption="Trials", numbers=3),
    )


def _point(site: Site, each: ShownTrial) -> ChartPoint:
    verdict = each.progress.result.verdict
    words = f"{100 * verdict.effect:+.0f} points, {verdict.ruling}"
    href = site.href("trial", part=each.progress.trial)
    return ChartPoint(each.name or each.progress.trial[:12], verdict.effect, *verdict.interval, words, href)


def trial(site: Site, found: ShownTrial, attempts: Sequence[Attempt]) -> Element:
    """One trial: evidence over cases with the threshold, the paired grid, and the placebo beside it."""
    progress, result = found.progress, found.progress.result
    verdict = result.verdict
    placebo: list[Child] = []
    if result.form and result.lesson:
        points = [
            ChartPoint("against nothing", verdict.effect, *verdict.interval, f"{100 * verdict.effect:+.0f} points"),
            ChartPoint(
                "against the placebo",
                result.lesson.effect,
                *result.lesson.interval,
                f"{100 * result.lesson.effect:+.0f} points",
            ),
            ChartPoint(
                "placebo against nothing",
                result.form.effect,
                *result.form.interval,
                f"{100 * result.form.effect:+.0f} points",
            ),
        ]
        placebo = [spans(points, title="Is it the content, or any text of that length?")]
    answer = h("p", {"class": "answer"}, _believe(verdict, result.held_back))
    held = h("p", {"class": "careful"}, f"Held back: {result.held_back}.") if result.held_back else None
    return h(
        "div",
        {},
        answer,
        h(
            "div",
            {"class": "tiles"},
            tile(_ruling(verdict.ruling), f"{many(verdict.cases, 'case')}; {STOPS[result.stop]}"),
            tile(
                f"{100 * verdict.effect:+.0f} points",
                f"{100 * verdict.interval.low:+.0f} to {100 * verdict.interval.high:+.0f}",
            ),
            tile(evidence(verdict.evidence_help), f"evidence of help; {1 / verdict.alpha:.0f} decides"),
            tile(evidence(verdict.evidence_harm), "evidence of harm"),
            tile(
                dollars(result.spent.dollars),
                ("known cost of ", _made(site, progress), f" of {progress.planned:,} attempts"),
            ),
        ),
        held,
        section("Evidence over cases", _evidence(result.way, verdict.alpha)),
        section("Every attempt", _grid(site, attempts)),
        section("Placebo", *placebo) if placebo else None,
        section("Arms", _arms(site, progress)),
        h("p", {"class": "soft"}, "Sessions of this trial are marked as trials and count in no other number."),
    )


def _made(site: Site, progress: TrialProgress) -> Child:
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


def _grid(site: Site, attempts: Sequence[Attempt]) -> Element:
    if not attempts:
        return empty("No attempt yet.")
    ordered = sorted(attempts, key=lambda each: (each.case, each.seed, each.arm))
    columns = [arm for arm in ARMS if any(each.arm is arm for each in attempts)]
    cells: dict[tuple[str, str], ChartCell] = {}
    rows = []
    for (case, seed), group in groupby(ordered, key=lambda each: (each.case, each.seed)):
        row = f"{case} · seed {seed}"
        rows.append(row)
        for each in group:
            told = "invalid" if each.invalid else "passed" if each.measures.passed else "failed"
            reused = " (from an earlier trial)" if each.reused else ""
            label = f"{told} ↺" if reused else told
            words = f"{row}, {ARMS[each.arm]}: {label}{reused} {each.invalid or each.measures.why}".rstrip()
            href = site.href("session", part=each.session) if each.session else ""
            cells[row, ARMS[each.arm]] = ChartCell(label, told, words, href)
    again = "; ↺ was made in an earlier trial" if any(each.reused for each in attempts) else ""
    title = f"Case and seed by arm; each opens its session{again}"
    return grid([(row, row) for row in rows], [ARMS[arm] for arm in columns], cells, title=title)


def _arms(site: Site, progress: TrialProgress) -> Element:
    site = site.everywhere
    rows = (
        (
            ARMS[each.arm],
            site.link(f"{each.passed} of {each.attempts}", "sessions", trial=progress.trial, arm=each.arm.value),
            f"{100 * each.interval.low:.0f} to {100 * each.interval.high:.0f} %",
            f"{each.errors:.1f}",
            f"{each.tokens:,.0f}",
        )
        for each in progress.result.tallies
    )
    return table(("arm", "passed", "interval", "errors", "tokens"), rows, caption="The arms side by side", numbers=4)


def honesty(site: Site, found: Sequence[ShownTrial], past: Sequence[Past], next_alpha: float) -> Element:
    """How often the gate errs: what it accepted of texts that teach nothing, and the error budget."""
    decided = [each for each in found if each.progress.entry]
    if not past:
        return h("div", {})
    placebos = [(each, form) for each in decided if (form := each.progress.result.form)]
    false = sum(form.ruling is Ruling.ACCEPT for _, form in placebos)
    spent = used_up(past)
    accepted = sum(each.accepted for each in past)
    rates = [
        ChartBar(
            each.name or each.progress.trial[:12],
            (("error rate", each.progress.result.verdict.alpha),),
            f"{100 * each.progress.result.verdict.alpha:.2g} %, {each.progress.result.verdict.ruling}",
            site.href("trial", part=each.progress.trial),
        )
        for each in decided
    ]
    return section(
        "How often is the gate wrong?",
        h(
            "div",
            {"class": "tiles"},
            tile(f"{false} of {len(placebos)}", "placebos that the gate would have accepted"),
            tile(f"{accepted} of {len(past)}", f"trials accepted ({share(accepted, len(past))})"),
            tile(f"{100 * SHARE:.0f} %", "of accepted changes, at most and on average, may be false"),
            tile(f"{100 * spent:.0f} %", f"of the error budget is spent, {100 * (1 - spent):.0f} % is left"),
            tile(f"{100 * next_alpha:.2g} %", "error that the next trial may risk"),
        ),
        *_placebos(site, placebos),
        bars(rates, title="Error rate at which each trial was judged"),
    )


def _placebos(site: Site, placebos: Sequence[tuple[ShownTrial, Verdict]]) -> list[Child]:
    """The verdicts on placebos, which are as good as identical arms, and what was measured of identical ones."""
    rows = (
        (
            site.link(each.name or each.progress.trial[:12], "trial", part=each.progress.trial),
            _ruling(form.ruling),
            f"{100 * form.effect:+.0f} points ({100 * form.interval.low:+.0f} to {100 * form.interval.high:+.0f})",
            f"{form.cases}",
            evidence(form.evidence_help),
        )
        for each, form in placebos
    )
    headings = ("placebo of", "verdict", "effect", "cases", "evidence of help")
    found: Child = table(headings, rows, caption="Placebos against nothing", numbers=2)
    about = "A placebo teaches nothing, so an accepted one would be a false accept. "
    return [
        found if placebos else empty("No trial with a placebo yet."),
        h("p", {"class": "soft"}, about, IDENTICAL, " (", code("bench/RESULTS.md"), ", “The gate”)."),
    ]


def _ruling(ruling: Ruling) -> Element:
    name = {Ruling.ACCEPT: "good", Ruling.REJECT: "bad"}.get(ruling, "soft")
    return h("span", {"class": name}, ruling.value)
