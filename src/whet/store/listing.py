"""Which sessions are meant: by a short id, or by filters.

The folders that sessions worked in, and the project that each belonged to.
"""

from collections.abc import Mapping
from typing import NamedTuple

from whet.errors import WhetError
from whet.sessions.transcripts import OWN_PURPOSES
from whet.sessions.worktrees import TEMPORARY
from whet.store.database import Database
from whet.store.rows import SESSION_COLUMNS, Session, blanks, session_of
from whet.store.sessions import is_own

# Compared by substr, for LIKE takes great and small letters as the same in SQLite and not in Postgres.
_BELOW = "(s.folder = ? OR substr(s.folder, 1, ?) = ?)"


class Filters(NamedTuple):
    """Which sessions are meant; an empty field asks for nothing. Times are in seconds since 1970."""

    source: str = ""
    model: str = ""
    folder: str = ""
    tool: str = ""
    purpose: str = ""
    since: float | None = None
    until: float | None = None
    maker: str = ""  # what this member wrote, or nobody else can have
    without_own_work: bool = False  # trials and reviews are Whet's work, and not the person's
    without_temporary: bool = False  # nor what ran in a temporary folder, unless a folder is asked for
    folders: tuple[str, ...] = ()  # exactly in one of these


# What counts unless other sessions are asked for, wherever sessions are counted or listed.
COUNTED = Filters(without_own_work=True, without_temporary=True)


def seen_folders(database: Database) -> dict[str, frozenset[str]]:
    """Every folder where an agent worked, and its project; several only where members have folders of one name."""
    found: dict[str, frozenset[str]] = {}
    for folder, project in database.query("SELECT DISTINCT folder, project FROM sessions WHERE folder <> ''"):
        found[folder] = found.get(folder, frozenset()) | {project} - {""}
    return found


def keep_projects(database: Database, projects: Mapping[str, str]) -> None:
    """Note with one's own sessions which project each of these folders belongs to."""
    with database.writing():
        database.many(
            "UPDATE sessions SET project = ? WHERE folder = ? AND project <> ? AND maker IN ('', ?)",
            [(project, folder, project, database.member) for folder, project in projects.items()],
        )


def find(database: Database, prefix: str) -> Session:
    """The session whose id, or whose own agent's id, begins with the given text."""
    wanted = prefix.strip()
    if not wanted:
        raise WhetError("The session id is empty.", advice="To list the ids, run `whet sessions`.")
    rows = database.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE substr(id, 1, ?) = ? OR native_id = ?"
        " OR substr(native_id, 1, ?) = ?"
        " ORDER BY CASE WHEN ? IN (id, native_id) THEN 0 ELSE 1 END, dated DESC LIMIT 12",
        (len(wanted), wanted.lower(), wanted, len(wanted), wanted, wanted),
    )
    exact = [row for row in rows if wanted in (row[1], row[3])]
    found = [session_of(row) for row in (exact or rows)]
    # A sub-agent's id begins with that of its parent, which is the one that is meant.
    ids = {session.id for session in found}
    found = [session for session in found if session.parent_id not in ids] or found
    found = [session for session in found if is_own(database, session)] or found
    if not found:
        raise WhetError(f"No session has the id {wanted}.", advice="To list the ids, run `whet sessions`.")
    if len(found) > 1:
        candidates = "\n".join(f"  {each.id[:12]}  {each.source}  {each.title[:60]}" for each in found[:10])
        raise WhetError(f"The id {wanted} is ambiguous:\n{candidates}", advice="Give more of the id.")
    return found[0]


def makers(database: Database) -> list[str]:
    """Everybody who has stored a session or entered anything in the ledger, as the database saw them."""
    rows = database.query("SELECT maker FROM sessions UNION SELECT maker FROM entries")
    return sorted(maker for (maker,) in rows)


def list_sessions(database: Database, filters: Filters, *, limit: int, offset: int = 0) -> list[Session]:
    """Sessions that match, the latest first."""
    where, parameters = conditions(filters)
    rows = database.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions AS s WHERE {where} ORDER BY dated DESC, no DESC LIMIT ? OFFSET ?",
        (*parameters, limit, offset),
    )
    return [session_of(row) for row in rows]


def count_sessions(database: Database, filters: Filters) -> int:
    where, parameters = conditions(filters)
    return int(database.query(f"SELECT count(*) FROM sessions AS s WHERE {where}", parameters)[0][0])


def count_temporary(database: Database, filters: Filters) -> int:
    """How many sessions the filters leave out only because they ran in a temporary folder."""
    return count_sessions(database, filters._replace(without_temporary=False)) - count_sessions(database, filters)


def conditions(filters: Filters) -> tuple[str, list[object]]:
    """The filters as SQL over the sessions table `s`."""
    clauses, parameters = ["1 = 1"], list[object]()
    for column, value in (("source", filters.source), ("purpose", filters.purpose)):
        if value:
            clauses.append(f"s.{column} = ?")
            parameters.append(value)
    if filters.without_own_work and not filters.purpose:
        clauses.append("s.purpose NOT IN (?, ?)")
        parameters += OWN_PURPOSES
    if filters.model:
        clauses.append("lower(s.model) LIKE ? ESCAPE '!'")
        literal = filters.model.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        parameters.append(f"%{literal}%")
    for clause, values in _folders(filters):
        clauses.append(clause)
        parameters += values
    if filters.tool:
        clauses.append(
            "EXISTS (SELECT 1 FROM messages AS tm JOIN uses AS tu ON tu.message = tm.no"
            " WHERE tm.session = s.no AND tu.tool = ?)"
        )
        parameters.append(filters.tool)
    if filters.since is not None:
        clauses.append("s.dated >= ?")
        parameters.append(filters.since)
    if filters.until is not None:
        clauses.append("coalesce(s.started, s.dated) < ?")
        parameters.append(filters.until)
    if filters.maker:
        clauses.append("s.maker IN ('', ?)")
        parameters.append(filters.maker)
    return " AND ".join(clauses), parameters


def _folders(filters: Filters) -> list[tuple[str, tuple[object, ...]]]:
    """What is asked of a session's folder, each with the values that it is about."""
    if filters.folders:
        return [(f"s.folder IN ({blanks(filters.folders)})", filters.folders)]
    if filters.folder:
        return [(_BELOW, _below(filters.folder.rstrip("/")))]
    is_hidden = filters.without_temporary and filters.purpose not in OWN_PURPOSES  # attempts have no other folders
    return [(f"NOT {_BELOW}", _below(folder)) for folder in TEMPORARY] if is_hidden else []


def _below(folder: str) -> tuple[object, ...]:
    return folder or "/", len(folder) + 1, f"{folder}/"
