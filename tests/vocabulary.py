"""Random records made of the words of a format: its own keys, with their own values or strange ones."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw

from mutations import STRANGE_VALUES, with_values, written

LONGEST_WORD = 60
DEPTH = 4


class Vocabulary(NamedTuple):
    """The sets of keys that objects had beneath each key (the empty one for a record), and the values of each key.

    A format that keeps its sessions in a database has one of them here, whose cells are filled anew; one of plain text
    has its lines, which are drawn anew.
    """

    shapes: dict[str, tuple[tuple[str, ...], ...]]
    values: dict[str, tuple[Any, ...]]
    database: bytes = b""
    lines: tuple[bytes, ...] = ()


def learn(paths: list[Path]) -> Vocabulary:
    """The vocabulary of a format's example files."""
    shapes: dict[str, dict[tuple[str, ...], None]] = {}
    values: dict[str, list[Any]] = {}
    for path in paths:
        for value in _values(path):
            _take(value, "", shapes, values)
    databases = [body for path in paths if (body := path.read_bytes()).startswith(b"SQLite")]
    return Vocabulary(
        {key: tuple(found) for key, found in shapes.items()},
        {key: tuple(found) for key, found in values.items()},
        b"".join(databases[:1]),
        () if shapes else tuple(line for path in paths for line in path.read_bytes().splitlines(keepends=True)),
    )


def _values(path: Path) -> Iterator[Any]:
    body = path.read_bytes()
    if body.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            members = {name: json.loads(archive.read(name)) for name in archive.namelist()}
        samples = [member for name, member in members.items() if name.startswith("samples/")]
        yield {**members["header.json"], "samples": samples}
    elif body.startswith(b"SQLite"):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            for row in connection.execute(f'SELECT * FROM "{table}" LIMIT 40').fetchall():
                yield dict(zip(columns, row, strict=True))
        connection.close()
    else:
        yield from _lines(body)


def _lines(body: bytes) -> Iterator[Any]:
    try:
        yield json.loads(body)
    except ValueError:
        for line in body.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _take(value: Any, key: str, shapes: dict[str, dict[tuple[str, ...], None]], values: dict[str, list[Any]]) -> None:
    if isinstance(value, dict):
        shapes.setdefault(key, {})[tuple(value)] = None
        for name, item in value.items():
            _take(item, name, shapes, values)
    elif isinstance(value, list):
        values.setdefault(key, []).append([])
        for item in value:
            _take(item, key, shapes, values)
    else:
        values.setdefault(key, []).append(value[:LONGEST_WORD] if isinstance(value, str) else value)


def invent(vocabulary: Vocabulary, seed: int) -> bytes:
    """A file of one to six records, as lines, a list or a single document."""
    random = Random(seed)
    if vocabulary.database:
        return with_values(vocabulary.database, lambda row: _refilled(vocabulary, random, row))
    if vocabulary.lines:
        return b"".join(random.choices(vocabulary.lines, k=random.randint(1, 60)))
    records = [_record(vocabulary, random, "", 0) for _ in range(random.randint(1, 6))]
    form = random.randrange(3)
    if form == 0:
        return b"".join(written(record) + b"\n" for record in records)
    return written(records if form == 1 else records[0])


def _refilled(vocabulary: Vocabulary, random: Random, row: dict[str, Any]) -> dict[str, Any]:
    return {key: _field(vocabulary, random, key, 1) if random.random() < 0.3 else row[key] for key in row}


def _record(vocabulary: Vocabulary, random: Random, key: str, depth: int) -> dict[str, Any]:
    chosen = list(random.choice(vocabulary.shapes[key]))
    if random.random() < 0.3:
        chosen = random.sample(chosen, random.randint(0, len(chosen)))
        chosen.extend(random.choice(vocabulary.shapes[key]))
    return {name: _field(vocabulary, random, name, depth + 1) for name in chosen}


def _field(vocabulary: Vocabulary, random: Random, key: str, depth: int) -> Any:
    if random.random() < 0.12:
        return random.choice(STRANGE_VALUES)
    seen = vocabulary.values.get(key, ())
    if key in vocabulary.shapes and depth < DEPTH and (not seen or random.random() < 0.8):
        if [] in seen:
            return [_record(vocabulary, random, key, depth) for _ in range(random.randint(0, 3))]
        return _record(vocabulary, random, key, depth)
    return random.choice(seen) if seen else None
