"""A check-up finds real damage, names the fix, and goes on to the next check."""

import contextlib
import os
from pathlib import Path

import apsw
import pytest

from disks import mounted
from kept_home import fill, flip, page_of
from whet.machine.doctor import CHECKS, check_up
from whet.machine.home_checks import CheckupPlace, CheckupRow, Health
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, count_sessions
from whet.store.opening import opened


def checked(home: Home, **variables: str) -> dict[str, CheckupRow]:
    """The rows of a check-up by name; of several with one name, the worst."""
    rows = tuple(check_up(CheckupPlace(home, home.folder.parent, variables, now=10.0)))
    assert all(row.fix for row in rows if row.health is not Health.OK)
    return {row.name: row for row in sorted(rows, key=lambda row: list(Health).index(row.health))}


def failures(home: Home) -> set[str]:
    return {row.name for row in checked(home).values() if row.health is Health.FAILED}


def settled(home: Home) -> None:
    """Everything in the one file, as after the last process went."""
    with contextlib.closing(apsw.Connection(str(home.database_path))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@pytest.fixture
def embedded(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    fill(home, sessions=200)
    settled(home)
    return home


def test_a_sound_home_has_no_failing_row(home: Home) -> None:
    fill(home)
    (home.folder / "settings.toml").write_text("")
    (home.folder / "worker.env").chmod(0o600)
    found = checked(home)
    assert failures(home) == set()
    assert {name for name, _ in CHECKS} - {"background work"} <= set(found)
    assert found["sessions"].text.startswith("3,")


def test_a_check_up_of_nothing_makes_no_home(tmp_path: Path) -> None:
    checked(Home(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_wrong_rights_are_named_with_the_command_that_sets_them(embedded: Home) -> None:
    embedded.folder.chmod(0o755)
    embedded.database_path.chmod(0o644)
    rows = check_up(CheckupPlace(embedded, embedded.folder.parent, {}, now=10.0))
    fixes = [row.fix for row in rows if row.name == "permissions"]
    assert f"Run `chmod 700 {embedded.folder}`." in fixes
    assert f"Run `chmod 600 {embedded.database_path}`." in fixes


def test_each_check_is_named_as_it_begins(embedded: Home) -> None:
    heard: list[str] = []
    rows = check_up(CheckupPlace(embedded, embedded.folder.parent, {}, now=10.0, progress=heard.append))
    assert next(rows).name == "permissions"
    assert heard == ["permissions"]
    list(rows)
    assert heard == [*(name for name, _ in CHECKS), "sessions, 0 of 200"]


@pytest.mark.parametrize("table", ["messages", "sessions", "message_index_data", "uses"])
def test_a_damaged_page_is_found(embedded: Home, table: str) -> None:
    flip(embedded.database_path, page_of(embedded.database_path, table))
    assert "database" in failures(embedded)
    assert "whet restore FILE --replace" in checked(embedded)["database"].fix


def test_a_truncated_file_and_one_that_is_no_database_are_found(embedded: Home) -> None:
    body = embedded.database_path.read_bytes()
    embedded.database_path.write_bytes(body[: len(body) // 2])
    assert "database" in failures(embedded)
    embedded.database_path.write_bytes(b"notes" * 1000)
    assert "database" in failures(embedded)


def change(database: Database, sql: str) -> None:
    """Change rows behind Whet's back, as a failing disk or a careless person does."""
    if database.dialect == "postgres":
        database.execute("ALTER TABLE entries DISABLE TRIGGER USER")
    else:
        for (name,) in database.query("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'entries'"):
            database.execute(f"DROP TRIGGER {name}")
    database.execute(sql)


BEHIND = {
    "UPDATE messages SET body = '{}' WHERE no = 2": "sessions",
    "DELETE FROM messages WHERE no = 3": "sessions",
    "UPDATE sessions SET message_count = 9 WHERE no = 1": "sessions",
    "UPDATE entries SET name = 'other'": "ledger",
    "UPDATE entries SET body = '{'": "ledger",
    "UPDATE entries SET number = 7": "ledger",
}


@pytest.mark.parametrize("sql", BEHIND)
def test_a_row_that_was_changed_or_lost_breaks_the_chain(home: Home, sql: str) -> None:
    fill(home)
    with opened(home) as database:
        change(database, sql)
    assert failures(home) >= {BEHIND[sql]}


def test_a_damaged_engine_and_unreadable_settings_are_found(embedded: Home) -> None:
    (embedded.folder / "engine.db").write_bytes(b"nothing" * 999)
    (embedded.folder / "settings.toml").write_text("model = [")
    assert failures(embedded) >= {"background work", "files"}


UNREADABLE = {
    "memory.md": b"- tea \xff\n",
    "targets.toml": b"[[target]",
    "forgotten.json": b"[{",
    "jobs/tea.toml": b"[",
    "skills/tea/SKILL.md": b"\xff",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_stops_a_command_is_found(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "home")
    (home.folder / name).parent.mkdir(parents=True)
    (home.folder / name).write_bytes(UNREADABLE[name])
    assert "files" in failures(home)


def test_what_stays_in_the_spool_is_told(tmp_path: Path) -> None:
    kept = tmp_path / "home" / "spool" / "kept"
    kept.mkdir(parents=True)
    (kept / "a.json").write_text("{")
    (kept / "a.reason").write_text('{"reason": "it is cut off"}')
    row = checked(Home(tmp_path / "home"))["files"]
    assert (row.health, "it is cut off" in row.text) == (Health.WARNING, True)


@pytest.mark.parametrize("trace", ["engine.db", "memory.md", "jobs", "hooks", "seal.key"])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_database_that_went_away_is_told(tmp_path: Path, trace: str, is_empty: bool) -> None:
    home = Home(tmp_path / "home")
    (home.folder / trace).mkdir(parents=True) if "." not in trace else home.folder.mkdir()
    (home.folder / trace).touch()
    if is_empty:
        home.database_path.touch()
    for _ in range(2):
        row = checked(home)["database"]
        assert (row.health, trace in row.text) == (Health.WARNING, True)


def test_a_lost_log_loses_the_last_writes_and_nothing_else(embedded: Home) -> None:
    with opened(embedded) as database:
        before = count_sessions(database, Filters())
        database.execute("INSERT INTO files (path, size, modified, reader, sessions) VALUES ('new', 1, 1, '1', 1)")
        copy = Home(embedded.folder.parent / "copy")
        copy.folder.mkdir(mode=0o700)
        copy.database_path.write_bytes(embedded.database_path.read_bytes())  # without its log
        copy.database_path.chmod(0o600)
    assert {"database", "ledger", "sessions"}.isdisjoint(failures(copy))
    with opened(copy) as database:
        assert count_sessions(database, Filters()) == before
        assert database.query("SELECT count(*) FROM files WHERE path = 'new'") == [(0,)]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_found(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=8m"):
        assert "disk" in failures(Home(tmp_path / "disk" / "home"))
