"""Which template fits a task: by what was measured where there is anything, else by likeness, and honest about it."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from whet.own.examples.templates import Template
from whet.sessions.activity import Activity
from whet.text.likeness import sense
from whet.text.words import plain_name
from whet.values import Value

DAY = 24 * 3600.0
FRESH_SECONDS = 90 * DAY  # what was measured longer ago says nothing about the models and tools of today
LEAST_FIT = 2.0  # one word that a task shares with an example says nothing: there is much to read and to write
SHARES: Mapping[str, float] = {"measured": 0.9, "fit": 0.5}
"""Of the sessions that `auto` chose a template for, how many begin with it. The others tell what it is worth."""


class TemplateEffect(Value, frozen=True):
    """What a trial or the canaries measured of a template: the effect of its examples with its interval."""

    key: str  # of the template: another set of examples has another worth
    effect: float
    low: float
    high: float
    cases: int
    at: float
    model: str = ""  # empty where the measure is not of one model
    source: str = "trial"
    worthless: bool = False  # live sessions say that it harms, or is not worth its tokens
    counted: int = 0  # live sessions with this model until then


class Need(Value, frozen=True):
    """What a session is about. Empty fields ask for nothing; `tools` are those that the session has."""

    task: str = ""
    activity: Activity | None = None
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    model: str = ""


class Choice(NamedTuple):
    """A template or none, by what it was chosen, and why in a sentence."""

    template: Template | None
    by: Literal["measured", "fit", "name", "none"]
    reason: str


def choose(templates: Iterable[Template], worths: Iterable[TemplateEffect], need: Need, *, now: float) -> Choice:
    """Of those that fit, the one measured to help most, else the one that fits best. Use counts for nothing."""
    known = [worth for worth in worths if now - worth.at <= FRESH_SECONDS and worth.model in ("", need.model)]
    harmful = {worth.key for worth in known if worth.high < 0 or worth.worthless}
    helpful = {worth.key: worth for worth in sorted(known, key=_rank) if worth.low > 0}
    usable = [(fit(template, need), template) for template in templates if _is_usable(template, need)]
    # What helped with other work may do nothing for this: it has to fit before its worth counts.
    fitting = [(score, template) for score, template in usable if score >= LEAST_FIT and template.key not in harmful]
    measured = [(*_rank(helpful[one.key]), one.name, one) for _, one in fitting if one.key in helpful]
    if measured:
        best = max(measured, key=lambda ranked: ranked[:-1])[-1]
        return Choice(best, "measured", _in_words(helpful[best.key]))
    if fitting:
        best = max(fitting, key=lambda pair: (pair[0], pair[1].name))[1]
        return Choice(best, "fit", "it fits the task; its effect has not been measured")
    return Choice(None, "none", _why_none(bool(usable), bool(harmful)))


def standing(
    worths: Iterable[TemplateEffect], templates: Iterable[Template], overruled: Mapping[str, float]
) -> tuple[TemplateEffect, ...]:
    """What was measured, without what a person has overruled: a template that was retired, and is there again by name.

    It is measured anew.
    """
    since = {template.key: overruled[template.name] for template in templates if template.name in overruled}
    return tuple(worth for worth in worths if not (worth.worthless and worth.at <= since.get(worth.key, -1.0)))


def fit(template: Template, need: Need) -> float:
    """How well a template fits: two points for the activity and each tag, one for each word shared with the task."""
    shown = " ".join((template.name.replace("-", " "), template.description, *(e.intent for e in template.examples)))
    shared = sense(need.task).words & sense(shown).words
    return float(2 * (need.activity is template.activity) + 2 * len(need.tags) + min(len(shared), 5))


def missing_tools(template: Template, need: Need) -> tuple[str, ...]:
    """The tools that a template shows and the session has not, where it is known which it has."""
    had = {plain_name(tool) for tool in need.tools}
    return tuple(tool for tool in template.tools if had and plain_name(tool) not in had)


def _is_usable(template: Template, need: Need) -> bool:
    """Whether the session has all of its tools: an example of a tool that is not there would teach a failing call."""
    return (
        set(need.tags) <= set(template.tags)
        and (need.activity is None or template.activity in (need.activity, Activity.MIXED))
        and not missing_tools(template, need)
    )


def _rank(worth: TemplateEffect) -> tuple[float, float]:
    return (worth.low, worth.effect)


def _in_words(worth: TemplateEffect) -> str:
    return (
        f"measured effect over {worth.cases} cases: {worth.effect:+.2f}, from {worth.low:+.2f} to {worth.high:+.2f}"
        f" ({worth.source}{f', {worth.model}' if worth.model else ''})"
    )


def _why_none(is_usable: bool, is_harmful: bool) -> str:
    if is_usable and is_harmful:
        return "the templates that fit were measured to harm, or to help too little"
    return "no template fits the task" if is_usable else "no template matches its tools, activity and tags"
