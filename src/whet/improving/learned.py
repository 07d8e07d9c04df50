"""What sessions teach: lessons from every source, folded with the ledger.

The command, the page, the MCP server and programs all ask `lessons_of`, and so show the same lessons.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.pending import move_for, pending, propose
from whet.doors import LESSON_SOURCES, load
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.improving.claimed import claimed_by_projects
from whet.improving.taught import Progress, gathered, silent, taught_by_projects
from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.folding import last_trial
from whet.ledger.holding import WorkLocation, holds
from whet.ledger.patches import Form, Patch, marks
from whet.lessons.claim_remedies import joined
from whet.lessons.record import (
    Lesson,
    LessonStage,
    ProjectLessons,
    Standing,
    lesson_of_change,
    waits,
)
from whet.lessons.rungs import LiveLesson, Passed, TriedLesson
from whet.sessions.worktrees import is_temporary
from whet.store.canary_counts import counted
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters
from whet.store.rows import decoded_or_none
from whet.store.settings_file import load as load_settings
from whet.store.troubles import counted_folders
from whet.telling.targets.known_projects import KnownProjects
from whet.text.likeness import is_same, sense
from whet.trials.attempts import Arm
from whet.trials.design import TrialProgress

RULINGS = {Ruling.ACCEPT: "accepted", Ruling.REJECT: "rejected", Ruling.UNDECIDED: "undecided"}
TOLD = (Form.RULE, Form.NOTE, Form.SKILL)

_OF_STEP = {
    Step.REFUSED: Standing(LessonStage.REFUSED),
    Step.REJECTED: Standing(LessonStage.REFUSED, why=": a trial says that it does not help"),
    Step.UNDONE: Standing(LessonStage.RETIRED),
    Step.REVERTED: Standing(LessonStage.RETIRED),
}


class LessonScope(NamedTuple):
    """Which sessions are asked, and of which project."""

    filters: Filters = Filters()
    project: str = ""
    is_whole_name: bool = False  # of the project, and not a part of one


EVERYWHERE = LessonScope()


class SourceOfLessons(NamedTuple):
    """Where lessons come from: what it finds for each project. Other packages add theirs as `whet.lesson_sources`."""

    name: str
    find: Callable[[Home, Database, LessonScope, Progress], tuple[ProjectLessons, ...]]


class DecisionsOnLessons(NamedTuple):
    """What the ledger says: what is in force, every decision, and what was counted of each rule told to a share."""

    state: State = State()
    entries: tuple[Entry, ...] = ()
    live: Mapping[tuple[Form, str], LiveLesson] = MappingProxyType({})


class LearnedOfAll(NamedTuple):
    """What sessions teach."""

    lessons: tuple[Lesson, ...] = ()
    sessions: int = 0  # in which was looked; what they teach holds wherever they ran
    temporary: int = 0  # those of them in temporary folders
    dropped: tuple[Lesson, ...] = ()
    places: Mapping[str, str] = MappingProxyType({})  # each project as people read it


def _from_reader(home: Home, database: Database, ask: LessonScope, progress: Progress) -> tuple[ProjectLessons, ...]:
    """What readers claim of the sessions of each project, as far as code could bear it out."""
    return claimed_by_projects(home, database, ask.filters, project=ask.project, progress=progress)


def _from_changes(home: Home, database: Database, ask: LessonScope, progress: Progress) -> tuple[ProjectLessons, ...]:
    """What changed in the sessions of each project between failure and success, and what people said again."""
    declared = load_settings(home).trust.projects
    return taught_by_projects(database, ask.filters, project=ask.project, declared=declared, progress=progress)


SOURCES = (SourceOfLessons("reader", _from_reader), SourceOfLessons("changes", _from_changes))


def found_by_sources(
    home: Home, database: Database, scope: LessonScope, progress: Progress = silent
) -> tuple[ProjectLessons, ...]:
    """What every source finds, for the projects that are asked for, those with the most frequent lesson first."""
    sources = (*SOURCES, *load(LESSON_SOURCES, SourceOfLessons))
    found = [each for source in sources for each in source.find(home, database, scope, progress)]
    asked = (each for each in found if not scope.is_whole_name or each.project == scope.project)
    return tuple(sorted(asked, key=lambda each: -max((one.sessions for one in each.lessons), default=0)))


def lessons_of(
    home: Home, database: Database, scope: LessonScope = EVERYWHERE, *, progress: Progress = silent
) -> tuple[Lesson, ...]:
    """The lessons that are asked for, each with how far it has come; last what the ledger alone knows."""
    taught = folded(home, database, found_by_sources(home, database, scope, progress))
    return with_ledger(home, database, taught, scope)


def folded(home: Home, database: Database, projects: Iterable[ProjectLessons]) -> tuple[Lesson, ...]:
    """What projects teach, each lesson once, with what the ledger says of it."""
    decisions = decisions_on_lessons(home, database)
    found = joined([lesson for each in projects for lesson in each.lessons])
    lessons = {each.id: each for each in gathered(found)}
    return tuple(replace(each, standing=standing_of(each, decisions)) for each in lessons.values())


def with_ledger(
    home: Home, database: Database, lessons: Iterable[Lesson], scope: LessonScope = EVERYWHERE
) -> tuple[Lesson, ...]:
    """The lessons, and behind them what waits or is in force that none of them is: a person wrote it, or its sessions
    are gone. Where only some sessions are asked for, that is left out.
    """
    found = {each.id: each for each in lessons}
    if any(scope.filters):
        return tuple(found.values())
    decisions, known = decisions_on_lessons(home, database), KnownProjects(database)
    told = {each.standing.entry for each in found.values()}
    for lesson in _of_ledger(decisions):
        name = lesson.project
        is_asked = name == scope.project if scope.is_whole_name else known.is_named(name, scope.project)
        if lesson.standing.entry not in told and (is_asked or not scope.project):
            seen_by = lesson.seen_by._replace(place=known.shown(name) if name else "")
            found.setdefault(lesson.id, replace(lesson, seen_by=seen_by))
    return tuple(found.values())


def decided_anew(home: Home, database: Database, lessons: Iterable[Lesson]) -> tuple[Lesson, ...]:
    """Lessons that were found a while ago, with what was decided since."""
    decisions = decisions_on_lessons(home, database)
    taught = (each for each in lessons if each.evidence.worth or not each.standing.entry)
    return with_ledger(home, database, (replace(each, standing=standing_of(each, decisions)) for each in taught))


def _of_ledger(decisions: DecisionsOnLessons) -> Iterator[Lesson]:
    """Every rule in force, and every rule, note or skill that waits."""
    put = {entry.number: entry.patch for entry in decisions.entries}
    for rule in decisions.state.rules:
        patch = replace(put[rule.number], text=rule.text, scope=rule.scope, trust=rule.trust)
        yield lesson_of_change(patch, standing=_in_force(rule, decisions))
    for entry in decisions.state.pending:
        if entry.patch.form in TOLD:
            yield waits(entry)


def waiting_lessons(home: Home, database: Database, *, now: float) -> tuple[Lesson, ...]:
    """Everything that waits for a person, whatever its form: by project, those of every project last, oldest first."""
    found = pending(home, database, now=now)
    entries = ledger_of(home, database).entries() if found else []
    known = KnownProjects(database)
    lessons = []
    for entry in found:
        replaces = move_for(home, database, entry).before
        lesson = waits(entry, replaces=replaces, judged=last_trial(entry.patch, entries))
        project = entry.patch.scope.project
        place = known.shown(project) if project else ""
        lessons.append(replace(lesson, seen_by=lesson.seen_by._replace(place=place)))
    return tuple(sorted(lessons, key=lambda each: (not each.project, each.project, each.group, each.standing.entry)))


def _in_force(item: Item, decisions: DecisionsOnLessons) -> Standing:
    stage = LessonStage.LIVE if item.canary else LessonStage.ACTIVE
    return Standing(
        stage,
        item.number,
        f"{item.form.value} {item.name}",
        tried=_tried(item.form, item.name, decisions),
        live=decisions.live.get((item.form, item.name)),
    )


def learned(
    home: Home, database: Database, scope: LessonScope = EVERYWHERE, *, progress: Progress = silent
) -> LearnedOfAll:
    """All that there is to show, with the number of sessions in which was looked."""
    folders = counted_folders(database, scope.filters)
    known = KnownProjects(database)
    meant_folders = {folder: number for folder, number in folders.items() if _is_meant(known, folder, scope)}
    projects = found_by_sources(home, database, scope, progress)
    lessons = with_ledger(home, database, folded(home, database, projects), scope)
    return LearnedOfAll(
        lessons,
        sum(meant_folders.values()),
        sum(number for folder, number in meant_folders.items() if is_temporary(folder)),
        tuple(each for project in projects for each in project.dropped),
        {each.project: known.shown(each.project) for each in projects},
    )


def _is_meant(known: KnownProjects, folder: str, scope: LessonScope) -> bool:
    """Whether sessions in this folder are of the project that is asked for."""
    name = known.identity(folder) if scope.project else ""
    return name == scope.project if scope.is_whole_name else known.is_named(name, scope.project)


def standing_of(lesson: Lesson, decisions: DecisionsOnLessons) -> Standing:
    """How far a lesson has come, in its own words or in others that say the same. The last decision counts."""
    checks = lesson.checks
    patches = (lesson.patch, *lesson.repeats)
    # A rule that Whet wrote into the project's file stands there too: it is judged by the sessions since.
    for patch in patches:
        rules = decisions.state.rules if patch.form is Form.RULE else ()
        if item := decisions.state.get(patch.form, patch.name) or same_rule(rules, patch):
            return _in_force(item, decisions)
    if not lesson.is_proposable:
        broken = ", but not followed" if checks.is_broken else ""
        return Standing(LessonStage.CLAIMED, why=f"already in {checks.stands_in}{broken}")
    return next((found for patch in patches if (found := _decided(patch, decisions))), Standing(LessonStage.CHECKED))


def _decided(patch: Patch, decisions: DecisionsOnLessons) -> Standing | None:
    """What was decided on a change that is not in force; None where nothing was."""
    state = decisions.state
    waiting = next((each for each in state.pending if each.patch.name == patch.name), None)
    if waiting is not None:
        return Standing(LessonStage.WAITING, waiting.number)
    if marks(patch) & state.never:
        return Standing(LessonStage.REFUSED, _never_said(patch, decisions), why=" for good")
    own = [each for each in decisions.entries if (each.patch.form, each.patch.name) == (patch.form, patch.name)]
    last = next((each for each in reversed(own) if each.step in _OF_STEP), None)
    tried = _tried(patch.form, patch.name, decisions)
    return replace(_OF_STEP[last.step], entry=last.number, tried=tried) if last else None


def _never_said(patch: Patch, decisions: DecisionsOnLessons) -> int:
    """The entry by which a person never wants it proposed."""
    said = (each for each in reversed(decisions.entries) if each.is_never and marks(each.patch) & marks(patch))
    return next((each.number for each in said), 0)


def _tried(form: Form, name: str, decisions: DecisionsOnLessons) -> TriedLesson | None:
    """What the last trial of a change says."""
    own = [each for each in reversed(decisions.entries) if (each.patch.form, each.patch.name) == (form, name)]
    verdicts = (decoded_or_none(each.verdict.encode(), TrialProgress) for each in own if each.verdict)
    progress = next(filter(None, verdicts), None)
    if progress is None:
        trial = next((each.patch.origin.trial for each in own if each.patch.origin.trial), "")
        return TriedLesson(trial) if trial else None
    passed = {each.arm: Passed(each.passed, each.attempts) for each in progress.result.tallies}
    ruling = RULINGS[progress.result.verdict.ruling]
    return TriedLesson(progress.trial, ruling, passed.get(Arm.BASE), passed.get(Arm.CANDIDATE))


def _live(database: Database, entry: int) -> LiveLesson:
    """What was counted since an entry told a rule to a share of the sessions."""
    units = counted(database, entry)
    known = [(each.told, float(each.failed)) for each in units if each.failed is not None]
    losses = known or [(each.told, each.loss) for each in units]
    told, untold = ([loss for is_told, loss in losses if is_told is wanted] for wanted in (True, False))
    sessions = sum(each.sessions for each in units if each.failed is not None or not known)
    return LiveLesson(sessions, _mean(untold), _mean(told), bool(known))


def _mean(losses: Sequence[float]) -> float | None:
    return sum(losses) / len(losses) if losses else None


def same_rule(rules: Sequence[Item], patch: Patch) -> Item | None:
    """The rule in force that says the same where the patch would hold."""
    meant = sense(patch.text)
    for rule in rules:
        holds_there = holds(rule.scope, WorkLocation(patch.scope.project))
        if holds_there and (rule.text.split() == patch.text.split() or is_same(meant, sense(rule.text))):
            return rule
    return None


def decisions_on_lessons(home: Home, database: Database) -> DecisionsOnLessons:
    """What was decided in this home so far."""
    ledger = ledger_of(home, database)
    entries = tuple(ledger.entries())
    begun = {(each.patch.form, each.patch.name): each.number for each in entries if each.step is Step.CANARY}
    live = {key: _live(database, number) for key, number in begun.items()}
    return DecisionsOnLessons(ledger.state(), entries, live)


def propose_lesson(home: Home, database: Database, lesson: Lesson, *, now: float) -> Entry:
    """Let a lesson wait for a person, as an improvement does with what it cannot try."""
    if lesson.standing.stage is LessonStage.LIVE:
        raise WhetError(f"Lesson {lesson.id} is live already.", advice="`whet live` shows how it goes.")
    if not lesson.is_proposable:
        words = lesson.standing.words
        raise WhetError(f"Lesson {lesson.id} is not proposed: {words}.", advice="`whet lessons` lists others.")
    told = replace(lesson.patch, origin=replace(lesson.patch.origin, untried=""))
    return propose(home, database, told, actor=Actor.POLICY, now=now)
