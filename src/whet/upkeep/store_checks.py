"""Whether the store is whole: its database, its schema, the ledger, the sessions and the engine's work."""

import contextlib
from pathlib import Path

from whet.engine.system import FILE as ENGINE
from whet.engine.system import damaged
from whet.errors import WhetError
from whet.hooks.places import FOLDER as HOOKS
from whet.store.database import Database
from whet.store.forgotten import FILE_NAME as FORGOTTEN
from whet.store.home import Home
from whet.store.ledger import HEAD, is_chained, ledger_of, newest, note
from whet.store.migrations import MIGRATIONS, steps_taken
from whet.store.opening import connect
from whet.store.owner import SEAL_KEY
from whet.store.sqlite import SQLite, file_faults
from whet.upkeep.chains import chain_faults
from whet.upkeep.checkup import CheckupPlace, CheckupRow, Rows, failed, ok, warning

MOST_NAMED = 3
SHOWN = 8  # letters of an id, as lists show it
TRACES = (ENGINE, "jobs", "memory.md", "user.md", "skills", HOOKS, SEAL_KEY, FORGOTTEN)
RESTORE = "Restore a backup: `whet restore FILE --replace`."
REPAIR = f"{RESTORE} Or save what can be read: `whet doctor --repair`."
AGAIN = f"Run `whet forget ID`, then import its file again. {RESTORE}"


def check_store(place: CheckupPlace) -> Rows:
    """The store, read as a whole; nothing where there is none yet."""
    home = place.home
    if not home.database_url and _is_nothing(home.database_path):
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
        if steps_taken(database) == len(MIGRATIONS):
            yield _ledger(home, database)
        yield _sessions(place, database)


def _is_nothing(path: Path) -> bool:
    """Asked without opening it, which would make a database of an empty file."""
    return not path.exists() or not path.stat().st_size


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
        return failed("database", f"{home.database_path} is damaged: {'; '.join(faults[:MOST_NAMED])}", REPAIR)
    return ok("database", f"{home.database_path} is intact, {home.database_path.stat().st_size / 1e6:,.1f} MB")


def _schema(database: Database) -> CheckupRow:
    version = steps_taken(database)
    if version > len(MIGRATIONS):
        return failed("schema", f"{version}, and this Whet knows {len(MIGRATIONS)}", "Upgrade Whet.")
    if version < len(MIGRATIONS):
        return ok("schema", f"{version}; the next command brings it to {len(MIGRATIONS)}")
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
    if head.number and not is_chained(database):
        text = f"none of the {head.number:,} entries has a hash: an older Whet wrote them, or they were taken away"
        return warning(
            "ledger", text, f"If you did not just upgrade: {RESTORE} Else make any change, which covers them."
        )
    if head.number:
        note(home.folder, head)
    return ok("ledger", f"{head.number:,} entries, every hash is right")


def _sessions(place: CheckupPlace, database: Database) -> CheckupRow:
    def tell(done: int, total: int) -> None:
        place.progress(f"sessions, {done:,} of {total:,}")

    faults = list(chain_faults(database, progress=tell))
    if faults:
        named = "; ".join(f"{each.session.id[:SHOWN]}: {each.reason}" for each in faults[:MOST_NAMED])
        return failed(
            "sessions", f"{len(faults):,} damaged: {named}", REPAIR if database.dialect == "sqlite" else AGAIN
        )
    [(count,)] = database.query("SELECT count(*) FROM sessions")
    return ok("sessions", f"{count:,}, every hash is right")
