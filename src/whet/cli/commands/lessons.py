"""whet lessons: what sessions teach, project by project, and a person's decisions on it."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from whet.cli.analysed import bring_up_to_date, learning, numbers_of, read_what_is_taught
from whet.cli.commands.ledger import undo
from whet.cli.deciding import COMMANDS, show_change, show_waiting
from whet.cli.options import filter_options, is_folder, json_group, own_store
from whet.cli.output import give
from whet.cli.shown.audit import audit_of
from whet.cli.shown.lessons import (
    NEXT,
    WAITING,
    decided_line,
    dropped_lines,
    dropped_record,
    evidence_lines,
    lesson_lines,
    lesson_record,
    waiting_lines,
)
from whet.errors import WhetError
from whet.improving.learned import EVERYWHERE, LearnedOfAll, LessonScope, learned, waiting_lessons
from whet.lessons.record import DECIDED, Lesson, LessonStage
from whet.lessons.statements.audit import lessons_of_files
from whet.store.database import Database
from whet.store.home import find_home
from whet.store.listing import Filters
from whet.telling.targets.project_names import name_of_project
from whet.text.words import many

OF_ALL = "To see the lessons of all projects, run `whet lessons`."
NO_SESSIONS = "No sessions yet. To import them, run `whet import`."
ORDERS: dict[str, Callable[[Lesson], float]] = {
    "project": lambda _: 0,  # as they come, project by project
    "sessions": lambda lesson: -lesson.sessions,
    "worth": lambda lesson: -lesson.evidence.worth,
}
NOTHING_YET = "A lesson needs a correction, or an error that recurs: import more sessions with `whet import`."


class FoundLessons(NamedTuple):
    """The lessons that were asked for, all that there are, and their numbers, by id.

    All that waits for a person comes beside them: a job or a template too.
    """

    asked: LearnedOfAll
    whole: LearnedOfAll
    numbers: dict[str, int]
    waiting: tuple[Lesson, ...] = ()


@json_group("lessons", epilog="Example: whet lessons --project shop")
@filter_options
@click.option("--sort", default="project", show_default=True, type=click.Choice(list(ORDERS)), help="What comes first.")
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
def command(filters: Filters, sort: str, dropped: bool, every: bool, waiting: bool, yours: bool) -> int:
    """List what your sessions teach, project by project: what was different when a call that had failed worked, what
    people said for good, what they ask for again and again; each as the text that would be told. What waits for your
    approval comes first. Text that comes from a tool or a stranger reaches no agent until you approve its exact
    wording. In a team, the same holds for rules of other members, unless they are among your team.admins. Changes
    that nobody decides on expire.
    """
    if waiting:
        return show_waiting()
    filters, project = filters._replace(folder="", folders=()), click.get_current_context().params["folder"]
    is_whole = is_folder(project)
    if yours:
        return _show_yours(Path(os.path.expanduser(project)) if is_whole else Path.cwd())
    name = name_of_project(Path(os.path.expanduser(project)).resolve()) if is_whole else project
    with own_store() as (_, database):
        found = _find(database, LessonScope(filters, name, is_whole))
    ordered = tuple(sorted(found.asked.lessons, key=ORDERS[sort]))
    found = found._replace(asked=found.asked._replace(lessons=ordered))
    if dropped:
        return _tell_dropped(found.asked)
    if not found.asked.sessions and not found.asked.lessons:
        lines: Iterable[str] = (NO_SESSIONS if not any(filters) and not project else f"No sessions match. {OF_ALL}",)
    else:
        lines = _lines(found, every=every)
    if found.asked.sessions and not found.asked.lessons:
        lines = (*lines, OF_ALL if project or any(filters) else NOTHING_YET)
    return give(_record(found), lines)


@command.command("show", epilog="Example: whet lessons show 3")
@click.argument("name", metavar="ID")
@click.option("--all", "every", is_flag=True, help="All quotes, and not the first few.")
def show(name: str, every: bool) -> int:
    """Show one lesson with its evidence, by its id or its number in the list; what waits, as a diff."""
    with own_store() as (home, database):
        for lesson in waiting_lessons(home, database, now=time.time()):
            if name in (str(lesson.standing.entry), lesson.id):
                return show_change(lesson)
        found = _find(database)
    lesson = _named(found, name)
    number = found.numbers.get(lesson.id)
    lines = evidence_lines(lesson, number, every=every)
    return give(lesson_record(lesson, number, evidence=True), lines)


for each in (*COMMANDS, undo):
    command.add_command(each)


def _named(found: FoundLessons, name: str) -> Lesson:
    """The lesson with an id or a number."""
    for lesson in found.whole.lessons:
        if name in (lesson.id, str(found.numbers[lesson.id])):
            return lesson
    raise WhetError(f"There is no lesson {name}.", advice="`whet lessons` lists them.")


def _find(database: Database, scope: LessonScope = EVERYWHERE) -> FoundLessons:
    home = find_home(os.environ)
    bring_up_to_date(database)
    read_what_is_taught(database)
    with learning() as progress:
        whole = learned(home, database, progress=progress)
        asked = whole if scope == EVERYWHERE else learned(home, database, scope, progress=progress)
    waiting = waiting_lessons(home, database, now=time.time())
    return FoundLessons(asked, whole, numbers_of(whole.lessons, waiting), waiting)


def _show_yours(folder: Path) -> int:
    """The statements of the files that agents read in a project: lessons that are in force because they stand there."""
    found = audit_of(folder)
    lessons = tuple(lessons_of_files(found, project=name_of_project(Path(found.root))))
    said = f"{many(len(lessons), 'statement')}, {found.tokens:,} tokens at every start."
    then = f"[dim]{said} `whet audit` says what is wrong; `whet try --without FILE:LINE` tries to leave one out.[/]"
    record = {"root": found.root, "lessons": [lesson_record(each, None) for each in lessons]}
    return give(record, (*lesson_lines(lessons, {}, name_of_project(Path.cwd())), then))


def _tell_dropped(found: LearnedOfAll) -> int:
    """What was drafted and is no lesson."""
    counts = {"sessions": found.sessions, "in_temporary_folders": found.temporary}
    record = {**counts, "dropped": [dropped_record(each) for each in found.dropped]}
    told = f"[dim]{many(len(found.dropped), 'draft')} dropped, from {many(found.sessions, 'session')}.[/]"
    return give(record, (*dropped_lines(found.dropped, found.places), told))


def _record(found: FoundLessons) -> dict[str, object]:
    asked = found.asked
    return {
        "sessions": asked.sessions,
        "in_temporary_folders": asked.temporary,
        "lessons": [lesson_record(each, found.numbers.get(each.id)) for each in asked.lessons],
        "dropped": len(asked.dropped),
    }


def _lines(found: FoundLessons, *, every: bool) -> Iterator[str]:
    asked = found.asked
    decided = [each for each in asked.lessons if each.standing.stage in DECIDED]
    if found.waiting:
        yield WAITING
    yield from waiting_lines(found.waiting)
    listed = [each for each in asked.lessons if every or each not in decided]
    listed = [each for each in listed if each.standing.stage is not LessonStage.WAITING]
    yield from lesson_lines(listed, found.numbers, name_of_project(Path.cwd()))
    if decided and not every:
        yield decided_line(decided)
    temporary = f", {asked.temporary:,} of them in temporary folders" if asked.temporary else ""
    dropped = f" Dropped: {len(asked.dropped)} (`--dropped` says why)." if asked.dropped else ""
    said = f"{many(len(asked.lessons), 'lesson')} from {many(asked.sessions, 'session')}{temporary}.{dropped}"
    yield f"[dim]{said}{f' {NEXT}' if asked.lessons else ''}[/]"
