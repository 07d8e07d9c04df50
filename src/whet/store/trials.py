"""Trials in the database: what they are made of by its hash, attempts by what they depend on, and how far each is."""

import hashlib
import zlib
from typing import TypeVar

import msgspec

from whet.errors import WhetError
from whet.store.database import Database
from whet.trials.attempts import Attempt
from whet.values import Value

KEY_BYTES = 16
Kept = TypeVar("Kept", bound=msgspec.Struct)


def key_of(*parts: object) -> str:
    """The hash of everything that is given; equal keys, equal things."""
    body = msgspec.json.encode(parts, order="deterministic")
    return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()


def keep_material(database: Database, material: Value, *, now: float) -> str:
    """Store a value that orders refer to, and give its key; so a case is stored once however many attempts it has."""
    key = key_of(type(material).__name__, material)
    database.execute(
        "INSERT INTO trial_materials (key, body, created) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (key, zlib.compress(msgspec.json.encode(material)), now),
    )
    return key


def material(database: Database, key: str, kind: type[Kept]) -> Kept:
    rows = database.query("SELECT body FROM trial_materials WHERE key = ?", (key,))
    if not rows:
        raise WhetError(f"What the trial was made of is gone: {key}.", advice="Start the trial anew.")
    return msgspec.json.decode(zlib.decompress(bytes(rows[0][0])), type=kind)


def keep_attempt(database: Database, key: str, attempt: Attempt, *, now: float) -> None:
    """Store an attempt; one that is there already stays, for it was looked at."""
    database.execute(
        "INSERT INTO attempts (key, body, created) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (key, msgspec.json.encode(attempt), now),
    )


def known_attempt(database: Database, key: str) -> Attempt | None:
    rows = database.query("SELECT body FROM attempts WHERE key = ?", (key,))
    return msgspec.json.decode(bytes(rows[0][0]), type=Attempt) if rows else None


def keep_progress(database: Database, id: str, progress: Value, *, now: float) -> None:
    """Say how far a trial is, in the place of what was said before."""
    database.execute(
        "INSERT INTO trials (id, body, changed) VALUES (?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET body = excluded.body, changed = excluded.changed",
        (id, msgspec.json.encode(progress), now),
    )


def progress_of(database: Database, id: str, kind: type[Kept]) -> Kept | None:
    rows = database.query("SELECT body FROM trials WHERE id = ?", (id,))
    return msgspec.json.decode(bytes(rows[0][0]), type=kind) if rows else None
