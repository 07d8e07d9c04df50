"""Whose rows are whose, where many homes share a database: each home has an identity, and a seal that no other has.

A row that a home will act on carries its seal: a hash of the row with a key that never leaves the home's folder. Who
can write to the database can write such a row, and cannot seal it.
"""

import contextlib
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.store import files
from whet.store.home import Home, prepare_home

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
