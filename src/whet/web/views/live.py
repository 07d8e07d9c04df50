"""Live and templates: what rules and examples do in the sessions that get them."""

from collections.abc import Mapping, Sequence

from whet.evidence.intervals import Interval
from whet.examples.choosing import Worth
from whet.examples.templates import Template
from whet.improving.watch import WatchedRule
from whet.store.template_files import TemplateUse
from whet.text.tokens import estimate
from whet.trials.canaries import LiveComparison
from whet.web.charts import ChartPoint, over_time, spans
from whet.web.html import Element, h
from whet.web.site import Site, code, empty, evidence, many, moment, section, table, tile


def live(site: Site, found: Sequence[tuple[WatchedRule, Sequence[LiveComparison]]]) -> Element:
    """Each rule that a share of sessions gets: how the interval of its effect closed in, session by session."""
    if not found:
        return h(
            "div",
            {},
            empty(
                "No rule is told to a share of sessions only. ", code("whet canary start"), " begins such a comparison."
            ),
        )
    return h("div", {}, [_canary(site, watched, way) for watched, way in found])


def _canary(site: Site, watched: WatchedRule, way: Sequence[LiveComparison]) -> Element:
    now = watched.comparison
    points = [
        ChartPoint(
            str(each.told + each.untold),
            each.effect,
            *each.interval,
            f"after {each.told + each.untold} units: {each.effect:+.2f} ({_between(each.interval)})",
        )
        for each in way
    ]
    measured = "its own failure in its situation" if watched.endpoint else "the failure score"
    title = f"Effect on {measured} with its confidence sequence; above 0 it helps"
    losses = f"{_loss(now.loss_told)} in {now.told} with it, {_loss(now.loss_untold)} in {now.untold} without"
    return section(
        watched.name,
        h("p", {"class": "facts"}, f"told to {100 * watched.share:.0f} % since {moment(watched.since)}"),
        h("p", {}, f"Failures as a detector sees them: {watched.endpoint}.") if watched.endpoint else None,
        h("p", {}, f"Worse with it: {watched.held_by}.") if watched.held_by else None,
        h(
            "div",
            {"class": "tiles"},
            tile(f"{now.effect:+.2f}", f"effect, {_between(now.interval)}"),
            tile(evidence(now.evidence_help), f"evidence of help; {1 / now.alpha:.0f} decides"),
            tile(evidence(now.evidence_harm), "evidence of harm"),
            tile(now.decision.value, losses),
        ),
        over_time(points, title=title, least=-1, most=1)
        if points
        else empty("No session was counted yet: run ", code("whet watch"), "."),
        h("p", {}, site.link("Its text and history", "rule", part=f"rule:{watched.name}")),
    )


def templates(
    site: Site, found: Sequence[Template], uses: Mapping[str, TemplateUse], worths: Sequence[Worth]
) -> Element:
    """Templates with what they cost in tokens and what they were measured to be worth."""
    if not found:
        return h(
            "div", {}, empty("No template yet. ", code("whet templates mine"), " makes one of sessions that went well.")
        )
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
                many(len(each.examples), "example"),
                saved,
                site.everywhere.link(f"{used.sessions:,}", "sessions", template=each.key) if used else "0",
                f"{size:,}",
                f"{spent:,}",
            )
        )
    headings = ("template", "for", "examples", "gained", "sessions", "tokens each", "tokens spent")
    picture = spans(points, title="What each template gained, with its interval") if points else None
    return h("div", {}, picture, table(headings, rows, caption="Gained against spent", numbers=3))


def _size(template: Template) -> int:
    return sum(estimate(one.arguments) + estimate(one.result) + estimate(one.intent) for one in template.examples)


def _between(interval: Interval) -> str:
    return f"{interval.low:+.2f} to {interval.high:+.2f}"


def _loss(loss: float | None) -> str:
    return "–" if loss is None else f"{loss:.2f}"
