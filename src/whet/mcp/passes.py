"""Passes for the open agent: it reads what a reader would, and what it claims is checked in the same way.

Nothing is approved here. What was handed out is remembered while the server runs; a new server hands it out again.
"""

from dataclasses import dataclass
from typing import NamedTuple

from whet.errors import WhetError
from whet.mcp.lessons import project_in
from whet.reading.answers import ReadAnswer, Shown
from whet.reading.learn import checked_answer, keep, keep_doubts
from whet.reading.passes import ProjectReading, cut_passes, gather, project_sessions, question_of
from whet.reading.readers import Question
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
    """A pass that was handed out: what it shows, of which project; without a reading it is the sceptic's."""

    question: Question
    shown: Shown
    reading: ProjectReading | None = None


class Handing:
    """The passes that a server has handed out."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._handed: dict[str, HandedPass] = {}

    def next_pass(self, folder: str) -> PassAnswer:
        """The next sessions of a folder's project that nobody has read, then the claims that nobody has doubted."""
        project = _project(folder)
        with opened(self._home) as database:
            sessions = project_sessions(database).get(project, [])
            reading = gather(self._home, database, project, sessions)._replace(told="")  # the host shows it already
            handed = _of_sessions(reading) or self._of_doubts(database, project)
        if handed is None:
            return PassAnswer("", "", "", 0)
        shown = handed.reading
        key = pass_key(project, [each.read for each in shown.unread] if shown else (), ())
        name = key if shown else f"doubts-{len(self._handed)}"
        self._handed = {**self._handed, name: handed}
        left = len(reading.unread) - (len(shown.unread) if shown else 0)
        return PassAnswer(name, handed.question.system, handed.question.order, left)

    def claim(self, pass_id: str, lines: str, *, final: bool) -> ClaimsAnswer:
        """Keep what an agent claims of a pass; where lines cannot be used it is told, unless these are its final ones."""
        handed = self._handed.get(pass_id)
        if handed is None:
            raise WhetError("No such pass is handed out.", advice="Call next_pass, and answer with its pass_id.")
        with opened(self._home) as database:
            answer = _answer(database, handed, lines)
            if answer.dropped and not final:
                advice = "Call claim again with all lines, put right, and final."
                return ClaimsAnswer(False, len(answer.claims), _faults(answer), advice)
            if handed.reading is not None:
                keep(database, handed.reading, (*answer.claims, *answer.dropped), READER)
            else:
                keep_doubts(database, handed.shown.project, doubts_of(lines, handed.shown), READER)
        self._handed = {key: each for key, each in self._handed.items() if key != pass_id}
        return ClaimsAnswer(True, len(answer.claims), _faults(answer), "Call next_pass for more.")

    def _of_doubts(self, database: Database, project: str) -> HandedPass | None:
        found = doubtful(database, project, project_sessions(database).get(project, []))
        if not found:
            return None
        asked = question_of_doubts(self._home, project, found)
        return HandedPass(asked.question, asked.shown)


def _project(folder: str) -> str:
    project = project_in(folder)
    if not project:
        raise WhetError("No project is named.", advice="Give a folder of the project.")
    return project


def _of_sessions(reading: ProjectReading) -> HandedPass | None:
    passes = cut_passes(reading, reading.unread, tokens=PASS_TOKENS)
    if not passes:
        return None
    asked = question_of(reading, passes[0], number=1, passes=len(passes))
    return HandedPass(asked.question, asked.shown, reading._replace(unread=passes[0]))


def _answer(database: Database, handed: HandedPass, lines: str) -> ReadAnswer:
    if handed.reading is None:
        doubts = doubts_of(lines, handed.shown)
        return ReadAnswer((*doubts.kept, *doubts.refused), doubts.dropped)
    return checked_answer(database, lines, handed.shown, [each.session for each in handed.reading.unread])


def _faults(answer: ReadAnswer) -> list[str]:
    return [f"{each.claim.rule or each.claim.id}: {each.why}" for each in answer.dropped[:FAULTS_SHOWN]]
