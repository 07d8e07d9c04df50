"""What one project teaches, and what several teach alike: lessons with their evidence, and where people disagree."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.improving.learned_forms import in_form, patch_in_form
from whet.ledger.entries import State
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Form
from whet.lessons.bearing_out import bearing_out
from whet.lessons.candidates import MOST, PIECES_KEPT, LessonEvidence, candidates
from whet.lessons.conflicts import LessonConflict, conflicts, contradicted
from whet.lessons.drafts import LessonDraft, draft_of, drafts_of
from whet.lessons.finding import Openings, SessionTeaching
from whet.lessons.instructions import Instructions, is_broken
from whet.lessons.pieces import LessonPiece, LessonSource, lifted
from whet.lessons.presence import missing_name
from whet.lessons.procedure_drafts import procedure_lesson
from whet.lessons.procedures import names_all, procedures
from whet.lessons.record import (
    DroppedLesson,
    Lesson,
    LessonChecks,
    OpenEvidence,
    ProjectLessons,
    SeenBy,
    id_of,
    open_id,
)
from whet.lessons.worked_orders import WorkedOrder
from whet.sessions.trust import lowest
from whet.store.recording import SOURCE
from whet.store.rows import Session
from whet.text.likeness import Sense, is_same, sense

PROJECTS_NEEDED = 3  # that teach a thing alike, before it is told everywhere
_HERE_FIRST = re.compile(r"^In this project (\w)")
_HERE = re.compile(r" in this project\b")
LARGE = 100  # sessions: a project of more gets twice as many candidates


class ProjectFile(NamedTuple):
    """A file that a project has for agents, and since when it stands as it is."""

    path: str
    text: str
    at: float | None = None


SAID_ALREADY = "another lesson of the project says the same"


def lesson_of(
    draft: LessonDraft, evidence: LessonEvidence, project: str, seen_by: SeenBy, checks: LessonChecks
) -> Lesson | DroppedLesson:
    """The lesson that a draft makes; what the ledger would refuse, whatever stands in it, is dropped with a reason."""
    patch = patch_in_form(draft, evidence, project, seen_by.place)
    wrong = [fault.message for fault in faults(patch, State()) if fault.kind is not FaultKind.TRUST]
    if wrong:
        return DroppedLesson(project, draft.text, "; ".join(wrong), evidence)
    id = id_of(project, draft.text)
    return Lesson(id, project, draft.text, draft.situation, draft.fix, patch, evidence, seen_by, checks)


class ProjectEvidence:
    """What is gathered of one project while its sessions stream by."""

    def __init__(self, project: str, place: str = "") -> None:
        self.project = project
        self.place = place or project  # as people read it
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
        made = list(self._made(files, contradicting))
        lessons = {each.id: each for each in made if isinstance(each, Lesson)}
        return ProjectLessons(
            self.project,
            tuple(sorted(lessons.values(), key=lambda each: -each.evidence.worth)),
            tuple(each for each in made if isinstance(each, OpenEvidence)),
            tuple(each for each in made if isinstance(each, DroppedLesson)),
            contradicting,
        )

    def _made(
        self, files: tuple[ProjectFile, ...], contradicting: tuple[LessonConflict, ...]
    ) -> Iterator[Lesson | OpenEvidence | DroppedLesson]:
        most = 2 * MOST if len(self.agents) > LARGE else MOST
        for file in files:
            self.instructions.add_file(*file)
        pieces = [replace(piece, is_refuted=missing_name(piece) in self.present) for piece in self.pieces]
        for evidence, draft in drafts_of(candidates(pieces, self.openings.copies, most=most)):
            if draft is not None:
                yield self._lesson(draft, bearing_out(evidence, draft, self.openings.copies), contradicting)
            elif (said := draft_of(evidence)) is not None:
                yield DroppedLesson(self.project, said.text, SAID_ALREADY, evidence)
            else:
                yield OpenEvidence(
                    open_id(self.project, evidence),
                    self.project,
                    evidence,
                    SeenBy(self._agents_of(evidence), place=self.place),
                )
        yield from self._procedures(files)

    def _lesson(
        self, draft: LessonDraft, evidence: LessonEvidence, contradicting: tuple[LessonConflict, ...]
    ) -> Lesson | DroppedLesson:
        agents = self._agents_of(evidence)
        draft = in_form(draft, has_notes=agents == (SOURCE,))
        line = self.instructions.standing(draft.text)
        checks = LessonChecks(
            stands_in=line.path if line else "",
            stands_as=line.line if line else "",
            is_broken=line is not None and is_broken(line, evidence.pieces),
            conflict=contradicted(draft.text, contradicting),
        )
        return lesson_of(draft, evidence, self.project, SeenBy(agents, place=self.place), checks)

    def _procedures(self, files: Iterable[ProjectFile]) -> Iterator[Lesson | DroppedLesson]:
        for found in procedures(self.orders, self.openings.copies):
            evidence, draft = procedure_lesson(found, self.place, is_declared=self.is_declared)
            said = found.stands_in or next((file.path for file in files if names_all(file.text, found)), "")
            checks = LessonChecks(stands_in=said)
            yield lesson_of(draft, evidence, self.project, SeenBy(self._agents_of(evidence), place=self.place), checks)

    def _agents_of(self, evidence: LessonEvidence) -> tuple[str, ...]:
        return tuple(sorted({self.agents[piece.session] for piece in evidence.pieces}))


class _Alike:
    """Lessons of different projects that say the same, found by the words that they share."""

    def __init__(self) -> None:
        self.groups: list[list[Lesson]] = []
        self._senses: list[Sense] = []
        self._by_word: dict[str, list[int]] = {}  # the groups whose first lesson has a word

    def add(self, lesson: Lesson, meant: Sense) -> None:
        """Into the first group that says the same, or into one of its own."""
        places = sorted({place for word in meant.words for place in self._by_word.get(word, ())})
        alike = next((place for place in places if is_same(meant, self._senses[place])), None)
        if alike is not None:
            self.groups[alike].append(lesson)
            return
        for word in meant.words:
            self._by_word.setdefault(word, []).append(len(self.groups))
        self.groups.append([lesson])
        self._senses.append(meant)


def gathered(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """The lessons, with one in the place of those that three projects or more teach; that one comes first."""
    found = _Alike()
    for lesson in lessons:
        if not lesson.is_proposable or not lesson.project or lesson.patch.form is not Form.RULE:
            continue  # a note is told everywhere, and a procedure is that of one project
        found.add(lesson, sense(anywhere(lesson.rule)))
    shared = [group for group in found.groups if len({each.project for each in group}) >= PROJECTS_NEEDED]
    made = [(one, group) for group in shared if (one := _one(group)) is not None]
    gone = {id(each) for _, group in made for each in group}
    return (*(one for one, _ in made), *(lesson for lesson in lessons if id(lesson) not in gone))


def anywhere(text: str) -> str:
    """A rule without the words that tie it to one project."""
    return _HERE.sub("", _HERE_FIRST.sub(lambda found: found[1].upper(), text))


def _one(group: Sequence[Lesson]) -> Lesson | None:
    """The lesson of all these projects: the words of the best, the evidence of all, the lowest trust among them."""
    best = max(group, key=lambda each: each.evidence.worth)
    trust = lowest(each.trust for each in group)
    # The first pieces of each project in turn, so that as many of them as can be are among the evidence.
    most = max(1, PIECES_KEPT // len(group))
    evidence = replace(
        best.evidence,
        pieces=tuple(piece for each in group for piece in each.evidence.pieces[:most])[:PIECES_KEPT],
        sessions=sum(each.sessions for each in group),
        worth=max(each.evidence.worth for each in group),
    )
    agents = tuple(sorted({agent for each in group for agent in each.seen_by.agents}))
    seen_by = SeenBy(agents, tuple(sorted({each.project for each in group})))
    draft = LessonDraft(LessonSource(best.origin.basis), best.situation, best.fix, anywhere(best.rule), trust)
    made = lesson_of(draft, evidence, "", seen_by, LessonChecks())
    return made if isinstance(made, Lesson) else None
