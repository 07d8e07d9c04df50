"""What one project teaches, and what several teach alike: lessons with their evidence, and where people disagree."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import State
from whet.ledger.origins import THE_PROJECT, PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Action, Form, Patch, Proof, Scope, digest
from whet.lessons.changed_calls import SessionChanges
from whet.lessons.finding import Openings, SessionTeaching
from whet.lessons.instructions import Instructions, is_broken
from whet.lessons.pieces import PIECES_KEPT, LessonEvidence, LessonPiece, LessonSource, lifted
from whet.lessons.record import Lesson, LessonChecks, ProjectLessons, SeenBy, id_of, no_lesson
from whet.lessons.said import LessonConflict, conflicts, contradicted
from whet.lessons.taught_rules import TaughtRule, rules_taught
from whet.sessions.trust import lowest
from whet.text.likeness import TellingWords, is_same, sense
from whet.text.words import cut

PROJECTS_NEEDED = 3  # that teach a thing alike, before it is told everywhere
NAME_LETTERS = 10
QUOTE_LETTERS = 300
SAID_ALREADY = "another lesson of the project says the same"
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
        self.said_by_others: list[LessonPiece] = []  # shown where it contradicts, and learned from nowhere
        self.changes: dict[str, SessionChanges] = {}
        self.instructions = Instructions()
        self.openings = Openings()
        self.agents: dict[str, str] = {}

    def add(self, session: str, agent: str, teaching: SessionTeaching, *, is_own: bool, is_declared: bool) -> None:
        """Take in what the session of an agent teaches."""
        self.openings.see(session, teaching.opening)
        self.agents[session] = agent
        self.instructions.add(teaching.instructions)
        (self.said if is_own else self.said_by_others).extend(teaching.pieces)
        changed = teaching.changes.changed
        if is_declared:
            changed = tuple(replace(each, trust=lifted(each.trust)) for each in changed)
        self.changes[session] = replace(teaching.changes, changed=changed)

    def taught(self, files: tuple[ProjectFile, ...]) -> ProjectLessons:
        """What all of it teaches, where the project has these files for agents."""
        contradicting = conflicts((*self.said, *self.said_by_others))
        for file in files:
            self.instructions.add_file(*file)
        made = list(self._made(contradicting))
        lessons = {each.id: each for each in made if not each.is_dropped}
        return ProjectLessons(
            self.project,
            tuple(sorted(lessons.values(), key=lambda each: -each.evidence.worth)),
            tuple(each for each in made if each.is_dropped),
            contradicting,
        )

    def _made(self, contradicting: tuple[LessonConflict, ...]) -> Iterator[Lesson]:
        """The rules that the sessions teach, each sense once; a copy of a session is no further evidence."""
        copies = self.openings.copies
        changes = {session: each for session, each in self.changes.items() if session not in copies}
        said = [piece for piece in self.said if piece.session not in copies]
        known: list[TellingWords] = []
        for rule in rules_taught(changes, said):
            meant = sense(rule.text)
            if any(is_same(meant, each) for each in known):
                yield no_lesson(self.project, rule.text, SAID_ALREADY, rule.evidence)
            else:
                known.append(meant)
                yield self._lesson(rule, contradicting)

    def _lesson(self, rule: TaughtRule, contradicting: tuple[LessonConflict, ...]) -> Lesson:
        line = self.instructions.standing(rule.text)
        checks = LessonChecks(
            stands_in=line.path if line else "",
            stands_as=line.line if line else "",
            is_broken=line is not None and is_broken(line, rule.evidence.pieces),
            conflict=contradicted(rule.text, contradicting),
        )
        agents = tuple(sorted({self.agents[piece.session] for piece in rule.evidence.pieces}))
        return lesson_of(rule, self.project, SeenBy(agents, place=self.place), checks)


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
