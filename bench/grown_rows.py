"""Analysed sessions of a store, multiplied row by row: how a store of 20,000 answers, without days of importing.

Copies have ids, folders, times and words of their own, and what was found in each and what it teaches. They have no
messages and are not in the search index, which no command reads for what it prints of all sessions.
"""

import hashlib
from collections.abc import Callable

from whet.store.database import Database

Rewrite = Callable[[str, int], str]
FOUND = ("derived",)


def multiply(database: Database, times: int, rewrite: Rewrite) -> None:
    """So many times the sessions that there are; `rewrite` gives a text the words of a copy."""
    originals = {row["no"]: row for row in _rows(database, "sessions")}
    found = {table: _rows(database, table) for table in FOUND}
    beyond = 1 + max(int(str(number)) for number in originals)
    for copy in range(1, times):
        ids = {number: _id(str(row["id"]), copy) for number, row in originals.items()}
        with database.writing():
            for number, row in originals.items():
                _insert(database, "sessions", _copied(row, copy * beyond + int(str(number)), ids[number], copy))
            for table, rows in found.items():
                for row in rows:
                    number = row["session"]
                    if number not in originals:  # lessons of a project are made again
                        continue
                    of_copy = {**row, "session": copy * beyond + int(str(number))}
                    if isinstance(record := row.get("record"), bytes):
                        text = record.decode().replace(str(originals[number]["id"]), ids[number])
                        of_copy["record"] = rewrite(text, copy).encode()
                    _insert(database, table, of_copy)


def _copied(row: dict[str, object], number: int, id: str, copy: int) -> dict[str, object]:
    earlier = 3_600.0 * 37 * copy
    times = {name: at - earlier for name in ("started", "ended", "dated") if isinstance(at := row[name], float)}
    return {
        **row,
        **times,
        "no": number,
        "id": id,
        "native_id": f"{row['native_id']}-{copy}",
        "folder": f"{row['folder']}-{copy}",
        "path": f"{row['path']}-{copy}",
        "base": None,
    }


def _id(id: str, copy: int) -> str:
    return hashlib.sha256(f"{copy}/{id}".encode()).hexdigest()[: len(id)]


def _columns(database: Database, table: str) -> list[str]:
    return [str(row[1]) for row in database.query(f"PRAGMA table_info({table})")]


def _rows(database: Database, table: str) -> list[dict[str, object]]:
    columns = _columns(database, table)
    return [dict(zip(columns, row, strict=True)) for row in database.query(f"SELECT {', '.join(columns)} FROM {table}")]


def _insert(database: Database, table: str, row: dict[str, object]) -> None:
    places = ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
