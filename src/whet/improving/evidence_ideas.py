"""Ideas from what projects teach: new rules, evidence for rules in force, and rules that give way to better ones.

A project gets so many rules and no more. A new one needs more sessions behind it than the weakest has; the weakest is
then proposed to leave, which a person decides.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.notes import known as notes_known
from whet.failures.fingerprints import fingerprint
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import RecurringFailure
from whet.failures.signals import Kind
from whet.improving.compared import ComparedWith, against
from whet.improving.learned_forms import PAGE, merged, same_note
from whet.improving.lesson_states import same_rule
from whet.improving.project_evidence import gathered
from whet.improving.taught import Progress, silent, taught_by_projects
from whet.ledger.entries import Item
from whet.ledger.origins import PatchBasis, PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patches import Form, Patch
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import learned_name
from whet.lessons.evidence import needs_words
from whet.lessons.record import Lesson, OpenEvidence
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.memory_files import Shelf, load
from whet.store.settings_file import load as load_settings
from whet.store.skill_files import usable
from whet.text.likeness import similarity
from whet.told.skills import Skill
from whet.trials.drafts import Way
from whet.trials.ideas import SETTLED, Idea, ImproveRequest, without

SAME_FAILURE = frozenset((Kind.TOOL_FAILURE, Kind.RETRY_LOOP, Kind.TIMEOUT))
SAME_ERROR = 0.75  # of the words of two fingerprints


class TaughtIdeas(NamedTuple):
    """Ideas that projects teach: with words, for a model to find words for, and those not tried.

    What has to leave for a new rule stands beside the name of that rule.
    """

    written: tuple[Idea, ...] = ()
    unwritten: tuple[Idea, ...] = ()
    leaving: tuple[tuple[str, Idea], ...] = ()
    refused: tuple[Idea, ...] = ()
    answered: frozenset[str] = frozenset()  # the fingerprints of errors for which there are words


def from_evidence(
    home: Home, database: Database, books: ComparedWith, ask: ImproveRequest, *, progress: Progress = silent
) -> TaughtIdeas:
    """What projects teach in their own words, the most promising first; what was decided before is left out."""
    settings = load_settings(home)
    found = taught_by_projects(database, Filters(since=ask.since), declared=settings.trust.projects, progress=progress)
    lessons = sorted(gathered([each for one in found for each in one.lessons]), key=lambda each: -each.evidence.worth)
    settled = {entry.patch.name for entry in books.entries if entry.step in SETTLED}
    ideas = TaughtIdeas(answered=answered_by(lessons))
    for lesson in lessons:
        patch, name = lesson.patch, lesson.patch.name
        if patch.form is not Form.RULE:
            is_new = lesson.is_proposable and name not in settled
            ideas = _beyond_rules(ideas, home, books, lesson, patch) if is_new else ideas
            continue
        same = same_rule(books.state.rules, patch) if lesson.is_proposable else None
        if same is not None and same.name != name:
            ideas = ideas._replace(refused=(*ideas.refused, _merged(lesson, patch, f"rule {same.name}")))
        elif lesson.is_proposable and name not in settled:
            ideas = _with(ideas, books, lesson, lessons, most=settings.rules.per_project)
    unwritten = [_without_words(each) for one in found for each in one.open if needs_words(each.evidence)]
    new = [each for each in unwritten if learned_name(each.project, _best(each)) not in settled]
    ranked = sorted(new, key=lambda each: -each.evidence.worth if each.evidence else 0.0)
    return ideas._replace(unwritten=tuple(ranked) if books.model else ())


def _beyond_rules(ideas: TaughtIdeas, home: Home, books: ComparedWith, lesson: Lesson, patch: Patch) -> TaughtIdeas:
    """A note or a skill: not one that is there already, and a skill for the same task takes the steps in."""
    given: Patch | Skill = patch
    if patch.form is Form.SKILL:
        given = merged(patch, usable(home.folder))
        same = f"skill {given.name}" if isinstance(given, Skill) else ""
    else:
        known = same_note(patch, load(Shelf(home.folder), PAGE, notes_known(books.state, PAGE)).notes)
        same = f"note {PAGE}/{known.id}" if known else ""
    if same or isinstance(given, Skill):
        return ideas._replace(refused=(*ideas.refused, _merged(lesson, patch, same)))
    if against(books, given, None):
        return ideas
    return ideas._replace(written=(*ideas.written, replace(_idea(lesson, given, books), evidence=None)))


def strength(rule: Item, books: ComparedWith, lessons: Sequence[Lesson]) -> int:
    """In how many sessions a rule's situation was seen: those of its own proofs, and of lessons that say the same."""
    put = next((entry for entry in books.entries if entry.number == rule.number), None)
    own = {proof.session for proof in put.patch.proofs} if put else set()
    said = [each for each in lessons if same_rule((rule,), each.patch) is not None]
    return max(len(own), *(each.sessions for each in said), 0)


def is_answered(error: str, answered: frozenset[str]) -> bool:
    """Whether there are words for this very error; the catalogue, which knows only its kind, is silent then."""
    words = frozenset(error.split())
    return any(similarity(words, frozenset(each.split())) >= SAME_ERROR for each in answered)


def once_each(lessons: Iterable[RecurringFailure]) -> Iterator[RecurringFailure]:
    """Each failure of a tool once: a loop or a time-out with the same error is no other one."""
    shown: dict[str, frozenset[str]] = {}  # the errors of each tool
    for lesson in lessons:
        if lesson.kind in SAME_FAILURE:
            known = shown.get(lesson.tool, frozenset())
            if lesson.fingerprint and is_answered(lesson.fingerprint, known):
                continue
            shown[lesson.tool] = known | {lesson.fingerprint}
        yield lesson


def each_once(lessons: Iterable[RecurringFailure]) -> tuple[RecurringFailure, ...]:
    """Each failure once, the most frequent first: a call whose time ran out is a call that failed too."""
    every = tuple(lessons)
    agents_own = once_each(each for each in every if each.change is not ChangeKind.ENVIRONMENT)
    surroundings = (each for each in every if each.change is ChangeKind.ENVIRONMENT)
    return tuple(sorted((*agents_own, *surroundings), key=lambda each: -each.sessions))


def answered_by(lessons: Iterable[Lesson]) -> frozenset[str]:
    """The fingerprints of the errors that lessons have words for."""
    return frozenset(each for lesson in lessons for each in _errors(lesson))


def _errors(lesson: Lesson) -> set[str]:
    """The errors that a lesson is about: that of its best piece, and those that recur in it."""
    counted = Counter(fingerprint(piece.error) for piece in lesson.evidence.pieces if piece.error)
    best = fingerprint(lesson.evidence.best.error)
    return {each for each, count in counted.items() if each and (count > 1 or each == best)}


def _with(
    ideas: TaughtIdeas, books: ComparedWith, lesson: Lesson, lessons: Sequence[Lesson], *, most: int
) -> TaughtIdeas:
    patch = lesson.patch
    if against(books, patch, None):
        return ideas
    idea = _idea(lesson, patch, books)
    held = [rule for rule in books.state.rules if rule.scope.project == lesson.project] if lesson.project else []
    if len(held) < most or not held:
        return ideas._replace(written=(*ideas.written, idea))
    taken = {leaving.patch.name for _, leaving in ideas.leaving if leaving.patch}
    removable = [rule for rule in held if rule.trust is not Trust.OPERATOR and rule.name not in taken]
    weakest = min(removable, key=lambda rule: (strength(rule, books, lessons), rule.since), default=None)
    if weakest is None or strength(weakest, books, lessons) >= lesson.sessions:
        why = f"the project has as many rules as `rules.per_project` allows ({most}), and none has weaker evidence"
        return ideas._replace(refused=(*ideas.refused, replace(idea, refused=why)))
    leaving = Idea(
        f"the weakest evidence among the {len(held)} rules of {lesson.place}",
        Way.ROOM,
        replace(without(weakest), origin=_room(lesson.sessions)),
        project=lesson.project,
    )
    return ideas._replace(written=(*ideas.written, idea), leaving=(*ideas.leaving, (patch.name, leaving)))


def _room(sessions: int) -> PatchOrigin:
    return PatchOrigin(PatchWriter.POLICY, basis=PatchBasis.ROOM, counts=SessionCounts(sessions))


def _merged(lesson: Lesson, patch: Patch, same: str) -> Idea:
    """A lesson that a rule in force, a note or a skill says already: its sessions count there."""
    seen = lesson.sessions
    why = f"the {same} says the same; {_sessions(seen)} count there"
    return Idea(_why(lesson), Way.EVIDENCE, patch, agents=lesson.seen_by.agents, refused=why, project=lesson.project)


def _idea(lesson: Lesson, patch: Patch, books: ComparedWith) -> Idea:
    return Idea(
        _why(lesson),
        Way.EVIDENCE,
        patch,
        sessions=_sessions_of(lesson.evidence),
        agents=lesson.seen_by.agents,
        evidence=lesson.evidence if books.model else None,
        project=lesson.project,
    )


def _without_words(found: OpenEvidence) -> Idea:
    """Evidence for a model to find words for."""
    evidence, project = found.evidence, found.project
    why = f"{evidence.source.seen_in(evidence.sessions)} of {found.place}"
    sessions = _sessions_of(evidence)
    return Idea(why, Way.EVIDENCE, sessions=sessions, agents=found.seen_by.agents, evidence=evidence, project=project)


def _sessions_of(evidence: LessonEvidence) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.session for piece in evidence.pieces))


def _best(idea: Idea) -> str:
    return idea.evidence.best.text if idea.evidence else ""


def _why(lesson: Lesson) -> str:
    return f"{lesson.evidence.source.seen_in(lesson.sessions)} of {lesson.place}"


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"
