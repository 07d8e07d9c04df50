"""What imports leave out: of each file the reasons, as of the last time that it was read; and forgotten sessions.

These are a list in the home that every import heeds. It is a file and no table, for the agents' files, from which
sessions come back, are this machine's.
"""

import os.path
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.rows import Session, blanks, portions
from whet.values import Value

FILE_NAME = "forgotten.json"
# What differs from one session or line to the next, and would make one reason look like many.
_PARTICULAR = re.compile(r"\b(session|id|part|message|step|byte|line) (?=\S*\d)[^\s:;,)]+")


class LeftOutFile(NamedTuple):
    """One reason of one file: how often, the first line (0 for the whole file), and the agent whose file it is.

    That is the agent of the file's own sessions, else of its neighbours'; empty where they differ.
    """

    path: str
    reason: str
    number: int
    line: int = 0
    source: str = ""


class ForgottenSession(Value, frozen=True):
    """A session that no import brings back."""

    id: str
    source: str
    path: str
    at: float


def alike(reason: str) -> str:
    """A reason without the numbers and ids that only this one has."""
    return _PARTICULAR.sub(r"\1 …", reason)


def keep_left_out(database: Database, found: Iterable[LeftOutFile]) -> None:
    """Add to what is known of the files; what is alike is counted together."""
    database.many(
        "INSERT INTO left_out (path, reason, number, line) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (path, reason) DO UPDATE SET number = left_out.number + excluded.number",
        [(each.path, each.reason, each.number, each.line) for each in found],
    )


def forget_left_out(database: Database, paths: Sequence[str]) -> None:
    """Remove what imports left out of files, because they are read again or are to be forgotten."""
    for some in portions(paths):
        database.execute(f"DELETE FROM left_out WHERE path IN ({blanks(some)})", some)


def left_out(database: Database) -> tuple[LeftOutFile, ...]:
    """All that was left out, with the agent that it likely belongs to."""
    rows = database.query("SELECT path, reason, number, line FROM left_out ORDER BY path, reason")
    agents: dict[str, set[str]] = {}
    for path, source in database.query("SELECT DISTINCT path, source FROM sessions") if rows else ():
        for place in (path, os.path.dirname(path)):
            agents.setdefault(place, set()).add(source)
    found = (agents.get(path) or agents.get(os.path.dirname(path), set()) for path, *_ in rows)
    sources = (min(each) if len(each) == 1 else "" for each in found)
    return tuple(
        LeftOutFile(path, why, number, line, source)
        for (path, why, number, line), source in zip(rows, sources, strict=True)
    )


def forgotten(home: Home) -> tuple[ForgottenSession, ...]:
    """What is never imported again, the first first."""
    return _read(files.read(files.beneath(home.folder, FILE_NAME)))


def never_again(home: Home, sessions: Iterable[Session], *, now: float) -> None:
    """Have no import bring these sessions back."""
    prepare_home(home)
    place = files.beneath(home.folder, FILE_NAME)
    before = files.read(place)
    known = {each.id: each for each in _read(before)}
    for session in sessions:
        known.setdefault(session.id, ForgottenSession(session.id, session.source, session.path, now))
    files.write(place, msgspec.json.encode(tuple(known.values())), expected=before)


def _read(body: bytes | None) -> tuple[ForgottenSession, ...]:
    if body is None:
        return ()
    try:
        return msgspec.json.decode(body, type=tuple[ForgottenSession, ...])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WhetError(
            f"{FILE_NAME} in Whet's home cannot be read: {error}", advice="Restore it from a backup, or remove it."
        ) from error
