"""Ledgers as they were stored at schema 26, read by the Whet of today: what is in force is what was in force then."""

import json
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from frozen.golden import GOLDEN, hold
from whet.errors import WhetError
from whet.ledger.folding import fold
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.opening import WORDS, borrowed, opened

LEDGERS = Path(__file__).parent / "ledgers"  # rows that were written once; nothing rewrites them
SCHEMA = 26
COLUMNS = (
    "number {number} PRIMARY KEY, step TEXT, form TEXT, name TEXT, home TEXT, ends {number}, at {real}, body {bytes},"
    " maker TEXT, seal TEXT, hash {bytes}"
)


@pytest.fixture
def postgres_template() -> str:
    """A database without tables: here they are an older version's."""
    return "template0"


def test_an_old_ledger_of_one_person_folds_to_the_same_state(home: Home) -> None:
    hold({"state.json": folded(home, "of_one_person")}, GOLDEN / "ledger_of_one_person")


def test_an_old_ledger_of_a_team_folds_to_the_same_state(home: Home) -> None:
    """Its first entries are from before makers were named, and before the chain of hashes."""
    hold({"state.json": folded(home, "of_a_team")}, GOLDEN / "ledger_of_a_team")


def test_a_ledger_from_before_hashes_is_carried_over_and_goes_on(home: Home) -> None:
    rows = [{**row, "hash": None} for row in stored_rows("of_one_person")]
    write_old(home, [{name: value for name, value in row.items() if name != "hash"} for row in rows])
    set_aside(home)
    with opened(home) as database:
        ledger = Ledger(database)
        ledger.append(ledger.entries()[-1:])
        assert len(ledger.entries()) == len(rows) + 1
        assert ledger.faults() == ()


def folded(home: Home, name: str) -> str:
    rows = stored_rows(name)
    write_old(home, rows)
    with pytest.raises(WhetError, match="older Whet"), opened(home):
        pass
    set_aside(home)
    with opened(home) as database:
        entries = Ledger(database).entries()
        assert [entry.maker for entry in entries] == [row["maker"] for row in rows]
        assert Ledger(database).faults() == ()
    parts = json.loads(msgspec.json.encode(fold(entries), order="deterministic"))
    return json.dumps({name: part for name, part in parts.items() if part}, indent=2, ensure_ascii=False) + "\n"


def stored_rows(name: str) -> list[dict[str, Any]]:
    rows = json.loads((LEDGERS / f"{name}.json").read_text(encoding="utf-8"))
    return [
        {**row, "body": row["body"].encode(), "hash": bytes.fromhex(row["hash"]) if row["hash"] else None}
        for row in rows
    ]


def write_old(home: Home, rows: list[dict[str, Any]]) -> None:
    """The store of an older version, with the columns that its entries have."""
    with borrowed(home) as database:
        made = [each for each in COLUMNS.split(", ") if each.split()[0] in rows[0]]
        database.execute(f"CREATE TABLE entries ({', '.join(made)})".format(**WORDS[database.dialect]))
        database.execute("CREATE TABLE schema_steps (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        database.execute("INSERT INTO schema_steps VALUES (?, '')", (SCHEMA,))
        for row in rows:
            places = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO entries ({', '.join(row)}) VALUES ({places})", (*row.values(),))


def set_aside(home: Home) -> None:
    """What the advice asks for."""
    if not home.database_url:
        home.database_path.rename(f"{home.database_path}.old")
        return
    with psycopg.connect(home.database_url, autocommit=True) as rows:
        rows.execute("ALTER SCHEMA public RENAME TO public_old")
        rows.execute("CREATE SCHEMA public")
