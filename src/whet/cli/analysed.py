"""The analyses of the whole store, brought up to date for a command."""

import contextlib
import sys
from collections.abc import Callable, Sequence

from whet.cli.output import counted_bar
from whet.errors import WhetError
from whet.improving.heeded import seen_rules
from whet.improving.learned import lessons_of
from whet.ledger.entries import Item, State
from whet.ledger.patches import Form
from whet.lessons.following import SeenRule
from whet.lessons.record import Lesson
from whet.store.analyses import refresh
from whet.store.database import CannotWrite, Database
from whet.store.home import Home
from whet.store.sqlite import SQLite
from whet.store.teachings import keep_teachings
from whet.text.characters import safe

FOUND = ("derived",)


def bring_up_to_date(database: Database) -> None:
    """Analyse what is new in the store, with a progress bar on a terminal."""

    def analyse() -> None:
        with counted_bar("Analysing") as show:
            refresh(database, progress=lambda progress: show(progress.done, progress.total))

    _keep_or_remember(database, analyse)


def read_what_is_taught(database: Database) -> None:
    """Find what new sessions teach, with a progress bar on a terminal."""

    def read() -> None:
        with counted_bar("Reading") as show:
            keep_teachings(database, progress=lambda progress: show(progress.done, progress.total))

    _keep_or_remember(database, read)


def learning() -> contextlib.AbstractContextManager[Callable[[int, int], None]]:
    """A progress bar on a terminal for projects whose evidence is gone through."""
    return counted_bar("Learning")


def lesson_named(home: Home, database: Database, name: str) -> Lesson:
    """The lesson with an id, or with a number of the whole list."""
    bring_up_to_date(database)
    read_what_is_taught(database)
    with learning() as progress:
        lessons = lessons_of(home, database, progress=progress)
    for number, lesson in enumerate(lessons, 1):
        if name in (lesson.id, str(number)):
            return lesson
    raise WhetError(f"There is no lesson {name}.", advice="`whet lessons` lists them.")


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


def _keep_or_remember(database: Database, find: Callable[[], None]) -> None:
    """On a full or read-only disk a command finds the same, and keeps it for itself."""
    try:
        find()
    except CannotWrite as error:
        if not isinstance(database, SQLite):
            sys.stderr.write(f"New sessions are not counted: {safe(error.message)}\n")
            return
        sys.stderr.write(f"What is found in new sessions is shown and not stored: {safe(error.message)}\n")
        database.keep_in_memory(FOUND)
        find()
