"""The claims of a project, checked: its log against its sessions, its files and what a person refused.

What a sceptic sees of a claim: its words, what code counted, the messages around two quotes, and sampled hits.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.agents.registry import known
from whet.lessons.claim_checks import (
    SAID,
    ClaimReport,
    ProjectFacts,
    asked_names,
    backtest,
    backtest_by_quotes,
    check_claim,
    rank,
)
from whet.lessons.claim_evidence import OTHER_PROJECT, CheckedQuote, SessionCalls, check_quotes
from whet.lessons.claim_remedies import merged, without_refused
from whet.lessons.claims import DroppedClaim, FoldedClaims, Quote, fold_claims
from whet.lessons.finding import copied_sessions
from whet.lessons.rungs import Backtest
from whet.reading.project_files import ProjectClaims, repository_names, setting_lines, told_lines
from whet.sessions.transcripts import ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store.claims import keep_quote_checks, kept_quote_checks, reading_times
from whet.store.database import Database
from whet.store.rows import DamagedRow, Session
from whet.store.sessions import is_believed, load
from whet.store.teachings import session_calls
from whet.store.troubles import trouble_of_session
from whet.telling.context.finding import project_of
from whet.text.words import cut
from whet.trouble.values import SessionTrouble

QUOTES_SHOWN = 2
MESSAGES_AROUND = 15  # of each quote: five before it, the rest after it
BEFORE = 5
MESSAGE_LETTERS = 600
UNREADABLE = "its session cannot be read"


class DoubtedClaim(NamedTuple):
    """A claim as a sceptic sees it: what code found out about it, and the messages around two quotes, a text each."""

    report: ClaimReport
    messages: tuple[str, ...] = ()


def _around(quote: CheckedQuote, transcript: Transcript) -> Iterator[str]:
    """The messages around a quote, as they stand in its session, shortened: whose they are, words, calls, answers."""
    place = quote.quote.message
    first = max(0, place - BEFORE)
    for index, message in enumerate(transcript.messages[first : first + MESSAGES_AROUND], start=first):
        lines = [message.text] if message.text else []
        for part in message.parts:
            if isinstance(part, ToolCall):
                lines.append(f"call {part.name}: {part.arguments}")
            elif isinstance(part, ToolResult):
                lines.append(f"answer: {part.text}")
        mark = " <- quoted" if index == place else ""
        said = cut("\n".join(lines), MESSAGE_LETTERS)
        yield f"[{quote.quote.session[:8]} {index} {message.role.value}]{mark} {said}"


class CheckedClaims(NamedTuple):
    """The claims that held, most frequent first, and what was dropped with the reason."""

    reports: tuple[ClaimReport, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()


def checked_claims(database: Database, given: ProjectClaims) -> CheckedClaims:
    """Fold the log, check every claim, keep those that most sessions show, and look for them in later sessions."""
    folded = without_refused(merged(fold_claims(given.log)), given.refused)
    calls = session_calls(database, given.sessions, processors=1)
    facts = _facts(database, given, folded, calls)
    checked = [check_claim(each, facts) for each in folded.claims]
    held, beyond = rank(each for each in checked if isinstance(each, ClaimReport))
    dropped = (*folded.dropped, *(each for each in checked if isinstance(each, DroppedClaim)), *beyond)
    tests = _Backtests(database, given, calls, facts.copies)
    measured = ((each, replace(each.measures, backtest=tests.of(each))) for each in held)
    return CheckedClaims(tuple(replace(each, measures=measures) for each, measures in measured), dropped)


def dossiers(
    database: Database, reports: Iterable[ClaimReport], sessions: Iterable[Session]
) -> tuple[DoubtedClaim, ...]:
    """What a sceptic sees of these claims."""
    by_id = {session.id: session for session in sessions}
    found: list[DoubtedClaim] = []
    for report in reports:
        held = [each for each in report.quotes if each.quote.session in by_id]
        first: dict[str, CheckedQuote] = {}
        for each in held:
            first.setdefault(each.quote.session, each)
        quotes = tuple(dict.fromkeys((*first.values(), *held)))[:QUOTES_SHOWN]  # of two sessions, where there are two
        messages = (_around(each, load(database, by_id[each.quote.session])) for each in quotes)
        found.append(DoubtedClaim(report, tuple(chain.from_iterable(messages))))
    return tuple(found)


def _facts(
    database: Database, given: ProjectClaims, folded: FoldedClaims, calls: Mapping[str, SessionCalls]
) -> ProjectFacts:
    quotes = dict.fromkeys(quote for each in folded.claims for quote in (*each.claim.quotes, *each.against))
    return ProjectFacts(
        _checked_quotes(database, given, quotes),
        {id: each.calls for id, each in calls.items()},
        copied_sessions({id: each.opening for id, each in calls.items()}),
        told_lines(given.files),
        setting_lines(given.files),
        repository_names(given.files.root, asked_names(folded.claims)),
        {session.id: _began(session) for session in given.sessions},
    )


def _checked_quotes(database: Database, given: ProjectClaims, quotes: Iterable[Quote]) -> dict[Quote, CheckedQuote]:
    """Each quote with what was found of it: kept since it was looked up, or looked up now in its session."""
    sessions = {session.id: session for session in given.sessions}
    heads = {id: session.head for id, session in sessions.items()}
    found = kept_quote_checks(database, given.project, heads)
    waiting: dict[str, list[Quote]] = {}
    for quote in quotes:
        if quote.session not in sessions:
            found[quote] = CheckedQuote(quote, why=OTHER_PROJECT)
        elif quote not in found:
            waiting.setdefault(quote.session, []).append(quote)
    fresh = [each for id, asked in waiting.items() for each in _looked_up(database, sessions[id], tuple(asked))]
    if fresh:
        keep_quote_checks(database, fresh, heads)
    found.update({each.quote: each for each in fresh})
    vouched = {id for id, session in sessions.items() if _is_declared(database, session, given.declared)}
    printed = (quote for quote, each in found.items() if each.trust is Trust.TOOL and not each.is_said)
    return found | {quote: replace(found[quote], trust=Trust.AGENT) for quote in printed if quote.session in vouched}


def _looked_up(database: Database, session: Session, quotes: tuple[Quote, ...]) -> tuple[CheckedQuote, ...]:
    try:
        return check_quotes(quotes, load(database, session))
    except (DamagedRow, ValueError):
        return tuple(CheckedQuote(quote, why=UNREADABLE) for quote in quotes)


def _is_declared(database: Database, session: Session, declared: tuple[str, ...]) -> bool:
    """Whether the owner of a session's folder vouches for what its commands print."""
    if not declared or not session.folder or project_of(Path(session.folder), declared) is None:
        return False
    agent = known(session.source)
    return not (agent is not None and agent.is_in_projects) and is_believed(database, session)


def _began(session: Session) -> float:
    return session.started if session.started is not None else session.dated


class _Backtests:
    """Looks for lessons in the sessions that began after those which had been read when a lesson got its words."""

    def __init__(
        self, database: Database, given: ProjectClaims, calls: Mapping[str, SessionCalls], copies: Mapping[str, str]
    ) -> None:
        self._database = database
        self._sessions = [each for each in given.sessions if each.id not in copies]
        self._by_id = {each.id: each for each in self._sessions}
        self._calls, self._copies = calls, copies
        self._read = reading_times(database, given.project)
        self._troubles: dict[str, SessionTrouble | None] = {}

    def of(self, report: ClaimReport) -> Backtest | None:
        """None where no session is later."""
        later = self._later(report.standing.at)
        if not later:
            return None
        check = report.standing.claim.check
        if check is not None and report.is_checked:
            return backtest(check, {each.id: self._calls[each.id] for each in later}, self._trouble)
        if report.standing.claim.source not in SAID:
            return None
        read = {each.id for each in later if each.id in self._read}
        said: dict[str, int] = {}
        for each in report.quotes:
            id = self._copies.get(each.quote.session, each.quote.session)
            if id in read:
                said[id] = said.get(id, 0) + 1
        return backtest_by_quotes(len(read), said) if read else None

    def _trouble(self, id: str) -> SessionTrouble | None:
        if id not in self._troubles:
            self._troubles[id] = trouble_of_session(self._database, self._by_id[id])
        return self._troubles[id]

    def _later(self, at: float) -> list[Session]:
        """The sessions that began after every one that had been read by then."""
        until = max((_began(each) for each in self._sessions if self._read.get(each.id, at + 1) <= at), default=None)
        if until is None:
            return []
        return [each for each in self._sessions if _began(each) > until and each.id in self._calls]
