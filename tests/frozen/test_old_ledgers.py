"""Ledgers as they were stored at schema 26, read by the Whet of today: what is in force is what was in force then."""

import json
from pathlib import Path

import msgspec
from msgspec.structs import replace

from frozen.golden import GOLDEN, hold
from whet.ledger.entries import Entry
from whet.ledger.folding import fold
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.migrations import take_steps
from whet.store.opening import borrowed, opened

LEDGERS = Path(__file__).parent / "ledgers"  # rows that were written once; nothing rewrites them
SCHEMA = 26


def test_an_old_ledger_of_one_person_folds_to_the_same_state(home: Home) -> None:
    hold({"state.json": folded(home, "of_one_person")}, GOLDEN / "ledger_of_one_person")


def test_an_old_ledger_of_a_team_folds_to_the_same_state(home: Home) -> None:
    """Its first entries are from before makers were named, and before the chain of hashes."""
    hold({"state.json": folded(home, "of_a_team")}, GOLDEN / "ledger_of_a_team")


def folded(home: Home, name: str) -> str:
    rows = json.loads((LEDGERS / f"{name}.json").read_text(encoding="utf-8"))
    with borrowed(home) as database:
        take_steps(database, until=SCHEMA)
        for row in rows:
            stored = {**row, "body": row["body"].encode(), "hash": bytes.fromhex(row["hash"]) if row["hash"] else None}
            places = ", ".join("?" * len(stored))
            database.execute(f"INSERT INTO entries ({', '.join(stored)}) VALUES ({places})", (*stored.values(),))
    with opened(home) as database:
        entries = Ledger(database).entries()
    assert len(entries) == len(rows)
    state = fold(made_by(entry, row["maker"]) for entry, row in zip(entries, rows, strict=True))
    parts = json.loads(msgspec.json.encode(state, order="deterministic"))
    return json.dumps({name: part for name, part in parts.items() if part}, indent=2, ensure_ascii=False) + "\n"


def made_by(entry: Entry, maker: str) -> Entry:
    """The entry as its maker's: a server names whoever wrote the row, which was this test."""
    return replace(entry, maker=maker)
