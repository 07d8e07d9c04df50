"""An audit with the sessions of the project: what agents did about each statement, how often the files were read."""

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from whet.lessons.statements.audit import Audit, ReadVolume
from whet.lessons.statements.records import CallsOnRecord, Records, calls_of, judge_by_records
from whet.lessons.statements.statement import AuditedStatement, StatementMark
from whet.store.database import Database
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.store.sessions import load
from whet.telling.targets.known_projects import KnownProjects
from whet.trouble.outcomes.view import gather

MOST_SESSIONS = 400  # the latest: what agents did long ago says little of the files as they stand
MONTH = 30 * 86_400.0
Progress = Callable[[int, int], None]
"""Told how many sessions were read, of how many."""
LATE = (StatementMark.FOLLOWED, StatementMark.NEVER)


def _silent(_done: int, _every: int) -> None:
    return


def audit_with_sessions(database: Database, audit: Audit, *, now: float, progress: Progress = _silent) -> Audit:
    """The audit with what the stored sessions of its project show; as it was where there are none."""
    sessions = _sessions_of(database, Path(audit.root))
    if not sessions:
        return audit
    return judged_by_sessions(audit, tuple(_calls(database, sessions, progress)), now=now)


def judged_by_sessions(audit: Audit, calls: tuple[CallsOnRecord, ...], *, now: float) -> Audit:
    """The audit with what these sessions show."""
    records = Records(calls)
    recent = [each for each in calls if each.at >= now - MONTH]
    volume = ReadVolume(len(recent), sum(each.turns for each in recent), len(calls))
    statements = tuple(_with_records(each, records, volume) for each in audit.statements)
    return replace(audit, statements=statements, volume=volume)


def _with_records(audited: AuditedStatement, records: Records, volume: ReadVolume) -> AuditedStatement:
    found = judge_by_records(audited, records)
    known = audited.findings
    if known:  # a grave mark needs no word on whether it came up
        found = tuple(each for each in found if each.mark not in LATE)
    return replace(audited, findings=(*known, *found), tokens_month=audited.statement.tokens * volume.turns)


def _sessions_of(database: Database, root: Path) -> list[Session]:
    known = KnownProjects(database)
    name = known.identity(str(root))
    every = list_sessions(database, Filters(), limit=count_sessions(database, Filters()))
    return [each for each in every if each.folder and known.identity(each.folder) == name][:MOST_SESSIONS]


def _calls(database: Database, sessions: list[Session], progress: Progress) -> Iterator[CallsOnRecord]:
    for done, session in enumerate(sessions, 1):
        progress(done, len(sessions))
        yield calls_of(session.id, gather(load(database, session)))
