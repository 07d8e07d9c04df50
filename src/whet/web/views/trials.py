"""Trials and live: whether to believe a verdict, how often one is wrong, and how sessions that are told a rule go."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.evidence.coin_looks import LOOKS
from whet.evidence.error_budget import SHARE, Past, alpha_for, used_up
from whet.evidence.verdicts import Ruling, Verdict
from whet.improving.watch import live_lessons
from whet.lessons.record import Lesson
from whet.lessons.rungs import CanaryMove, LiveCounts
from whet.own.examples.templates import Template, TemplateEffect
from whet.proving.trial import past_trials
from whet.store.attempts import attempts_of
from whet.store.recording import TextUse, template_uses
from whet.store.records import all_progress
from whet.store.template_files import usable, worths
from whet.text.words import many, share
from whet.trials.attempts import ARMS, Arm, Attempt
from whet.trials.design import TrialProgress
from whet.trials.outcome_words import effect_words, evidence_words, result_words
from whet.web.cache import PageRequest
from whet.web.charts import ChartPoint, over_time, spans
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import (
    Column,
    PageLinks,
    PageView,
    code,
    dollars,
    empty,
    known_by,
    moment,
    number,
    section,
    table,
    tiles,
    told,
    when,
)
from whet.web.views.entries import trial_point

TRIAL = PageView("trials", "Trial", "Can I believe this?")
MOVING_SECONDS = 3600.0  # a trial that has not moved for so long was given up
IDENTICAL = "With both arms the same, at most 4.5 % of resampled trials were accepted at an error rate of 5 %."
MOST_DRAWN = 12
MOST_EVIDENCE = 3.0  # times what is needed: a picture of more shows nothing of the way
FIRST_LOOK = LOOKS[0]
COLOURS = {Ruling.ACCEPT: "good", Ruling.REJECT: "bad"}
COUNTING = "A session counts an hour after its last message, when the worker looks next or you run `whet live look`."


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


def show(ask: PageRequest) -> FramedView:
    """All trials, all that is live, and how often a verdict is wrong."""
    found, past = _all_trials(ask), past_trials(ask.cache.home, ask.database)
    moving = any(not each.progress.entry and ask.now - each.changed < MOVING_SECONDS for each in found)
    canaries = [live(ask.site, each) for each in live_lessons(ask.cache.home, ask.database)]
    kept = usable(ask.cache.home.folder)
    worth = templates(ask.site, kept, template_uses(ask.database), worths(ask.database))
    drawn = [_trials(ask.site, found), *canaries, worth, _honesty(found, past)]
    none = empty("No trial yet, and no rule that is live. ", code("whet try"), " tries what it proposes.")
    return framed("trials", drawn if any(drawn) else none)._replace(is_live=moving)


def show_one(ask: PageRequest) -> FramedView:
    """One trial: what it came to, evidence over cases with the threshold, and every attempt."""
    found = next((each for each in _all_trials(ask) if each.progress.trial == ask.part), None)
    if found is None:
        raise WhetError("There is no such trial.", advice="`whet try` makes trials.")
    attempts = attempts_of(ask.database, ask.part)
    return FramedView(TRIAL, found.title, trial(ask.site, found, attempts), is_live=not found.progress.entry)


def _all_trials(ask: PageRequest) -> list[ShownTrial]:
    """All trials, the latest first, each with the name of what it tries where the ledger has it."""
    judged = ((msgspec.json.decode(each.verdict, type=TrialProgress), each) for each in ask.entries if each.verdict)
    names = {tried.trial: f"{each.patch.form} {known_by(each.patch.name, each.patch.text)}" for tried, each in judged}
    return [
        ShownTrial(progress, names.get(progress.trial, progress.what), changed)
        for progress, changed in all_progress(ask.database, TrialProgress)
    ]


def _trials(site: PageLinks, found: Sequence[ShownTrial]) -> Child:
    """All trials with effect and verdict, the latest first."""
    if not found:
        return None

    def made(each: ShownTrial) -> Child:
        """How many attempts were made, leading to their sessions."""
        return site.everywhere.counted(each.progress.attempts, trial=each.progress.trial)

    columns: list[Column[ShownTrial]] = [
        Column("what", lambda each: site.link(each.title, "trial", part=each.progress.trial)),
        Column(
            "verdict", lambda each: h(f"span.{COLOURS.get(each.verdict.ruling, 'soft')}", each.verdict.ruling.value)
        ),
        Column("effect", lambda each: effect_words(each.verdict)),
        number("attempts", lambda each: (made(each), f" of {each.progress.planned:,}")),
        number("cost", lambda each: dollars(each.progress.result.spent.dollars)),
        number("when", lambda each: when(each.changed)),
    ]
    title = "Effect of each change on the share of cases that pass, with its interval"
    picture = spans([trial_point(site, each.progress, each.title) for each in found[:MOST_DRAWN]], title=title)
    return h("div", picture, table(found, columns, caption="Trials"))


def trial(site: PageLinks, found: ShownTrial, attempts: Sequence[Attempt]) -> Element:
    """One trial in the words of the terminal, then the picture and the attempts behind them."""
    progress, result = found.progress, found.progress.result
    made = max(progress.attempts, len(attempts))  # attempts come in between the looks that are kept
    first, *rest = result_words(progress)
    sessions = site.everywhere.counted(made, trial=progress.trial)
    price = f", for {dollars(result.spent.dollars)}" if result.spent.dollars else ""
    of_all = f" of {progress.planned:,} attempts were made{price}."
    return h(
        "div",
        h("p.answer", first),
        h("p.careful", f"Held back: {result.held_back}.") if result.held_back else None,
        h("div.card", [h("p", told(words)) for words in rest], h("p", sessions, of_all)),
        section("Evidence over cases", _evidence(result.way, found.verdict.alpha)),
        section("Every attempt", _attempts(site, attempts)),
        h("p.soft", "Sessions of this trial are marked as trials and count in no other number."),
    )


def _evidence(way: Sequence[float], alpha: float) -> Element:
    """The evidence that decides, case by case; it ends at the number of the verdict."""
    if not way:
        return empty("No case has an attempt in both arms yet, or an earlier version judged this trial.")
    goal = 1 / alpha
    points = [
        ChartPoint(str(place), won, won, won, f"after {many(place, 'case')}: {evidence_words(won)}; {goal:.0f} decides")
        for place, won in enumerate(way, start=1)
    ]
    most = min(max(1.2 * goal, *way), MOST_EVIDENCE * goal)
    about = (
        f"The line at {goal:.0f} is where the evidence is enough. At the last planned case all cases are judged"
        " together once more, so the evidence can jump there."
    )
    picture = over_time(points, title="Evidence of help after each case", most=most, goal=goal)
    return h("div", picture, h("p.soft", about))


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
        drawn = h(f"span.chip {label}", {"title": why or None}, words)
        return site.session(each.session, drawn) if each.session else drawn

    def column(arm: Arm) -> Column[tuple[str, int]]:
        return Column(ARMS[arm], lambda row: cell(row, arm))

    columns = [Column[tuple[str, int]]("case and seed", lambda row: f"{row[0]} · seed {row[1]}")]
    columns += [column(arm) for arm in ARMS if any(each.arm is arm for each in attempts)]
    again = "; ↺ was made in an earlier trial" if any(each.reused for each in attempts) else ""
    return table(sorted({key[:2] for key in made}), columns, caption=f"Each opens its session{again}")


def live(site: PageLinks, lesson: Lesson) -> Element:
    """A rule that a share of sessions gets: how sessions with it fare, beside those without."""
    watched, now = lesson.counts, lesson.counts.comparison
    measured = "its own failure in its situation" if watched.endpoint else "the share of time lost"
    low, high = now.interval

    def behind(number: int, arm: Arm) -> Child:
        return site.everywhere.counted(number, canary=str(lesson.standing.entry), arm=arm.value)

    numbers = tiles(
        (f"{now.effect:+.2f}", f"effect on {measured}, {low:+.2f} to {high:+.2f}; above 0 it helps"),
        (evidence_words(now.evidence_help), f"evidence of help; {1 / now.alpha:.0f} decides"),
        (evidence_words(now.evidence_harm), f"evidence of harm; {1 / now.alpha:.0f} decides"),
        (_mean(now.loss_told), ("mean of ", behind(now.told, Arm.CANDIDATE), " with it")),
        (_mean(now.loss_untold), ("mean of ", behind(now.untold, Arm.BASE), " without")),
    )
    facts = (
        f"Told to {100 * watched.share:.0f} % of sessions since {moment(watched.since)}.",
        watched.endpoint and f"Its own failure, as a detector sees it: {watched.endpoint}.",
        watched.held_by and f"Worse with it: {watched.held_by}.",
        watched.together and f"{watched.together.words}. They are decided on together.",
    )
    return section(
        f"Live: {known_by(lesson.patch.name, lesson.rule)}",
        h("p.answer", *told(_answer(watched))),
        [h("p.facts", said) for said in facts if said],
        numbers if now.told + now.untold else None,
        h("p", site.link("Its text and history", "rule", part=f"rule:{lesson.patch.name}")),
    )


def _mean(loss: float | None) -> str:
    return "–" if loss is None else f"{loss:.2f}"


def _answer(watched: LiveCounts) -> str:
    """What can be said of it, or what has to come before anything can be said."""
    now = watched.comparison
    counted, (low, high) = now.told + now.untold, now.interval
    if now.decision is CanaryMove.PROMOTE:
        return "It helps: there is enough evidence to tell it to every session."
    if now.decision is CanaryMove.REVERT:
        return "It harms: there is enough evidence to take it back."
    if watched.endpoint and watched.next_look == FIRST_LOOK:
        seen = f"{counted} of {FIRST_LOOK} sessions in its situation so far"
        return f"Too early to say: {seen}. The first look comes after {FIRST_LOOK}. {COUNTING}"
    if not counted:
        return f"Too early to say: no session was counted yet. {COUNTING}"
    if low <= 0 <= high:
        return "Not clear yet: sessions may go equally well with and without it. The comparison goes on by itself."
    return f"It looks {'better' if now.effect > 0 else 'worse'} so far, without enough evidence to decide."


def templates(
    site: PageLinks, found: Sequence[Template], uses: Mapping[str, TextUse], worths: Sequence[TemplateEffect]
) -> Child:
    """Templates with what they cost in tokens and what they were measured to be worth."""
    if not found:
        return None
    measured = {worth.key: worth for worth in worths}  # the latest of each

    def gained(each: Template) -> str:
        if (one := measured.get(each.key)) is None:
            return "not measured"
        return f"{100 * one.effect:+.0f} points ({100 * one.low:+.0f} to {100 * one.high:+.0f}, {one.source})"

    def started(each: Template) -> int:
        return uses[each.key].sessions if each.key in uses else 0

    columns: list[Column[Template]] = [
        Column("template", lambda each: each.name),
        Column("for", lambda each: each.activity.value),
        Column("gained", gained),
        number("sessions", lambda each: site.everywhere.counted(started(each), template=each.key)),
        number("tokens each", lambda each: f"{each.tokens:,}"),
        number("tokens spent", lambda each: f"{each.tokens * started(each):,}"),
    ]
    advice = ("To measure what a template gains, run ", code("whet try --template NAME --cases FOLDER"), ".")
    return section(
        "Templates: are they worth their tokens?",
        table(found, columns, caption="What each gained, and the tokens that it cost"),
        h("p.soft", *advice) if any(each.key not in measured for each in found) else None,
    )


def _honesty(found: Sequence[ShownTrial], past: Sequence[Past]) -> Child:
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
            (f"{100 * alpha_for(past):.2g} %", "error that the next trial may risk"),
        ),
        h("p.soft", "A placebo teaches nothing, so an accepted one would be a false accept. ", IDENTICAL),
    )
