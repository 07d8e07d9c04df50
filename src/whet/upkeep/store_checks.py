"""Whether the store is whole: its database, its schema, the ledger, the sessions and the engine's work."""

import contextlib

from whet.engine.system import FILE as ENGINE
from whet.engine.system import damaged
from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.migrations import MIGRATIONS, steps_taken
from whet.store.opening import connect
from whet.store.sqlite import SQLite, file_faults
from whet.upkeep.chains import chain_faults
from whet.upkeep.checkup import CheckupPlace, CheckupRow, Rows, failed, ok

MOST_NAMED = 3
RESTORE = "Restore a backup: `whet restore FILE --replace`."
REPAIR = f"{RESTORE} Or save what can be read: `whet doctor --repair`."
AGAIN = f"Run `whet forget ID`, then import its file again. {RESTORE}"


def check_store(place: CheckupPlace) -> Rows:
    """The store, read as a whole; nothing where there is none yet."""
    home = place.home
    if not home.database_url and not home.database_path.exists():
        yield ok("database", "none yet: `whet import` makes one")
        return
    with contextlib.closing(connect(home)) as database:
        is_sound = True
        for row in (_database(home, database), _schema(database)):
            yield row
            is_sound &= not row.fix
        if not is_sound or not steps_taken(database):
            return
        yield _ledger(home, database)
        yield _sessions(database)


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
        faults = ledger_of(home, database).faults()
    except WhetError as error:
        return failed("ledger", error.message, error.advice)
    if faults:
        return failed("ledger", "; ".join(faults[:MOST_NAMED]), RESTORE)
    [(count,)] = database.query("SELECT count(*) FROM entries")
    return ok("ledger", f"{count:,} entries, without a gap")


def _sessions(database: Database) -> CheckupRow:
    faults = list(chain_faults(database))
    if faults:
        named = "; ".join(f"{each.session.native_id}: {each.reason}" for each in faults[:MOST_NAMED])
        return failed(
            "sessions", f"{len(faults):,} damaged: {named}", REPAIR if database.dialect == "sqlite" else AGAIN
        )
    [(count,)] = database.query("SELECT count(*) FROM sessions")
    return ok("sessions", f"{count:,}, every hash is right")
