"""Prompts by their key, so that a session that is resumed is told what it was told, byte for byte.

They are never removed, for sessions and trials refer to them: equal ones are stored once, and each is compressed.
"""

import zlib

import msgspec

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.decoding import blob
from whet.told.prompt import Prompt


def keep_prompt(database: Database, prompt: Prompt, *, now: float) -> str:
    """Store a prompt and give its key. Of one with the same words, what is known of its parts is brought up to date."""
    with database.writing():
        database.execute(
            "INSERT INTO prompts (key, body, created) VALUES (?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET body = excluded.body WHERE prompts.body <> excluded.body",
            (prompt.key, zlib.compress(msgspec.json.encode(prompt)), now),
        )
    return prompt.key


def restore_prompt(database: Database, key: str) -> Prompt:
    """The prompt with this key, or with the one key that begins so. What was damaged is refused, never sent."""
    if not key or not set(key) <= set("0123456789abcdef"):
        raise WhetError(f"{key!r} is not the key of a prompt.", advice=ADVICE)
    rows = database.query("SELECT key, body FROM prompts WHERE key LIKE ? ORDER BY key LIMIT 2", (f"{key}%",))
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
