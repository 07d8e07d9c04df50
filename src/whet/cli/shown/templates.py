"""Templates for people and for programs, the same in every command."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import msgspec

from whet.cli.output import console, moment, plain, print_json, say, table
from whet.examples.choosing import Worth
from whet.examples.mining import Mined
from whet.examples.prefills import as_anthropic, as_openai
from whet.examples.templates import Example, Template
from whet.sessions.exports import iso
from whet.sessions.transcripts import Message
from whet.store.template_files import DrawOutcome, TemplateFile, TemplateUse
from whet.text.words import many

LINES_SHOWN = 6
STATS = ("name", "tokens", "used", "last", "measured", "live: with", "without")


class TemplateRecords(NamedTuple):
    """What is on record of templates, by their key where it is not in itself."""

    uses: Mapping[str, TemplateUse]
    worths: Sequence[Worth]
    live: Mapping[str, Sequence[DrawOutcome]]


def filtered(found: Iterable[TemplateFile], activity: str | None, tags: Sequence[str]) -> tuple[TemplateFile, ...]:
    """Those of an activity and with all of the tags; what cannot be read is shown where nothing is asked for."""
    if not activity and not tags:
        return tuple(found)
    return tuple(
        each
        for each in found
        if each.template and activity in (None, each.template.activity) and set(tags) <= set(each.template.tags)
    )


def found_record(found: TemplateFile) -> dict[str, object]:
    template = found.template
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


def print_list(found: Sequence[TemplateFile]) -> None:
    rows = [
        (each.name, t.activity, len(t.examples), t.tokens, ", ".join(t.tags), t.description)
        for each in found
        if (t := each.template)
    ]
    headings = ("name", "activity", "examples", "tokens", "tags", "description")
    if rows:
        console().print(table(headings, rows, numbers=("examples", "tokens")))
    totals = Counter(each.template.activity for each in found if each.template)
    if rows:
        say(", ".join(f"{number} {activity}" for activity, number in totals.most_common()) + ".")
    for each in found:
        if each.fault:
            say(f"[bold]Cannot be used[/]: {plain(each.fault)}")


def left_out_record(mined: Mined) -> dict[str, int]:
    return {**mined.left_out, **{f"session: {reason}": count for reason, count in mined.refused.items()}}


def print_template(template: Template) -> None:
    tags = f"  {plain(', '.join(template.tags))}" if template.tags else ""
    say(f"[bold]{plain(template.name)}[/]  {template.activity}{tags}")
    say(f"{plain(template.description)}; about {many(template.tokens, 'token')}.\n")
    if template.addendum:
        say(f"Told before the examples:\n{plain(template.addendum)}\n")
    for number, group in enumerate(template.requests, start=1):
        first, last = group[0], group[-1]
        of_more = "" if first.is_whole or not first.intent else "  [dim](one step)[/]"
        say(f"{number}. {plain(first.intent or '(one step of longer work)')}{of_more}")
        for example in group:
            _print_call(example)
        say(f"   [dim]{plain(last.session[:8])} {plain(last.evidence)}[/]\n")


def _print_call(example: Example) -> None:
    say(f"   [bold]{plain(example.tool)}[/] {plain(example.arguments)}")
    lines = example.result.splitlines() or ["(nothing)"]
    for line in lines[:LINES_SHOWN]:
        say(f"     [dim]{plain(line)}[/]")


def print_stats(found: Sequence[TemplateFile], known: TemplateRecords, *, as_json: bool) -> int:
    latest = {worth.key: worth for worth in known.worths}
    shown = [each.template for each in found if each.template]
    if as_json:
        print_json([_stats_record(template, known, latest.get(template.key)) for template in shown])
        return 0
    if not shown:
        say("No templates yet. To create one from your sessions, run `whet templates create`.")
        return 0
    rows = [
        (
            template.name,
            template.tokens,
            use.sessions if (use := known.uses.get(template.key)) else 0,
            moment(use.last if use else None),
            _effect(latest.get(template.key)),
            *(_went(losses) for losses in _live(known, template)),
        )
        for template in shown
    ]
    console().print(table(STATS, rows, numbers=("tokens", "used", *STATS[-2:])))
    return 0


def as_wire(messages: Sequence[Message], form: str) -> object:
    """The messages in the form of a vendor; Hermes takes those of OpenAI."""
    return as_anthropic(messages) if form == "anthropic" else as_openai(messages)


def _effect(worth: Worth | None) -> str:
    if worth is None:
        return "not measured"
    return f"{worth.effect:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}) over {many(worth.cases, 'case')}"


def _live(known: TemplateRecords, template: Template) -> tuple[list[float], list[float]]:
    """How badly sessions went that began with it, and without it, by lot."""
    counted = known.live.get(template.key, ())
    with_it, without = ([each.loss for each in counted if each.draw.told is side] for side in (True, False))
    return with_it, without


def _went(losses: Sequence[float]) -> str:
    return f"{fmean(losses):.2f} ({len(losses)})" if losses else "–"


def _stats_record(template: Template, known: TemplateRecords, worth: Worth | None) -> dict[str, object]:
    use = known.uses.get(template.key)
    told, untold = _live(known, template)
    return {
        "name": template.name,
        "key": template.key,
        "tokens": template.tokens,
        "uses": use.sessions if use else 0,
        "last_used": iso(use.last) if use else None,
        "worth": msgspec.to_builtins(worth) if worth else None,
        "live": {
            "told": len(told),
            "untold": len(untold),
            "loss_told": fmean(told) if told else None,
            "loss_untold": fmean(untold) if untold else None,
        },
    }
