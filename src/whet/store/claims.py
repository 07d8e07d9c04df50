"""The log of claims: what readers say that sessions teach, and how far each session was read.

It only grows; a forgotten session alone takes something from it. In a team the server names the maker of a row, and
nobody reads what another member's reader claimed.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from whet.ledger.patches import digest
from whet.lessons.claims import Claim, ClaimAuthor, DroppedClaim, LoggedClaim, Quote, ReadBy, SessionRead
from whet.store.database import Database
from whet.store.decoding import blob, decoded_or_none

BATCH = 500


def keep_pass(
    database: Database,
    project: str,
    sessions: Sequence[SessionRead],
    claims: Sequence[Claim | DroppedClaim],
    *,
    reader: ReadBy,
    now: float,
) -> bool:
    """Keep what was claimed of these sessions, and that they were read, all or nothing; False if it is kept already.

    A pass is known by its sessions and their heads, one that reads none by its claims: another answer for the same
    sessions is not kept. A session that was forgotten meanwhile is left out, with the quotes from it.
    """
    key = pass_key(project, sessions, claims)
    with database.writing():
        if _is_kept(database, key):
            return False
        stored = _stored(database, {each.session for each in sessions} | _quoted(claims))
        database.many(
            "INSERT INTO sessions_read (session, project, pass, head, messages) VALUES (?, ?, ?, ?, ?)",
            {
                e.session: (e.session, project, key, e.head, e.messages) for e in sessions if e.session in stored
            }.values(),
        )
        [(last,)] = database.query("SELECT coalesce(max(number), 0) FROM claims")
        for number, each in enumerate(claims, start=last + 1):
            claim, why = (each.claim, each.why) if isinstance(each, DroppedClaim) else (each, "")
            placed = [] if why else [quote for quote in claim.quotes if quote.session in stored]
            misplaced = len(claim.quotes) - len(placed)
            named = (number, project, key, now, reader.name, reader.author.value, "" if why else claim.id)
            database.execute(
                "INSERT INTO claims (number, project, pass, at, reader, author, claim, misplaced, dropped, record)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*named, misplaced, why, msgspec.json.encode(replace(claim, quotes=()))),
            )
            database.many(
                "INSERT INTO claim_quotes (claim, place, session, message, words) VALUES (?, ?, ?, ?, ?)",
                [(number, place, each.session, each.message, each.words) for place, each in enumerate(placed)],
            )
    return True


def pass_key(project: str, sessions: Iterable[SessionRead], claims: Iterable[Claim | DroppedClaim] = ()) -> str:
    """What tells a pass from any other."""
    read = sorted(f"{each.session} {each.head.hex()} {each.messages}" for each in sessions)
    said = [] if read else [msgspec.json.encode(each).decode() for each in claims]
    return digest("\n".join((project, *read, *said)))


def claims_of(database: Database, project: str) -> tuple[LoggedClaim, ...]:
    """All that was claimed of a project, the first first; what was dropped with its reason among it."""
    rows = database.query(
        "SELECT number, at, reader, author, misplaced, dropped, record FROM claims"
        " WHERE project = ? AND maker = ? ORDER BY number",
        (project, _maker(database)),
    )
    quotes = _quotes(database, project)
    found = []
    for number, at, reader, author, misplaced, dropped, record in rows:
        claim = decoded_or_none(record, Claim)
        if claim is not None and author in set(ClaimAuthor):
            told = replace(claim, quotes=tuple(quotes.get(number, ())))
            found.append(
                LoggedClaim(number, project, at, ReadBy(reader, ClaimAuthor(author)), told, misplaced, dropped)
            )
    return tuple(found)


def sessions_read(database: Database, project: str) -> dict[str, SessionRead]:
    """How far each session of a project was read, by its id. One that has more messages now is read from there on."""
    rows = database.query(
        "SELECT session, head, messages FROM sessions_read WHERE project = ? AND maker = ? ORDER BY messages",
        (project, _maker(database)),
    )
    return {id: SessionRead(id, blob(head), messages) for id, head, messages in rows}


def forget_claims(database: Database, session: str) -> None:
    """Remove the quotes from a session, whoever's reader made them, and the claims that rest on no other session."""
    for statement in FORGOTTEN:
        database.execute(statement, (session,) * statement.count("?"))


# First what was claimed of this session, or without a quote in a pass that read it, and has no quote from another one.
FORGOTTEN = (
    """DELETE FROM claims WHERE (pass IN (SELECT pass FROM sessions_read WHERE session = ?)
        OR claim IN (SELECT o.claim FROM claims AS o JOIN claim_quotes AS q ON q.claim = o.number WHERE q.session = ?))
        AND NOT EXISTS (SELECT 1 FROM claims AS o JOIN claim_quotes AS q ON q.claim = o.number
            WHERE q.session <> ? AND o.claim <> '' AND o.claim = claims.claim
            AND o.project = claims.project AND o.maker = claims.maker)""",
    "DELETE FROM claim_quotes WHERE session = ?",
    "DELETE FROM sessions_read WHERE session = ?",
)


def claimed_projects(database: Database) -> tuple[str, ...]:
    """The projects that something was claimed of."""
    rows = database.query("SELECT DISTINCT project FROM claims WHERE maker = ? ORDER BY project", (_maker(database),))
    return tuple(project for (project,) in rows)


def _quotes(database: Database, project: str) -> dict[int, list[Quote]]:
    rows = database.query(
        "SELECT q.claim, q.session, q.message, q.words FROM claim_quotes AS q JOIN claims AS c ON c.number = q.claim"
        " AND c.maker = q.maker WHERE c.project = ? AND c.maker = ?"
        " ORDER BY q.claim, q.place",
        (project, _maker(database)),
    )
    found: dict[int, list[Quote]] = {}
    for claim, session, message, words in rows:
        found.setdefault(claim, []).append(Quote(session, message, words))
    return found


def _is_kept(database: Database, key: str) -> bool:
    maker = _maker(database)
    for table in ("sessions_read", "claims"):
        if database.query(f"SELECT 1 FROM {table} WHERE pass = ? AND maker = ? LIMIT 1", (key, maker)):
            return True
    return False


def _stored(database: Database, ids: Iterable[str]) -> set[str]:
    """Those of these sessions that are in the store."""
    asked, found = sorted(ids), set[str]()
    for start in range(0, len(asked), BATCH):
        batch = asked[start : start + BATCH]
        rows = database.query(f"SELECT id FROM sessions WHERE id IN ({', '.join('?' * len(batch))})", batch)
        found.update(id for (id,) in rows)
    return found


def _quoted(claims: Iterable[Claim | DroppedClaim]) -> set[str]:
    return {quote.session for claim in claims if isinstance(claim, Claim) for quote in claim.quotes}


def _maker(database: Database) -> str:
    return "" if database.dialect == "sqlite" else database.member
