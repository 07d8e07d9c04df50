"""What was found in each session, kept so that only new and changed sessions are analysed.

In a team a row names its maker. What another member wrote in it is a stranger's word, and of one's own
sessions only what one made oneself is read.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.patches import digest
from whet.sessions.transcripts import Usage
from whet.shipped.kinds import known_troubles
from whet.store import derived
from whet.store.database import CannotWrite, Database
from whet.store.derived import FINDING, Derived, code_version
from whet.store.rows import Session
from whet.store.sessions import is_own
from whet.store.side_by_side import Progress, StoredTranscript, go_through
from whet.store.troubles import (
    FoundTrouble,
    ProjectChecks,
    keep_trouble,
    project_checks,
    trouble_found,
    trouble_of_session,
    with_other_checks,
)
from whet.trouble.course import Break
from whet.trouble.finding import gather_own
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.view import Analysis, ModelUse, analysis_of_view
from whet.trouble.values import TroubleKind
from whet.values import Value

FOUND = (Derived.ANALYSIS, Derived.SHORT, Derived.TROUBLE)
COUNTED = (Outcome.FAILED, Outcome.OK, Outcome.REJECTED)  # in the order of a ToolFact


class ToolFact(Value, frozen=True, array_like=True, gc=False):
    """How often a session called one tool, and how the calls ended."""

    tool: str
    calls: int
    failed: int
    ok: int = 0
    rejected: int = 0


class AnalysisInShort(Value, frozen=True, array_like=True, gc=False):
    """What was found in a session, without the places where it was found."""

    copied: bool  # nothing in it is its own
    tools: tuple[ToolFact, ...]
    cache_written: int = 0
    cache_written_hour: int = 0
    copied_messages: int = 0
    copied_usage: Usage = Usage()
    others: tuple[ModelUse, ...] = ()


def in_short(analysis: Analysis) -> AnalysisInShort:
    """What counts need of an analysis."""
    ended: dict[str, list[Outcome]] = {}
    for exchange in analysis.exchanges:
        ended.setdefault(exchange.tool, []).append(exchange.outcome)
    return AnalysisInShort(
        copied=analysis.copied.whole,
        tools=tuple(ToolFact(tool, len(each), *map(each.count, COUNTED)) for tool, each in ended.items()),
        cache_written=analysis.cache_written,
        cache_written_hour=analysis.cache_written_hour,
        copied_messages=analysis.copied.messages,
        copied_usage=analysis.copied.usage,
        others=analysis.others,
    )


def refresh(database: Database, *, progress: Progress, processors: int | None = None) -> int:
    """Analyse every session that is new, has grown or was analysed by an older version; how many there were."""
    waiting = derived.waiting(database, FOUND, analyses_version())
    if not waiting:
        return 0

    def keep(session: Session, found: FoundInSession | None) -> None:
        if found is not None:
            _keep(database, session, found)

    checks = project_checks(database)
    go_through(database, waiting, partial(_analyse, checks), keep, progress=progress, processors=processors)
    _find_again(database, checks, progress)
    return len(waiting)


def _find_again(database: Database, before: ProjectChecks, progress: Progress) -> None:
    """Go once more through sessions in which a command failed that is known for a check only now."""
    checks = project_checks(database)
    if checks != before:
        again = [session for session in with_other_checks(database, checks) if is_own(database, session)]
        _find_troubles(database, again, partial(_find_trouble, checks, {}), progress=progress)


def note_breaks(database: Database, sessions: Iterable[Session], breaks: Mapping[str, Sequence[Break]]) -> None:
    """Find the trouble of sessions once more that broke rules they were told, where it does not tell of that yet."""
    waiting = [each for each in sessions if not _tells_of(database, each, breaks[each.id])]
    if waiting:
        work = partial(_find_trouble, project_checks(database), breaks)
        with contextlib.suppress(CannotWrite):
            _find_troubles(database, waiting, work, progress=lambda _: None, processors=1)


def _find_troubles(
    database: Database,
    sessions: list[Session],
    work: Callable[[StoredTranscript], FoundTrouble],
    *,
    progress: Progress,
    processors: int | None = None,
) -> None:
    def keep(session: Session, found: FoundTrouble | None) -> None:
        if found is not None:
            keep_trouble(database, session, found, version=analyses_version())

    go_through(database, sessions, work, keep, progress=progress, processors=processors)


def _tells_of(database: Database, session: Session, breaks: Sequence[Break]) -> bool:
    """Whether so many broken rules are told of already; what is not analysed yet is not gone through either."""
    kept = trouble_of_session(database, session)
    if kept is None:
        return True
    told = {trouble.cause for trouble in kept.troubles if trouble.kind == TroubleKind.TOLD}
    return len(told) >= len({each.rule for each in breaks})


class FoundInSession(NamedTuple):
    """All that is kept of a session."""

    analysis: Analysis
    trouble: FoundTrouble


def analyses_version() -> str:
    """The version of what is kept of a session: another one where other packages add kinds."""
    added = [f"{row.name} {row.version}" for row in known_troubles()]
    return digest("\n".join((code_version(*FINDING), *sorted(added))))


def _analyse(checks: ProjectChecks, stored: StoredTranscript) -> FoundInSession:
    transcript = stored.decoded()
    own = gather_own(transcript, stored.copied)
    analysis = analysis_of_view(own.view, transcript, copied=stored.copied)
    return FoundInSession(analysis, trouble_found(own, checks, stored.judged))


def _find_trouble(
    checks: ProjectChecks, breaks: Mapping[str, Sequence[Break]], stored: StoredTranscript
) -> FoundTrouble:
    transcript = stored.decoded()
    return trouble_found(gather_own(transcript, stored.copied), checks, stored.judged, breaks.get(transcript.id, ()))


def is_behind(database: Database) -> bool:
    """Whether a session is not analysed as it is now."""
    return derived.is_any_waiting(database, FOUND, analyses_version())


def analysis_of(database: Database, session: Session) -> Analysis | None:
    return derived.value(database, Derived.ANALYSIS, session, Analysis)


def _keep(database: Database, session: Session, found: FoundInSession) -> None:
    analysis, version = found.analysis, analyses_version()
    if session.facts.run_key:  # a session of our own never counted what it took over
        analysis = replace(analysis, copied=replace(analysis.copied, usage=Usage()))
    derived.keep(database, Derived.ANALYSIS, session, analysis, version=version)
    derived.keep(database, Derived.SHORT, session, in_short(analysis), version=version)
    keep_trouble(database, session, found.trouble, version=version)
