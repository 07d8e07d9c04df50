"""The log of claims: what readers say that sessions teach, and how far each session was read.

It only grows; a forgotten session alone takes something from it. In a team the server names the maker of a row, and
nobody reads what another member's reader claimed.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from whet.ledger.patches import digest
from whet.lessons.claim_evidence import CheckedQuote
from whet.lessons.claims import Claim, ClaimAuthor, DroppedClaim, LoggedClaim, Quote, ReadBy, SessionRead, bounded
from whet.store.database import Database
from whet.store.derived import Derived, keeping, own_name
from whet.store.rows import ask_for_all, blob, decoded_or_none

IS_KEPT = """
    SELECT 1 FROM sessions_read WHERE pass = ? AND maker = ? UNION SELECT 1 FROM claims WHERE pass = ? AND maker = ?
"""


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
    sessions is not kept. Of an answer without measure as much is kept as a log takes. A session that was forgotten
    meanwhile is left out, with the quotes from it.
    """
    claims = bounded(claims)
    key = pass_key(project, sessions, claims)
    with database.writing():
        if database.query(IS_KEPT, (key, own_name(database)) * 2):
            return False
        quoted = {quote.session for claim in claims if isinstance(claim, Claim) for quote in claim.quotes}
        meant = sorted(quoted.union(each.session for each in sessions))
        stored = {id for (id,) in ask_for_all(database, "SELECT id FROM sessions WHERE id IN", meant)}
        read = {each.session: each for each in sessions if each.session in stored}
        judged = {id: msgspec.json.encode(each.judged) for id, each in read.items() if each.judged is not None}
        database.many(
            "INSERT INTO sessions_read (session, project, pass, head, messages, at, judged)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(id, project, key, each.head, each.messages, now, judged.get(id)) for id, each in read.items()],
        )
        # Trouble is found again where corrections are known now.
        database.many(
            "UPDATE derived SET version = '' WHERE kind = ?"
            " AND session IN (SELECT no FROM sessions WHERE id = ? AND maker IN ('', ?))",
            [(Derived.TROUBLE.value, id, database.member) for id in judged],
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
        (project, own_name(database)),
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
        (project, own_name(database)),
    )
    return {id: SessionRead(id, blob(head), messages) for id, head, messages in rows}


def reading_times(database: Database, project: str) -> dict[str, float]:
    """When each session of a project was first read, by its id."""
    rows = database.query(
        "SELECT session, min(at) FROM sessions_read WHERE project = ? AND maker = ? GROUP BY session",
        (project, own_name(database)),
    )
    return {str(session): float(at) for session, at in rows}


def kept_quote_checks(database: Database, project: str, heads: Mapping[str, bytes]) -> dict[Quote, CheckedQuote]:
    """What was found of each quote, where its session is as it was then."""
    rows = database.query(
        "SELECT q.session, q.head, q.checked FROM claim_quotes AS q JOIN claims AS c ON c.number = q.claim"
        " AND c.maker = q.maker WHERE c.project = ? AND c.maker = ? AND q.checked IS NOT NULL",
        (project, own_name(database)),
    )
    current = (decoded_or_none(checked, CheckedQuote) for id, head, checked in rows if heads.get(id) == blob(head))
    return {each.quote: each for each in current if each is not None}


def keep_quote_checks(database: Database, checked: Iterable[CheckedQuote], heads: Mapping[str, bytes]) -> None:
    """Keep what was found of quotes beside them."""
    rows = [
        (heads[each.quote.session], msgspec.json.encode(each), own_name(database), *msgspec.structs.astuple(each.quote))
        for each in checked
        if each.quote.session in heads
    ]
    with keeping(database):
        database.many(
            "UPDATE claim_quotes SET head = ?, checked = ?"
            " WHERE maker = ? AND session = ? AND message = ? AND words = ?",
            rows,
        )


def claimed_projects(database: Database) -> tuple[str, ...]:
    """The projects that something was claimed of."""
    rows = database.query("SELECT DISTINCT project FROM claims WHERE maker = ? ORDER BY project", (own_name(database),))
    return tuple(project for (project,) in rows)


def _quotes(database: Database, project: str) -> dict[int, list[Quote]]:
    rows = database.query(
        "SELECT q.claim, q.session, q.message, q.words FROM claim_quotes AS q JOIN claims AS c ON c.number = q.claim"
        " AND c.maker = q.maker WHERE c.project = ? AND c.maker = ?"
        " ORDER BY q.claim, q.place",
        (project, own_name(database)),
    )
    found: dict[int, list[Quote]] = {}
    for claim, session, message, words in rows:
        found.setdefault(claim, []).append(Quote(session, message, words))
    return found
