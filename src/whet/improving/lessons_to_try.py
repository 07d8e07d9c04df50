"""Lessons to try: what projects teach, what the catalogue has against failures, templates, and rules in force.

A project gets so many rules and no more. A new one needs more sessions behind it than the weakest has; the weakest is
then proposed to leave, which a person decides.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.notes import known as notes_known
from whet.examples.templates import written as template_text
from whet.failures.analysis import Analysis
from whet.failures.lessons import RecurringFailure, Sighting, distill, seen_in
from whet.improving.learned import (
    LessonScope,
    answered_by,
    folded,
    found_by_sources,
    is_answered,
    once_each,
    same_rule,
)
from whet.improving.learned_forms import PAGE, merged, same_note
from whet.improving.taught import Progress, silent
from whet.ledger.entries import Entry, Item, State
from whet.ledger.marks import marks
from whet.ledger.origins import PatchBasis, PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import learned_name
from whet.lessons.evidence import needs_words
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.record import (
    Lesson,
    LessonStage,
    OpenEvidence,
    SeenBy,
    Standing,
    evidence_of_change,
    id_of,
    lesson_of_change,
)
from whet.proving.cases_from_sessions import cases_from
from whet.sessions.transcripts import Purpose
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.shipped.guidance import writing as words
from whet.shipped.guidance.rules import catalogue
from whet.shipped.kinds import known_kinds
from whet.store.analyses import judged, refresh
from whet.store.case_files import chosen as chosen_cases
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, find
from whet.store.memory_files import Shelf
from whet.store.memory_files import load as load_page
from whet.store.sessions import is_believed, load
from whet.store.settings_file import load as load_settings
from whet.store.skill_files import usable as usable_skills
from whet.store.template_files import usable, worths
from whet.told.skills import Skill
from whet.trials.cases import Case
from whet.trials.drafts import correction_of, drafts, without_rule
from whet.trials.improvements import (
    SETTLED,
    ImproveRequest,
    LessonOutcome,
    Way,
    decided,
    standing_at,
    way_of,
    why_of,
    without,
)
from whet.values import Value

MOST_SESSIONS = 20  # from which cases are made for one lesson
MOST_IN_REPOSITORIES = 5  # of them, whose tests are run to make a case; another agent can do no other cases
OWN_CASES = (Way.RETIRE, Way.TEMPLATE)  # tried on all cases of the home
UNSPECIFIC = "nothing specific is known, and general rules are not proposed untried"
BEHIND = (Purpose.TRIAL.value, Purpose.REVIEW.value)
IN_FORCE = (LessonStage.ACTIVE, LessonStage.LIVE)
NO_WORDS = Patch(Form.RULE, Action.ADD, "")


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
    """What there is to try, from how many sessions, and how many failures recur in them."""

    sessions: int
    recurring: int
    lessons: tuple[Lesson, ...]
    left: int = 0  # for another time
    unspecific: tuple[str, ...] = ()  # what recurs, and only general rules are written for
    waiting: tuple[LessonOutcome, ...] = ()  # proposed before


class TaughtLessons(NamedTuple):
    """What projects teach that is new: with words, for a model to find words for, and those not tried.

    What has to leave for a new rule stands beside the name of that rule.
    """

    written: tuple[Lesson, ...] = ()
    unwritten: tuple[Lesson, ...] = ()
    leaving: tuple[tuple[str, Lesson], ...] = ()
    refused: tuple[Lesson, ...] = ()
    answered: frozenset[str] = frozenset()  # the fingerprints of errors for which there are words


class LiveSessions(NamedTuple):
    """How many sessions people and jobs had, what recurs in them, and those that show anything, without their calls."""

    sessions: int
    recurring: tuple[RecurringFailure, ...]
    signalled: list[Analysis]


def find_lessons(
    home: Home, database: Database, ask: ImproveRequest, *, model: str, named: str, progress: Progress = silent
) -> LessonsToTry:
    """What may be tried now, the most frequent trouble first. The model has no name where none is configured."""
    refresh(database, failure_weights(), progress=lambda _: None)
    ledger = ledger_of(home, database)
    books = ComparedWith(ledger.state(), tuple(ledger.entries()), model, named)
    live = _live(database, ask)
    if ask.retire:
        return LessonsToTry(live.sessions, 0, tuple(_retiring(books)))
    taught = _taught(home, database, books, ask, progress)
    unanswered = (each for each in live.recurring if not is_answered(each.fingerprint, taught.answered))
    templates = () if ask.agent else _templates(home, database, books)  # no other agent begins with examples
    found = list(_of_failures(books, unanswered, live.signalled, can_try=bool(books.model or ask.agent)))
    general = [lesson for lesson in found if lesson.standing.why != UNSPECIFIC]
    lessons = [*_in_turn(taught.written, templates), *general, *taught.unwritten]
    fit = [lesson for lesson in lessons if not lesson.standing.why]
    tried, left = fit[: ask.most], len(fit[ask.most :])
    # A rule gives way only to one that is tried now.
    names = {lesson.patch.name for lesson in tried if lesson.is_worded}
    leaving = [lesson for name, lesson in taught.leaving if name in names]
    refused = [*(lesson for lesson in lessons if lesson.standing.why), *taught.refused]
    unspecific = tuple(why_of(lesson) for lesson in found if lesson.standing.why == UNSPECIFIC)
    return LessonsToTry(live.sessions, len(live.recurring), (*tried, *leaving, *refused), left, unspecific)


def cases_for(home: Home, database: Database, ask: ImproveRequest, lesson: Lesson) -> tuple[Case, ...]:
    """What a lesson is tried on: the cases that were named, else those made from the sessions that showed the trouble.

    The home's standing cases are always among them, and its cases with a tag that names the kind of trouble.
    """
    if ask.cases:
        return chosen_cases(home.folder, ask.cases)
    own, failure = chosen_cases(home.folder, ()), lesson.evidence.failure
    waits = lesson.standing.stage is LessonStage.WAITING  # `whet try` takes the cases that there are
    tags = {failure.kind, failure.tool} if failure else set()
    of_home = waits or way_of(lesson) in OWN_CASES
    fitting = own if of_home else [each for each in own if each.guard or tags & set(each.tags)]
    found = {case.name: case for case in fitting}
    about = (lambda step: step.fingerprint == failure.fingerprint and step.tool == failure.tool) if failure else None
    in_repositories = MOST_SESSIONS if ask.agent else MOST_IN_REPOSITORIES
    for number, id in enumerate(() if waits else lesson.evidence.session_ids[:MOST_SESSIONS]):
        session = find(database, id)
        if is_believed(database, session):
            transcript = load(database, session)
            made = cases_from(
                home, transcript, about=about, in_repository=number < in_repositories, with_step=not ask.agent
            )
            found |= {case.name: case for case in made.cases} | found
    return tuple(found.values())


def _live(database: Database, ask: ImproveRequest) -> LiveSessions:
    """What was found in sessions that people and jobs had; trials and reviews fail for reasons of their own.

    Only this member's sessions are learned from: what another wrote may have been written to be learned.
    """
    rows = database.query("SELECT id FROM sessions WHERE purpose IN (?, ?)", BEHIND)
    behind = {id for (id,) in rows}
    signalled: list[Analysis] = []
    sessions = 0

    def streamed() -> Iterator[Analysis]:
        nonlocal sessions
        for each in judged(database, Filters(since=ask.since)):
            if each.is_own and each.analysis.session not in behind:
                sessions += 1
                # All calls of all sessions would fill the memory.
                signalled.extend([replace(each.analysis, exchanges=())] if each.analysis.signals else [])
                yield each.analysis

    recurring = distill(streamed(), known_kinds())
    return LiveSessions(sessions, recurring, signalled)


def _in_turn(first: Iterable[Lesson], second: Iterable[Lesson]) -> list[Lesson]:
    """One of each in turn, so that neither keeps the other from being tried."""
    pairs = zip_longest(first, second)
    return [lesson for pair in pairs for lesson in pair if lesson is not None]


def _taught(
    home: Home, database: Database, books: ComparedWith, ask: ImproveRequest, progress: Progress
) -> TaughtLessons:
    """What projects teach in their own words, the most promising first; what was decided before is left out."""
    found = found_by_sources(home, database, LessonScope(Filters(since=ask.since)), progress)
    lessons = sorted(folded(home, database, found), key=lambda each: -each.evidence.worth)
    settled = {entry.patch.name for entry in books.entries if entry.step in SETTLED}
    most = load_settings(home).rules.per_project
    taught = TaughtLessons(answered=answered_by(lessons))
    for lesson in lessons:
        patch, standing = lesson.patch, lesson.standing
        is_told = standing.stage in IN_FORCE and standing.told_as != f"{patch.form.value} {patch.name}"
        if is_told and patch.form is Form.RULE and lesson.is_proposable:
            taught = taught._replace(refused=(*taught.refused, _told_already(lesson, standing.told_as)))
        elif standing.stage is not LessonStage.CHECKED or patch.name in settled:
            continue
        elif patch.form is Form.RULE:
            taught = _with_rule(taught, books, lesson, lessons, most=most)
        else:
            taught = _beyond_rules(taught, home, books, lesson)
    unwritten = [_unwritten(each) for one in found for each in one.open if needs_words(each.evidence)]
    new = [each for each in unwritten if each.patch.name not in settled]
    ranked = sorted(new, key=lambda each: -each.evidence.worth)
    return taught._replace(unwritten=tuple(ranked) if books.model else ())


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


def _beyond_rules(taught: TaughtLessons, home: Home, books: ComparedWith, lesson: Lesson) -> TaughtLessons:
    """A note or a skill: not one that is there already, and a skill for the same task takes the steps in."""
    given: Patch | Skill = lesson.patch
    same = ""
    if lesson.patch.form is Form.SKILL:
        given = merged(lesson.patch, usable_skills(home.folder))
        same = f"skill {given.name}" if isinstance(given, Skill) else ""
    elif known := same_note(lesson.patch, load_page(Shelf(home.folder), PAGE, notes_known(books.state, PAGE)).notes):
        same = f"note {PAGE}/{known.id}"
    if same or isinstance(given, Skill):
        return taught._replace(refused=(*taught.refused, _told_already(lesson, same)))
    if against(books, given, None):
        return taught
    return taught._replace(written=(*taught.written, replace(lesson, patch=given)))


def strength(rule: Item, books: ComparedWith, lessons: Sequence[Lesson]) -> int:
    """In how many sessions a rule's situation was seen: those of its own proofs, and of lessons that say the same."""
    put = next((entry for entry in books.entries if entry.number == rule.number), None)
    own = {proof.session for proof in put.patch.proofs} if put else set()
    said = [each for each in lessons if same_rule((rule,), each.patch) is not None]
    return max(len(own), *(each.sessions for each in said), 0)


def _told_already(lesson: Lesson, told_as: str) -> Lesson:
    """A lesson that a rule in force, a note or a skill says already: its sessions count there."""
    sessions = f"{lesson.sessions} session{'' if lesson.sessions == 1 else 's'}"
    return standing_at(lesson, LessonStage.CLAIMED, f"the {told_as} says the same; {sessions} count there")


def _unwritten(found: OpenEvidence) -> Lesson:
    """Evidence for a model to find words for; its name is that of whatever words are found."""
    evidence, project = found.evidence, found.project
    patch = replace(NO_WORDS, name=learned_name(project, evidence.best.text))
    return Lesson(found.id, project, "", evidence.best.text, "", patch, evidence, found.seen_by)


def _of_failures(
    books: ComparedWith, recurring: Iterable[RecurringFailure], analyses: list[Analysis], *, can_try: bool
) -> Iterator[Lesson]:
    """What the catalogue says of what recurs; each failure of a tool once, whether it loops or runs out of time."""
    taken: set[str] = set()
    for failure in once_each(recurring):
        lesson = _of_failure(books, failure, can_try=can_try)
        if lesson is None or lesson.patch.text in taken:
            continue
        taken |= {lesson.patch.text} - {""}
        seen = (sighting for each in reversed(analyses) if (sighting := seen_in(failure, each)))
        pieces = tuple(_piece(failure, each) for each in islice(seen, MOST_SESSIONS))[::-1]
        yield replace(lesson, evidence=replace(lesson.evidence, pieces=pieces))


def _piece(failure: RecurringFailure, seen: Sighting) -> LessonPiece:
    return LessonPiece(LessonSource.FAILURE, seen.session, seen.message, seen.quote, trust=failure.trust)


def _of_failure(books: ComparedWith, failure: RecurringFailure, *, can_try: bool) -> Lesson | None:
    """The first draft that nothing speaks against, else one for a model to write; none where one waits already."""
    if no_rule := without_rule(failure):
        return _against_failure(failure, NO_WORDS, no_rule)
    quote = correction_of(failure)
    reasons: list[str] = []
    for patch in drafts(failure, catalogue(), words.correction(quote) if quote else "", can_try=can_try):
        reason = against(books, patch, failure.latest)
        if _waits(books, patch):
            return None
        if reason and books.state.get(patch.form, patch.name) is not None:  # no second rule for the same calls
            return _against_failure(failure, replace(NO_WORDS, origin=patch.origin), f"{patch.name}: {reason}")
        if not reason:
            return _against_failure(failure, patch)
        reasons.append(f"{patch.name}: {reason}")
    if books.model:
        return _against_failure(failure, replace(NO_WORDS, origin=PatchOrigin(PatchWriter.MODEL)))
    return _against_failure(failure, NO_WORDS, "; ".join(reasons) or UNSPECIFIC)


def _against_failure(failure: RecurringFailure, patch: Patch, why: str = "") -> Lesson:
    """The lesson that would spare a failure, or why there is none."""
    evidence = LessonEvidence(LessonSource.FAILURE, (), failure.sessions, 0.0, failure=failure)
    situation = f"{failure.tool}: {failure.line}" if failure.tool else failure.line
    id = id_of("", patch.text or f"{failure.kind} {failure.tool} {failure.fingerprint}")
    standing = Standing(LessonStage.CLAIMED if why else LessonStage.CHECKED, why=why)
    agents = SeenBy(failure.agents)
    return Lesson(id, "", patch.text, situation, "", patch, evidence, agents, standing=standing)


def _waits(books: ComparedWith, patch: Patch) -> bool:
    """Whether the same waits for a person."""
    return any(each.patch.name == patch.name for each in books.state.pending)


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
            patch = Patch(Form.TEMPLATE, Action.ADD, template.name, template_text(template), trust=Trust.AGENT)
            yield lesson_of_change(patch, f"the template {template.name} was never measured with {books.named}")
