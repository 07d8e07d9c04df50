"""Whether the store is whole: its database, its schema, the ledger, the sessions and the engine's work."""

import contextlib
from collections.abc import Iterator

from whet.errors import WhetError
from whet.machine.home_checks import CheckupPlace, CheckupRow, Rows, failed, ok, warning
from whet.sessions.transcripts import link
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import HEAD, ledger_of, newest, note
from whet.store.left_out import FILE_NAME as FORGOTTEN
from whet.store.opening import NEWEST, SEAL_KEY, connect, expect_known, steps_taken
from whet.store.rows import SESSION_COLUMNS, DamagedRow, Session, blob, session_of
from whet.store.sessions import message_id
from whet.store.sqlite import SQLite, file_faults
from whet.telling.hooks.events import FOLDER as HOOKS
from whet.work.system import FILE as ENGINE
from whet.work.system import damaged

MOST_NAMED = 3
SHOWN = 8  # letters of an id, as lists show it
TRACES = (ENGINE, "jobs", "memory.md", "user.md", "skills", HOOKS, SEAL_KEY, FORGOTTEN)
RESTORE = "Restore a backup: `whet restore FILE --replace`."
WITHOUT_BACKUP = f"{RESTORE} Without one, move the file away; `whet import` reads again what the agents still have."
AGAIN = f"Run `whet forget ID`, then import its file again. {RESTORE}"
PAGE = 200


def check_store(place: CheckupPlace) -> Rows:
    """The store, read as a whole; nothing where there is none yet."""
    home = place.home
    path = home.database_path
    if not home.database_url and not (path.exists() and path.stat().st_size):  # opened, it would become a database
        yield _no_database(home)
        return
    with contextlib.closing(connect(home)) as database:
        is_sound = True
        for row in (_database(home, database), _schema(database)):
            yield row
            is_sound &= not row.fix
        if not is_sound:
            return
        if not steps_taken(database):
            yield _no_database(home)
            return
        if steps_taken(database) == NEWEST:
            yield _ledger(home, database)
        yield _sessions(place, database)


def _no_database(home: Home) -> CheckupRow:
    traces = [] if home.database_url else [name for name in TRACES if (home.folder / name).exists()]
    if not traces:
        return ok("database", "none yet: `whet import` makes one")
    lost = f"{home.database_path} is {'empty' if home.database_path.exists() else 'missing'}"
    fix = f"{RESTORE} If there is none, `whet import` reads again what the agents still have."
    return warning("database", f"{lost}, although this home was in use: {', '.join(traces)}", fix)


def check_engine(place: CheckupPlace) -> Rows:
    """The engine's own database, which lies in the home."""
    path = place.home.folder / ENGINE
    if place.home.database_url or not path.exists():
        return
    faults = file_faults(path)
    if faults:
        error = damaged(path, faults[0])
        yield failed("background work", error.message, error.advice)
    else:
        yield ok("background work", f"{path} is intact")


def _database(home: Home, database: Database) -> CheckupRow:
    if not isinstance(database, SQLite):
        [(version,)] = database.query("SELECT current_setting('server_version')")
        return ok("database", f"Postgres {version} answers as {database.member}")
    faults = database.faults()
    if faults:
        return failed("database", f"{home.database_path} is damaged: {'; '.join(faults[:MOST_NAMED])}", WITHOUT_BACKUP)
    return ok("database", f"{home.database_path} is intact, {home.database_path.stat().st_size / 1e6:,.1f} MB")


def _schema(database: Database) -> CheckupRow:
    version = steps_taken(database)
    try:
        expect_known(database)
    except WhetError as error:
        return failed("schema", error.message, error.advice)
    if version < NEWEST:
        return ok("schema", f"{version}; the next command brings it to {NEWEST}")
    return ok("schema", f"{version}, up to date")


def _ledger(home: Home, database: Database) -> CheckupRow:
    try:
        ledger = ledger_of(home, database)
        faults = ledger.faults()
    except WhetError as error:
        return failed("ledger", error.message, error.advice)
    if faults:
        return failed("ledger", "; ".join(faults[:MOST_NAMED]), RESTORE)
    if missing := ledger.lost():
        return failed("ledger", missing, f"{RESTORE} Or delete {home.folder / HEAD} if you went back on purpose.")
    head = newest(database)
    if head.number:
        note(home.folder, head)
    return ok("ledger", f"{head.number:,} entries, every hash is right")


def _sessions(place: CheckupPlace, database: Database) -> CheckupRow:
    [(count,)] = database.query("SELECT count(*) FROM sessions")
    faults = []
    for done, session in enumerate(_stored_sessions(database)):
        if done % PAGE == 0:
            place.progress(f"sessions, {done:,} of {count:,}")
        if why := _chain_fault(database, session):
            faults.append(f"{session.id[:SHOWN]}: {why}")
    if faults:
        return failed("sessions", f"{len(faults):,} damaged: {'; '.join(faults[:MOST_NAMED])}", AGAIN)
    return ok("sessions", f"{count:,}, every hash is right")


def _stored_sessions(database: Database) -> Iterator[Session]:
    """Every session, a page at a time."""
    last = -1
    sql = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE no > ? ORDER BY no LIMIT ?"
    while rows := database.query(sql, (last, PAGE)):
        yield from map(session_of, rows)
        last = rows[-1][0]


def _chain_fault(database: Database, session: Session) -> str:
    """Why the messages of a session are not those that its head covers; nothing where they are."""
    first = session.base_count
    try:
        parent = message_id(database, session, first - 1) if first else b""
    except DamagedRow:
        parent = None
    if parent is None:
        return "its beginning is missing"
    rows = database.query(
        "SELECT position, id, body FROM messages WHERE session = ? AND position >= ? AND position < ?"
        " ORDER BY position",
        (session.no, first, session.message_count),
    )
    for expected, (position, stored, body) in enumerate(rows, start=first):
        parent = link(parent, blob(body))
        if expected != position:
            return "messages are missing"
        if parent != blob(stored):
            return "a message was changed"
    if first + len(rows) < session.message_count:
        return "messages are missing"
    return "" if parent == session.head else "its head is another session's"
