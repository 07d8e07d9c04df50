"""The spool: a small file in the home for each session that started or ended and each reminder, until it is taken in.

A file is named by its session, so a host that reports every turn leaves one file and not hundreds.
"""

import json
import os
import time
from typing import Any

from whet.telling.hooks.events import CALL

FOLDER = "spool"
TEMPORARY = ".new-"
SUFFIX = ".json"
LONGEST_NAME = 100


def put(home: str, event: str, agent: str, session: str, **more: Any) -> str:
    """Write one file, whole or not at all; gives its path. Reminders of other rules have files of their own."""
    folder = os.path.join(home, FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    entries = [event, *map(str, more["entries"])] if event == CALL else [event]
    name = name_of("-".join(entries), agent, session)
    temporary = os.path.join(folder, f"{TEMPORARY}{os.getpid()}-{name}")
    body = {"event": event, "agent": agent, "session": session, "at": time.time(), **more}
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(body, file)
    path = os.path.join(folder, name)
    os.rename(temporary, path)
    return path


def name_of(event: str, agent: str, session: str) -> str:
    """By the session's own id where that can be a name, as those of all known hosts can."""
    plain = session.replace("-", "").replace("_", "")
    if plain.isascii() and plain.isalnum() and len(session) <= LONGEST_NAME:
        return f"{event}-{agent}-{session}{SUFFIX}"
    from hashlib import blake2b  # noqa: PLC0415 - slow to load, and hardly ever needed

    digest = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{event}-{agent}-by-digest-{digest}{SUFFIX}"
