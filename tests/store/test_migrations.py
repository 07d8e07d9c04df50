"""The schema is made by numbered steps, once; a newer one is refused and left alone."""

import contextlib
import re
from collections.abc import Iterator

import pytest

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home
from whet.store.migrations import MIGRATIONS, WORDS, migrate
from whet.store.opening import connect, opened


@contextlib.contextmanager
def connected(home: Home) -> Iterator[Database]:
    with contextlib.closing(connect(home)) as database:
        yield database


def tables(database: Database) -> set[str]:
    if database.dialect == "sqlite":
        rows = database.query("SELECT name FROM sqlite_schema WHERE type = 'table'")
    else:
        rows = database.query("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return {name for (name,) in rows}


@pytest.fixture
def postgres_template() -> str:
    """A database without tables: here they are made one by one."""
    return "template0"


def test_an_empty_database_is_brought_up_to_date(home: Home) -> None:
    with connected(home) as database:
        migrate(database)
        assert {"sessions", "messages", "uses", "files", "message_index", "schema_steps"} <= tables(database)
        steps = database.query("SELECT number, name FROM schema_steps ORDER BY number")
        assert steps == [(number, step.name) for number, step in enumerate(MIGRATIONS, start=1)]


def test_taking_the_steps_again_changes_nothing(home: Home) -> None:
    with connected(home) as database:
        migrate(database)
        before = database.query("SELECT * FROM schema_steps"), tables(database)
        migrate(database)
        assert (database.query("SELECT * FROM schema_steps"), tables(database)) == before


def test_both_dialects_have_the_same_columns() -> None:
    for step in MIGRATIONS:
        for statement in step.shared:
            assert set(re.findall(r"{(\w+)}", statement)) <= {"key", "bytes", "number", "real"}


def test_a_database_of_a_newer_whet_is_refused_with_advice_and_unchanged(home: Home) -> None:
    with opened(home) as database:
        database.execute("INSERT INTO schema_steps (number, name) VALUES (999, 'from the future')")
        database.execute("CREATE TABLE wonders (name TEXT)")
        before = tables(database), database.query("SELECT * FROM schema_steps ORDER BY number")
    with pytest.raises(WhetError, match="newer Whet \\(schema 999") as caught, opened(home):
        pass
    assert "Upgrade Whet" in caught.value.advice
    with connected(home) as database:
        assert (tables(database), database.query("SELECT * FROM schema_steps ORDER BY number")) == before


def test_a_step_that_fails_leaves_the_schema_as_it_was(home: Home) -> None:
    """A table of that name is in the way of a later statement of the first step."""
    with connected(home) as database:
        database.execute("CREATE TABLE messages (mine TEXT)")
        with pytest.raises(Exception, match="already exists"):
            migrate(database)
        assert tables(database) == {"messages"}


def test_when_a_job_was_added_is_taken_out_of_its_schedule(home: Home) -> None:
    first, second = [step for step in MIGRATIONS if step.name.startswith("jobs:")][:2]
    with connected(home) as database:
        for statement in first.shared:
            database.execute(statement.format(**WORDS[database.dialect]))
        marks = [("news", "0 7 * * * Europe/Berlin 1767225600.25"), ("tea", "every 2h  0.0"), ("", "")]
        for job, schedule in marks:
            database.execute("INSERT INTO job_marks VALUES (?, ?, ?, ?, ?)", ("home", job, schedule, 5.0, 3))
        for statement in second.shared:
            database.execute(statement.format(**WORDS[database.dialect]))
        found = database.query("SELECT job, schedule, added, made FROM job_marks ORDER BY job")
    assert found == [
        ("", "", 0.0, 3),
        ("news", "0 7 * * * Europe/Berlin", 1767225600.25, 3),
        ("tea", "every 2h", 0.0, 3),
    ]
