"""Sessions that a person never wants back: a list in the home that every import heeds.

It is a file and no table: the agents' files, from which sessions come back, are this machine's. Of a session it holds
nothing but its id, its agent, its file and when it was forgotten.
"""

from collections.abc import Iterable

import msgspec

from whet.errors import WhetError
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.rows import Session
from whet.values import Value

FILE_NAME = "forgotten.json"


class ForgottenSession(Value, frozen=True):
    """A session that no import brings back."""

    id: str
    source: str
    path: str
    at: float


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


def allow_again(home: Home, database: Database, prefix: str) -> tuple[ForgottenSession, ...]:
    """Let imports bring back the sessions whose id begins so; the next one reads their files again."""
    place = files.beneath(home.folder, FILE_NAME)
    before = files.read(place)
    known = _read(before)
    allowed = tuple(each for each in known if prefix and each.id.startswith(prefix.lower()))
    if not allowed:
        raise WhetError(
            f"No session that is never imported has the id {prefix}.", advice="To list them: whet forget --list"
        )
    with database.writing():
        for each in allowed:
            database.execute("DELETE FROM files WHERE path = ?", (each.path,))
    files.write(place, msgspec.json.encode(tuple(each for each in known if each not in allowed)), expected=before)
    return allowed


def _read(body: bytes | None) -> tuple[ForgottenSession, ...]:
    if body is None:
        return ()
    try:
        return msgspec.json.decode(body, type=tuple[ForgottenSession, ...])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WhetError(
            f"{FILE_NAME} in Whet's home cannot be read: {error}", advice="Restore it from a backup, or remove it."
        ) from error
