"""What the sessions of the store teach, project by project: candidates with their evidence, and a draft of each."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from whet.context.finding import find_files
from whet.context.projects import project_of
from whet.improving.learned_forms import patch_in_form
from whet.ledger.patches import Patch
from whet.lessons.candidates import MOST, LessonCandidate, candidates
from whet.lessons.conflicts import LessonConflict, conflicts, contradicted
from whet.lessons.drafts import LessonDraft, drafts_of
from whet.lessons.finding import Openings, SessionTeaching
from whet.lessons.forms import in_form
from whet.lessons.instructions import Instructions, is_broken
from whet.lessons.pieces import LessonPiece, LessonSource, lifted
from whet.lessons.procedure_drafts import procedure_lesson
from whet.lessons.procedures import names_all, procedures
from whet.lessons.worked_orders import WorkedOrder
from whet.sessions.transcripts import Purpose
from whet.store.database import CannotWrite, Database
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.recording import SOURCE
from whet.store.rows import Session
from whet.store.sessions import is_believed, is_own
from whet.store.teachings import keep_teachings, kept_teachings
from whet.targets.project_names import name_of_project
from whet.values import Value

BEHIND = frozenset((Purpose.TRIAL, Purpose.REVIEW))
LARGE = 100  # sessions: a project of more gets twice as many candidates


class TaughtLesson(Value, frozen=True):
    """One candidate of a project with its draft. `stands_in` names the file that says it already.

    It is broken where evidence came after the file said it. In a conflict, somebody said the contrary. What several
    projects teach alike belongs to none of them, and names them all.
    """

    project: str
    candidate: LessonCandidate
    agents: tuple[str, ...]
    draft: LessonDraft | None = None
    stands_in: str = ""
    stands_as: str = ""  # the line that says it
    is_broken: bool = False
    conflict: LessonConflict | None = None
    projects: tuple[str, ...] = ()

    @property
    def patch(self) -> Patch | None:
        """What is proposed; nothing where the project's own files say it already, or people contradict each other."""
        if self.draft is None or self.stands_in or self.conflict:
            return None
        return patch_in_form(self.draft, self.candidate, self.project)


def place_of(lesson: TaughtLesson) -> str:
    """Where a lesson was learned, in words."""
    return f"{len(lesson.projects)} projects" if lesson.projects else lesson.project or "no project"


class _ProjectEvidence:
    """What is gathered of one project while its sessions stream by."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.pieces: list[LessonPiece] = []
        self.said_by_others: list[LessonPiece] = []  # shown where it contradicts, and learned from nowhere
        self.instructions = Instructions()
        self.openings = Openings()
        self.orders: list[WorkedOrder] = []
        self.is_declared = True  # by all of its sessions
        self.agents: dict[str, str] = {}
        self.folder = ""

    def add(self, session: Session, teaching: SessionTeaching, *, is_own: bool, is_declared: bool) -> None:
        self.openings.see(session.id, teaching.opening)
        self.agents[session.id] = session.source
        for piece in teaching.pieces:
            is_others = piece.source is LessonSource.PERSON and not is_own
            (self.said_by_others if is_others else self.pieces).append(lifted(piece) if is_declared else piece)
        self.instructions.add(teaching.instructions)
        self.orders += teaching.orders
        self.is_declared = self.is_declared and is_declared
        self.folder = session.folder or self.folder

    def conflicts(self) -> tuple[LessonConflict, ...]:
        return conflicts((*self.pieces, *self.said_by_others))

    def lessons(self) -> Iterator[TaughtLesson]:
        most = 2 * MOST if len(self.agents) > LARGE else MOST
        files = tuple(_files(self.folder))
        for path, text in files:
            self.instructions.add_file(path, text)
        contradicting = self.conflicts()
        for candidate, draft in drafts_of(candidates(self.pieces, self.openings.copies, most=most)):
            agents = self._agents_of(candidate)
            draft = in_form(draft, has_notes=agents == (SOURCE,)) if draft else None
            line = self.instructions.standing(draft.text) if draft else None
            yield TaughtLesson(
                self.project,
                candidate,
                agents,
                draft,
                stands_in=line.path if line else "",
                stands_as=line.line if line else "",
                is_broken=line is not None and is_broken(line, candidate.pieces),
                conflict=contradicted(draft.text, contradicting) if draft else None,
            )
        yield from self._procedures(files)

    def _procedures(self, files: Iterable[tuple[str, str]]) -> Iterator[TaughtLesson]:
        for found in procedures(self.orders, self.openings.copies):
            candidate, draft = procedure_lesson(found, self.project, is_declared=self.is_declared)
            said = found.stands_in or next((path for path, text in files if names_all(text, found)), "")
            yield TaughtLesson(self.project, candidate, self._agents_of(candidate), draft, stands_in=said)

    def _agents_of(self, candidate: LessonCandidate) -> tuple[str, ...]:
        return tuple(sorted({self.agents[piece.session] for piece in candidate.pieces}))


def taught(
    database: Database, filters: Filters, *, project: str = "", declared: tuple[str, ...] = ()
) -> tuple[TaughtLesson, ...]:
    """What sessions teach, by project, the most promising first; of one project where a part of its name is given.

    In the folders that their owner declared, what commands print is believed as the agent is.
    """
    found = _gather(database, filters, project, declared)
    return tuple(lesson for each in found for lesson in each.lessons())


def contradictions(database: Database, filters: Filters, *, project: str = "") -> dict[str, tuple[LessonConflict, ...]]:
    """Where people contradict each other or themselves, by project."""
    found = {each.project: each.conflicts() for each in _gather(database, filters, project, ())}
    return {name: conflicts for name, conflicts in found.items() if conflicts}


def _gather(
    database: Database, filters: Filters, project: str, declared: tuple[str, ...]
) -> tuple[_ProjectEvidence, ...]:
    with contextlib.suppress(CannotWrite):  # what is kept already can be read on a full disk too
        keep_teachings(database)
    gathered: dict[str, _ProjectEvidence] = {}
    names: dict[str, str] = {}
    every = reversed(list_sessions(database, filters, limit=count_sessions(database, filters)))
    sessions = [session for session in every if session.purpose not in BEHIND]
    for session in sessions:
        names.setdefault(session.folder, name_of_project(session.folder))
    chosen = [session for session in sessions if project in names[session.folder]]
    for session, teaching in kept_teachings(database, chosen):
        name = names[session.folder]
        evidence = gathered.setdefault(name, _ProjectEvidence(name))
        is_declared = _is_declared(database, session, declared)
        evidence.add(session, teaching, is_own=is_own(database, session), is_declared=is_declared)
    return tuple(gathered.values())


def _is_declared(database: Database, session: Session, declared: tuple[str, ...]) -> bool:
    if not declared or not session.folder or not is_believed(database, session):
        return False
    return project_of(Path(session.folder), declared) is not None


def _files(folder: str) -> Iterable[tuple[str, str]]:
    """The files that the project has for agents, where it is on this machine."""
    if not folder or not Path(folder).is_dir():
        return ()
    return tuple((str(each.path), each.text) for each in find_files(Path(folder)))
