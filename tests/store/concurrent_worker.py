"""One process of the concurrency test: a writer that grows sessions, or a reader that looks at them.

It prints what the store acknowledged, one JSON line at its end; any error at all ends it with a traceback.
"""

import json
import sys
from pathlib import Path

from whet.sessions.transcripts import Message, Role, Text, Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.search import search

SHARED_SESSIONS = 5
WRITES_BETWEEN_NEW = 2  # every second write is a new session, the others grow a shared one


def grown(name: str, length: int) -> Transcript:
    """A session of so many messages; a longer one begins with all of a shorter one."""
    messages = tuple(said(f"{name} step {number}") for number in range(length))
    return Transcript(source="codex", native_id=name, messages=messages)


def said(words: str) -> Message:
    return Message(role=Role.USER, parts=(Text(f"marker {words}"),), trust=Trust.USER)


def write(database: Database, worker: int, operations: int) -> dict[str, int]:
    """Keep new sessions and grow shared ones; the longest length that was acknowledged for each."""
    acknowledged: dict[str, int] = {}
    for number in range(operations):
        if number % WRITES_BETWEEN_NEW:
            value = grown(f"shared {number % SHARED_SESSIONS}", 1 + number // 20)
        else:
            value = grown(f"own {worker} {number}", 2)
        kept = sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0))
        if kept.change == "conflict":
            raise AssertionError(f"{value.native_id}: {kept.note}")
        acknowledged[value.native_id] = max(len(value.messages), acknowledged.get(value.native_id, 0))
    return acknowledged


def read(database: Database, operations: int) -> None:
    """Search, list and load; every session is whole at every moment, and their number never falls."""
    most = 0
    for number in range(operations):
        if number % 10 == 0:
            check_hits(database, "marker step")
        elif number % 3 == 0:
            check_hits(database, f'"shared {number % SHARED_SESSIONS} step"')
        elif number % 3 == 1:
            now = count_sessions(database, Filters())
            if now < most:
                raise AssertionError(f"{most} sessions became {now}")
            most = now
        else:
            check_newest(database)


def check_hits(database: Database, asked: str) -> None:
    for hit in search(database, asked, limit=3):
        if "marker" not in hit.snippet:
            raise AssertionError(f"a hit without the word: {hit.snippet!r}")


def check_newest(database: Database) -> None:
    with database.reading():
        for session in list_sessions(database, Filters(source="codex"), limit=2):
            value = sessions.load(database, session)
            if value != grown(value.native_id, session.message_count):
                raise AssertionError(f"{value.native_id} is torn")


def come_and_go(home: Home, worker: int, operations: int) -> dict[str, int]:
    """Open the store anew for every write: the last to close removes the log while others open it."""
    acknowledged: dict[str, int] = {}
    for number in range(operations):
        value = grown(f"visit {worker} {number}", 1)
        with opened(home) as database:
            sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0))
        acknowledged[value.native_id] = 1
    return acknowledged


def main() -> None:
    kind, folder, url, worker, operations = sys.argv[1:]
    home = Home(Path(folder), url)
    if kind == "visit":
        sys.stdout.write(json.dumps(come_and_go(home, int(worker), int(operations))) + "\n")
        return
    with opened(home) as database:
        done = write(database, int(worker), int(operations)) if kind == "write" else {}
        if kind == "read":
            read(database, int(operations))
    sys.stdout.write(json.dumps(done) + "\n")


if __name__ == "__main__":
    main()
