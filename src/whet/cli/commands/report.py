"""whet report: a page on what fails most, where, at what cost, and what to do."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click
import msgspec
from rich.table import Table

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import filter_options, filters_of, json_option, temporary_option
from whet.cli.output import console, many, moment, next_step, plain, print_json, say, share, table
from whet.cli.shown.findings import lesson_sentence
from whet.cli.shown.left_out import left_out, none_found, repeating
from whet.cli.shown.taught import change_of
from whet.failures.gone_wrong import where_it_went_wrong
from whet.failures.kinds import ChangeKind, in_words
from whet.failures.lessons import RecurringFailure
from whet.failures.summaries import MAY_HAVE_FAILED, SessionGroup, Summary, ranked, summarise
from whet.failures.week_comparison import BETTER, WeekComparison
from whet.improving.last_weeks import last_weeks
from whet.improving.learned import each_once, folded
from whet.lessons.record import UNDECIDED, Lesson, ProjectLessons
from whet.sessions.exports import iso
from whet.shipped.kinds import known_kinds
from whet.store.analyses import judged
from whet.store.home import find_home
from whet.store.listing import count_sessions, count_temporary
from whet.store.opening import opened
from whet.store.project_lessons import all_kept_lessons
from whet.text.amounts import short
from whet.text.showing import shown

ROWS = 8
LESSONS = 6
DRAFTS = 3
CHANGE_WORDS = {"rule": "rule", "skill": "skill", "memory": "memory note"}
HEADINGS = ("sessions", "may have failed", "calls", "failed calls", "tokens", "in those sessions")


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
    filters = wanted._replace(without_own_work=True, without_temporary=not temporary)
    home = find_home(os.environ)
    with opened(home) as database:
        bring_up_to_date(database)
        summary, found = summarise(judged(database, filters), known_kinds())
        lessons = each_once(found)
        listed = count_sessions(database, filters)
        hidden = count_temporary(database, filters)
        weeks = None if since or until else last_weeks(database, filters)
        taught = folded(home, database, all_kept_lessons(database, ProjectLessons))
    open_ones = [each for each in taught if each.standing.stage in UNDECIDED]
    if as_json:
        better = {"answer": weeks.answer, **weeks._asdict()} if weeks else None
        print_json({**_record(summary, lessons), "getting_better": better, "in_temporary_folders": hidden})
    elif not summary.total.sessions:
        say(none_found(left_out(hidden), is_narrowed=any(wanted)))
    else:
        advice = (*_surroundings(lessons), *(_to_lessons() if any(wanted) else _learned(open_ones, len(taught))))
        _tell(summary, lessons, weeks, advice, copies=listed - summary.total.sessions, hidden=left_out(hidden))
    return 0


def _record(summary: Summary, lessons: tuple[RecurringFailure, ...]) -> dict[str, object]:
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


def _tell(
    summary: Summary,
    lessons: tuple[RecurringFailure, ...],
    weeks: WeekComparison | None,
    advice: tuple[str, ...],
    *,
    copies: int,
    hidden: str,
) -> None:
    total = summary.total
    say(f"[bold]{many(total.sessions, 'session')}[/] from {moment(summary.first)} to {moment(summary.last)}")
    if copies:
        say(repeating(copies))
    if hidden:
        say(hidden)
    say(
        f"{total.failed_sessions:,} may have failed ({share(total.failed_sessions, total.sessions)}), "
        f"for {total.untold_sessions:,} the record cannot tell; "
        f"{total.failed_calls:,} of {many(total.calls, 'call')} failed ({share(total.failed_calls, total.calls)})."
    )
    if weeks:
        say(f"{BETTER} {weeks.words}")
    if total.tokens:
        say(
            f"{short(total.failed_tokens)} of {short(total.tokens)} tokens "
            f"({share(total.failed_tokens, total.tokens)}) were spent in sessions that may have failed."
        )
    for heading, lines in (
        ("What fails most", _most(summary, lessons)),
        ("What to do", advice),
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
    say(
        f"[dim]May have failed: a failure score of {MAY_HAVE_FAILED} or more, not by length alone. "
        "It is a guess from bad signs: `whet signals ID` shows them.[/]"
    )
    next_step("`whet lessons` for what your sessions teach, `whet improve` to propose changes.")


def _most(summary: Summary, lessons: tuple[RecurringFailure, ...]) -> Iterator[str]:
    mine = [lesson for lesson in lessons if lesson.change is not ChangeKind.ENVIRONMENT]
    for lesson in mine[:LESSONS]:
        yield f"• {lesson_sentence(lesson)}"
    if not mine:
        yield "No failure recurs often enough to be a lesson."
    if summary.kinds:
        kinds = sorted(summary.kinds.items(), key=lambda item: -item[1])
        yield ("[dim]Seen in sessions: " + ", ".join(f"{in_words(name)} {number:,}" for name, number in kinds) + "[/]")


def _surroundings(lessons: tuple[RecurringFailure, ...]) -> Iterator[str]:
    environment = [lesson for lesson in lessons if lesson.change is ChangeKind.ENVIRONMENT]
    for lesson in environment[:LESSONS]:
        yield f"• Look at your environment: {lesson_sentence(lesson)}."


def _learned(open_ones: Sequence[Lesson], taught: int) -> Iterator[str]:
    """The most promising drafts, as they were when lessons were last looked for."""
    if not taught:
        yield from _to_lessons()
        return
    counts = Counter(change_of(each).value for each in open_ones)
    kinds = ", ".join(many(number, CHANGE_WORDS[change]) for change, number in counts.items())
    yield f"• {many(len(open_ones), 'lesson')} to decide on{f' ({kinds})' if kinds else ''}: `whet lessons`."
    for each in sorted(open_ones, key=lambda each: -each.evidence.worth)[:DRAFTS]:
        seen = many(each.sessions, "session")
        yield f"  [dim]{each.id}[/] {plain(' '.join(shown(each.rule).split()))} [dim]({seen})[/]"


def _to_lessons() -> Iterator[str]:
    yield "• `whet lessons` finds what your sessions teach, project by project."


def _worst(summary: Summary) -> Iterator[str]:
    for worst in summary.worst:
        step = ""
        if worst.decisive_step is not None:
            step = f"; {where_it_went_wrong(worst.decisive_step, worst.decisive_confidence)}"
        yield f"{worst.session[:8]}  {worst.score:.2f}  {plain(worst.title[:70])}"
        yield f"          [dim]{plain('; '.join(worst.reasons))}{step}[/]"
    if not summary.worst:
        yield "None."


def _table(heading: str, groups: list[SessionGroup]) -> Table:
    rows = [
        (
            group.name or "–",
            f"{group.sessions:,}",
            share(group.failed_sessions, group.sessions),
            f"{group.calls:,}",
            share(group.failed_calls, group.calls),
            short(group.tokens) if group.tokens else "–",
            share(group.failed_tokens, group.tokens),
        )
        for group in groups
    ]
    return table((heading, *HEADINGS), rows, numbers=HEADINGS, spare=("in those sessions", "tokens", "calls"))
