"""Ideas for changes: from lessons, from rules that were proved elsewhere, from templates, from rules in force."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from threading import Event
from typing import NamedTuple

from whet.agent.protocols import Chosen
from whet.examples.templates import written as template_text
from whet.failures.analysis import Analysis
from whet.failures.lessons import Lesson, distill, shows
from whet.improving.taught import taught
from whet.improving.writer import write
from whet.ledger.entries import Entry, State, Step
from whet.ledger.marks import marks
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Action, Form, Patch
from whet.proving.cases_from_sessions import cases_from
from whet.runs.run import Spent
from whet.sessions.transcripts import Purpose
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.shipped.guidance import writing as words
from whet.shipped.guidance.rules import catalogue
from whet.store.analyses import judged, refresh
from whet.store.case_files import chosen as chosen_cases
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, find
from whet.store.sessions import is_believed, load
from whet.store.template_files import usable, worths
from whet.trials.cases import Case
from whet.trials.drafts import Way, correction_of, drafts
from whet.trials.ideas import Idea, ImproveRequest, again, decided, for_model, tried_elsewhere, without
from whet.values import Value

MOST_IN_REPOSITORIES = 5  # of them, whose tests are run in their repository to make a case
MOST_SESSIONS = 20  # from which cases are made for one lesson
BEHIND = (Purpose.TRIAL.value, Purpose.REVIEW.value)


class FoundIdeas(Value, frozen=True):
    """What there is to try, from how many sessions and lessons."""

    sessions: int
    lessons: int
    ideas: tuple[Idea, ...]


class ComparedWith(NamedTuple):
    """What ideas are compared with: what is in force and all that was decided."""

    state: State
    entries: tuple[Entry, ...]
    model: str  # as its provider calls it
    named: str  # as the settings call it


def find_ideas(home: Home, database: Database, ask: ImproveRequest, *, model: str, named: str) -> FoundIdeas:
    """What may be tried now, the most frequent trouble first. The model has no name where none is configured."""
    refresh(database, failure_weights(), progress=lambda _: None)
    ledger = ledger_of(home, database)
    books = ComparedWith(ledger.state(), tuple(ledger.entries()), model, named)
    analyses = _live(database, ask)
    if ask.retire:
        return FoundIdeas(len(analyses), 0, tuple(_retiring(books)))
    lessons = distill(analyses)
    templates = () if ask.agent else _templates(home, database, books)  # no other agent begins with examples
    others = (*_from_lessons(books, lessons, analyses), *_elsewhere(books), *templates)
    ideas = _in_turn(_from_evidence(database, books, ask), others)
    tried = [idea for idea in ideas if not idea.refused][: ask.most]
    return FoundIdeas(len(analyses), len(lessons), (*tried, *(idea for idea in ideas if idea.refused)))


def with_words(home: Home, database: Database, chosen: Chosen, idea: Idea, *, interrupt: Event) -> tuple[Idea, Spent]:
    """The idea with a rule that a model wrote for it, where nobody has written one yet."""
    if idea.patch is not None or idea.lesson is None or idea.way != Way.MODEL:
        return idea, Spent()
    made = write(home, database, chosen, idea.lesson, interrupt=interrupt)
    patch = for_model(made.patch, chosen.model.name) if made.patch else None
    return Idea(idea.why, idea.way, patch, idea.lesson, idea.sessions, made.why), made.spent


def cases_for(home: Home, database: Database, ask: ImproveRequest, idea: Idea) -> tuple[Case, ...]:
    """What an idea is tried on: the cases that were named, else those made from the sessions that showed the trouble.

    The home's standing cases are always among them, and its cases with a tag that names the kind of trouble.
    """
    if ask.cases:
        return chosen_cases(home.folder, ask.cases)
    own = chosen_cases(home.folder, ())
    tags = {idea.lesson.kind.value, idea.lesson.tool} if idea.lesson else set()
    fitting = (
        own if idea.way in (Way.RETIRE, Way.TEMPLATE) else [each for each in own if each.guard or tags & set(each.tags)]
    )
    found = {case.name: case for case in fitting}
    lesson = idea.lesson
    about = (lambda step: step.fingerprint == lesson.fingerprint and step.tool == lesson.tool) if lesson else None
    for number, id in enumerate(idea.sessions[:MOST_SESSIONS]):
        session = find(database, id)
        if is_believed(database, session):
            transcript = load(database, session)
            made = cases_from(home, transcript, about=about, in_repository=number < MOST_IN_REPOSITORIES)
            found |= {case.name: case for case in made.cases} | found
    return tuple(found.values())


def _live(database: Database, ask: ImproveRequest) -> list[Analysis]:
    """What was found in sessions that people and jobs had; trials and reviews fail for reasons of their own.

    Only this member's sessions are learned from: what another wrote may have been written to be learned.
    """
    rows = database.query("SELECT id FROM sessions WHERE purpose IN (?, ?)", BEHIND)
    behind = {id for (id,) in rows}
    found = (each.analysis for each in judged(database, Filters(since=ask.since)) if each.is_own)
    return [analysis for analysis in found if analysis.session not in behind]


def _from_evidence(database: Database, books: ComparedWith, ask: ImproveRequest) -> Iterator[Idea]:
    """What projects teach in their own words, the most promising first; what was decided before is left out."""
    for lesson in sorted(taught(database, Filters(since=ask.since)), key=lambda each: -each.candidate.worth):
        if lesson.patch is None:
            continue
        patch = for_model(lesson.patch, books.model) if books.model else lesson.patch
        if not _against(books, patch, None):
            candidate = lesson.candidate
            seen = "1 session" if candidate.sessions == 1 else f"{candidate.sessions} sessions"
            why = f"{candidate.source.value} in {seen} of {lesson.project or 'no project'}"
            sessions = tuple(dict.fromkeys(piece.session for piece in candidate.pieces))
            yield Idea(why, Way.EVIDENCE, patch, sessions=sessions, agents=lesson.agents)


def _in_turn(first: Iterable[Idea], second: Iterable[Idea]) -> list[Idea]:
    """One of each in turn, so that neither keeps the other from being tried."""
    pairs = zip_longest(first, second)
    return [idea for pair in pairs for idea in pair if idea is not None]


def _from_lessons(books: ComparedWith, lessons: tuple[Lesson, ...], analyses: list[Analysis]) -> Iterator[Idea]:
    taken: set[str] = set()
    for lesson in lessons:
        idea = _idea(books, lesson)
        if idea.patch is not None and idea.patch.text in taken:
            continue
        taken |= {idea.patch.text} if idea.patch else set()
        sessions = tuple(each.session for each in analyses if shows(lesson, each))
        yield Idea(idea.why, idea.way, idea.patch, lesson, sessions[-MOST_SESSIONS:], idea.refused)


def _idea(books: ComparedWith, lesson: Lesson) -> Idea:
    """The first draft that nothing speaks against, else one for a model to write."""
    why = f"{lesson.kind}{f' of {lesson.tool}' if lesson.tool else ''} in {lesson.sessions} of {lesson.base} sessions"
    quote = correction_of(lesson)
    reasons: list[str] = []
    for patch, way, no_rule in drafts(lesson, catalogue(), words.correction(quote) if quote else ""):
        if patch is None:
            return Idea(why, way, refused=no_rule)
        given = for_model(patch, books.model) if books.model else patch
        against = _against(books, given, lesson.latest)
        if not against:
            return Idea(why, way, given)
        reasons.append(f"{patch.name}: {against}")
    if books.model:
        return Idea(why, Way.MODEL)
    return Idea(why, Way.NONE, refused="; ".join(reasons) or "no rule of the catalogue fits, and no model is set")


def _against(books: ComparedWith, patch: Patch, latest: float | None) -> str:
    if marks(patch) & books.state.never:
        return "a person never wants it proposed"
    found = [fault.message for fault in faults(patch, books.state) if fault.kind is not FaultKind.TRUST]
    return decided(patch, books.entries, latest=latest) or "; ".join(found)


def _elsewhere(books: ComparedWith) -> Iterator[Idea]:
    """Rules that were proved on another model than the one in use."""
    for rule in books.state.rules if books.model else ():
        proved = [each for each in books.entries if each.step is Step.ACCEPTED and each.patch.name == rule.name]
        if rule.canary or not proved or not tried_elsewhere(rule, books.model):
            continue
        patch = again(rule, proved[-1].patch, books.model)
        sessions = tuple(dict.fromkeys(proof.session for proof in proved[-1].patch.proofs))
        why = f"the rule {rule.name} was proved on {', '.join(rule.scope.models)}"
        yield Idea(why, Way.AGAIN, patch, sessions=sessions, refused=decided(patch, books.entries, latest=None))


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
