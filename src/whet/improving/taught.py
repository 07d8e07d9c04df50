"""What the sessions of the store teach, project by project: kept, and made anew only where something changed.

What one project teaches, and what several teach alike: lessons with their evidence.
"""

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agents.registry import known as known_agent
from whet.ledger.patches import (
    Form,
)
from whet.lessons.changed_calls import SessionChanges
from whet.lessons.finding import SessionOpening, SessionTeaching, copied_sessions
from whet.lessons.instructions import SeenInstruction, earliest, instruction_lines, is_broken, saying
from whet.lessons.record import (
    PIECES_KEPT,
    Lesson,
    LessonChecks,
    LessonEvidence,
    LessonPiece,
    LessonSource,
    ProjectLessons,
    SeenBy,
    drafted,
    lifted,
    project_lessons,
)
from whet.lessons.taught_rules import rule_draft, rules_taught
from whet.reading.project_files import written_at
from whet.sessions.transcripts import OWN_PURPOSES
from whet.sessions.trust import lowest
from whet.store.database import CannotWrite, Database
from whet.store.derived import LEARNING, code_version
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.store.sessions import is_believed, is_own
from whet.store.teachings import (
    drop_other_lessons,
    keep_lessons,
    keep_teachings,
    kept_lessons,
    kept_teachings,
    teaching_stamps,
)
from whet.telling.context.finding import find_files, project_of
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import repository_root
from whet.text.likeness import TellingWords, is_same, sense

PROJECTS_NEEDED = 3  # that teach a thing alike, before it is told everywhere
_HERE = re.compile(r" here\b")


class ProjectEvidence:
    """What is gathered of one project while its sessions stream by."""

    def __init__(self, project: str, place: str = "") -> None:
        self.project = project
        self.place = place or project  # as people read it
        self.said: list[LessonPiece] = []
        self.changes: dict[str, SessionChanges] = {}
        self.instructions: list[SeenInstruction] = []
        self.openings: dict[str, SessionOpening | None] = {}
        self.agents: dict[str, str] = {}

    def add(self, session: str, agent: str, teaching: SessionTeaching, *, is_own: bool, is_declared: bool) -> None:
        """Take in what the session of an agent teaches."""
        self.openings[session] = teaching.opening
        self.agents[session] = agent
        self.instructions = earliest((*self.instructions, *teaching.instructions))  # most sessions have the same
        if is_own:  # what others said is learned from nowhere
            self.said.extend(teaching.pieces)
        changed = teaching.changes.changed
        if is_declared:
            changed = tuple(replace(each, trust=lifted(each.trust)) for each in changed)
        self.changes[session] = replace(teaching.changes, changed=changed)

    def taught(self, lines: Iterable[SeenInstruction]) -> ProjectLessons:
        """What all of it teaches, where these lines stand in files for agents; a copy is no further evidence."""
        self.instructions = earliest((*self.instructions, *lines))
        copies = copied_sessions(self.openings)
        changes = {session: each for session, each in self.changes.items() if session not in copies}
        said = [piece for piece in self.said if piece.session not in copies]
        return project_lessons(self.project, map(self._lesson, rules_taught(self.project, changes, said)))

    def _lesson(self, draft: Lesson) -> Lesson:
        line, pieces = saying(draft.rule, self.instructions), draft.evidence.pieces
        checks = LessonChecks(line.path, line.line, is_broken(line, pieces)) if line else LessonChecks()
        seen_by = SeenBy(tuple(sorted({self.agents[piece.session] for piece in pieces})), place=self.place)
        return drafted(replace(draft, seen_by=seen_by, checks=checks))


Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Where nobody looks on."""


class _HeldSession(NamedTuple):
    """A session of a project, and how far it is believed."""

    session: Session
    is_own: bool
    is_declared: bool

    @property
    def stamp(self) -> tuple[object, ...]:
        """What of it decides over what is learned, beside its messages."""
        return self.session.id, self.session.source, self.session.maker, self.is_own, self.is_declared


def taught_by_projects(
    database: Database,
    filters: Filters,
    *,
    project: str = "",
    declared: tuple[str, ...] = (),
    progress: Progress = silent,
) -> tuple[ProjectLessons, ...]:
    """What each project teaches, read where it is kept and nothing that it was made from has changed.

    In the folders that their owner declared, what commands print is believed as the agent is. What is asked of some
    sessions alone is not kept: it would take the place of what all of them teach.
    """
    with contextlib.suppress(CannotWrite):  # what is kept already can be read on a full disk too
        keep_teachings(database, processors=1)
    known = KnownProjects(database)
    held = _held(database, filters, known, project, declared)
    stamps = teaching_stamps(database)
    found: list[ProjectLessons] = []
    for name, sessions in held.items():
        folder = next((each.session.folder for each in reversed(sessions) if each.session.folder), "")
        lines = tuple(_lines(folder))
        place = known.shown(name)
        seen = [(*each.stamp, stamps.get(each.session.no)) for each in sessions]
        key = key_of_lessons(name, place, lines, seen)
        lessons = kept_lessons(database, name, key, ProjectLessons)
        if lessons is None:
            lessons = _made(database, ProjectEvidence(name, place), sessions, lines)
            if not any(filters):
                keep_lessons(database, name, key, (each.session.no for each in sessions), lessons)
        found.append(lessons)
        progress(len(found), len(held))
    if not any(filters) and not project:
        drop_other_lessons(database, held)
    return tuple(found)


def _held(
    database: Database, filters: Filters, known: KnownProjects, project: str, declared: tuple[str, ...]
) -> dict[str, list[_HeldSession]]:
    """The sessions of each project, the oldest first."""
    held: dict[str, list[_HeldSession]] = {}
    declarations: dict[str, bool] = {}
    for session in reversed(list_sessions(database, filters, limit=count_sessions(database, filters))):
        folder = session.folder
        name = known.identity(folder)
        if folder not in declarations:
            declarations[folder] = bool(declared and folder) and project_of(Path(folder), declared) is not None
        if session.purpose in OWN_PURPOSES or not known.is_named(name, project):
            continue
        agent = known_agent(session.source)
        lies_there = agent is not None and agent.is_in_projects  # its record may have come with the project
        is_declared = declarations[folder] and not lies_there and is_believed(database, session)
        held.setdefault(name, []).append(_HeldSession(session, is_own(database, session), is_declared))
    return held


def key_of_lessons(*made_from: object) -> str:
    """What tells lessons from those that another version or other sessions, files and decisions would make."""
    return hashlib.blake2b(msgspec.json.encode((code_version(*LEARNING), made_from)), digest_size=16).hexdigest()


def _made(
    database: Database, evidence: ProjectEvidence, sessions: list[_HeldSession], lines: tuple[SeenInstruction, ...]
) -> ProjectLessons:
    teachings = kept_teachings(database, [each.session for each in sessions])
    for held, (_, teaching) in zip(sessions, teachings, strict=True):
        evidence.add(held.session.id, held.session.source, teaching, is_own=held.is_own, is_declared=held.is_declared)
    return evidence.taught(lines)


def _lines(folder: str) -> Iterator[SeenInstruction]:
    """What the files of a project for agents say, where it is on this machine, and since when at least."""
    if folder and Path(folder).is_dir():
        root = repository_root(Path(folder).resolve()) or Path(folder)
        for each in find_files(Path(folder)):
            yield from instruction_lines(str(each.path), each.text, written_at(root / each.path))


class _Alike:
    """Lessons of different projects that say the same, found by the words that they share."""

    def __init__(self) -> None:
        self.groups: list[list[Lesson]] = []
        self._senses: list[TellingWords] = []
        self._by_word: dict[str, list[int]] = {}  # the groups whose first lesson has a word

    def add(self, lesson: Lesson, meant: TellingWords) -> None:
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
            continue
        found.add(lesson, sense(anywhere(lesson.rule)))
    shared = [group for group in found.groups if len({each.project for each in group}) >= PROJECTS_NEEDED]
    made = [(one, group) for group in shared if (one := _one(group)) is not None]
    gone = {id(each) for _, group in made for each in group}
    return (*(one for one, _ in made), *(lesson for lesson in lessons if id(lesson) not in gone))


def anywhere(text: str) -> str:
    """A rule without the words that tie it to one project."""
    return _HERE.sub("", text)


def _one(group: Sequence[Lesson]) -> Lesson | None:
    """The lesson of all these projects: the words of the best, the evidence of all, the lowest trust among them."""
    best = max(group, key=lambda each: each.evidence.worth)
    # The first pieces of each project in turn, so that as many of them as can be are among the evidence.
    most = max(1, PIECES_KEPT // len(group))
    pieces = tuple(piece for each in group for piece in each.evidence.pieces[:most])[:PIECES_KEPT]
    sessions = sum(each.sessions for each in group)
    evidence = LessonEvidence(LessonSource(best.origin.basis), pieces, sessions, best.evidence.worth)
    agents = tuple(sorted({agent for each in group for agent in each.seen_by.agents}))
    seen_by = SeenBy(agents, tuple(sorted({each.project for each in group})))
    about = best.patch.situation
    draft = rule_draft("", anywhere(best.rule), evidence, written_from=pieces, about=about)
    made = drafted(replace(draft, situation=best.situation, fix=best.fix, seen_by=seen_by))
    if made.is_dropped:
        return None
    return replace(made, patch=replace(made.patch, trust=lowest(each.trust for each in group)))
