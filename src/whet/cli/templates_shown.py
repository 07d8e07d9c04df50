"""Templates for people and for programs, the same in every command."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from whet.cli.output import console, many, moment, plain, print_json, say, table
from whet.exports import iso
from whet.prefills import as_anthropic, as_openai
from whet.store.template_files import Found, Use
from whet.template_choice import Worth
from whet.templates import Template
from whet.transcripts import Message

LINES_SHOWN = 6


def filtered(found: Iterable[Found], activity: str | None, tags: Sequence[str]) -> tuple[Found, ...]:
    """Those of an activity and with all of the tags; what cannot be read is shown where nothing is asked for."""
    if not activity and not tags:
        return tuple(found)
    return tuple(
        each
        for each in found
        if each.template and activity in (None, each.template.activity) and set(tags) <= set(each.template.tags)
    )


def found_record(found: Found) -> dict[str, object]:
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


def print_list(found: Sequence[Found]) -> None:
    rows = [
        (each.name, t.activity, len(t.examples), t.tokens, ", ".join(t.tags), t.description)
        for each in found
        if (t := each.template)
    ]
    headings = ("name", "activity", "examples", "tokens", "tags", "what it shows")
    if rows:
        console().print(table(headings, rows, numbers=("examples", "tokens")))
    for each in found:
        if each.fault:
            say(f"[bold]Cannot be used[/]: {plain(each.fault)}")


def print_template(template: Template) -> None:
    say(f"[bold]{plain(template.name)}[/]  {template.activity}  {plain(', '.join(template.tags))}")
    say(f"{plain(template.description)}; about {many(template.tokens, 'token')}.\n")
    for number, example in enumerate(template.examples, start=1):
        say(f"{number}. {plain(example.intent or '(a step of such work)')}")
        say(f"   [bold]{plain(example.tool)}[/] {plain(example.arguments)}")
        lines = example.result.splitlines() or ["(nothing)"]
        for line in lines[:LINES_SHOWN]:
            say(f"   [dim]{plain(line)}[/]")
        say(f"   [dim]{plain(example.session[:8])} {plain(example.evidence)}[/]\n")


def print_stats(found: Sequence[Found], used: Mapping[str, Use], measured: Iterable[Worth], *, as_json: bool) -> int:
    latest = {worth.key: worth for worth in measured}
    shown = [each.template for each in found if each.template]
    if as_json:
        print_json([_stats_record(template, used.get(template.key), latest.get(template.key)) for template in shown])
        return 0 if shown else 1
    if not shown:
        say("No template.")
        return 1
    rows = [
        (
            template.name,
            template.tokens,
            use.sessions if (use := used.get(template.key)) else 0,
            moment(use.last if use else None),
            _effect(latest.get(template.key)),
        )
        for template in shown
    ]
    console().print(table(("name", "tokens", "used", "last", "measured"), rows, numbers=("tokens", "used")))
    return 0


def as_wire(messages: Sequence[Message], form: str) -> object:
    """The messages in the form of a vendor; Hermes takes those of OpenAI."""
    return as_anthropic(messages) if form == "anthropic" else as_openai(messages)


def _effect(worth: Worth | None) -> str:
    if worth is None:
        return "not measured"
    return f"{worth.effect:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}) over {worth.cases} cases"


def _stats_record(template: Template, use: Use | None, worth: Worth | None) -> dict[str, object]:
    return {
        "name": template.name,
        "key": template.key,
        "tokens": template.tokens,
        "uses": use.sessions if use else 0,
        "last_used": iso(use.last) if use else None,
        "worth": msgspec.to_builtins(worth) if worth else None,
    }
