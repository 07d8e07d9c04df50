"""Templates for people and for programs, the same in every command."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import msgspec

from whet.cli.options import CommandList
from whet.cli.output import moment, plain
from whet.own.examples.mining import Mined
from whet.own.examples.templates import Template, TemplateEffect
from whet.sessions.exports import iso
from whet.store.database import Database
from whet.store.shown_texts import template_uses
from whet.store.template_files import TemplateFile, outcomes, worths
from whet.text.words import many

LINES_SHOWN = 6


class TemplateStats(NamedTuple):
    """A template with its uses, its effect as it was last measured, and how live sessions went with and without it."""

    template: Template
    uses: int
    last: float | None
    worth: TemplateEffect | None
    told: tuple[float, ...]  # how badly sessions went that began with it, by lot
    untold: tuple[float, ...]


TEMPLATES: CommandList[TemplateFile] = CommandList(
    {
        "name": lambda each: each.name,
        "activity": lambda each: each.value.activity if each.value else "–",
        "examples": lambda each: len(each.value.examples) if each.value else "–",
        "tokens": lambda each: each.value.tokens if each.value else "–",
        "tags": lambda each: ", ".join(each.value.tags) if each.value else "",
        "description": lambda each: each.value.description if each.value else f"✗ {each.fault}",
    },
    numbers=("examples", "tokens"),
    at=lambda each: each.value.created if each.value else None,
)
STATS: CommandList[TemplateStats] = CommandList(
    {
        "name": lambda row: row.template.name,
        "tokens": lambda row: row.template.tokens,
        "used": lambda row: row.uses,
        "last": lambda row: moment(row.last),
        "measured": lambda row: _effect(row.worth),
        "live: with": lambda row: _went(row.told),
        "without": lambda row: _went(row.untold),
    },
    numbers=("tokens", "used", "live: with", "without"),
)


def found_record(found: TemplateFile) -> dict[str, object]:
    template = found.value
    if template is None:
        return {"name": found.name, "fault": found.fault}
    return {
        "name": template.name,
        "key": template.key,
        "activity": template.activity.value,
        "description": template.description,
        "tags": template.tags,
        "examples": len(template.examples),
        "tools": template.tools,
        "sessions": template.sessions,
        "tokens": template.tokens,
        "made": template.made,
        "created": iso(template.created),
    }


def total_line(found: Sequence[TemplateFile]) -> str:
    totals = Counter(each.value.activity for each in found if each.value)
    return ", ".join(f"{number} {activity}" for activity, number in totals.most_common()) + "."


def left_out_record(mined: Mined) -> dict[str, int]:
    return {**mined.left_out, **{f"session: {reason}": count for reason, count in mined.refused.items()}}


def template_lines(template: Template) -> Iterator[str]:
    tags = f"  {plain(', '.join(template.tags))}" if template.tags else ""
    yield f"[bold]{plain(template.name)}[/]  {template.activity}{tags}"
    yield f"{plain(template.description)}; about {many(template.tokens, 'token')}.\n"
    if template.addendum:
        yield f"Told before the examples:\n{plain(template.addendum)}\n"
    for number, group in enumerate(template.requests, start=1):
        first, last = group[0], group[-1]
        of_more = "" if first.is_whole or not first.intent else "  [dim](one step)[/]"
        yield f"{number}. {plain(first.intent or '(one step of longer work)')}{of_more}"
        for example in group:
            yield f"   [bold]{plain(example.tool)}[/] {plain(example.arguments)}"
            for line in (example.result.splitlines() or ["(nothing)"])[:LINES_SHOWN]:
                yield f"     [dim]{plain(line)}[/]"
        yield f"   [dim]{plain(last.session[:8])} {plain(last.evidence)}[/]\n"


def stats_of(template: Template, database: Database) -> TemplateStats:
    """What is on record of a template."""
    use, drawn = template_uses(database).get(template.key), outcomes(database).get(template.key, ())
    worth = next((each for each in reversed(worths(database)) if each.key == template.key), None)
    told, untold = (tuple(each.loss for each in drawn if each.draw.told is side) for side in (True, False))
    return TemplateStats(template, use.sessions if use else 0, use.last if use else None, worth, told, untold)


def stats_record(row: TemplateStats) -> dict[str, object]:
    return {
        "name": row.template.name,
        "key": row.template.key,
        "tokens": row.template.tokens,
        "uses": row.uses,
        "last_used": iso(row.last),
        "worth": msgspec.to_builtins(row.worth) if row.worth else None,
        "live": {
            "told": len(row.told),
            "untold": len(row.untold),
            "loss_told": fmean(row.told) if row.told else None,
            "loss_untold": fmean(row.untold) if row.untold else None,
        },
    }


def _effect(worth: TemplateEffect | None) -> str:
    if worth is None:
        return "not measured"
    return f"{worth.effect:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}) over {many(worth.cases, 'case')}"


def _went(losses: Sequence[float]) -> str:
    return f"{fmean(losses):.2f} ({len(losses)})" if losses else "–"
