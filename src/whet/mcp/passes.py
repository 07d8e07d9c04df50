"""Passes for the open agent: it reads what a reader would, and what it claims is checked in the same way.

Nothing is approved here.
"""

from dataclasses import dataclass
from typing import NamedTuple

from whet.errors import WhetError
from whet.ledger.patches import digest
from whet.mcp.lessons import project_in
from whet.reading.answers import ClaimsRead, Shown
from whet.reading.learn import checked_answer, keep, keep_doubts
from whet.reading.passes import ProjectReading, cut_passes, gather, question_of
from whet.reading.project_files import project_sessions
from whet.reading.readers import ReaderQuestion
from whet.reading.sceptic import doubtful, doubts_of, question_of_doubts
from whet.store.claims import pass_key
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened

PASS_TOKENS = 12_000  # what hosts let a tool answer
READER = "the open agent"
FAULTS_SHOWN = 20


@dataclass(frozen=True)
class PassAnswer:
    """What is to be read next. `pass_id` is empty where nothing is left; `data` stands between marks."""

    pass_id: str
    how_to_answer: str
    data: str
    sessions_left: int


@dataclass(frozen=True)
class ClaimsAnswer:
    """What became of an answer. Where lines could not be used, nothing is kept before the call with final."""

    is_kept: bool
    claims: int
    not_used: list[str]
    next: str


class HandedPass(NamedTuple):
    """A pass for the open agent: what it shows, and of which sessions; without a reading it is the sceptic's."""

    id: str
    question: ReaderQuestion
    shown: Shown
    reading: ProjectReading | None = None
    left: int = 0  # sessions for later passes


def next_pass(home: Home, folder: str) -> PassAnswer:
    """The next sessions of a folder's project that nobody has read, then the claims that nobody has doubted."""
    with opened(home) as database:
        handed = _next(home, database, folder)
    if handed is None:
        return PassAnswer("", "", "", 0)
    return PassAnswer(handed.id, handed.question.system, handed.question.order, handed.left)


def claim(home: Home, folder: str, pass_id: str, lines: str, *, final: bool) -> ClaimsAnswer:
    """Keep what an agent claims of a pass; of lines that cannot be used it is told first, unless they are final."""
    with opened(home) as database:
        handed = _next(home, database, folder)
        if handed is None or handed.id != pass_id:
            raise WhetError("That is not the next pass.", advice="Call next_pass, and answer with its pass_id.")
        answer = _answer(database, handed, lines)
        if answer.dropped and not final:
            advice = "Call claim again with all lines, put right, and final."
            return ClaimsAnswer(False, len(answer.claims), _faults(answer), advice)
        if handed.reading is not None:
            keep(database, handed.reading, answer, READER)
        else:
            keep_doubts(database, handed.shown.project, doubts_of(lines, handed.shown), READER)
    return ClaimsAnswer(True, len(answer.claims), _faults(answer), "Call next_pass for more.")


def _next(home: Home, database: Database, folder: str) -> HandedPass | None:
    """The same pass for the same sessions and claims, so that nothing has to be remembered of what was handed out."""
    project = _project(folder)
    sessions = project_sessions(database).get(project, [])
    reading = gather(home, database, project, sessions)._replace(told="")  # the host shows it already
    passes = cut_passes(reading, reading.unread, tokens=PASS_TOKENS)
    if passes:
        asked = question_of(reading, passes[0], number=1, passes=len(passes))
        key = pass_key(project, [each.read() for each in passes[0]])
        left = len(reading.unread) - len(passes[0])
        return HandedPass(key, asked.question, asked.shown, reading._replace(unread=passes[0]), left)
    found = doubtful(home, database, project, sessions)
    if not found:
        return None
    asked = question_of_doubts(home, project, found)
    return HandedPass(digest("\n".join(sorted(asked.shown.claims))), asked.question, asked.shown)


def _project(folder: str) -> str:
    project = project_in(folder)
    if not project:
        raise WhetError("No project is named.", advice="Give a folder of the project.")
    return project


def _answer(database: Database, handed: HandedPass, lines: str) -> ClaimsRead:
    if handed.reading is None:
        doubts = doubts_of(lines, handed.shown)
        return ClaimsRead((*doubts.kept, *doubts.refused), doubts.dropped)
    return checked_answer(database, lines, handed.shown, [each.session for each in handed.reading.unread])


def _faults(answer: ClaimsRead) -> list[str]:
    return [f"{each.claim.rule or each.claim.id}: {each.why}" for each in answer.dropped[:FAULTS_SHOWN]]
