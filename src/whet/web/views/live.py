"""Live and templates: what rules and examples do in the sessions that get them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from whet.evidence.coin_looks import LOOKS
from whet.evidence.intervals import Interval
from whet.lessons.record import Lesson
from whet.lessons.rungs import CanaryMove, LiveCounts
from whet.own.examples.choosing import TemplateEffect
from whet.own.examples.templates import Template
from whet.store.canary_counts import CountedUnit
from whet.store.template_files import TemplateUse
from whet.text.words import estimate, many
from whet.trials.attempts import ARMS, Arm
from whet.web.groups import CAME_UP, DOUBTFUL, FAILED
from whet.web.html import Child, Element, h
from whet.web.site import Column, PageLinks, code, evidence, known_by, moment, number, section, table, tiles, told

FIRST_LOOK = LOOKS[0]
COUNTING = "A session counts an hour after its last message, when the worker looks next or you run `whet live look`."

HIGH_LOSS = 0.5
OWN_FAILURE = {CAME_UP: "in its situation", FAILED: "its own failure"}
LOSS = {DOUBTFUL: "half lost or more"}


class ShownCanary(NamedTuple):
    """A rule that a share of sessions gets, and what was counted for it."""

    lesson: Lesson
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


def live(site: PageLinks, found: Sequence[ShownCanary]) -> list[Child]:
    """Each rule that a share of sessions gets: how sessions with it fare, beside those without."""
    return [_canary(site, each) for each in found]


def _canary(site: PageLinks, shown: ShownCanary) -> Element:
    watched, now = shown.lesson.counts, shown.lesson.counts.comparison
    measured = "its own failure in its situation" if watched.endpoint else "the share of time lost"
    numbers = tiles(
        (f"{now.effect:+.2f}", f"effect on {measured}, {_between(now.interval)}; above 0 it helps"),
        (evidence(now.evidence_help), f"evidence of help; {1 / now.alpha:.0f} decides"),
        (evidence(now.evidence_harm), f"evidence of harm; {1 / now.alpha:.0f} decides"),
    )
    return section(
        f"Live: {known_by(shown.lesson.patch.name, shown.lesson.rule)}",
        h("p", {"class": "answer"}, *told(_answer(watched))),
        h("p", {"class": "facts"}, f"Told to {100 * watched.share:.0f} % of sessions since {moment(watched.since)}."),
        h("p", {}, f"Its own failure, as a detector sees it: {watched.endpoint}.") if watched.endpoint else None,
        h("p", {}, f"Worse with it: {watched.held_by}.") if watched.held_by else None,
        h("p", {}, f"{watched.together.words}. They are decided on together.") if watched.together else None,
        (numbers, _arms(site, shown)) if shown.units else None,
        h("p", {}, site.link("Its text and history", "rule", part=f"rule:{shown.lesson.patch.name}")),
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


def _arms(site: PageLinks, shown: ShownCanary) -> Element:
    """How many were counted with it and without it, each leading to just those sessions."""
    comparison, has_endpoint = shown.lesson.counts.comparison, bool(shown.lesson.counts.endpoint)
    losses = {Arm.CANDIDATE: comparison.loss_told, Arm.BASE: comparison.loss_untold}
    situations = {"": "sessions", **(OWN_FAILURE if has_endpoint else LOSS)}

    def column(situation: str, heading: str) -> Column[Arm]:
        return number(heading, lambda arm: _counted(site, shown, arm, situation))

    def loss(arm: Arm) -> str:
        return "–" if losses[arm] is None else f"{losses[arm]:.2f}"

    columns = [Column[Arm]("arm", lambda arm: ARMS[arm]), *(column(*each) for each in situations.items())]
    columns.append(number("share that failed" if has_endpoint else "mean loss", loss))
    about = "Sessions that got the rule, or not, by one draw count as one: such as all that read a file on one day."
    return h("div", {}, table(losses, columns, caption="What was counted"), h("p", {"class": "soft"}, about))


def _counted(site: PageLinks, shown: ShownCanary, arm: Arm, situation: str) -> Child:
    meant = [unit for unit in shown.units if is_meant(unit, arm.value, situation)]
    sessions = sum(unit.sessions for unit in meant)
    words = f"{len(meant):,}" if len(meant) == sessions else f"{len(meant):,} ({many(sessions, 'session')})"
    if sum(len(unit.ids) for unit in meant) != sessions:  # an earlier version did not write down which
        return words
    narrowed = {"canary": str(shown.lesson.standing.entry), "arm": arm.value, "situation": situation}
    return site.everywhere.counted(len(meant), words, **narrowed)


def _arm(unit: CountedUnit) -> str:
    return (Arm.CANDIDATE if unit.told else Arm.BASE).value


def templates(
    site: PageLinks, found: Sequence[Template], uses: Mapping[str, TemplateUse], worths: Sequence[TemplateEffect]
) -> Child:
    """Templates with what they cost in tokens and what they were measured to be worth."""
    if not found:
        return None
    measured = {worth.key: worth for worth in worths}  # the latest of each

    def gained(each: Template) -> str:
        worth = measured.get(each.key)
        if worth is None:
            return "not measured"
        return f"{100 * worth.effect:+.0f} points ({100 * worth.low:+.0f} to {100 * worth.high:+.0f}, {worth.source})"

    def started(each: Template) -> int:
        used = uses.get(each.key)
        return used.sessions if used else 0

    columns: list[Column[Template]] = [
        Column("template", lambda each: each.name),
        Column("for", lambda each: each.activity.value),
        Column("examples", lambda each: _examples(site, each)),
        Column("gained", gained),
        number("sessions", lambda each: site.everywhere.counted(started(each), template=each.key)),
        number("tokens each", lambda each: f"{_size(each):,}"),
        number("tokens spent", lambda each: f"{_size(each) * started(each):,}"),
    ]
    advice = ("To measure what a template gains, run ", code("whet try --template NAME --cases FOLDER"), ".")
    return section(
        "Templates: are they worth their tokens?",
        table(found, columns, caption="What each gained, and the tokens that it cost"),
        h("p", {"class": "soft"}, *advice) if any(each.key not in measured for each in found) else None,
    )


def _examples(site: PageLinks, template: Template) -> Child:
    words = many(len(template.examples), "example")
    return site.everywhere.link(words, "sessions", examples=template.key) if template.sessions else words


def _size(template: Template) -> int:
    return sum(estimate(one.arguments) + estimate(one.result) + estimate(one.intent) for one in template.examples)


def _between(interval: Interval) -> str:
    return f"{interval.low:+.2f} to {interval.high:+.2f}"
