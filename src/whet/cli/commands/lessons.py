"""whet lessons: what sessions teach, project by project, and what goes wrong again and again."""

import os
from pathlib import Path
from typing import NamedTuple

import click

from whet.cli.analysed import bring_up_to_date, learn_by_projects, read_what_is_taught
from whet.cli.options import filter_options, filters_of, json_option
from whet.cli.output import many, print_json, say
from whet.cli.shown.taught import (
    NEXT,
    change_of,
    conflict_lines,
    conflict_record,
    evidence_lines,
    recurring_lines,
    recurring_record,
    taught_lines,
    taught_record,
)
from whet.errors import WhetError
from whet.failures.lessons import RARE, SESSIONS_NEEDED, ChangeKind
from whet.improving.learned import LearnedOfAll, LessonScope, learned
from whet.store.home import find_home
from whet.store.opening import opened
from whet.targets.project_names import name_of_project


class AskedLessons(NamedTuple):
    """Which lessons are meant."""

    scope: LessonScope
    change: str | None


@click.group(
    "lessons",
    invoke_without_command=True,
    epilog="Example: whet lessons --project shop",
    help="List what your sessions teach, project by project: what people asked for, what worked after a failure, facts"
    " of the place, what errors ask for, steps that worked in the same order; under each, the text that would be told,"
    " as a rule, a note or a skill. Then failures that recur without a"
    f" known fix, in at least {SESSIONS_NEEDED} sessions and a share that is surely above {100 * RARE:.0f} %.",
)
@filter_options
@click.option(
    "--project", default="", help="Only projects whose name contains this; a folder means its project, . is this one."
)
@click.option(
    "--change",
    type=click.Choice([change.value for change in ChangeKind]),
    help="Only lessons that call for this kind of change.",
)
@click.option("--candidates", is_flag=True, help="All evidence that may become a lesson, with session and message.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    project: str,
    change: str | None,
    candidates: bool,
    as_json: bool,
) -> int:
    filters = filters_of(source, model, folder, tool, since, until)
    is_folder = project.startswith((".", "/", "~"))
    name = name_of_project(Path(project).expanduser().resolve()) if is_folder else project
    context.obj = AskedLessons(LessonScope(filters, name, is_folder, candidates), change)
    if context.invoked_subcommand:
        return 0
    found = _find(context.obj)
    if as_json:
        _print(found, context.obj)
    elif not found.sessions:
        narrowed = any(filters) or project
        say("No sessions match." if narrowed else "No sessions yet. To import them, run `whet import`.")
    else:
        _show(found)
    return 0


@command.command("show", epilog="Example: whet lessons show 3", help="Show one lesson with its evidence, as numbered.")
@click.argument("number", type=click.IntRange(1))
@json_option
@click.pass_context
def show(context: click.Context, number: int, as_json: bool) -> int:
    found = _find(context.obj)
    if number > len(found.taught) + len(found.recurring):
        raise WhetError(f"There is no lesson {number}.", advice="`whet lessons` lists them.")
    if number > len(found.taught):
        lesson = found.recurring[number - len(found.taught) - 1]
        if as_json:
            print_json(recurring_record(lesson))
        for line in () if as_json else recurring_lines([lesson], number):
            say(line)
        return 0
    chosen = found.taught[number - 1]
    if as_json:
        print_json(taught_record(chosen, evidence=True))
    for line in () if as_json else evidence_lines(number, chosen):
        say(line)
    return 0


def _find(ask: AskedLessons) -> LearnedOfAll:
    home = find_home(os.environ)
    with opened(home) as database:
        bring_up_to_date(database)
        read_what_is_taught(database)
        projects = learn_by_projects(database, home, ask.scope.filters, project=ask.scope.project)
        found = learned(database, ask.scope, projects)
    return found._replace(
        taught=tuple(each for each in found.taught if ask.change in (None, change_of(each).value)),
        recurring=tuple(each for each in found.recurring if ask.change in (None, each.change.value)),
    )


def _print(found: LearnedOfAll, ask: AskedLessons) -> None:
    records = [taught_record(each, evidence=ask.scope.candidates) for each in found.taught]
    if ask.scope.candidates:
        print_json({"sessions": found.sessions, "candidates": records})
    else:
        recurring = [recurring_record(each) for each in found.recurring]
        conflicts = [
            {"project": project, **conflict_record(each)} for project, all in found.conflicts.items() for each in all
        ]
        print_json({"sessions": found.sessions, "lessons": [*records, *recurring], "conflicts": conflicts})


def _show(found: LearnedOfAll) -> None:
    for line in taught_lines(found.taught):
        say(line)
    if found.taught and found.recurring:
        say("[bold]Recurring failures[/]")
    for line in recurring_lines(found.recurring, len(found.taught) + 1):
        say(line)
    for line in conflict_lines(found.conflicts):
        say(line)
    lessons = many(len(found.taught) + len(found.recurring), "lesson")
    say(f"[dim]{lessons} from {many(found.sessions, 'session')}.{f' {NEXT}' if found.taught else ''}[/]")
