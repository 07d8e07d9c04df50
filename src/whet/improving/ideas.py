"""Ideas for changes: from lessons, from templates, from rules in force."""

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.protocols import Chosen
from whet.examples.templates import written as template_text
from whet.failures.analysis import Analysis
from whet.failures.kinds import in_words
from whet.failures.lessons import RecurringFailure, distill, shows
from whet.improving.compared import ComparedWith, against
from whet.improving.evidence_ideas import from_evidence, is_answered, once_each
from whet.improving.learned_forms import patch_in_form
from whet.improving.taught import Progress, silent
from whet.improving.writer import WriterMeans, write, write_from_evidence
from whet.ledger.origins import PatchWriter
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.bearing_out import bearing_out
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import draft_of, learned_name, written_from
from whet.proving.cases_from_sessions import cases_from
from whet.runs.run import Spent
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
from whet.store.sessions import is_believed, load
from whet.store.template_files import usable, worths
from whet.told.passages import SMALL_SIZES
from whet.trials.cases import Case
from whet.trials.drafts import Way, correction_of, drafts
from whet.trials.ideas import Idea, IdeaOutcome, ImproveRequest, without
from whet.values import Value

MOST_SESSIONS = 20  # from which cases are made for one lesson
MOST_IN_REPOSITORIES = 5  # of them, whose tests are run to make a case; another agent can do no other cases
OWN_CASES = (Way.RETIRE, Way.TEMPLATE, Way.WAITS)  # tried on all cases of the home
UNSPECIFIC = "nothing specific is known, and general rules are not proposed untried"
BEHIND = (Purpose.TRIAL.value, Purpose.REVIEW.value)


class FoundIdeas(Value, frozen=True):
    """What there is to try, from how many sessions and lessons."""

    sessions: int
    lessons: int
    ideas: tuple[Idea, ...]
    left: int = 0  # for another time
    unspecific: tuple[str, ...] = ()  # what recurs, and only general rules are written for
    waiting: tuple[IdeaOutcome, ...] = ()  # proposed before


class LiveSessions(NamedTuple):
    """How many sessions people and jobs had, what recurs in them, and those that show anything, without their calls."""

    sessions: int
    lessons: tuple[RecurringFailure, ...]
    signalled: list[Analysis]


def find_ideas(
    home: Home, database: Database, ask: ImproveRequest, *, model: str, named: str, progress: Progress = silent
) -> FoundIdeas:
    """What may be tried now, the most frequent trouble first. The model has no name where none is configured."""
    refresh(database, failure_weights(), progress=lambda _: None)
    ledger = ledger_of(home, database)
    books = ComparedWith(ledger.state(), tuple(ledger.entries()), model, named)
    live = _live(database, ask)
    if ask.retire:
        return FoundIdeas(live.sessions, 0, tuple(_retiring(books)))
    lessons = live.lessons
    learned = from_evidence(home, database, books, ask, progress=progress)
    open_lessons = tuple(each for each in lessons if not is_answered(each.fingerprint, learned.answered))
    templates = () if ask.agent else _templates(home, database, books)  # no other agent begins with examples
    found = list(_from_lessons(books, open_lessons, live.signalled, can_try=bool(books.model or ask.agent)))
    general = [idea for idea in found if idea.refused != UNSPECIFIC]
    ideas = [*_in_turn(learned.written, templates), *general, *learned.unwritten]
    fit = [idea for idea in ideas if not idea.refused]
    tried, left = fit[: ask.most], len(fit[ask.most :])
    # A rule gives way only to one that is tried now.
    names = {idea.patch.name for idea in tried if idea.patch}
    leaving = [idea for name, idea in learned.leaving if name in names]
    refused = [*(idea for idea in ideas if idea.refused), *learned.refused]
    unspecific = tuple(idea.why for idea in found if idea.refused == UNSPECIFIC)
    return FoundIdeas(live.sessions, len(lessons), (*tried, *leaving, *refused), left, unspecific)


def with_words(home: Home, database: Database, chosen: Chosen, idea: Idea, *, interrupt: Event) -> tuple[Idea, Spent]:
    """The idea with a rule that a model wrote for it: from the evidence, or where nobody has written one yet.

    A small model writes nothing over what a pattern drafted: its words are followed less often than those.
    """
    means = WriterMeans(home, database, chosen, interrupt)
    if idea.patch is not None and chosen.model.size in SMALL_SIZES:
        return idea, Spent()
    if idea.evidence is not None:
        return _from_model(means, idea, idea.evidence)
    if idea.patch is not None or idea.lesson is None or idea.way != Way.MODEL:
        return idea, Spent()
    made = write(means, idea.lesson)
    return Idea(idea.why, idea.way, made.patch, idea.lesson, idea.sessions, made.why), made.spent


def _from_model(means: WriterMeans, idea: Idea, candidate: LessonEvidence) -> tuple[Idea, Spent]:
    """What a model makes of the older evidence; the pattern's draft, where there is one, when that is of no use."""
    older = written_from(candidate, draft_of(candidate))
    made = write_from_evidence(means, older)
    if made.draft is None:
        return (idea if idea.patch else replace(idea, refused=made.why)), made.spent
    part = bearing_out(older, made.draft)
    patch = patch_in_form(made.draft, part, idea.project)
    # What was decided of a candidate is found by its name, whatever words a model chooses the next time.
    name = idea.patch.name if idea.patch else learned_name(idea.project, candidate.best.text)
    origin = replace(patch.origin, writer=PatchWriter.MODEL, named=means.chosen.model.name)
    return replace(idea, patch=replace(patch, name=name, origin=origin)), made.spent


def cases_for(home: Home, database: Database, ask: ImproveRequest, idea: Idea) -> tuple[Case, ...]:
    """What an idea is tried on: the cases that were named, else those made from the sessions that showed the trouble.

    The home's standing cases are always among them, and its cases with a tag that names the kind of trouble.
    """
    if ask.cases:
        return chosen_cases(home.folder, ask.cases)
    own = chosen_cases(home.folder, ())
    tags = {idea.lesson.kind, idea.lesson.tool} if idea.lesson else set()
    fitting = own if idea.way in OWN_CASES else [each for each in own if each.guard or tags & set(each.tags)]
    found = {case.name: case for case in fitting}
    lesson = idea.lesson
    about = (lambda step: step.fingerprint == lesson.fingerprint and step.tool == lesson.tool) if lesson else None
    in_repositories = MOST_SESSIONS if ask.agent else MOST_IN_REPOSITORIES
    for number, id in enumerate(idea.sessions[:MOST_SESSIONS]):
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

    lessons = distill(streamed(), known_kinds())
    return LiveSessions(sessions, lessons, signalled)


def _in_turn(first: Iterable[Idea], second: Iterable[Idea]) -> list[Idea]:
    """One of each in turn, so that neither keeps the other from being tried."""
    pairs = zip_longest(first, second)
    return [idea for pair in pairs for idea in pair if idea is not None]


def _from_lessons(
    books: ComparedWith, lessons: tuple[RecurringFailure, ...], analyses: list[Analysis], *, can_try: bool
) -> Iterator[Idea]:
    """What the catalogue says of what recurs; each failure of a tool once, whether it loops or runs out of time."""
    taken: set[str] = set()
    for lesson in once_each(lessons):
        idea = _idea(books, lesson, can_try=can_try)
        if idea is None or (idea.patch is not None and idea.patch.text in taken):
            continue
        taken |= {idea.patch.text} if idea.patch else set()
        latest = islice((each.session for each in reversed(analyses) if shows(lesson, each)), MOST_SESSIONS)
        yield Idea(idea.why, idea.way, idea.patch, lesson, tuple(latest)[::-1], idea.refused)


def _idea(books: ComparedWith, lesson: RecurringFailure, *, can_try: bool) -> Idea | None:
    """The first draft that nothing speaks against, else one for a model to write; none where one waits already."""
    kind = in_words(lesson.kind)
    why = f"{kind}{f' of {lesson.tool}' if lesson.tool else ''} in {lesson.sessions} of {lesson.base} sessions"
    quote = correction_of(lesson)
    reasons: list[str] = []
    for patch, way, no_rule in drafts(lesson, catalogue(), words.correction(quote) if quote else "", can_try=can_try):
        if patch is None:
            return Idea(why, way, refused=no_rule)
        reason = against(books, patch, lesson.latest)
        if _waits(books, patch):
            return None
        if reason and books.state.get(patch.form, patch.name) is not None:
            return Idea(why, way, refused=f"{patch.name}: {reason}")  # no second rule for the same calls
        if not reason:
            return Idea(why, way, patch)
        reasons.append(f"{patch.name}: {reason}")
    if books.model:
        return Idea(why, Way.MODEL)
    return Idea(why, Way.NONE, refused="; ".join(reasons) or UNSPECIFIC)


def _waits(books: ComparedWith, patch: Patch) -> bool:
    """Whether the same waits for a person."""
    return any(each.patch.name == patch.name for each in books.state.pending)


def _retiring(books: ComparedWith) -> Iterator[Idea]:
    for rule in books.state.rules:
        if not rule.canary:
            put = next((each for each in books.entries if each.number == rule.number), None)
            sessions = tuple(dict.fromkeys(proof.session for proof in put.patch.proofs)) if put else ()
            yield Idea(f"whether the rule {rule.name} still helps", Way.RETIRE, without(rule), sessions=sessions)


def _templates(home: Home, database: Database, books: ComparedWith) -> Iterator[Idea]:
    """Templates that were never measured on this model."""
    known = {worth.key for worth in worths(database) if worth.model == books.named}
    for template in usable(home.folder) if books.model else ():
        if template.key not in known:
            patch = Patch(Form.TEMPLATE, Action.ADD, template.name, template_text(template), trust=Trust.AGENT)
            yield Idea(f"the template {template.name} was never measured with {books.named}", Way.TEMPLATE, patch)
