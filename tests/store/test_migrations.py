"""The schema is made by numbered steps, once; a newer one is refused and left alone."""

import contextlib
import re
from collections.abc import Iterator

import pytest

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import FIRST, MIGRATIONS, WORDS, connect, migrate, opened


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
        made = {name for name in tables(database) if not name.startswith("message_index_")}  # these are SQLite's own
        assert {"sessions", "messages", "uses", "files", "message_index", "schema_steps"} <= made
        assert len(made) <= 22
        steps = database.query("SELECT number, name FROM schema_steps ORDER BY number")
        assert steps == [(number, step.name) for number, step in enumerate(MIGRATIONS, start=FIRST)]


def test_taking_the_steps_again_changes_nothing(home: Home) -> None:
    with connected(home) as database:
        migrate(database)
        before = database.query("SELECT * FROM schema_steps"), tables(database)
        migrate(database)
        assert (database.query("SELECT * FROM schema_steps"), tables(database)) == before


def test_both_dialects_have_the_same_columns() -> None:
    for step in MIGRATIONS:
        for statement in step.shared:
            assert set(re.findall(r"{(\w+)}", statement)) <= WORDS["sqlite"].keys()


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


@pytest.mark.parametrize("version", [1, 23, FIRST - 1])
def test_a_database_of_an_older_whet_is_refused_with_advice_and_unchanged(home: Home, version: int) -> None:
    with opened(home) as database:
        database.execute("UPDATE schema_steps SET number = ?", (version,))
        before = tables(database)
    with pytest.raises(WhetError, match=f"older Whet \\(schema {version};") as caught, opened(home):
        pass
    assert "whet import" in caught.value.advice
    with connected(home) as database:
        assert tables(database) == before
