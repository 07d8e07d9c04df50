"""A check-up of the home, its store and its machine: every check, whatever the others found.

Whether the store is whole: its database, its schema, the ledger, the sessions and the engine's work.

What a home needs of its machine: versions, the worker, hooks, a provider and a sandbox.
"""

import contextlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import apsw

from whet import __version__
from whet.agent.providers.local_weights import path_of
from whet.agent.tools.sandbox import Wall, probe
from whet.agent.tools.sandbox import note as note_of_walls
from whet.agents.registry import USUAL, hosts
from whet.errors import WhetError
from whet.machine.home_checks import (
    CheckupPlace,
    CheckupRow,
    Rows,
    check_files,
    check_rights,
    check_space,
    failed,
    ok,
    warning,
)
from whet.machine.looking import FoundAgent, find_agents, how_it_calls, how_to_find, is_on_path, left_to_do
from whet.machine.records import load_record
from whet.own.runs.models import address_of
from whet.sessions.transcripts import link
from whet.shipped.extras import how_to_add
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import HEAD, ledger_of, newest, note
from whet.store.listing import FILE_NAME as FORGOTTEN
from whet.store.opening import NEWEST, SEAL_KEY, connect, expect_known, steps_taken
from whet.store.rows import SESSION_COLUMNS, Session, blob, session_of
from whet.store.settings_file import load
from whet.store.sqlite import OLDEST_SAFE, SQLite, file_faults
from whet.telling.hooks.events import FOLDER as HOOKS
from whet.telling.hooks.installing import are_installed, are_outdated, has_plugin, program_in
from whet.telling.targets.settings import last_calls
from whet.work.life import is_worker_alive
from whet.work.system import FILE as ENGINE
from whet.work.system import damaged

TO_KEEP_IT = "To keep it: `nohup whet worker &`, or the start of your container."
WANTED = (
    ("dbos", "work", "background work"),
    ("psycopg", "postgres", "a Postgres database"),
    ("mcp", "mcp", "the MCP server of the plugin"),
)


def check_versions(place: CheckupPlace) -> Rows:
    """The programs and libraries that Whet stands on."""
    said = f"Whet {__version__}, Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    if tuple(int(number) for number in apsw.sqlite_lib_version().split(".")) < OLDEST_SAFE:
        yield failed("versions", f"{said}, which can corrupt databases", "Run `pip install -U apsw`.")
    else:
        yield ok("versions", f"{said}, {sys.platform}")
    for package, extra, use in WANTED:
        try:
            version(package)
        except PackageNotFoundError:
            is_needed = extra == "postgres" and place.home.database_url
            row = (f"{package} is not installed, which {use} needs", f"Run `{how_to_add(extra)}`.")
            if is_needed:
                yield failed("versions", *row)
            elif extra == "work" or (extra == "mcp" and _has_plugin(place)):
                yield warning("versions", *row)


def _has_plugin(place: CheckupPlace) -> bool:
    return any(each.program for each in load_record(place.home).hooks)


def check_worker(place: CheckupPlace) -> Rows:
    """Whether background work is carried out."""
    if is_worker_alive(place.home.folder):
        yield ok("worker", "running")
    elif load_record(place.home).service is not None:
        yield failed("worker", "its service is set up, and it does not run", "Run `whet worker`, which says why.")
    else:
        may_have_service = load_record(place.home).is_empty and not place.home.database_url
        fix = "Run `whet setup`, or `whet worker`." if may_have_service else f"Run `whet worker`. {TO_KEEP_IT}"
        yield warning("worker", "does not run, so nothing is learned by itself", fix)


def check_hooks(place: CheckupPlace) -> Rows:
    """Whether agents tell Whet of their sessions."""
    calls = last_calls(place.home)
    recorded = {each.agent for each in load_record(place.home).hooks}
    found = [each for each in find_agents(place.person, place.environment) if each.name in hosts() and each.config]
    for agent in found:
        yield _hooks(place, agent, calls.get(agent.name), is_recorded=agent.name in recorded)
    if not found:
        yield ok("hooks", "no agent on this machine takes them")


def _hooks(place: CheckupPlace, agent: FoundAgent, last_call: float | None, *, is_recorded: bool) -> CheckupRow:
    try:
        installed = agent.config is not None and _has_hooks(agent.name, agent.config)
        is_lost = installed and agent.config is not None and not _find_program(place, agent.name, agent.config)
        if agent.config is not None and are_outdated(agent.name, agent.config):
            return warning("hooks", f"{agent.title} has the hooks of another Whet", "Run `whet setup` again.")
    except WhetError as error:
        return failed("hooks", error.message, error.advice)
    if is_lost:
        program = Path(sys.executable).with_name("whet")
        return warning("hooks", f"{agent.title} does not find the program `whet` for its hooks", how_to_find(program))
    if last_call is not None:
        return ok("hooks", f"{agent.title} {how_it_calls(agent.name, last_call)}")
    if installed:
        advice = left_to_do(agent.name)
        fix = f"{advice[0].upper()}{advice[1:]}."
        return warning("hooks", f"{agent.title} has Whet's hooks, and was not yet seen calling", fix)
    if is_recorded:
        return failed("hooks", f"{agent.title} had Whet's hooks, and they are gone", "Run `whet setup` again.")
    return warning("hooks", f"{agent.title} does not call Whet", "Run `whet setup`.")


def _has_hooks(agent: str, config: Path) -> bool:
    return are_installed(agent, config) or has_plugin(agent, config)


def _find_program(place: CheckupPlace, agent: str, config: Path) -> bool:
    named = "" if has_plugin(agent, config) else program_in(agent, config)
    return os.access(named, os.X_OK) or is_on_path(place.person, place.environment)


def check_provider(place: CheckupPlace) -> Rows:
    """Whether the chosen model can be asked; no request is made."""
    settings = load(place.home)
    if not settings.model:
        on_agent = f"or try changes on your agent: `whet try --agent {USUAL}`."
        fix = f"Run `whet config model PROVIDER:NAME`, {on_agent}"
        yield warning("provider", "no model is set", fix)
        return
    endpoint, model = address_of(settings)
    if endpoint.kind == "local":
        path = path_of(model, place.home)
        if path.exists():
            yield ok("provider", f"the model {path} is there")
        else:
            yield failed("provider", f"the model {path} is missing", "Run `whet models pull`.")
    elif endpoint.key_variable and not place.environment.get(endpoint.key_variable):
        fix = f"Run `export {endpoint.key_variable}=…`; the worker's service reads it from worker.env."
        yield failed("provider", f"{settings.model} needs {endpoint.key_variable}, which is not set", fix)
    else:
        yield ok("provider", f"{settings.model} is set; `whet config --check` sends it a request")


def check_sandbox(place: CheckupPlace) -> Rows:
    """What holds the agent's commands back here."""
    settings, walls = load(place.home).sandbox, probe()
    gaps = note_of_walls(walls, network=settings.network, required=settings.required)
    if walls.wall is Wall.NONE:
        yield failed("sandbox", "none works here", gaps)
    elif walls.wall is Wall.LANDLOCK:
        yield warning("sandbox", f"{walls.wall}: {gaps}", "Install bubblewrap.")
    else:
        yield ok("sandbox", f"{walls.wall}: {gaps}" if gaps else str(walls.wall))


MOST_NAMED = 3
SHOWN = 8  # letters of an id, as lists show it
TRACES = (ENGINE, "jobs", "memory.md", "user.md", "skills", HOOKS, SEAL_KEY, FORGOTTEN)
RESTORE = "Restore a backup: `whet restore FILE --replace`."
WITHOUT_BACKUP = f"{RESTORE} Without one, move the file away; `whet import` reads again what the agents still have."
AGAIN = f"Run `whet forget ID`, then import its file again. {RESTORE}"


PAGE = 200


class ChainFault(NamedTuple):
    """A session whose messages are not those that its head covers, from a position on."""

    session: Session
    position: int
    reason: str


def chain_faults(database: Database, *, progress: Callable[[int, int], None] = lambda *_: None) -> Iterator[ChainFault]:
    """Every session that is not whole; `progress` hears how many of how many have been looked at."""
    [(total,)] = database.query("SELECT count(*) FROM sessions")
    for done, session in enumerate(_stored_sessions(database)):
        if done % PAGE == 0:
            progress(done, total)
        fault = _chain_fault(database, session)
        if fault is not None:
            yield fault


def _stored_sessions(database: Database) -> Iterator[Session]:
    """Every session, a page at a time."""
    last = -1
    sql = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE no > ? ORDER BY no LIMIT ?"
    while rows := database.query(sql, (last, PAGE)):
        yield from map(session_of, rows)
        last = rows[-1][0]


def _chain_fault(database: Database, session: Session) -> ChainFault | None:
    first = session.base_count
    parent = _id_at(database, session.base, first - 1) if first else b""
    if parent is None:
        return ChainFault(session, 0, "its beginning is missing")
    rows = database.query(
        "SELECT position, id, body FROM messages WHERE session = ? AND position >= ? AND position < ?"
        " ORDER BY position",
        (session.no, first, session.message_count),
    )
    for expected, (position, stored, body) in enumerate(rows, start=first):
        parent = link(parent, blob(body))
        if expected != position:
            return ChainFault(session, expected, "messages are missing")
        if parent != blob(stored):
            return ChainFault(session, expected, "a message was changed")
    if first + len(rows) < session.message_count:
        return ChainFault(session, first + len(rows), "messages are missing")
    if parent != session.head:
        return ChainFault(session, session.message_count, "its head is another session's")
    return None


def _id_at(database: Database, session: int | None, position: int) -> bytes | None:
    """The id of a message of a session, which it or one that it stands on holds; None where it is missing."""
    owner, seen = session, set[int]()
    while owner is not None and owner not in seen:
        seen.add(owner)
        found = database.query("SELECT base, base_count FROM sessions WHERE no = ?", (owner,))
        if not found:
            return None
        base, count = found[0]
        if position >= count:
            rows = database.query("SELECT id FROM messages WHERE session = ? AND position = ?", (owner, position))
            return blob(rows[0][0]) if rows else None
        owner = base
    return None


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
        if steps_taken(database) == NEWEST:
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
    def tell(done: int, total: int) -> None:
        place.progress(f"sessions, {done:,} of {total:,}")

    faults = list(chain_faults(database, progress=tell))
    if faults:
        named = "; ".join(f"{each.session.id[:SHOWN]}: {each.reason}" for each in faults[:MOST_NAMED])
        return failed("sessions", f"{len(faults):,} damaged: {named}", AGAIN)
    [(count,)] = database.query("SELECT count(*) FROM sessions")
    return ok("sessions", f"{count:,}, every hash is right")


# Rights come first: opening the store closes a home that was open to others. What reads the whole store comes last.
CHECKS: tuple[tuple[str, Callable[[CheckupPlace], Rows]], ...] = (
    ("permissions", check_rights),
    ("disk", check_space),
    ("versions", check_versions),
    ("files", check_files),
    ("worker", check_worker),
    ("hooks", check_hooks),
    ("provider", check_provider),
    ("sandbox", check_sandbox),
    ("background work", check_engine),
    ("database", check_store),
)


def check_up(place: CheckupPlace) -> Rows:
    """How everything stands, row by row as it is found.

    What one check cannot do is its row, and keeps no other from looking.
    """
    for name, check in CHECKS:
        place.progress(name)
        yield from _rows(name, check, place)


def _rows(name: str, check: Callable[[CheckupPlace], Rows], place: CheckupPlace) -> Rows:
    try:
        yield from check(place)
    except WhetError as error:
        yield failed(name, error.message, error.advice)
    except OSError as error:
        where = f"{error.filename or place.home.folder}: {error.strerror or error}"
        yield failed(name, where, "Check the path, its permissions and the disk.")
