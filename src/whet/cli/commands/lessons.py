"""whet lessons: what sessions teach, project by project, and what goes wrong again and again."""

import os
import time
from pathlib import Path
from typing import NamedTuple

import click

from whet.cli.analysed import bring_up_to_date, learn_by_projects, read_what_is_taught
from whet.cli.options import filter_options, filters_of, json_option
from whet.cli.output import many, next_step, plain, print_json, say
from whet.cli.shown.taught import (
    NEXT,
    LessonsKnown,
    change_of,
    conflict_lines,
    conflict_record,
    decided_line,
    evidence_lines,
    recurring_lines,
    recurring_record,
    taught_lines,
    taught_record,
)
from whet.errors import WhetError
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import RARE, SESSIONS_NEEDED, Lesson
from whet.improving.learned import LearnedOfAll, LessonScope, learned
from whet.improving.lesson_states import DECIDED, decisions_on_lessons, lesson_id, propose_lesson, standing_of
from whet.improving.project_evidence import TaughtLesson
from whet.store.database import Database
from whet.store.home import find_home
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.targets.project_names import name_of_project

OF_ALL = "To see the lessons of all projects, run `whet lessons`."
NOTHING_YET = "A lesson needs a correction, or an error that recurs: import more sessions with `whet import`."


class AskedLessons(NamedTuple):
    """Which lessons are meant."""

    scope: LessonScope
    change: str | None


class FoundLessons(NamedTuple):
    """The lessons that were asked for, all that there are, and what is known of them."""

    asked: LearnedOfAll
    whole: LearnedOfAll
    known: LessonsKnown


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
@click.option("--all", "every", is_flag=True, help="Also lessons that you decided on: active, undone or refused.")
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
    every: bool,
    as_json: bool,
) -> int:
    filters = filters_of(source, model, folder, tool, since, until)
    is_folder = project.startswith((".", "/", "~"))
    name = name_of_project(Path(os.path.expanduser(project)).resolve()) if is_folder else project
    context.obj = AskedLessons(LessonScope(filters, name, is_folder, candidates), change)
    if context.invoked_subcommand:
        return 0
    with opened(find_home(os.environ)) as database:
        found = _find(database, context.obj)
    if as_json:
        _print(found, context.obj)
    elif not found.asked.sessions:
        is_narrowed = any(filters) or project
        say(f"No sessions match. {OF_ALL}" if is_narrowed else "No sessions yet. To import them, run `whet import`.")
    else:
        _show(found, every=every)
        if not found.asked.taught and not found.asked.recurring:
            say(OF_ALL if project or any(filters) else NOTHING_YET)
    return 0


@command.command(
    "show",
    epilog="Example: whet lessons show 3",
    help="Show one lesson with its evidence, by its id or its number in the whole list.",
)
@click.argument("name", metavar="ID")
@click.option("--all", "every", is_flag=True, help="All quotes, and not the first few.")
@json_option
@click.pass_context
def show(context: click.Context, name: str, every: bool, as_json: bool) -> int:
    with opened(find_home(os.environ)) as database:
        found = _find(database, context.obj)
    lesson = _named(found, name)
    if isinstance(lesson, Lesson):
        if as_json:
            print_json(recurring_record(lesson, found.known))
        for line in () if as_json else recurring_lines([lesson], found.known):
            say(line)
        return 0
    if as_json:
        print_json(taught_record(lesson, found.known, evidence=True))
    for line in () if as_json else evidence_lines(lesson, found.known, every=every):
        say(line)
    return 0


@command.command(
    "propose",
    epilog="Example: whet lessons propose 4e28b1e8",
    help="Put the drafts of lessons among the changes that wait for your approval (`whet pending`).",
)
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@json_option
@click.pass_context
def propose_drafts(context: click.Context, names: tuple[str, ...], as_json: bool) -> int:
    home = find_home(os.environ)
    entries = []
    with opened(home) as database:
        found = _find(database, context.obj)
        for lesson in [_named(found, name) for name in names]:
            entries.append(propose_lesson(home, database, lesson, now=time.time()))
    if as_json:
        print_json({"proposed": [{"entry": each.number, "name": each.patch.name} for each in entries]})
        return 0
    for each in entries:
        say(f"Entry {each.number} waits: {each.patch.form.value} {plain(each.patch.name)}.")
    next_step(f"`whet pending show {entries[0].number}` to see it, `whet pending` to approve or refuse.")
    return 0


def _named(found: FoundLessons, name: str) -> TaughtLesson | Lesson:
    """The lesson with an id, or with a number of the whole list."""
    for lesson in (*_every(found.asked), *_every(found.whole)):
        id = lesson_id(lesson)
        if name == id or (name.isdecimal() and found.known.numbers.get(id) == int(name)):
            return lesson
    raise WhetError(f"There is no lesson {name}.", advice="`whet lessons` lists them.")


def _every(found: LearnedOfAll) -> tuple[TaughtLesson | Lesson, ...]:
    return (*found.taught, *found.recurring)


def _find(database: Database, ask: AskedLessons) -> FoundLessons:
    home = find_home(os.environ)
    bring_up_to_date(database)
    read_what_is_taught(database)
    whole = learned(database, LessonScope(), learn_by_projects(database, home, Filters()))
    asked = whole
    if ask.scope != LessonScope():
        projects = learn_by_projects(database, home, ask.scope.filters, project=ask.scope.project)
        asked = learned(database, ask.scope, projects)
    asked = asked._replace(
        taught=tuple(each for each in asked.taught if ask.change in (None, change_of(each).value)),
        recurring=tuple(each for each in asked.recurring if ask.change in (None, each.change.value)),
    )
    numbers = {lesson_id(each): number for number, each in enumerate(_every(whole), 1)}
    return FoundLessons(asked, whole, LessonsKnown(numbers, decisions_on_lessons(home, database)))


def _print(found: FoundLessons, ask: AskedLessons) -> None:
    shown, known = found.asked, found.known
    records = [taught_record(each, known, evidence=ask.scope.candidates) for each in shown.taught]
    counts = {"sessions": shown.sessions, "in_temporary_folders": shown.temporary}
    if ask.scope.candidates:
        print_json({**counts, "candidates": records})
    else:
        recurring = [recurring_record(each, known) for each in shown.recurring]
        conflicts = [
            {"project": project, **conflict_record(each)} for project, all in shown.conflicts.items() for each in all
        ]
        print_json({**counts, "lessons": [*records, *recurring], "conflicts": conflicts})


def _show(found: FoundLessons, *, every: bool) -> None:
    shown, known = found.asked, found.known
    decided = [each for each in shown.taught if standing_of(each, known.decisions).state in DECIDED]
    here = name_of_project(Path.cwd())
    for line in taught_lines([each for each in shown.taught if every or each not in decided], known, here):
        say(line)
    if shown.taught and shown.recurring:
        say("[bold]Recurring failures[/]")
    for line in recurring_lines(shown.recurring, known):
        say(line)
    for line in conflict_lines(shown.conflicts):
        say(line)
    if decided and not every:
        say(decided_line(decided, known))
    lessons = many(len(shown.taught) + len(shown.recurring), "lesson")
    temporary = f", {shown.temporary:,} of them in temporary folders" if shown.temporary else ""
    said = f"{lessons} from {many(shown.sessions, 'session')}{temporary}."
    say(f"[dim]{said}{f' {NEXT}' if shown.taught else ''}[/]")
