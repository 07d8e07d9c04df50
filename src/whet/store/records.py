"""Values by their key: prompts, runs, and what trials are made of and came to.

Prompts are never removed, for sessions and trials refer to them: a session that is resumed is told what it was told,
byte for byte. Equal ones are stored once, and each is compressed.

Trials in the database: what they are made of by its hash, and how far each is. Attempts are in `attempts.py`.
"""

import hashlib
import zlib
from enum import StrEnum
from typing import TypeVar

import msgspec

from whet.errors import WhetError
from whet.own.told.prompt import Prompt
from whet.sessions.transcripts import Purpose, Usage
from whet.store.database import Database
from whet.store.rows import blob, decoded_or_none, decoded_row, replacing
from whet.values import Value

ADVICE = "Begin a new session: each stores its prompt."
KEY_BYTES = 16
MOST_BYTES = 200_000_000
Kept = TypeVar("Kept", bound=msgspec.Struct)


class RecordKind(StrEnum):
    """What a record is."""

    PROMPT = "prompt"
    RUN = "run"  # without its conversation
    MATERIAL = "material"  # of trials; in a team each member's own
    ATTEMPT = "attempt"
    TRIAL = "trial"  # how far it is
    WORTH = "worth"  # of a template, as it was measured


def keep_record(database: Database, kind: RecordKind, key: str, body: bytes, *, now: float) -> None:
    """Store a body under its key; one that is there already stays, for it was looked at."""
    database.execute(
        "INSERT INTO records (kind, key, body, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (kind.value, key, body, now),
    )


def record_bodies(database: Database, kind: RecordKind, key: str) -> list[bytes]:
    """What is stored under a key; several only where members of a team have each their own."""
    rows = database.query("SELECT body FROM records WHERE kind = ? AND key = ?", (kind.value, key))
    return [blob(body) for (body,) in rows]


def all_records(database: Database, kind: RecordKind) -> list[tuple[bytes, float]]:
    """Every body of a kind and when it was stored, the first first."""
    rows = database.query("SELECT body, at FROM records WHERE kind = ? ORDER BY at, key", (kind.value,))
    return [(blob(body), float(at)) for body, at in rows]


def keep_prompt(database: Database, prompt: Prompt, *, now: float) -> str:
    """Store a prompt and give its key. Of one with the same words, what is known of its parts is brought up to date."""
    body = zlib.compress(msgspec.json.encode(prompt))
    with database.writing():
        keep_record(database, RecordKind.PROMPT, prompt.key, body, now=now)
        database.execute(
            "UPDATE records SET body = ? WHERE kind = ? AND key = ? AND body <> ?",
            (body, RecordKind.PROMPT.value, prompt.key, body),
        )
    return prompt.key


def restore_prompt(database: Database, key: str) -> Prompt:
    """The prompt with this key, or with the one key that begins so. What was damaged is refused, never sent."""
    if not key or not set(key) <= set("0123456789abcdef"):
        raise WhetError(f"{key!r} is not the key of a prompt.", advice=ADVICE)
    rows = database.query(
        "SELECT key, body FROM records WHERE kind = ? AND key LIKE ? ORDER BY key LIMIT 2",
        (RecordKind.PROMPT.value, f"{key}%"),
    )
    if not rows:
        raise WhetError(f"No prompt with the key {key} is stored.", advice=ADVICE)
    if len(rows) > 1:
        raise WhetError(f"Several prompt keys start with {key}.", advice="Give more of the key.")
    stored, body = rows[0]
    try:
        prompt = msgspec.json.decode(zlib.decompress(blob(body)), type=Prompt)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise _damaged(stored) from error
    if prompt.key != stored:
        raise _damaged(stored)
    return prompt


def _damaged(key: str) -> WhetError:
    return WhetError(
        f"The prompt {key} is damaged in the database.", advice="Start a new session, which builds it again."
    )


def key_of(*parts: object) -> str:
    """The hash of everything that is given; equal keys, equal things."""
    return hash_of(msgspec.json.encode(parts, order="deterministic"))


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
        if key in (hash_of(b'["%s",%s]' % (kind.__name__.encode(), body)), key_of(kind.__name__, found)):
            return found
    raise WhetError(f"The trial's material is missing or has changed: {key}.", advice="Start the trial again.")


def has_stored(database: Database, material: Value) -> bool:
    """Whether this member stored this very value, or nobody else can have."""
    if database.dialect == "sqlite":
        return True
    key = key_of(type(material).__name__, material)
    sql = "SELECT 1 FROM records WHERE kind = ? AND key = ? AND maker IN ('', ?)"
    return bool(database.query(sql, (RecordKind.MATERIAL.value, key, database.member)))


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
    sql = replacing("records", "kind, key, maker", "kind, key, body, at")
    database.execute(sql, (RecordKind.TRIAL.value, id, msgspec.json.encode(progress), now))


def progress_of(database: Database, id: str, kind: type[Kept]) -> Kept | None:
    bodies = record_bodies(database, RecordKind.TRIAL, id)
    return decoded_row(bodies[0], kind, f"trial {id}") if bodies else None


def all_progress(database: Database, kind: type[Kept]) -> list[tuple[Kept, float]]:
    """How far every trial is, and when it last moved; the latest first."""
    found = ((decoded_or_none(body, kind), changed) for body, changed in all_records(database, RecordKind.TRIAL))
    latest = sorted(found, key=lambda each: each[1], reverse=True)
    return [(progress, changed) for progress, changed in latest if progress is not None]


def hash_of(body: bytes) -> str:
    """The key of a body."""
    return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()
