"""Trials in the database: what they are made of by its hash, attempts by what they depend on, and how far each is."""

import hashlib
import zlib
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from whet.errors import WhetError
from whet.sessions.transcripts import Purpose, Usage
from whet.store.database import Database
from whet.store.decoding import decoded_or_none, decoded_row
from whet.store.records import RecordKind, all_records, keep_record, record_bodies, replace_record
from whet.trials.attempts import Attempt
from whet.values import Value

KEY_BYTES = 16
MOST_BYTES = 200_000_000
Kept = TypeVar("Kept", bound=msgspec.Struct)


def key_of(*parts: object) -> str:
    """The hash of everything that is given; equal keys, equal things."""
    return _hash(msgspec.json.encode(parts, order="deterministic"))


def keep_material(database: Database, material: Value, *, now: float) -> str:
    """Store a value that orders refer to, and give its key; so a case is stored once however many attempts it has."""
    key = key_of(type(material).__name__, material)
    body = zlib.compress(msgspec.json.encode(material, order="deterministic"))
    keep_record(database, RecordKind.MATERIAL, key, body, now=now)
    return key


def material(database: Database, key: str, kind: type[Kept]) -> Kept:
    """The value with this key: the very one, whoever stored it."""
    for packed in record_bodies(database, RecordKind.MATERIAL, key):
        try:
            body = zlib.decompressobj().decompress(packed, MOST_BYTES)
            found = msgspec.json.decode(body, type=kind)
        except (zlib.error, msgspec.MsgspecError):
            continue
        # As it was encoded, or as it is encoded now: a number may have been written in another way.
        if key in (_hash(b'["%s",%s]' % (kind.__name__.encode(), body)), key_of(kind.__name__, found)):
            return found
    raise WhetError(f"The trial's material is missing or has changed: {key}.", advice="Start the trial again.")


def has_stored(database: Database, material: Value) -> bool:
    """Whether this member stored this very value, or nobody else can have."""
    if database.dialect == "sqlite":
        return True
    key = key_of(type(material).__name__, material)
    sql = "SELECT 1 FROM records WHERE kind = ? AND key = ? AND maker IN ('', ?)"
    return bool(database.query(sql, (RecordKind.MATERIAL.value, key, database.member)))


def keep_attempt(database: Database, key: str, attempt: Attempt, *, now: float) -> None:
    """Store an attempt; one that is there already stays, for it was looked at."""
    keep_record(database, RecordKind.ATTEMPT, key, msgspec.json.encode(attempt), now=now)


def known_attempt(database: Database, key: str) -> Attempt | None:
    bodies = record_bodies(database, RecordKind.ATTEMPT, key)
    return decoded_row(bodies[0], Attempt, f"attempt {key}") if bodies else None


def reuse(database: Database, known: Attempt, *, case: str, seed: int, trial: str, now: float) -> Attempt:
    """A known attempt as one of this trial. Where it was made for an earlier one, that it counts here is kept too."""
    used = replace(known, case=case, seed=seed, reused=known.trial != trial)
    if used.reused and trial:
        keep_attempt(database, key_of("reused", trial, case, seed, used.arm), replace(used, trial=trial), now=now)
    return used


def usual_use(database: Database, source: str) -> Usage | None:
    """What an attempt of this agent used on average; None where none was made."""
    sql = (
        "SELECT count(*), avg(input_tokens), avg(output_tokens), avg(cached_tokens) FROM sessions"
        " WHERE source = ? AND purpose = ? AND input_tokens > 0"
    )
    [(count, *means)] = database.query(sql, (source, Purpose.TRIAL.value))
    return Usage(*(int(mean) for mean in means)) if count else None


def keep_progress(database: Database, id: str, progress: Value, *, now: float) -> None:
    """Say how far a trial is, in the place of what was said before."""
    replace_record(database, RecordKind.TRIAL, id, msgspec.json.encode(progress), now=now)


def progress_of(database: Database, id: str, kind: type[Kept]) -> Kept | None:
    bodies = record_bodies(database, RecordKind.TRIAL, id)
    return decoded_row(bodies[0], kind, f"trial {id}") if bodies else None


def all_progress(database: Database, kind: type[Kept]) -> list[tuple[Kept, float]]:
    """How far every trial is, and when it last moved; the latest first."""
    found = ((decoded_or_none(body, kind), changed) for body, changed in all_records(database, RecordKind.TRIAL))
    latest = sorted(found, key=lambda each: each[1], reverse=True)
    return [(progress, changed) for progress, changed in latest if progress is not None]


def attempts_of(database: Database, trial: str) -> list[Attempt]:
    """The attempts that count in a trial, those of earlier trials too, in the order in which they were stored."""
    found = (decoded_or_none(body, Attempt) for body, _ in all_records(database, RecordKind.ATTEMPT))
    return [attempt for attempt in found if attempt is not None and attempt.trial == trial]


def _hash(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()
