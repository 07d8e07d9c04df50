"""whet lessons: what goes wrong again and again."""

import os
from collections.abc import Iterator

import click
import msgspec

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import filter_options, filters_of, json_option
from whet.cli.output import many, moment, plain, print_json, say
from whet.cli.shown.findings import CHANGES, lesson_sentence
from whet.failures.lessons import RARE, SESSIONS_NEEDED, ChangeKind, Lesson
from whet.failures.summaries import summarise
from whet.sessions.exports import iso
from whet.store.analyses import judged
from whet.store.home import find_home
from whet.store.opening import opened


@click.command(
    "lessons",
    epilog="Example: whet lessons --since 30d --change rule",
    help="List failures that recur over distinct sessions, with their evidence and base rate, and what each would "
    f"change. A lesson needs at least {SESSIONS_NEEDED} sessions and a share that is surely above {100 * RARE:.0f} %.",
)
@filter_options
@click.option(
    "--change", type=click.Choice([change.value for change in ChangeKind]), help="Only what would change this."
)
@json_option
def command(
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    change: str | None,
    as_json: bool,
) -> int:
    filters = filters_of(source, model, folder, tool, since, until)
    with opened(find_home(os.environ)) as database:
        bring_up_to_date(database)
        summary, found = summarise(judged(database, filters))
    chosen = [lesson for lesson in found if change in (None, lesson.change.value)]
    if as_json:
        print_json({"sessions": summary.total.sessions, "lessons": [_record(lesson) for lesson in chosen]})
        return 0
    if not summary.total.sessions:
        say("No session matches." if any(filters) else "No sessions yet. `whet import` brings them in.")
        return 0
    for line in _lines(chosen):
        say(line)
    say(f"[dim]{many(len(chosen), 'lesson')} from {many(summary.total.sessions, 'session')}.[/]")
    return 0


def _record(lesson: Lesson) -> dict[str, object]:
    return {
        **msgspec.to_builtins(lesson),
        "trust": lesson.trust.label,
        "share": round(lesson.share, 4),
        "since": iso(lesson.since),
        "latest": iso(lesson.latest),
    }


def _lines(lessons: list[Lesson]) -> Iterator[str]:
    for number, lesson in enumerate(lessons, 1):
        yield f"[bold]{number}.[/] {lesson_sentence(lesson)}"
        seen = f"{moment(lesson.since)} to {moment(lesson.latest)}" if lesson.since else "undated"
        where = ", ".join((*lesson.agents, *lesson.models))
        yield f"   [dim]would change {CHANGES[lesson.change]} · {plain(where)} · {seen} · trust {lesson.trust.label}[/]"
        for example in lesson.examples:
            quote = plain(" ".join(example.quote.split()))
            yield f"   [dim]{example.session[:8]} #{example.message}[/] {quote}"
