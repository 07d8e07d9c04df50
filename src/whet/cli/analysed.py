"""The analyses of the whole store, brought up to date for a command."""

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count

from whet.cli.output import counted_bar
from whet.errors import WhetError
from whet.improving.heeded import seen_rules
from whet.improving.learned import lessons_of, waiting_lessons
from whet.ledger.entries import Item, State
from whet.ledger.patches import Form
from whet.lessons.following import SeenRule
from whet.lessons.record import Lesson
from whet.store.analyses import refresh
from whet.store.database import CannotWrite, Database
from whet.store.home import Home
from whet.store.teachings import keep_teachings
from whet.text.characters import safe


@contextlib.contextmanager
def _as_far_as_can_be_kept() -> Iterator[None]:
    """On a full or read-only disk a command says what is known already."""
    try:
        yield
    except CannotWrite as error:
        sys.stderr.write(f"New sessions are not counted: {safe(error.message)}\n")


def bring_up_to_date(database: Database) -> None:
    """Analyse what is new in the store, with a progress bar on a terminal."""
    with _as_far_as_can_be_kept(), counted_bar("Analysing") as show:
        refresh(database, progress=lambda progress: show(progress.done, progress.total))


def read_what_is_taught(database: Database) -> None:
    """Analyse what is new, and find what it teaches, with a progress bar on a terminal."""
    bring_up_to_date(database)
    with _as_far_as_can_be_kept(), counted_bar("Reading") as show:
        keep_teachings(database, progress=lambda progress: show(progress.done, progress.total))


def numbers_of(lessons: Sequence[Lesson], waiting: Sequence[Lesson]) -> dict[str, int]:
    """By its id, the number of each lesson in every list and command: what waits has that of its entry."""
    taken = {each.standing.entry: each.id for each in waiting}
    free = (number for number in count(1) if number not in taken)
    others = {each.id: next(free) for each in lessons if each.standing.entry not in taken}
    return (
        others
        | {each.id: each.standing.entry for each in lessons if each.standing.entry in taken}
        | {id: entry for entry, id in taken.items()}
    )


def lessons_by_name(home: Home, database: Database) -> dict[str, Lesson]:
    """All lessons, and all else that waits, by their ids and by their numbers."""
    read_what_is_taught(database)
    with counted_bar("Learning") as progress:
        lessons = lessons_of(home, database, progress=progress)
    waiting = waiting_lessons(home, database, now=time.time())
    numbers = numbers_of(lessons, waiting)
    return {name: each for each in (*waiting, *lessons) for name in (each.id, str(numbers[each.id]))}


def lesson_named(home: Home, database: Database, name: str) -> tuple[int, Lesson]:
    """The number and the lesson with an id or a number."""
    known = lessons_by_name(home, database)
    if (found := known.get(name)) is None:
        raise WhetError(f"There is no lesson {name}.", advice="`whet lessons` lists them.")
    return next(int(each) for each, lesson in known.items() if lesson is found and each.isdecimal()), found


def active_rule(state: State, name: str) -> Item:
    """The active rule of this name."""
    rule = state.get(Form.RULE, name)
    if rule is not None:
        return rule
    waits = next((each for each in state.pending if (each.patch.form, each.patch.name) == (Form.RULE, name)), None)
    if waits is not None:
        raise WhetError(
            f"The rule {name} is not active: it waits for your approval.",
            advice=f"To see it, run `whet lessons show {waits.number}`.",
        )
    raise WhetError(f"There is no rule {name}.", advice="To list the rules, run `whet rules`.")


def look_at_rules(database: Database, home: Home, rules: Sequence[Item]) -> dict[str, tuple[SeenRule, ...]]:
    """What became of rules in each session since, with a progress bar on a terminal."""
    with counted_bar("Looking") as progress:
        return seen_rules(home, database, rules, progress=progress)
