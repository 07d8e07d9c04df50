"""The schema is made by numbered steps, once; a newer one is refused and left alone."""

import contextlib
import re
from collections.abc import Iterator

import pytest

from whet.errors import WhetError
from whet.store.canary_counts import KeptDraw, reminders, session_draws, told_entries
from whet.store.database import Database
from whet.store.home import Home
from whet.store.migrations import MIGRATIONS, WORDS, migrate, take_steps
from whet.store.opening import connect, opened
from whet.store.records import RecordKind, all_records, record_bodies
from whet.store.skill_files import View, skill_uses, was_read
from whet.store.tables import FORMER, FORMER_TRIGGER
from whet.store.template_draws import outcomes
from whet.store.template_files import sessions_with


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


OLD_ROWS = (
    ("prompts (key, body, created) VALUES (?, ?, ?)", ("p1", b"prompt", 1.0)),
    ("runs (key, body, created) VALUES (?, ?, ?)", ("r1", b"run", 2.0)),
    ("trial_materials (key, body, created) VALUES (?, ?, ?)", ("m1", b"material", 3.0)),
    ("attempts (key, body, created) VALUES (?, ?, ?)", ("a1", b"attempt", 4.0)),
    ("trials (id, body, changed) VALUES (?, ?, ?)", ("t1", b"trial", 5.0)),
    ("template_worths (key, at, body) VALUES (?, ?, ?)", ("k1", 6.0, b"first")),
    ("template_worths (key, at, body) VALUES (?, ?, ?)", ("k1", 6.0, b"second")),
    ("skill_views (skill, file, digest, session, at) VALUES (?, ?, ?, ?, ?)", ("tea", "SKILL.md", "d1", "s1", 7.0)),
    ("template_uses (key, session, at) VALUES (?, ?, ?)", ("k1", "s1", 8.0)),
    (
        "session_draws (entry, agent, session, told, share, at) VALUES (?, ?, ?, ?, ?, ?)",
        (7, "codex", "n1", 0, 0.5, 9.0),
    ),
    ("session_tellings (agent, session, entries, at) VALUES (?, ?, ?, ?)", ("codex", "n1", "3 14", 9.0)),
    ("session_tellings (agent, session, entries, at) VALUES (?, ?, ?, ?)", ("codex", "n2", "", 9.0)),
    ("session_reminders (agent, session, entry, at) VALUES (?, ?, ?, ?)", ("codex", "n1", 3, 9.5)),
    (
        "template_draws (lot, session, key, name, model, told, share, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ("l1", "s1", "k1", "web", "m", 1, 0.5, 9.0),
    ),
    ("template_counts (lot, loss, sessions, at) VALUES (?, ?, ?, ?)", ("l1", 0.25, 2, 9.9)),
)


def test_what_stood_in_tables_that_were_merged_is_all_there(home: Home) -> None:
    before = next(
        at for at, step in enumerate(MIGRATIONS) if step.name == "what is derived from sessions, in one table"
    )
    with connected(home) as database:
        take_steps(database, before)
        for row, values in OLD_ROWS:
            database.execute(f"INSERT INTO {row}", values)
        for table in FORMER:  # which steps of earlier versions made
            database.execute(f"CREATE TABLE {table} (session INTEGER, sessions TEXT)")
        if database.dialect == "sqlite":
            database.execute(FORMER_TRIGGER)
        migrate(database)
        assert tables(database).isdisjoint(FORMER)
        kinds = (RecordKind.PROMPT, RecordKind.RUN, RecordKind.MATERIAL, RecordKind.ATTEMPT, RecordKind.TRIAL)
        for at, (kind, key) in enumerate(zip(kinds, ("p1", "r1", "m1", "a1", "t1"), strict=True), start=1):
            assert all_records(database, kind) == [(kind.value.encode(), float(at))]
            assert record_bodies(database, kind, key) == [kind.value.encode()]
        assert [body for body, _ in all_records(database, RecordKind.WORTH)] == [b"first", b"second"]
        assert was_read(database, View("tea", "d1", "s1"))
        assert skill_uses(database)["tea"].views == 1
        assert sessions_with(database, "k1") == {"s1"}
        assert session_draws(database, 7) == [KeptDraw(7, False, 0.5, "codex", "n1", 9.0)]
        assert [told_entries(database, "codex", each) for each in ("n1", "n2", "n3")] == [{3, 14}, frozenset(), None]
        assert reminders(database) == {("codex", "n1", 3)}
        assert [(each.loss, each.sessions) for each in outcomes(database)["k1"]] == [(0.25, 2)]
