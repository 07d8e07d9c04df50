"""The chain through the ledger: what was changed in the database behind Whet's back is found, whatever it was."""

import shutil
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch
from whet.machine.home_checks import CheckupPlace, CheckupRow
from whet.machine.store_checks import check_store
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import COLUMNS, HEAD, Ledger, chained, ledger_of, newest, note, noted
from whet.store.opening import opened

ENTRIES = 5


def entry(text: str, number: int = 0) -> Entry:
    return Entry(number, Step.APPLIED, Patch(Form.RULE, Action.ADD, "say-yes", text), Actor.PERSON, 7.0)


def fill(home: Home) -> None:
    with opened(home) as database:
        for number in range(ENTRIES):
            ledger_of(home, database).append([entry(f"Say yes {number} times.")])


def behind(database: Database) -> None:
    """Take the triggers away, as somebody does who owns the tables."""
    if database.dialect == "postgres":
        database.execute("ALTER TABLE entries DISABLE TRIGGER USER")
        return
    for (name,) in database.query("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'entries'"):
        database.execute(f"DROP TRIGGER {name}")


def checked(home: Home) -> CheckupRow:
    rows = check_store(CheckupPlace(home, home.folder, {}, 0.0))
    return next(row for row in rows if row.name == "ledger")


def edit(database: Database) -> None:
    [(body,)] = database.query("SELECT body FROM entries WHERE number = 3")
    database.execute("UPDATE entries SET body = ? WHERE number = 3", (bytes(body).replace(b"times", b"weeks"),))


def claim(database: Database) -> None:
    database.execute("UPDATE entries SET maker = 'another' WHERE number = 3")


def forget(database: Database) -> None:
    database.execute(f"DELETE FROM entries WHERE number = {ENTRIES}")


def swap(database: Database) -> None:
    for old, new in ((2, 99), (3, 2), (99, 3)):
        database.execute("UPDATE entries SET number = ? WHERE number = ?", (new, old))


def unchain(database: Database) -> None:
    edit(database)
    database.execute("UPDATE entries SET hash = NULL")


def unseal(database: Database) -> None:
    database.execute("UPDATE entries SET seal = ' '")


def rewrite(database: Database) -> None:
    """All that the program itself could write, without the last two."""
    edit(database)
    database.execute(f"DELETE FROM entries WHERE number > {ENTRIES - 2}")
    rows = database.query(f"SELECT {COLUMNS} FROM entries ORDER BY number")
    for *row, hash in chained(b"", rows):
        database.execute("UPDATE entries SET hash = ? WHERE number = ?", (hash, row[0]))


ATTACKS: dict[Callable[[Database], None], str] = {
    edit: "entry 3 is not as it was entered",
    claim: "entry 3 is not as it was entered",
    forget: "entry 5 is missing, which this home has seen",
    swap: "entry 2 is not as it was entered",
    unseal: "entry 1 is not as it was entered",
    unchain: "entry 1 is not as it was entered",
    rewrite: "entries 4 to 5 are missing",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_changed_behind_its_back_is_found_and_stays_found(
    home: Home, attack: Callable[[Database], None]
) -> None:
    fill(home)
    assert not checked(home).fix
    with opened(home) as database:
        behind(database)
        attack(database)
    assert ATTACKS[attack] in checked(home).text
    assert "whet restore" in checked(home).fix
    with opened(home) as database:
        for _ in range(3):
            ledger_of(home, database).append([entry("Say yes.")])
    assert checked(home).fix, "what comes after does not cover it up"


def test_an_older_database_under_a_newer_home_is_found(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = Home(tmp_path_factory.mktemp("home") / "home")
    fill(home)
    older = home.folder.parent / "older.db"
    shutil.copy(home.database_path, older)
    fill(home)
    shutil.copy(older, home.database_path)
    row = checked(home)
    assert f"entries {ENTRIES + 1} to {2 * ENTRIES} are missing" in row.text
    assert str(home.folder / HEAD) in row.fix
    (home.folder / HEAD).unlink()
    assert not checked(home).fix


def test_a_ledger_without_hashes_is_no_ledger_even_where_nobody_noted_one(home: Home) -> None:
    fill(home)
    with opened(home) as database:
        behind(database)
        database.execute("UPDATE entries SET hash = NULL")
    (home.folder / HEAD).unlink()
    assert "entry 1 is not as it was entered; entry 2" in checked(home).text
    assert not (home.folder / HEAD).exists(), "what nobody vouches for is not noted as seen"


def test_only_what_is_stored_is_noted(home: Home) -> None:
    fill(home)
    seen = noted(home.folder)
    with opened(home) as database, pytest.raises(ValueError, match="midway"), database.writing():
        raise ValueError(f"midway after {ledger_of(home, database).append([entry('Say yes.')])}")
    assert noted(home.folder) == seen
    with opened(home) as database:
        with database.writing():
            ledger_of(home, database).append([entry("Say yes.")])
            assert noted(home.folder) == seen
        assert noted(home.folder) == newest(database)


def test_a_note_that_cannot_be_read_or_written_keeps_nobody_from_working(home: Home) -> None:
    fill(home)
    (home.folder / HEAD).unlink()
    (home.folder / HEAD).mkdir()
    with opened(home) as database:
        note(home.folder, newest(database))
        assert Ledger(database).append([replace(entry("Say yes."), note="more")])[0].number == ENTRIES + 1
