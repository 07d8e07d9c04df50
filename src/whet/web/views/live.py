"""Live and templates: what rules and examples do in the sessions that get them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from whet.evidence.coin_looks import LOOKS
from whet.evidence.intervals import Interval
from whet.examples.choosing import Worth
from whet.examples.templates import Template
from whet.lessons.record import Lesson
from whet.lessons.rungs import CanaryMove, LiveComparison, LiveCounts
from whet.store.canary_counts import CountedUnit
from whet.store.template_files import TemplateUse
from whet.text.words import estimate, many
from whet.trials.attempts import ARMS, Arm
from whet.web.charts import ChartPoint, over_time, spans
from whet.web.groups import CAME_UP, DOUBTFUL, FAILED
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, evidence, known_by, moment, section, table, tile

FIRST_LOOK = LOOKS[0]
COUNTING = "A session counts an hour after its last message, when the worker looks next or you run `whet live look`."

HIGH_LOSS = 0.5


class ShownCanary(NamedTuple):
    """A rule that a share of sessions gets, how its comparison went, and what was counted for it."""

    lesson: Lesson
    way: Sequence[LiveComparison]
    units: Sequence[CountedUnit]


def is_meant(unit: CountedUnit, arm: str, situation: str) -> bool:
    """Whether what was counted is of this arm, and in this situation; without a name, of any."""
    held = {
        "": True,
        CAME_UP: unit.failed is not None,
        FAILED: unit.failed is True,
        DOUBTFUL: unit.loss >= HIGH_LOSS,
    }
    return arm in ("", _arm(unit)) and held.get(situation, False)


def live(site: Site, found: Sequence[ShownCanary]) -> Element:
    """Each rule that a share of sessions gets: how the interval of its effect closed in, session by session."""
    return h("div", {}, [_canary(site, each) for each in found])


def _canary(site: Site, shown: ShownCanary) -> Element:
    watched, now = shown.lesson.counts, shown.lesson.counts.comparison
    points = [
        ChartPoint(
            str(each.told + each.untold),
            each.effect,
            *each.interval,
            f"after {each.told + each.untold} units: {each.effect:+.2f} ({_between(each.interval)})",
        )
        for each in shown.way
    ]
    measured = "its own failure in its situation" if watched.endpoint else "what was lost"
    title = f"Effect on {measured} as sessions were counted; the interval holds at every look; above 0 it helps"
    return section(
        f"Live: {known_by(shown.lesson.patch.name, shown.lesson.rule)}",
        h("p", {"class": "answer"}, _answer(watched)),
        h("p", {"class": "facts"}, f"Told to {100 * watched.share:.0f} % of sessions since {moment(watched.since)}."),
        h("p", {}, f"Its own failure, as a detector sees it: {watched.endpoint}.") if watched.endpoint else None,
        h("p", {}, f"Worse with it: {watched.held_by}.") if watched.held_by else None,
        h("p", {}, f"{watched.together.words}. They are decided on together.") if watched.together else None,
        _numbers(now) if points else None,
        _arms(site, shown) if shown.units else None,
        over_time(points, title=title, least=-1, most=1) if points else None,
        h("p", {}, site.link("Its text and history", "rule", part=f"rule:{shown.lesson.patch.name}")),
    )


def _numbers(now: LiveComparison) -> Element:
    return h(
        "div",
        {"class": "tiles"},
        tile(f"{now.effect:+.2f}", f"effect, {_between(now.interval)}"),
        tile(evidence(now.evidence_help), f"evidence of help; {1 / now.alpha:.0f} decides"),
        tile(evidence(now.evidence_harm), f"evidence of harm; {1 / now.alpha:.0f} decides"),
    )


def _answer(watched: LiveCounts) -> str:
    now = watched.comparison
    if now.decision is CanaryMove.PROMOTE:
        return "It helps: there is enough evidence to tell it to every session."
    if now.decision is CanaryMove.REVERT:
        return "It harms: there is enough evidence to take it back."
    if awaited := _awaited(watched):
        return awaited
    low, high = now.interval
    if low <= 0 <= high:
        return "Not clear yet: sessions may go equally well with and without it. The comparison goes on by itself."
    return f"It looks {'better' if now.effect > 0 else 'worse'} so far, without enough evidence to decide."


def _awaited(watched: LiveCounts) -> str:
    """What has to come before anything can be said; empty once there was a look."""
    now = watched.comparison
    counted = now.told + now.untold
    if watched.endpoint and watched.next_look == FIRST_LOOK:
        seen = f"{counted} of {FIRST_LOOK} sessions in its situation so far"
        return f"Too early to say: {seen}. The first look comes after {FIRST_LOOK}. {COUNTING}"
    return f"Too early to say: no session was counted yet. {COUNTING}" if not counted else ""


def _arms(site: Site, shown: ShownCanary) -> Element:
    """How many were counted with it and without it, each leading to just those sessions."""
    situations = (CAME_UP, FAILED) if shown.lesson.counts.endpoint else (DOUBTFUL,)
    headings = {CAME_UP: "in its situation", FAILED: "its own failure", DOUBTFUL: "half lost or more"}
    comparison = shown.lesson.counts.comparison
    rows = [
        (
            ARMS[arm],
            *(_counted(site, shown, arm, situation) for situation in ("", *situations)),
            "–" if loss is None else f"{loss:.2f}",
        )
        for arm, loss in ((Arm.CANDIDATE, comparison.loss_told), (Arm.BASE, comparison.loss_untold))
    ]
    loss = "share that failed" if shown.lesson.counts.endpoint else "mean loss"
    named = ("arm", "sessions", *(headings[each] for each in situations), loss)
    about = "Sessions that got the rule, or not, by one draw count as one: such as all that read a file on one day."
    return h(
        "div",
        {},
        table(named, rows, caption="What was counted", numbers=len(situations) + 2),
        h("p", {"class": "soft"}, about),
    )


def _counted(site: Site, shown: ShownCanary, arm: Arm, situation: str) -> Child:
    meant = [unit for unit in shown.units if is_meant(unit, arm.value, situation)]
    sessions = sum(unit.sessions for unit in meant)
    words = f"{len(meant):,}" if len(meant) == sessions else f"{len(meant):,} ({many(sessions, 'session')})"
    if sum(len(unit.ids) for unit in meant) != sessions:  # an earlier version did not write down which
        return words
    narrowed = {"canary": str(shown.lesson.standing.entry), "arm": arm.value, "situation": situation}
    return site.everywhere.counted(len(meant), words, **narrowed)


def _arm(unit: CountedUnit) -> str:
    return (Arm.CANDIDATE if unit.told else Arm.BASE).value


def templates(site: Site, found: Sequence[Template], uses: Mapping[str, TemplateUse], worths: Sequence[Worth]) -> Child:
    """Templates with what they cost in tokens and what they were measured to be worth."""
    if not found:
        return h("div", {})
    rows, points = [], []
    for each in found:
        used, size = uses.get(each.key), _size(each)
        measured = [worth for worth in worths if worth.key == each.key]
        spent = size * used.sessions if used else 0
        worth = measured[-1] if measured else None
        if worth:
            words = f"{100 * worth.effect:+.0f} points"
            points.append(ChartPoint(each.name, worth.effect, worth.low, worth.high, words))
        saved = f"{100 * worth.effect:+.0f} points ({worth.source})" if worth else "not measured"
        rows.append(
            (
                each.name,
                each.activity.value,
                _examples(site, each),
                saved,
                site.everywhere.link(f"{used.sessions:,}", "sessions", template=each.key) if used else "0",
                f"{size:,}",
                f"{spent:,}",
            )
        )
    headings = ("template", "for", "examples", "gained", "sessions", "tokens each", "tokens spent")
    picture = spans(points, title="What each template gained, with its interval") if points else None
    unmeasured = len(points) < len(found)
    advice = ("To measure what a template gains, run ", code("whet try --template NAME --cases FOLDER"), ".")
    return section(
        "Templates: are they worth their tokens?",
        picture,
        table(headings, rows, caption="Gained against spent", numbers=3),
        h("p", {"class": "soft"}, *advice) if unmeasured else None,
    )


def _examples(site: Site, template: Template) -> Child:
    words = many(len(template.examples), "example")
    return site.everywhere.link(words, "sessions", examples=template.key) if template.sessions else words


def _size(template: Template) -> int:
    return sum(estimate(one.arguments) + estimate(one.result) + estimate(one.intent) for one in template.examples)


def _between(interval: Interval) -> str:
    return f"{interval.low:+.2f} to {interval.high:+.2f}"
