"""Rows of another program's database as mappings by column, whatever columns its version has."""

from collections.abc import Iterator
from typing import Any

import apsw

from whet.importers.source import Unreadable, parse


def columns(connection: apsw.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none where there is no such table."""
    return frozenset(name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def rows(connection: apsw.Connection, statement: str, values: tuple[object, ...] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a query, each with its columns by name."""
    names: tuple[str, ...] = ()
    cursor = connection.cursor()
    for row in cursor.execute(statement, values):
        names = names or tuple(name for name, _ in cursor.get_description())
        yield dict(zip(names, row, strict=True))


def document(value: object) -> Any:
    """A JSON column's value; None where it is empty or broken."""
    if not isinstance(value, str | bytes) or not value:
        return None
    try:
        return parse(value.encode() if isinstance(value, str) else value)
    except Unreadable:
        return None
