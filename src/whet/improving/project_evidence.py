"""What one project teaches: candidates with their evidence, a draft of each, and where people contradict each other."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from whet.improving.learned_forms import patch_in_form
from whet.ledger.entries import State
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Patch
from whet.lessons.bearing_out import bearing_out
from whet.lessons.candidates import MOST, LessonCandidate, candidates
from whet.lessons.conflicts import LessonConflict, conflicts, contradicted
from whet.lessons.drafts import LessonDraft, drafts_of
from whet.lessons.finding import Openings, SessionTeaching
from whet.lessons.forms import in_form
from whet.lessons.instructions import Instructions, is_broken
from whet.lessons.pieces import LessonPiece, LessonSource, lifted
from whet.lessons.presence import missing_name
from whet.lessons.procedure_drafts import procedure_lesson
from whet.lessons.procedures import names_all, procedures
from whet.lessons.worked_orders import WorkedOrder
from whet.store.recording import SOURCE
from whet.store.rows import Session
from whet.values import Value

LARGE = 100  # sessions: a project of more gets twice as many candidates


class ProjectFile(NamedTuple):
    """A file that a project has for agents, and since when it stands as it is."""

    path: str
    text: str
    at: float | None = None


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
    patch: Patch | None = None  # what is proposed


class ProjectLessons(Value, frozen=True):
    """All that one project teaches, and where people contradict each other or themselves in it."""

    project: str
    lessons: tuple[TaughtLesson, ...] = ()
    conflicts: tuple[LessonConflict, ...] = ()


def proposing(lesson: TaughtLesson) -> TaughtLesson:
    """With what it proposes; nothing where the project's own files say it already, or people contradict each other.

    What the ledger would refuse, whatever stands in it, is no draft: nobody is offered what they cannot have.
    """
    if lesson.draft is None or lesson.stands_in or lesson.conflict:
        return lesson
    patch = patch_in_form(lesson.draft, lesson.candidate, lesson.project)
    if any(fault.kind is not FaultKind.TRUST for fault in faults(patch, State())):
        return replace(lesson, draft=None)
    return replace(lesson, patch=patch)


def place_of(lesson: TaughtLesson) -> str:
    """Where a lesson was learned, in words."""
    return f"{len(lesson.projects)} projects" if lesson.projects else lesson.project or "no project"


class ProjectEvidence:
    """What is gathered of one project while its sessions stream by."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.pieces: list[LessonPiece] = []
        self.said_by_others: list[LessonPiece] = []  # shown where it contradicts, and learned from nowhere
        self.instructions = Instructions()
        self.openings = Openings()
        self.orders: list[WorkedOrder] = []
        self.present: set[str] = set()
        self.is_declared = True  # by all of its sessions
        self.agents: dict[str, str] = {}

    def add(self, session: Session, teaching: SessionTeaching, *, is_own: bool, is_declared: bool) -> None:
        self.openings.see(session.id, teaching.opening)
        self.agents[session.id] = session.source
        for piece in teaching.pieces:
            is_others = piece.source is LessonSource.PERSON and not is_own
            (self.said_by_others if is_others else self.pieces).append(lifted(piece) if is_declared else piece)
        self.instructions.add(teaching.instructions)
        self.orders += teaching.orders
        self.present |= {*teaching.present}
        self.is_declared = self.is_declared and is_declared

    def taught(self, files: tuple[ProjectFile, ...]) -> ProjectLessons:
        """What all of it teaches, where the project has these files for agents."""
        contradicting = conflicts((*self.pieces, *self.said_by_others))
        found = sorted(self._lessons(files, contradicting), key=lambda each: -each.candidate.worth)
        return ProjectLessons(self.project, tuple(map(proposing, found)), contradicting)

    def _lessons(
        self, files: tuple[ProjectFile, ...], contradicting: tuple[LessonConflict, ...]
    ) -> Iterator[TaughtLesson]:
        most = 2 * MOST if len(self.agents) > LARGE else MOST
        for file in files:
            self.instructions.add_file(*file)
        pieces = [replace(piece, is_refuted=missing_name(piece) in self.present) for piece in self.pieces]
        for candidate, draft in drafts_of(candidates(pieces, self.openings.copies, most=most)):
            if draft is not None:
                candidate = bearing_out(candidate, draft, self.openings.copies)
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

    def _procedures(self, files: Iterable[ProjectFile]) -> Iterator[TaughtLesson]:
        for found in procedures(self.orders, self.openings.copies):
            candidate, draft = procedure_lesson(found, self.project, is_declared=self.is_declared)
            said = found.stands_in or next((file.path for file in files if names_all(file.text, found)), "")
            yield TaughtLesson(self.project, candidate, self._agents_of(candidate), draft, stands_in=said)

    def _agents_of(self, candidate: LessonCandidate) -> tuple[str, ...]:
        return tuple(sorted({self.agents[piece.session] for piece in candidate.pieces}))
