"""The checks that Hermes saw pass or fail in its sessions, kept in a database beside `state.db`."""

from whet.importers import databases, tables
from whet.importers.source import Source, Unreadable
from whet.sessions.transcripts import RecordedCheck
from whet.text import fields

FILE = "verification_evidence.db"
COLUMNS = frozenset({"session_id", "command", "status"})
STATUSES = {"passed": True, "failed": False}

Checks = dict[str, tuple[RecordedCheck, ...]]


def load(source: Source) -> Checks:
    """The checks by session, oldest first; Hermes keeps 10,000 of them at most."""
    path = source.path.with_name(FILE)
    if not path.is_file():
        return {}
    checks: Checks = {}
    try:
        with databases.opened(path) as connection:
            if not tables.columns(connection, "verification_events") >= COLUMNS:
                return {}
            for row in tables.rows(connection, "SELECT * FROM verification_events ORDER BY rowid"):
                session = fields.text(row, "session_id")
                checks[session] = (*checks.get(session, ()), _check(row))
    except Unreadable as error:
        source.skip(f"{FILE}: {error}")
    return checks


def _check(row: dict[str, object]) -> RecordedCheck:
    exit_code = fields.code(row, "exit_code")
    facts = (
        fields.text(row, "kind"),
        fields.text(row, "scope"),
        "" if exit_code is None else f"exit code {exit_code}",
    )
    return RecordedCheck(
        name=fields.text(row, "canonical_command", "command"),
        passed=STATUSES.get(fields.text(row, "status")),
        detail=", ".join(filter(None, facts)),
    )
