"""The trouble of each session, kept beside its analysis: what roll-ups need of all sessions, and all of one session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.sessions.worktrees import without_worktree
from whet.shipped.data import list_price
from whet.shipped.kinds import known_troubles
from whet.store import derived
from whet.store.database import Database
from whet.store.derived import KEPT, OF_SESSION, Derived, own_name, whose
from whet.store.listing import Filters, conditions
from whet.store.rows import Session, decoded_or_none, session_of, uncollected
from whet.trouble.checks import CommandCount, head_counts, learned_checks
from whet.trouble.course import Break, SessionKnowledge
from whet.trouble.finding import OwnView, trouble_of
from whet.trouble.outcomes.view import EntryHead
from whet.trouble.values import JudgedMessages, SessionTrouble

# Of each project, the commands that its sessions show to be its checks.
ProjectChecks = Mapping[str, frozenset[EntryHead]]


class FoundTrouble(NamedTuple):
    """The trouble of a session, how its commands were used, and which of them were taken for checks.

    What is only a copy of another session does not count.
    """

    trouble: SessionTrouble
    heads: tuple[CommandCount, ...]
    checks: tuple[EntryHead, ...]
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
        f"SELECT d.record, s.title, s.dated, s.maker {KEPT} WHERE {where} AND d.counts = 1 ORDER BY s.dated, s.no",
        (*whose(database, Derived.TROUBLE), *parameters),
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
        f"SELECT s.folder, count(*) {KEPT} WHERE {where} AND d.counts = 1 GROUP BY s.folder ORDER BY s.folder",
        (*whose(database, Derived.TROUBLE), *parameters),
    )
    return {str(folder): int(number) for folder, number in rows}


def trouble_of_session(database: Database, session: Session) -> SessionTrouble | None:
    """All trouble of one session, with what people said; None where it is not analysed yet."""
    found = derived.value(database, Derived.TROUBLE, session, SessionTrouble)
    if found is None:
        return None
    words = derived.value(database, Derived.SAID, session, tuple[str, ...]) or ()
    said = zip(found.interventions, (*words, *("" for _ in found.interventions)), strict=False)
    return replace(found, interventions=tuple(replace(event, words=text) for event, text in said))


def judged_messages(database: Database, session: str) -> JudgedMessages:
    """What this member's readers judged of a session, by its id."""
    rows = database.query(
        "SELECT judged FROM sessions_read WHERE session = ? AND maker = ? AND judged IS NOT NULL",
        (session, own_name(database)),
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


def keep_trouble(database: Database, session: Session, found: FoundTrouble, *, version: str) -> None:
    """Keep it beside the analysis of its session."""
    trouble, heads, checks, counts = found
    silent = replace(trouble, interventions=tuple(replace(event, words="") for event in trouble.interventions))
    derived.keep(database, Derived.TROUBLE, session, silent, version=version, counts=counts)
    derived.drop(database, [session.no], (Derived.SAID, Derived.HEADS))
    words = [event.words for event in trouble.interventions]
    if any(words):
        derived.keep(database, Derived.SAID, session, words, version=version)
    if heads:
        derived.keep(database, Derived.HEADS, session, (heads, checks), version=version, counts=counts)


def project_checks(database: Database) -> ProjectChecks:
    """The commands that the sessions of each project show to be its checks."""
    counts: dict[str, list[CommandCount]] = {}
    sql = f"SELECT s.folder, d.record {KEPT} WHERE d.counts = 1"
    for folder, record in database.query(sql, whose(database, Derived.HEADS)):
        counts.setdefault(without_worktree(folder), []).extend(_heads(record).heads)
    return {project: found for project, every in counts.items() if (found := learned_checks(every))}


def with_other_checks(database: Database, checks: ProjectChecks) -> list[Session]:
    """The sessions in which other commands were taken for checks than their project is known to have now."""
    rows = database.query(f"SELECT {OF_SESSION}, d.record {KEPT} ORDER BY s.no", whose(database, Derived.HEADS))
    found: list[Session] = []
    for row in rows:
        session, (heads, used) = session_of(row[:-1]), _heads(row[-1])
        known = checks.get(without_worktree(session.folder), frozenset())
        if _used(heads, known) != used:
            found.append(session)
    return found


class KeptCommandCounts(NamedTuple):
    """How the commands of a session were used, and which of them were taken for checks."""

    heads: tuple[CommandCount, ...] = ()
    checks: tuple[EntryHead, ...] = ()


def _heads(encoded: object) -> KeptCommandCounts:
    return decoded_or_none(encoded, KeptCommandCounts) or KeptCommandCounts()


def _used(heads: Iterable[CommandCount], known: frozenset[EntryHead]) -> tuple[EntryHead, ...]:
    """The checks of a project that were red in a session; others change nothing in it."""
    return tuple(sorted({count.head for count in heads} & known))
