"""The store, opened where the home folder says it is.

Where many homes share a database, each has an identity, and a seal that no other has: a row that a home will act on
carries it, a hash of the row with a key that never leaves the home's folder. Who can write to the database can write
such a row, and cannot seal it.
"""

import contextlib
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.sqlite import SQLite
from whet.store.tables import migrate

IDENTITY = "identity"
SEAL_KEY = "seal.key"
IDENTITY_BYTES = 8
KEY_BYTES = 32
SEAL_BYTES = 16


class Owner(NamedTuple):
    """A home as its rows name it. Both parts are empty where the database lies in the home itself."""

    id: str = ""
    key: bytes = b""

    def seal(self, *parts: str) -> str:
        """The seal of this home on some texts; nothing where nobody else writes."""
        if not self.key:
            return ""
        body = msgspec.json.encode(parts)
        return hashlib.blake2b(body, key=self.key, digest_size=SEAL_BYTES).hexdigest()

    def has_sealed(self, seal: str, *parts: str) -> bool:
        """Whether this home wrote these very texts; where nobody else writes, it did."""
        return not self.key or hmac.compare_digest(self.seal(*parts).encode(), seal.encode("utf-8", "replace"))


UNSHARED = Owner()


@contextlib.contextmanager
def opened(home: Home) -> Iterator[Database]:
    """The database of a home, up to date, closed at the end or given back to the home's reserve."""
    with borrowed(home) as database:
        migrate(database)
        yield database


@contextlib.contextmanager
def borrowed(home: Home) -> Iterator[Database]:
    """A connection for the time of the block, whatever the version of the store is."""
    database = (home.reserve.take() if home.reserve else None) or connect(home)
    try:
        yield database
    except BaseException:
        database.close()
        raise
    if home.reserve:
        home.reserve.give_back(database)
    else:
        database.close()


def connect(home: Home, *, is_patient: bool = True) -> Database:
    """A connection of its own. A patient one waits for a server that is lost meanwhile, as when it restarts."""
    prepare_home(home)
    if not home.database_url:
        return SQLite(home.database_path)
    if not home.database_url.startswith(("postgres://", "postgresql://")):
        raise WhetError(
            "WHET_DATABASE_URL is not the address of a Postgres database.",
            advice="It looks like postgresql://user@host/name; unset it to use the embedded database.",
        )
    from whet.store.postgres import LOST_SECONDS, Postgres  # noqa: PLC0415 - the driver is an extra and slow to load

    return Postgres(home.database_url, lost_seconds=LOST_SECONDS if is_patient else 0.0)


def owner_of(home: Home) -> Owner:
    """This home, among those that share its database."""
    if not home.database_url:
        return UNSHARED
    return Owner(identity_of(home), _key(home))


def identity_of(home: Home) -> str:
    """What tells this home from others that share its database; empty where none can."""
    return _kept(home, IDENTITY, IDENTITY_BYTES) if home.database_url else ""


def _key(home: Home) -> bytes:
    kept = _kept(home, SEAL_KEY, KEY_BYTES)
    if re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", kept) is None:  # with no key at all, anybody's row would pass
        raise WhetError(
            f"{home.folder / SEAL_KEY} is damaged.",
            advice="Restore a copy, or delete it: Whet creates a new one, and you must submit queued work again.",
        )
    return bytes.fromhex(kept)


def _kept(home: Home, name: str, count: int) -> str:
    """Random letters that are made once and kept in the folder, so that they move along with it."""
    prepare_home(home)
    place = files.beneath(home.folder, name)
    known = files.read(place)
    if known is None:
        with contextlib.suppress(files.Conflict):  # another process was first
            files.write(place, f"{secrets.token_hex(count)}\n".encode(), expected=None)
        known = files.read(place) or b""
    return known.decode("ascii", "replace").strip()
