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

from whet.agents.registry import known
from whet.ledger.entries import State
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import (
    THE_PROJECT,
    Action,
    Form,
    Patch,
    PatchOrigin,
    PatchWriter,
    Proof,
    Scope,
    SessionCounts,
    digest,
)
from whet.lessons.changed_calls import SessionChanges
from whet.lessons.finding import Openings, SessionTeaching
from whet.lessons.instructions import Instructions, is_broken
from whet.lessons.record import (
    PIECES_KEPT,
    Lesson,
    LessonChecks,
    LessonEvidence,
    LessonPiece,
    LessonSource,
    ProjectLessons,
    SeenBy,
    id_of,
    lifted,
    no_lesson,
)
from whet.lessons.taught_rules import TaughtRule, rules_taught
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
from whet.text.words import cut

PROJECTS_NEEDED = 3  # that teach a thing alike, before it is told everywhere
NAME_LETTERS = 10
QUOTE_LETTERS = 300
_HERE = re.compile(r" here\b")


class ProjectFile(NamedTuple):
    """A file that a project has for agents, and since when it stands as it is."""

    path: str
    text: str
    at: float | None = None


def lesson_of(rule: TaughtRule, project: str, seen_by: SeenBy, checks: LessonChecks) -> Lesson:
    """The lesson that a rule makes; what the ledger would refuse, whatever stands in it, is dropped with a reason."""
    patch = patch_of_rule(rule, project)
    wrong = [fault.message for fault in faults(patch, State()) if fault.kind is not FaultKind.TRUST]
    if wrong:
        return no_lesson(project, rule.text, "; ".join(wrong), rule.evidence)
    id = id_of(project, rule.text)
    return Lesson(id, project, rule.text, rule.situation, rule.fix, patch, rule.evidence, seen_by, checks)


def patch_of_rule(rule: TaughtRule, project: str) -> Patch:
    """The change that would tell a rule in its project, with the evidence that it was written from."""
    evidence, written_from = rule.evidence, rule.written_from
    oldest = len({piece.session for piece in written_from})
    return Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=learned_name(project, rule.text),
        text=rule.text,
        scope=Scope(project=project),
        origin=PatchOrigin(
            PatchWriter.PATTERN,
            basis=evidence.source,
            counts=SessionCounts(evidence.sessions, written_from=oldest if oldest < evidence.sessions else 0),
            place=THE_PROJECT,
        ),
        trust=lowest(piece.trust for piece in (*written_from, *evidence.pieces)),
        proofs=tuple(
            Proof(piece.session, piece.message, piece.source.value, cut(piece.text, QUOTE_LETTERS))
            for piece in written_from[:PIECES_KEPT]
        ),
        situation=rule.about,
        example=rule.example,
    )


def learned_name(project: str, text: str) -> str:
    """The name of what one project teaches: the same for the same words in the same project."""
    return f"learned-{digest(f'{project} {text}')[:NAME_LETTERS]}"


class ProjectEvidence:
    """What is gathered of one project while its sessions stream by."""

    def __init__(self, project: str, place: str = "") -> None:
        self.project = project
        self.place = place or project  # as people read it
        self.said: list[LessonPiece] = []
        self.changes: dict[str, SessionChanges] = {}
        self.instructions = Instructions()
        self.openings = Openings()
        self.agents: dict[str, str] = {}

    def add(self, session: str, agent: str, teaching: SessionTeaching, *, is_own: bool, is_declared: bool) -> None:
        """Take in what the session of an agent teaches."""
        self.openings.see(session, teaching.opening)
        self.agents[session] = agent
        self.instructions.add(teaching.instructions)
        if is_own:  # what others said is learned from nowhere
            self.said.extend(teaching.pieces)
        changed = teaching.changes.changed
        if is_declared:
            changed = tuple(replace(each, trust=lifted(each.trust)) for each in changed)
        self.changes[session] = replace(teaching.changes, changed=changed)

    def taught(self, files: tuple[ProjectFile, ...]) -> ProjectLessons:
        """What all of it teaches, where the project has these files for agents."""
        for file in files:
            self.instructions.add_file(*file)
        made = list(self._made())
        lessons = {each.id: each for each in made if not each.is_dropped}
        return ProjectLessons(
            self.project,
            tuple(sorted(lessons.values(), key=lambda each: -each.evidence.worth)),
            tuple(each for each in made if each.is_dropped),
        )

    def _made(self) -> Iterator[Lesson]:
        """The rules that the sessions teach; a copy of a session is no further evidence."""
        copies = self.openings.copies
        changes = {session: each for session, each in self.changes.items() if session not in copies}
        said = [piece for piece in self.said if piece.session not in copies]
        return (self._lesson(rule) for rule in rules_taught(changes, said))

    def _lesson(self, rule: TaughtRule) -> Lesson:
        line = self.instructions.standing(rule.text)
        checks = LessonChecks(
            stands_in=line.path if line else "",
            stands_as=line.line if line else "",
            is_broken=line is not None and is_broken(line, rule.evidence.pieces),
        )
        agents = tuple(sorted({self.agents[piece.session] for piece in rule.evidence.pieces}))
        return lesson_of(rule, self.project, SeenBy(agents, place=self.place), checks)


Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Where nobody looks on."""


class _HeldSession(NamedTuple):
    """A session of a project, and how far it is believed."""

    session: Session
    is_own: bool
    is_declared: bool


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
        files = _files(folder)
        place = known.shown(name)
        key = _key((name, place), sessions, stamps, files)
        lessons = kept_lessons(database, name, key, ProjectLessons)
        if lessons is None:
            lessons = _made(database, ProjectEvidence(name, place), sessions, files)
            if not any(filters):
                _keep(database, key, sessions, lessons)
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
        is_declared = declarations[folder] and not _lies_there(session.source) and is_believed(database, session)
        held.setdefault(name, []).append(_HeldSession(session, is_own(database, session), is_declared))
    return held


def _key(
    named: tuple[str, str],
    sessions: Iterable[_HeldSession],
    stamps: dict[int, tuple[bytes, str, str]],
    files: tuple[ProjectFile, ...],
) -> str:
    """What tells these lessons from those of any other sessions, files, settings or version."""
    seen = [
        (one.id, one.source, one.maker, is_own, is_declared, stamps.get(one.no))
        for one, is_own, is_declared in sessions
    ]
    body = msgspec.json.encode((code_version(*LEARNING), named, files, seen))
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _made(
    database: Database, evidence: ProjectEvidence, sessions: list[_HeldSession], files: tuple[ProjectFile, ...]
) -> ProjectLessons:
    teachings = kept_teachings(database, [each.session for each in sessions])
    for held, (_, teaching) in zip(sessions, teachings, strict=True):
        evidence.add(held.session.id, held.session.source, teaching, is_own=held.is_own, is_declared=held.is_declared)
    return evidence.taught(files)


def _keep(database: Database, key: str, sessions: Iterable[_HeldSession], lessons: ProjectLessons) -> None:
    keep_lessons(database, lessons.project, key, (each.session.no for each in sessions), lessons)


def _files(folder: str) -> tuple[ProjectFile, ...]:
    """The files that the project has for agents, where it is on this machine."""
    if not folder or not Path(folder).is_dir():
        return ()
    root = repository_root(Path(folder).resolve()) or Path(folder)
    return tuple(
        ProjectFile(str(each.path), each.text, _written_at(root / each.path)) for each in find_files(Path(folder))
    )


def _written_at(file: Path) -> float | None:
    try:
        return file.stat().st_mtime
    except OSError:  # it went meanwhile
        return None


def _lies_there(source: str) -> bool:
    """Whether an agent's record lies in the project, and may have come with it."""
    agent = known(source)
    return agent is not None and agent.is_in_projects


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
    rule = TaughtRule(anywhere(best.rule), best.situation, best.fix, evidence, best.patch.situation, pieces)
    made = lesson_of(rule, "", seen_by, LessonChecks())
    if made.is_dropped:
        return None
    return replace(made, patch=replace(made.patch, trust=lowest(each.trust for each in group)))
