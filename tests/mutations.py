"""Ways to spoil a session file, each a function of a random source: damage to bytes, lines, fields and cells."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import apsw

Mutation = Callable[[Random, bytes], bytes]

PARENTS = ("parentUuid", "parentId", "parentID", "parent_session_id", "parent_id", "cause", "source_call_id")
IDS = ("uuid", "id", "session_id", "sessionId", "callID", "call_id", "tool_call_id", "messageID")
DEEP = 400
STRANGE_TEXTS = (
    "",
    "\0",
    "\ud83d",
    "é" * 40,
    "[Request interrupted by user",
    "attachment://x",
    "```bash\nls\n```",
    "{",
)
STRANGE_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 10**400, 0.5, 1e308, float("nan"), float("inf")),
    *([], {}, [[]], [None], {"": None}, [{"type": "text"}], {"type": "text", "text": 3}, [{"type": "image"}]),
    *({"type": "tool_use"}, {"type": "tool_result", "content": [{}]}, "2026-13-45T99:00:00", "0001-01-01", "1e999"),
    *STRANGE_TEXTS,
)


def flip_bytes(random: Random, body: bytes) -> bytes:
    spoiled = bytearray(body)
    for _ in range(random.randint(1, 8)):
        if spoiled:
            spoiled[random.randrange(len(spoiled))] = random.randrange(256)
    return bytes(spoiled)


def cut_off(random: Random, body: bytes) -> bytes:
    return body[: random.randrange(len(body) + 1)]


def cut_out(random: Random, body: bytes) -> bytes:
    start = random.randrange(len(body) + 1)
    return body[:start] + body[start + random.randint(1, 200) :]


def repeat_lines(random: Random, body: bytes) -> bytes:
    lines = body.splitlines(keepends=True) or [b""]
    for _ in range(random.randint(1, 4)):
        lines.insert(random.randrange(len(lines) + 1), random.choice(lines))
    return b"".join(lines)


def swap_lines(random: Random, body: bytes) -> bytes:
    lines = body.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def spoil_fields(random: Random, body: bytes) -> bytes:
    return with_values(body, lambda value: _spoiled(random, value))


def drop_fields(random: Random, body: bytes) -> bytes:
    return with_values(body, lambda value: _thinned(random, value))


def nest_deeply(random: Random, body: bytes) -> bytes:
    deep: Any = "x"
    for _ in range(random.choice((20, 150, DEEP))):
        deep = [deep] if random.random() < 0.5 else {"content": deep}
    return with_values(body, lambda value: _replaced_somewhere(random, value, deep))


def make_parents_cyclic(random: Random, body: bytes) -> bytes:
    """Every record becomes its own parent, or that of the one before it."""
    known: list[Any] = []

    def tied(value: Any) -> Any:
        if isinstance(value, list):
            return [tied(item) for item in value]
        if not isinstance(value, dict):
            return value
        known.extend(value[key] for key in IDS if key in value)
        return {key: random.choice(known) if key in PARENTS and known else tied(item) for key, item in value.items()}

    return with_values(body, tied)


def make_ids_equal(random: Random, body: bytes) -> bytes:
    same = random.choice(("same", 7, ""))

    def merged(value: Any) -> Any:
        if isinstance(value, list):
            return [merged(item) for item in value]
        if isinstance(value, dict):
            return {key: same if key in IDS else merged(item) for key, item in value.items()}
        return value

    return with_values(body, merged)


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes,
    cut_off,
    cut_out,
    repeat_lines,
    swap_lines,
    spoil_fields,
    spoil_fields,  # twice as often: it reaches deepest into the readers
    drop_fields,
    nest_deeply,
    make_parents_cyclic,
    make_ids_equal,
)


def mutate(body: bytes, mutations: tuple[Mutation, ...], seed: int) -> bytes:
    """The file after the mutations; the same seed always gives the same bytes."""
    random = Random(seed)
    for mutation in mutations:
        body = mutation(random, body)
    return body


def written(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()


def with_values(body: bytes, change: Callable[[Any], Any]) -> bytes:
    """The file with its JSON values changed, whether it is a document, lines or a database."""
    if body.startswith(b"SQLite"):
        return _with_cells(body, change)
    try:
        return written(change(json.loads(body)))
    except (ValueError, RecursionError):
        return b"\n".join(_with_line(line, change) for line in body.split(b"\n"))


def _with_line(line: bytes, change: Callable[[Any], Any]) -> bytes:
    try:
        return written(change(json.loads(line)))
    except (ValueError, RecursionError):
        return line


def _with_cells(body: bytes, change: Callable[[Any], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.db"
        path.write_bytes(body)
        try:
            connection = apsw.Connection(str(path))
            try:
                connection.pragma("journal_mode", "off")
                connection.pragma("synchronous", "off")
                with connection:
                    _change_cells(connection, change)
            finally:
                connection.close()
        except (apsw.Error, UnicodeDecodeError):
            return body
        return path.read_bytes()


def _change_cells(connection: apsw.Connection, change: Callable[[Any], Any]) -> None:
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
    for (table,) in tables.fetchall():
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        for row in connection.execute(f'SELECT rowid, * FROM "{table}" LIMIT 40').fetchall():
            changed = change(dict(zip(columns, row[1:], strict=True)))
            for column in columns if isinstance(changed, dict) else ():
                cell = _cell(changed.get(column))
                try:
                    connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = ?', (cell, row[0]))
                except apsw.ConstraintError:
                    continue


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json.dumps(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value % 10**9).encode()  # a number too large becomes a blob, which no column expects
    return value


def _spoiled(random: Random, value: Any, depth: int = 0) -> Any:
    """The value with about one in eight of its fields of a wrong type or strange content."""
    if depth and random.random() < 0.12:
        return random.choice(STRANGE_VALUES)
    if isinstance(value, dict):
        return {key: _spoiled(random, item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_spoiled(random, item, depth + 1) for item in value]
    if isinstance(value, str) and value[:1] in "{[" and value and random.random() < 0.3:
        return _with_line(value.encode("utf-8", "replace"), lambda inner: _spoiled(random, inner, 1)).decode()
    return value


def _thinned(random: Random, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _thinned(random, item) for key, item in value.items() if random.random() > 0.1}
    if isinstance(value, list):
        return [_thinned(random, item) for item in value if random.random() > 0.1]
    return value


def _replaced_somewhere(random: Random, value: Any, new: Any) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.85:
        chosen = random.choice(list(value))
        return {key: _replaced_somewhere(random, item, new) if key == chosen else item for key, item in value.items()}
    if isinstance(value, list) and value and random.random() < 0.85:
        chosen = random.randrange(len(value))
        return [_replaced_somewhere(random, item, new) if i == chosen else item for i, item in enumerate(value)]
    return new
