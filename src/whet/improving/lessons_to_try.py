"""Lessons to try: what sessions teach, templates, and rules in force.

A project gets so many rules and no more. A new one needs more sessions behind it than the weakest has; the weakest is
then proposed to leave, which a person decides.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from whet import __version__
from whet.improving.learned import LessonScope, folded, found_by_sources, same_rule
from whet.improving.taught import Progress, silent
from whet.ledger.entries import Entry, Item, State
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Form, Patch, PatchBasis, PatchOrigin, PatchWriter, SessionCounts, digest, marks
from whet.lessons.record import Lesson, LessonSource, LessonStage, evidence_of_change, lesson_of_change
from whet.own.examples.templates import as_change
from whet.proving.cases_from_sessions import MadeCases, cases_from
from whet.sessions.trust import Trust
from whet.store.case_files import chosen as chosen_cases
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, count_sessions, find
from whet.store.sessions import is_believed, load
from whet.store.settings_file import load as load_settings
from whet.store.teachings import keep_lessons, kept_lessons, row_of_source
from whet.store.template_files import usable, worths
from whet.text.words import many
from whet.trials.cases import Case, is_errand
from whet.trials.improvements import (
    SETTLED,
    ImproveRequest,
    LessonOutcome,
    WordingOrigin,
    decided,
    standing_at,
    way_of,
    without,
)
from whet.values import Value

MOST_SESSIONS = 20  # from which cases are made for one lesson
MOST_IN_REPOSITORIES = 5  # of them, whose tests are run to make a case; another agent can do no other cases
OWN_CASES = (WordingOrigin.RETIRE, WordingOrigin.TEMPLATE)  # tried on all cases of the home
IN_FORCE = (LessonStage.ACTIVE, LessonStage.LIVE)


class ComparedWith(NamedTuple):
    """What lessons are compared with: what is in force and all that was decided."""

    state: State
    entries: tuple[Entry, ...]
    model: str  # as its provider calls it
    named: str  # as the settings call it


def against(books: ComparedWith, patch: Patch, latest: float | None) -> str:
    """What speaks against a patch besides where its words come from; empty where nothing does."""
    if marks(patch) & books.state.never:
        return "a person never wants it proposed"
    found = [fault.message for fault in faults(patch, books.state) if fault.kind is not FaultKind.TRUST]
    models = frozenset({books.model, books.named} - {""})
    return decided(patch, books.entries, latest=latest, models=models) or "; ".join(found)


class LessonsToTry(Value, frozen=True):
    """What there is to try, from how many sessions, and how many lessons they teach."""

    sessions: int
    taught: int
    lessons: tuple[Lesson, ...]
    left: int = 0  # for another time
    waiting: tuple[LessonOutcome, ...] = ()  # proposed before


class TaughtLessons(NamedTuple):
    """What sessions teach that is new, and what is not tried.

    What has to leave for a new rule stands beside the name of that rule.
    """

    found: int = 0
    written: tuple[Lesson, ...] = ()
    leaving: tuple[tuple[str, Lesson], ...] = ()
    refused: tuple[Lesson, ...] = ()


def find_lessons(
    home: Home, database: Database, ask: ImproveRequest, *, model: str, named: str, progress: Progress = silent
) -> LessonsToTry:
    """What may be tried now, the most frequent trouble first. The model has no name where none is configured."""
    ledger = ledger_of(home, database)
    books = ComparedWith(ledger.state(), tuple(ledger.entries()), model, named)
    # How many sessions of this member people and jobs had.
    sessions = count_sessions(database, Filters(since=ask.since, maker=database.member, without_own_work=True))
    if ask.retire:
        return LessonsToTry(sessions, 0, tuple(_retiring(books)))
    taught = _taught(home, database, books, ask, progress)
    templates = () if ask.agent else _templates(home, database, books)  # no other agent begins with examples
    pairs = zip_longest(taught.written, templates)
    every = [lesson for lesson in chain.from_iterable(pairs) if lesson is not None]
    fit = (
        every
        if ask.cases
        else [lesson for lesson in every if not kept_lessons(database, _row_of(lesson), _shown_by(lesson), str)]
    )
    tried, left = fit[: ask.most], len(fit[ask.most :])
    # A rule gives way only to one that is tried now.
    names = {lesson.patch.name for lesson in tried}
    leaving = [lesson for name, lesson in taught.leaving if name in names]
    return LessonsToTry(sessions, taught.found, (*tried, *leaving, *taught.refused), left)


def note_untriable(database: Database, lesson: Lesson, why: str) -> None:
    """Remember that a lesson could not be tried, so that no other night gives it a slot before more shows it."""
    keep_lessons(database, _row_of(lesson), _shown_by(lesson), (), why)


def _row_of(lesson: Lesson) -> str:
    return row_of_source(lesson.project, f"untried {lesson.patch.name}")


def _shown_by(lesson: Lesson) -> str:
    """What a lesson rests on: where that or Whet is another one, it may be triable."""
    return digest(f"{__version__} {lesson.sessions} {lesson.patch.text}")


def cases_for(home: Home, database: Database, ask: ImproveRequest, lesson: Lesson) -> tuple[Case, ...]:
    """What a lesson is tried on: the cases that were named, else those made from the sessions that showed the trouble.

    The home's standing cases are always among them.
    """
    if ask.cases:
        return chosen_cases(home.folder, ask.cases)
    own = chosen_cases(home.folder, ())
    waits = lesson.standing.stage is LessonStage.WAITING  # `whet try` takes the cases that there are
    of_home = waits or way_of(lesson) in OWN_CASES
    # The sessions that a template was made from cannot judge it.
    sessions = () if waits or way_of(lesson) is WordingOrigin.TEMPLATE else lesson.evidence.session_ids[:MOST_SESSIONS]
    found = {case.name: case for case in (own if of_home else [each for each in own if each.guard])}
    in_repositories = MOST_SESSIONS if ask.agent else MOST_IN_REPOSITORIES
    for number, id in enumerate(sessions):
        unrun = "" if number < in_repositories else "enough were made"
        made = cases_of_session(home, database, lesson, id, unrun=unrun)
        found |= {case.name: case for case in _endpoints(ask, lesson, made.cases)} | found
    return tuple(found.values())


def cases_of_session(
    home: Home, database: Database, lesson: Lesson, id: str, *, tasks: bool = True, unrun: str = ""
) -> MadeCases:
    """The cases of a session that shows a lesson, about that lesson first; none of another member's session.

    What a person objected to on the way is no failed call: the case of it is the task, and its check.
    """
    session = find(database, id)
    if not is_believed(database, session):
        return MadeCases((), ("it is another member's session",))
    pieces = [piece for piece in lesson.evidence.pieces if piece.session == id]
    about = {piece.message: piece.fix for piece in pieces}
    objections = (each.message for each in pieces if each.source is LessonSource.PERSON and not each.is_first)
    objection = min(objections, default=None)
    return cases_from(home, load(database, session), about=about, objection=objection, tasks=tasks, unrun=unrun)


def _endpoints(ask: ImproveRequest, lesson: Lesson, cases: Sequence[Case]) -> Iterator[Case]:
    """What a lesson is judged by: its own trouble where it has one, with whole tasks as guards; else whole tasks."""
    able = [case for case in cases if not ask.agent or is_errand(case)]
    has_trouble = bool(lesson.patch.situation.call) and any(case.kind == "step" for case in able)
    for case in able:
        yield replace(case, guard=True) if has_trouble and case.kind == "task" else case


def _taught(
    home: Home, database: Database, books: ComparedWith, ask: ImproveRequest, progress: Progress
) -> TaughtLessons:
    """What sessions teach, the most frequent first; what was decided before is left out."""
    found = found_by_sources(home, database, LessonScope(Filters(since=ask.since)), progress)
    lessons = sorted(folded(home, database, found), key=lambda each: -each.evidence.worth)
    settled = {entry.patch.name for entry in books.entries if entry.step in SETTLED}
    most = load_settings(home).rules.per_project
    taught = TaughtLessons(len(lessons))
    for lesson in lessons:
        patch, standing = lesson.patch, lesson.standing
        is_told = standing.stage in IN_FORCE and standing.told_as != f"{patch.form.value} {patch.name}"
        if is_told and patch.form is Form.RULE and lesson.is_proposable:
            why = f"the {standing.told_as} says the same; {many(lesson.sessions, 'session')} count there"
            taught = taught._replace(refused=(*taught.refused, standing_at(lesson, LessonStage.CLAIMED, why)))
        elif standing.stage is not LessonStage.CHECKED or patch.name in settled:
            continue
        elif patch.form is Form.RULE:
            taught = _with_rule(taught, books, lesson, lessons, most=most)
        elif not against(books, patch, None):
            taught = taught._replace(written=(*taught.written, lesson))
    return taught


def _with_rule(
    taught: TaughtLessons, books: ComparedWith, lesson: Lesson, lessons: Sequence[Lesson], *, most: int
) -> TaughtLessons:
    """A new rule, where its project has room or one with weaker evidence can leave."""
    if against(books, lesson.patch, None):
        return taught
    held = [rule for rule in books.state.rules if rule.scope.project == lesson.project] if lesson.project else []
    if len(held) < most or not held:
        return taught._replace(written=(*taught.written, lesson))
    taken = {leaving.patch.name for _, leaving in taught.leaving}
    removable = [rule for rule in held if rule.trust is not Trust.OPERATOR and rule.name not in taken]
    weakest = min(removable, key=lambda rule: (strength(rule, books, lessons), rule.since), default=None)
    if weakest is None or strength(weakest, books, lessons) >= lesson.sessions:
        why = f"the project has as many rules as `rules.per_project` allows ({most}), and none has weaker evidence"
        return taught._replace(refused=(*taught.refused, standing_at(lesson, LessonStage.CLAIMED, why)))
    origin = PatchOrigin(PatchWriter.POLICY, basis=PatchBasis.ROOM, counts=SessionCounts(lesson.sessions))
    situation = f"the weakest evidence among the {len(held)} rules of {lesson.place}"
    leaving = lesson_of_change(replace(without(weakest), origin=origin), situation)
    return taught._replace(written=(*taught.written, lesson), leaving=(*taught.leaving, (lesson.patch.name, leaving)))


def strength(rule: Item, books: ComparedWith, lessons: Sequence[Lesson]) -> int:
    """In how many sessions a rule's situation was seen: those of its own proofs, and of lessons that say the same."""
    put = next((entry for entry in books.entries if entry.number == rule.number), None)
    own = {proof.session for proof in put.patch.proofs} if put else set()
    said = [each for each in lessons if same_rule((rule,), each.patch) is not None]
    return max(len(own), *(each.sessions for each in said), 0)


def _retiring(books: ComparedWith) -> Iterator[Lesson]:
    for rule in books.state.rules:
        if not rule.canary:
            put = next((each for each in books.entries if each.number == rule.number), None)
            lesson = lesson_of_change(without(rule), f"whether the rule {rule.name} still helps")
            yield replace(lesson, evidence=evidence_of_change(put.patch)) if put else lesson


def _templates(home: Home, database: Database, books: ComparedWith) -> Iterator[Lesson]:
    """Templates that were never measured on this model."""
    known = {worth.key for worth in worths(database) if worth.model == books.named}
    for template in usable(home.folder) if books.model else ():
        if template.key not in known:
            yield lesson_of_change(
                as_change(template), f"the template {template.name} was never measured with {books.named}"
            )
