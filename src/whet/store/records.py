"""Values by their key: prompts, runs, and what trials are made of and came to.

Prompts are never removed, for sessions and trials refer to them: a session that is resumed is told what it was told,
byte for byte. Equal ones are stored once, and each is compressed.
"""

import zlib
from enum import StrEnum

import msgspec

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.decoding import blob
from whet.told.prompt import Prompt


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


def replace_record(database: Database, kind: RecordKind, key: str, body: bytes, *, now: float) -> None:
    """Store a body in the place of what its key had."""
    database.execute(
        "INSERT INTO records (kind, key, body, at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (kind, key, maker) DO UPDATE SET body = excluded.body, at = excluded.at",
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


ADVICE = "To store a prompt and print its key, run `whet chat --prompt --keep`."
