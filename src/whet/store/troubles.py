"""The trouble of each session, kept beside its analysis: what roll-ups need of all sessions, and all of one session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.outcomes.named_checks import Head
from whet.sessions.worktrees import without_worktree
from whet.shipped.kinds import known_troubles
from whet.shipped.prices import list_price
from whet.store.database import Database
from whet.store.decoding import blob, decoded_or_none, uncollected
from whet.store.listing import Filters, conditions
from whet.store.rows import SESSION_COLUMNS, Session, session_of
from whet.trouble.checks import HeadCount, head_counts, learned_checks
from whet.trouble.course import Break, SessionKnowledge
from whet.trouble.finding import OwnView, trouble_of
from whet.trouble.values import JudgedMessages, SessionTrouble

NOTHING = b"[]"

# Of each project, the commands that its sessions show to be its checks.
ProjectChecks = Mapping[str, frozenset[Head]]


class FoundTrouble(NamedTuple):
    """The trouble of a session, how its commands were used, and which of them were taken for checks.

    What is only a copy of another session does not count.
    """

    trouble: SessionTrouble
    heads: tuple[HeadCount, ...]
    checks: tuple[Head, ...]
    counts: bool


class StoredTrouble(NamedTuple):
    """The trouble of a stored session, without the words of people; `maker` is the member whose session it is."""

    trouble: SessionTrouble
    title: str
    dated: float
    maker: str


def session_troubles(database: Database, filters: Filters) -> Iterator[StoredTrouble]:
    """The trouble of the sessions that match, the oldest first, to be counted: no copies, no words of people.

    Attempts of trials and reviews are not the person's work: they are among them only where they are asked for.
    """
    where, parameters = conditions(filters._replace(without_own_work=True))
    rows = database.query(
        "SELECT t.record, s.title, s.dated, s.maker FROM session_troubles AS t JOIN sessions AS s ON s.no = t.session"
        f" WHERE {where} AND t.counts = 1 ORDER BY s.dated, s.no",
        parameters,
    )
    with uncollected():
        for record, *rest in rows:
            trouble = decoded_or_none(record, SessionTrouble)
            if trouble is not None:
                yield StoredTrouble(trouble, *rest)


def counted_folders(database: Database, filters: Filters) -> dict[str, int]:
    """How many of the sessions that match and count were made in each folder."""
    where, parameters = conditions(filters._replace(without_own_work=True))
    rows = database.query(
        "SELECT s.folder, count(*) FROM session_troubles AS t JOIN sessions AS s ON s.no = t.session"
        f" WHERE {where} AND t.counts = 1 GROUP BY s.folder ORDER BY s.folder",
        parameters,
    )
    return {str(folder): int(number) for folder, number in rows}


def trouble_of_session(database: Database, session: Session) -> SessionTrouble | None:
    """All trouble of one session, with what people said; None where it is not analysed yet."""
    rows = database.query("SELECT record, words FROM session_troubles WHERE session = ?", (session.no,))
    found = decoded_or_none(rows[0][0], SessionTrouble) if rows else None
    if found is None:
        return None
    words = decoded_or_none(rows[0][1], tuple[str, ...]) or ()
    said = zip(found.interventions, (*words, *("" for _ in found.interventions)), strict=False)
    return replace(found, interventions=tuple(replace(event, words=text) for event, text in said))


def judged_messages(database: Database, session: str) -> JudgedMessages:
    """What this member's readers judged of a session, by its id."""
    rows = database.query(
        "SELECT judged FROM sessions_read WHERE session = ? AND maker = ? AND judged IS NOT NULL",
        (session, "" if database.dialect == "sqlite" else database.member),
    )
    found = [each for (record,) in rows if (each := decoded_or_none(record, JudgedMessages)) is not None]
    return JudgedMessages(
        tuple(sorted({at for each in found for at in each.shown})),
        tuple(sorted({at for each in found for at in each.corrections})),
    )


def trouble_found(
    own: OwnView, checks: ProjectChecks, judged: JudgedMessages, breaks: Sequence[Break] = ()
) -> FoundTrouble:
    """The trouble of a session whose evidence is gathered, with the checks of its project and the rules it broke."""
    heads = head_counts(own.view.steps)
    known = SessionKnowledge(
        checks.get(without_worktree(own.view.transcript.folder), frozenset()), tuple(breaks), judged
    )
    found = trouble_of(own.view, price=list_price, known=known, begin=own.begin, kinds=known_troubles())
    return FoundTrouble(found, heads, _used(heads, known.checks), counts=not own.is_copy)


def keep_trouble(database: Database, session: int, found: FoundTrouble) -> None:
    """Keep it beside its analysis, with which it goes."""
    trouble, heads, checks, counts = found
    silent = replace(trouble, interventions=tuple(replace(event, words="") for event in trouble.interventions))
    words = [event.words for event in trouble.interventions]
    database.execute(
        "INSERT INTO session_troubles (session, counts, heads, checks, record, words)"
        " SELECT session, ?, ?, ?, ?, ? FROM analyses WHERE session = ?"
        " ON CONFLICT (session) DO UPDATE SET counts = excluded.counts, heads = excluded.heads,"
        " checks = excluded.checks, record = excluded.record, words = excluded.words",
        (int(counts), *map(msgspec.json.encode, (heads, checks, silent, words)), session),
    )


def project_checks(database: Database) -> ProjectChecks:
    """The commands that the sessions of each project show to be its checks."""
    counts: dict[str, list[HeadCount]] = {}
    for folder, heads in database.query(HEADS, (NOTHING,)):
        counts.setdefault(without_worktree(folder), []).extend(_heads(heads))
    return {project: found for project, every in counts.items() if (found := learned_checks(every))}


def with_other_checks(database: Database, checks: ProjectChecks) -> list[Session]:
    """The sessions in which other commands were taken for checks than their project is known to have now."""
    rows = database.query(USES, (NOTHING,))
    found: list[Session] = []
    for row in rows:
        session, heads, used = session_of(row[:-2]), row[-2], row[-1]
        known = checks.get(without_worktree(session.folder), frozenset())
        if _used(_heads(heads), known) != (decoded_or_none(used, tuple[Head, ...]) or ()):
            found.append(session)
    return found


def _heads(encoded: object) -> tuple[HeadCount, ...]:
    return decoded_or_none(blob(encoded), tuple[HeadCount, ...]) or ()


def _used(heads: Iterable[HeadCount], known: frozenset[Head]) -> tuple[Head, ...]:
    """The checks of a project that were red in a session; others change nothing in it."""
    return tuple(sorted({count.head for count in heads} & known))


HEADS = """
    SELECT s.folder, t.heads FROM session_troubles AS t JOIN sessions AS s ON s.no = t.session
    WHERE t.counts = 1 AND t.heads <> ?
"""
USES = f"""
    SELECT {", ".join(f"s.{column.strip()}" for column in SESSION_COLUMNS.split(","))}, t.heads, t.checks
    FROM session_troubles AS t JOIN sessions AS s ON s.no = t.session WHERE t.heads <> ? ORDER BY s.no
"""
