"""whet lessons: what sessions teach, project by project, and a person's decisions on it."""

import itertools
import os
import time
from pathlib import Path
from typing import NamedTuple

import click

from whet.cli.analysed import bring_up_to_date, learning, read_what_is_taught
from whet.cli.deciding import COMMANDS, over_budget, show_change, show_waiting
from whet.cli.options import filter_options, is_folder, json_option, own_store, sort_option
from whet.cli.output import give, next_lines, plain, print_json, say
from whet.cli.shown.lessons import (
    FORMS,
    NEXT,
    WAITING,
    change_of,
    conflict_lines,
    conflict_record,
    decided_line,
    dropped_lines,
    dropped_record,
    evidence_lines,
    lesson_lines,
    lesson_record,
    waiting_lines,
)
from whet.errors import WhetError
from whet.improving.learned import EVERYWHERE, LearnedOfAll, LessonScope, learned, propose_lesson, waiting_lessons
from whet.lessons.record import DECIDED, UNDECIDED, Lesson, LessonStage
from whet.store.database import Database
from whet.store.home import find_home
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.targets.project_names import name_of_project
from whet.text.words import many

OF_ALL = "To see the lessons of all projects, run `whet lessons`."
NOTHING_YET = "A lesson needs a correction, or an error that recurs: import more sessions with `whet import`."


class AskedLessons(NamedTuple):
    """Which lessons are meant."""

    scope: LessonScope
    change: str | None


class FoundLessons(NamedTuple):
    """The lessons that were asked for, all that there are, and their numbers in the whole list, by id.

    All that waits for a person comes beside them: a job or a template too.
    """

    asked: LearnedOfAll
    whole: LearnedOfAll
    numbers: dict[str, int]
    waiting: tuple[Lesson, ...] = ()


@click.group(
    "lessons",
    invoke_without_command=True,
    epilog="Example: whet lessons --project shop",
    help="List what your sessions teach, project by project: what was different when a call that had failed worked,"
    " what people said for good, what they ask for again and again; each as the text that would be told. What waits for"
    " your approval comes first. Text that comes from a tool or a stranger reaches no agent until you approve its exact"
    " wording. In a team, the same holds for rules of other members, unless they are among your team.admins. Changes"
    " that nobody decides on expire.",
)
@filter_options
@click.option(
    "--change",
    type=click.Choice([change.value for change in FORMS.values()]),
    help="Only lessons that call for this kind of change.",
)
@sort_option("project", "sessions", "worth")
@click.option("--dropped", is_flag=True, help="What was drafted and is no lesson, with the reason.")
@click.option("--all", "every", is_flag=True, help="Also lessons that you decided on: active, undone or refused.")
@click.option(
    "--waiting",
    is_flag=True,
    help="Only what waits for your approval; on a terminal, one key approves, edits, refuses, says never or skips.",
)
@click.option(
    "--yours",
    is_flag=True,
    help="The statements of CLAUDE.md, AGENTS.md and the like of this project, or of --project.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    filters: Filters,
    change: str | None,
    sort: str,
    dropped: bool,
    every: bool,
    waiting: bool,
    yours: bool,
    as_json: bool,
) -> int:
    filters, project = filters._replace(folder="", folders=()), context.params["folder"] or ""
    is_whole = is_folder(project)
    name = name_of_project(Path(os.path.expanduser(project)).resolve()) if is_whole else project
    context.obj = AskedLessons(LessonScope(filters, name, is_whole), change)
    if context.invoked_subcommand:
        return 0
    if waiting:
        return show_waiting(as_json=as_json)
    if yours:
        return _show_yours(Path(os.path.expanduser(project)) if is_whole else Path.cwd(), as_json=as_json)
    with own_store() as (_, database):
        found = _find(database, context.obj)
    if sort != "project":
        ordered = sorted(
            found.asked.lessons, key=lambda each: -(each.sessions if sort == "sessions" else each.evidence.worth)
        )
        found = found._replace(asked=found.asked._replace(lessons=tuple(ordered)))
    if dropped:
        _tell_dropped(found.asked, as_json=as_json)
    elif as_json:
        _print(found)
    elif not found.asked.sessions and not found.asked.lessons:
        is_narrowed = any(filters) or project
        say(f"No sessions match. {OF_ALL}" if is_narrowed else "No sessions yet. To import them, run `whet import`.")
    else:
        _show(found, every=every)
        if not found.asked.lessons:
            say(OF_ALL if project or any(filters) else NOTHING_YET)
    return 0


@command.command(
    "show",
    epilog="Example: whet lessons show 3",
    help="Show one lesson with its evidence, by its id or its number in the list; what waits, as a diff.",
)
@click.argument("name", metavar="ID")
@click.option("--all", "every", is_flag=True, help="All quotes, and not the first few.")
@json_option
@click.pass_context
def show(context: click.Context, name: str, every: bool, as_json: bool) -> int:
    with own_store() as (home, database):
        for lesson in waiting_lessons(home, database, now=time.time()):
            if name in (str(lesson.standing.entry), lesson.id):
                show_change(lesson, as_json=as_json)
                return 0
        found = _find(database, context.obj)
    lesson = _named(found, name)
    number = found.numbers.get(lesson.id)
    lines = evidence_lines(lesson, number, found.whole.places, every=every)
    more = over_budget(lesson.patch) if lesson.standing.stage in UNDECIDED else ()
    return give(lesson_record(lesson, number, evidence=True), itertools.chain(lines, more), as_json=as_json)


@command.command(
    "propose",
    epilog="Example: whet lessons propose 4e28b1e8",
    help="Put lessons among the changes that wait for your approval.",
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
    lines = (f"Entry {each.number} waits: {each.patch.form.value} {plain(each.patch.name)}." for each in entries)
    then = f"`whet lessons show {entries[0].number}` to see it, `whet lessons --waiting` to approve or refuse."
    record = {"proposed": [{"entry": each.number, "name": each.patch.name} for each in entries]}
    return give(record, (*lines, *next_lines(then)), as_json=as_json)


for each in COMMANDS:
    command.add_command(each)


def _named(found: FoundLessons, name: str) -> Lesson:
    """The lesson with an id, or with a number of the whole list."""
    for lesson in (*found.asked.lessons, *found.whole.lessons):
        if name == lesson.id or (name.isdecimal() and found.numbers.get(lesson.id) == int(name)):
            return lesson
    raise WhetError(f"There is no lesson {name}.", advice="`whet lessons` lists them.")


def _find(database: Database, ask: AskedLessons) -> FoundLessons:
    home = find_home(os.environ)
    bring_up_to_date(database)
    read_what_is_taught(database)
    with learning() as progress:
        whole = learned(home, database, progress=progress)
        asked = whole if ask.scope == EVERYWHERE else learned(home, database, ask.scope, progress=progress)
    asked = asked._replace(lessons=tuple(each for each in asked.lessons if ask.change in (None, change_of(each).value)))
    numbers = {each.id: number for number, each in enumerate(whole.lessons, 1)}
    return FoundLessons(asked, whole, numbers, waiting_lessons(home, database, now=time.time()))


def _show_yours(folder: Path, *, as_json: bool) -> int:
    """The statements of the files that agents read in a project: lessons that are in force because they stand there."""
    from whet.cli.shown.audit import audit_of
    from whet.statements.audit import lessons_of_files

    found = audit_of(folder)
    lessons = tuple(lessons_of_files(found, project=name_of_project(Path(found.root))))
    said = f"{many(len(lessons), 'statement')}, {found.tokens:,} tokens at every start."
    then = f"[dim]{said} `whet audit` says what is wrong; `whet try --without FILE:LINE` tries to leave one out.[/]"
    record = {"root": found.root, "lessons": [lesson_record(each, None) for each in lessons]}
    return give(record, (*lesson_lines(lessons, {}, name_of_project(Path.cwd())), then), as_json=as_json)


def _tell_dropped(found: LearnedOfAll, *, as_json: bool) -> None:
    """What was drafted and is no lesson."""
    counts = {"sessions": found.sessions, "in_temporary_folders": found.temporary}
    record = {**counts, "dropped": [dropped_record(each) for each in found.dropped]}
    told = f"[dim]{many(len(found.dropped), 'draft')} dropped, from {many(found.sessions, 'session')}.[/]"
    give(record, (*dropped_lines(found.dropped, found.places), told), as_json=as_json)


def _print(found: FoundLessons) -> None:
    shown = found.asked
    print_json(
        {
            "sessions": shown.sessions,
            "in_temporary_folders": shown.temporary,
            "lessons": [lesson_record(each, found.numbers.get(each.id)) for each in shown.lessons],
            "conflicts": [
                {"project": project, **conflict_record(each)}
                for project, every in shown.conflicts.items()
                for each in every
            ],
            "dropped": len(shown.dropped),
        }
    )


def _show(found: FoundLessons, *, every: bool) -> None:
    shown = found.asked
    decided = [each for each in shown.lessons if each.standing.stage in DECIDED]
    here = name_of_project(Path.cwd())
    if found.waiting:
        say(WAITING)
    for line in waiting_lines(found.waiting):
        say(line)
    listed = [each for each in shown.lessons if every or each not in decided]
    listed = [each for each in listed if each.standing.stage is not LessonStage.WAITING]
    taken = {each.standing.entry for each in found.waiting}  # by this number `show` finds what waits
    numbers = {id: number for id, number in found.numbers.items() if number not in taken}
    for line in lesson_lines(listed, numbers, here):
        say(line)
    for line in conflict_lines(shown.conflicts, shown.places):
        say(line)
    if decided and not every:
        say(decided_line(decided))
    temporary = f", {shown.temporary:,} of them in temporary folders" if shown.temporary else ""
    dropped = f" Dropped: {len(shown.dropped)} (`--dropped` says why)." if shown.dropped else ""
    said = f"{many(len(shown.lessons), 'lesson')} from {many(shown.sessions, 'session')}{temporary}.{dropped}"
    say(f"[dim]{said}{f' {NEXT}' if shown.lessons else ''}[/]")
