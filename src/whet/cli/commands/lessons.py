"""whet lessons: what sessions teach, project by project, and a person's decisions on it."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from whet.cli.analysed import lesson_named, numbers_of, read_what_is_taught
from whet.cli.commands.ledger import undo
from whet.cli.deciding import COMMANDS, show_change, show_waiting
from whet.cli.options import filter_options, is_folder, json_group, own_store
from whet.cli.output import counted_bar, give
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
from whet.improving.learned import EVERYWHERE, LearnedOfAll, LessonScope, learned, waiting_lessons
from whet.lessons.record import DECIDED, Lesson, LessonStage
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
def command(filters: Filters, sort: str, dropped: bool, every: bool, waiting: bool) -> int:
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
    name = name_of_project(Path(os.path.expanduser(project)).resolve()) if is_whole else project
    scope = LessonScope(filters, name, is_whole)
    with own_store() as (home, database):
        read_what_is_taught(database)
        with counted_bar("Learning") as progress:
            whole = learned(home, database, progress=progress)
            asked = whole if scope == EVERYWHERE else learned(home, database, scope, progress=progress)
        pending = waiting_lessons(home, database, now=time.time())
    if dropped:
        return _tell_dropped(asked)
    numbers, lessons = numbers_of(whole.lessons, pending), sorted(asked.lessons, key=ORDERS[sort])
    is_narrowed = bool(project or any(filters))
    lines: Iterable[str]
    if not asked.sessions and not lessons:
        lines = (f"No sessions match. {OF_ALL}" if is_narrowed else NO_SESSIONS,)
    else:
        none = () if lessons else (OF_ALL if is_narrowed else NOTHING_YET,)
        lines = (
            *((WAITING, *waiting_lines(pending)) if pending else ()),
            *_lines(asked, lessons, numbers, every=every),
            *none,
        )
    record = {
        "sessions": asked.sessions,
        "in_temporary_folders": asked.temporary,
        "lessons": [lesson_record(each, numbers.get(each.id)) for each in lessons],
        "dropped": len(asked.dropped),
    }
    return give(record, lines)


@command.command("show", epilog="Example: whet lessons show 3")
@click.argument("name", metavar="ID")
@click.option("--all", "every", is_flag=True, help="All quotes, and not the first few.")
def show(name: str, every: bool) -> int:
    """Show one lesson with its evidence, by its id or its number in the list; what waits, as a diff."""
    with own_store() as (home, database):
        for lesson in waiting_lessons(home, database, now=time.time()):
            if name in (str(lesson.standing.entry), lesson.id):
                return show_change(lesson)
        number, lesson = lesson_named(home, database, name)
    return give(lesson_record(lesson, number, evidence=True), evidence_lines(lesson, number, every=every))


for each in (*COMMANDS, undo):
    command.add_command(each)


def _tell_dropped(found: LearnedOfAll) -> int:
    """What was drafted and is no lesson."""
    counts = {"sessions": found.sessions, "in_temporary_folders": found.temporary}
    record = {**counts, "dropped": [dropped_record(each) for each in found.dropped]}
    told = f"[dim]{many(len(found.dropped), 'draft')} dropped, from {many(found.sessions, 'session')}.[/]"
    return give(record, (*dropped_lines(found.dropped, found.places), told))


def _lines(asked: LearnedOfAll, lessons: Sequence[Lesson], numbers: Mapping[str, int], *, every: bool) -> Iterator[str]:
    decided = [each for each in lessons if each.standing.stage in DECIDED]
    listed = [each for each in lessons if every or each not in decided]
    listed = [each for each in listed if each.standing.stage is not LessonStage.WAITING]
    yield from lesson_lines(listed, numbers, name_of_project(Path.cwd()))
    if decided and not every:
        yield decided_line(decided)
    temporary = f", {asked.temporary:,} of them in temporary folders" if asked.temporary else ""
    dropped = f" Dropped: {len(asked.dropped)} (`--dropped` says why)." if asked.dropped else ""
    said = f"{many(len(lessons), 'lesson')} from {many(asked.sessions, 'session')}{temporary}.{dropped}"
    yield f"[dim]{said}{f' {NEXT}' if lessons else ''}[/]"
