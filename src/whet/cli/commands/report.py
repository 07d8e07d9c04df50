"""whet report: a page on what fails most, where, at what cost, and what to do."""

import os
from collections.abc import Iterator
from dataclasses import asdict

import click
import msgspec
from rich.table import Table

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import filter_options, filters_of, json_option, left_out, temporary_option
from whet.cli.output import console, many, moment, next_step, plain, print_json, say, share, short, table
from whet.cli.shown.findings import lesson_sentence
from whet.failures.gone_wrong import where_it_went_wrong
from whet.failures.lessons import ChangeKind, Lesson
from whet.failures.summaries import LIKELY_FAILED, SessionGroup, Summary, ranked, summarise
from whet.sessions.exports import iso
from whet.store.analyses import judged
from whet.store.home import find_home
from whet.store.listing import count_sessions
from whet.store.opening import opened

ROWS = 8
LESSONS = 6
HEADINGS = ("sessions", "likely failed", "calls", "failed calls", "tokens", "in failed sessions")


@click.command(
    "report",
    epilog="Example: whet report --since 30d --source claude-code",
    help="Summarise what fails most, where (by agent, model, tool and week), what it costs and what to do about it.",
)
@filter_options
@temporary_option
@json_option
def command(
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    temporary: bool,
    as_json: bool,
) -> int:
    wanted = filters_of(source, model, folder, tool, since, until)
    filters = wanted._replace(without_trials=True, without_temporary=not temporary)
    with opened(find_home(os.environ)) as database:
        bring_up_to_date(database)
        summary, lessons = summarise(judged(database, filters))
        listed = count_sessions(database, filters)
        hidden = count_sessions(database, filters._replace(without_temporary=False)) - listed
    if as_json:
        print_json(_record(summary, lessons))
    elif not summary.total.sessions:
        none = "No sessions match." if hidden or any(wanted) else "No sessions yet. To import them, run `whet import`."
        say(f"{none} {left_out(hidden)}".rstrip())
    else:
        _tell(summary, lessons, copies=listed - summary.total.sessions, hidden=hidden)
    return 0


def _record(summary: Summary, lessons: tuple[Lesson, ...]) -> dict[str, object]:
    return {
        "total": asdict(summary.total),
        "first": iso(summary.first),
        "last": iso(summary.last),
        "kinds": summary.kinds,
        "agents": [asdict(group) for group in summary.agents.values()],
        "models": [asdict(group) for group in summary.models.values()],
        "tools": [asdict(group) for group in summary.tools.values()],
        "weeks": [asdict(summary.weeks[name]) for name in sorted(summary.weeks)],
        "worst": [worst._asdict() for worst in summary.worst],
        "lessons": [msgspec.to_builtins(lesson) for lesson in lessons],
    }


def _tell(summary: Summary, lessons: tuple[Lesson, ...], *, copies: int, hidden: int) -> None:
    total = summary.total
    say(f"[bold]{many(total.sessions, 'session')}[/] from {moment(summary.first)} to {moment(summary.last)}")
    if copies:
        say(f"{many(copies, 'more session')} only {'repeats' if copies == 1 else 'repeat'} others: not counted again.")
    if hidden:
        say(left_out(hidden))
    say(
        f"{total.failed_sessions:,} likely failed ({share(total.failed_sessions, total.sessions)}), "
        f"of {total.untold_sessions:,} the record cannot tell; "
        f"{total.failed_calls:,} of {many(total.calls, 'call')} failed ({share(total.failed_calls, total.calls)})."
    )
    if total.tokens:
        say(
            f"{short(total.failed_tokens)} of {short(total.tokens)} tokens "
            f"({share(total.failed_tokens, total.tokens)}) were spent in sessions that likely failed."
        )
    for heading, lines in (
        ("What fails most", _most(summary, lessons)),
        ("What to do", _advice(lessons)),
        ("Sessions to look at", _worst(summary)),
    ):
        say(f"\n[bold underline]{heading}[/]")
        for line in lines:
            say(line)
    for heading, groups in (
        ("agent", ranked(summary.agents, lambda group: group.sessions, ROWS)),
        ("model", ranked(summary.models, lambda group: group.sessions, ROWS)),
        ("tool", ranked(summary.tools, lambda group: group.failed_calls, ROWS)),
        ("week", [summary.weeks[name] for name in sorted(summary.weeks)[-ROWS:]]),
    ):
        say()
        console().print(_table(heading, groups))
    say(f"[dim]Likely failed: a failure score of {LIKELY_FAILED} or more; for the reasons, run `whet signals ID`.[/]")
    next_step("`whet lessons` for what your sessions teach, `whet improve` to propose changes.")


def _most(summary: Summary, lessons: tuple[Lesson, ...]) -> Iterator[str]:
    mine = [lesson for lesson in lessons if lesson.change is not ChangeKind.ENVIRONMENT]
    for lesson in mine[:LESSONS]:
        yield f"• {lesson_sentence(lesson)}"
    if not mine:
        yield "No failure recurs often enough to be a lesson."
    if summary.kinds:
        kinds = sorted(summary.kinds.items(), key=lambda item: -item[1])
        yield "[dim]Seen in sessions: " + ", ".join(f"{name} {number:,}" for name, number in kinds) + "[/]"


def _advice(lessons: tuple[Lesson, ...]) -> Iterator[str]:
    environment = [lesson for lesson in lessons if lesson.change is ChangeKind.ENVIRONMENT]
    for lesson in environment[:LESSONS]:
        yield f"• Look at your environment: {lesson_sentence(lesson)}."
    others = len(lessons) - len(environment)
    if others:
        recurs = "failure recurs" if others == 1 else "failures recur"
        yield f"• {others:,} {recurs}: `whet lessons` shows what worked instead, where the record has it."
    if not lessons:
        yield "Nothing yet: a lesson needs the same failure in several sessions. Import more with `whet import`."


def _worst(summary: Summary) -> Iterator[str]:
    found = [worst for worst in summary.worst if worst.score >= LIKELY_FAILED]
    for worst in found:
        step = ""
        if worst.decisive_step is not None:
            step = f"; {where_it_went_wrong(worst.decisive_step, worst.decisive_confidence)}"
        yield f"{worst.session[:8]}  {worst.score:.2f}  {plain(worst.title[:70])}"
        yield f"          [dim]{plain('; '.join(worst.reasons))}{step}[/]"
    if not found:
        yield "None."


def _table(heading: str, groups: list[SessionGroup]) -> Table:
    rows = [
        (
            group.name or "–",
            f"{group.sessions:,}",
            share(group.failed_sessions, group.sessions),
            f"{group.calls:,}",
            share(group.failed_calls, group.calls),
            short(group.tokens),
            share(group.failed_tokens, group.tokens),
        )
        for group in groups
    ]
    return table((heading, *HEADINGS), rows, numbers=HEADINGS, spare=("in failed sessions", "tokens", "calls"))
