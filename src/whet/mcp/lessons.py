"""What agents learn and propose: what is known for a task, sessions to read and claim lessons of, rules that wait."""

import re
import time
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from whet.changes.pending import approve, propose
from whet.errors import WhetError
from whet.improving.learned import EVERYWHERE, folded, found_by_sources
from whet.ledger.entries import Actor, Item, Step
from whet.ledger.holding import WorkLocation, holds
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, Proof, Scope, digest
from whet.lessons.record import DECIDED, Lesson
from whet.mcp.sessions import QUOTE_LETTERS, project_in, shortened
from whet.reading.answers import Shown
from whet.reading.learn import checked_answer, keep, keep_doubts
from whet.reading.passes import ProjectReading, cut_passes, doubtful, doubts_of, gather, question_of, question_of_doubts
from whet.reading.project_files import project_sessions
from whet.reading.readers import ReaderQuestion
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.claims import pass_key
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.telling.targets.drawing import offered_rules
from whet.text.likeness import sense
from whet.text.showing import shown

PASS_TOKENS = 12_000  # what hosts let a tool answer
READER = "the open agent"
FAULTS_SHOWN = 20
NAME_LETTERS = 40
REASON_LETTERS = 2_000  # the ledger keeps it for good
SESSION_LETTERS = 200
LESSONS_SHOWN = 8
PLACES_SHOWN = 3
_WORD = re.compile("[a-z0-9]+")


@dataclass(frozen=True)
class PassAnswer:
    """What is to be read next. `pass_id` is empty where nothing is left; `data` stands between marks."""

    pass_id: str
    how_to_answer: str
    data: str
    sessions_left: int


@dataclass(frozen=True)
class ClaimsAnswer:
    """What became of an answer. Where lines could not be used, nothing is kept before the call with final."""

    is_kept: bool
    claims: int
    not_used: list[str]
    next: str


class HandedPass(NamedTuple):
    """A pass for the open agent: what it shows, and of which sessions; without a reading it is the sceptic's."""

    id: str
    question: ReaderQuestion
    shown: Shown
    reading: ProjectReading | None = None
    left: int = 0  # sessions for later passes


def next_pass(home: Home, folder: str) -> PassAnswer:
    """The next sessions of a folder's project that nobody has read, then the claims that nobody has doubted."""
    with opened(home) as database:
        handed = _next(home, database, folder)
    if handed is None:
        return PassAnswer("", "", "", 0)
    return PassAnswer(handed.id, handed.question.system, handed.question.order, handed.left)


def claim(home: Home, folder: str, pass_id: str, lines: str, *, final: bool) -> ClaimsAnswer:
    """Keep what an agent claims of a pass; of lines that cannot be used it is told first, unless they are final."""
    with opened(home) as database:
        handed = _next(home, database, folder)
        if handed is None or handed.id != pass_id:
            raise WhetError("That is not the next pass.", advice="Call next_pass, and answer with its pass_id.")
        if handed.reading is None:
            answer = doubts_of(lines, handed.shown)
        else:
            unread = [each.session for each in handed.reading.unread]
            answer = checked_answer(database, lines, handed.shown, unread)
        faults = [f"{each.claim.rule or each.claim.id}: {each.why}" for each in answer.dropped[:FAULTS_SHOWN]]
        if answer.dropped and not final:
            advice = "Call claim again with all lines, put right, and final."
            return ClaimsAnswer(False, len(answer.claims), faults, advice)
        if handed.reading is not None:
            keep(database, handed.reading, answer, READER)
        else:
            keep_doubts(database, handed.shown.project, answer, READER)
    return ClaimsAnswer(True, len(answer.claims), faults, "Call next_pass for more.")


def _next(home: Home, database: Database, folder: str) -> HandedPass | None:
    """The same pass for the same sessions and claims, so that nothing has to be remembered of what was handed out."""
    project = project_in(folder)
    if not project:
        raise WhetError("No project is named.", advice="Give a folder of the project.")
    sessions = project_sessions(database).get(project, [])
    reading = gather(home, database, project, sessions)._replace(told="")  # the host shows it already
    passes = cut_passes(reading, reading.unread, tokens=PASS_TOKENS)
    if passes:
        asked = question_of(reading, passes[0], number=1, passes=len(passes))
        key = pass_key(project, [each.read() for each in passes[0]])
        left = len(reading.unread) - len(passes[0])
        return HandedPass(key, asked.question, asked.shown, reading._replace(unread=passes[0]), left)
    found = doubtful(home, database, project, sessions)
    if not found:
        return None
    asked = question_of_doubts(home, project, found)
    return HandedPass(digest("\n".join(sorted(asked.shown.claims))), asked.question, asked.shown)


@dataclass(frozen=True)
class ProposalAnswer:
    """What became of a proposal: it waits for a person."""

    number: int
    name: str
    state: str
    next: str


class Proposal(NamedTuple):
    """What an agent proposes: a text for a folder's project, and what it was written from."""

    text: str
    reason: str
    folder: str
    session: str = ""


def drafted(given: Proposal) -> Patch:
    """The change that a proposal comes to."""
    if len(given.session) > SESSION_LETTERS:
        raise WhetError("There is no session with an id of this length.", advice="Leave the session out.")
    telling = (word for word in _WORD.findall(given.text.lower()) if sense(word).words)
    return Patch(
        Form.RULE,
        Action.ADD,
        "-".join(dict.fromkeys(telling))[:NAME_LETTERS].strip("-") or "rule",
        given.text,
        Scope(project=project_in(given.folder)),
        origin=PatchOrigin(PatchWriter.AGENT, said=shortened(given.reason, REASON_LETTERS)),
        trust=Trust.EXTERNAL,
        proofs=(Proof(given.session, quote=shortened(given.reason, QUOTE_LETTERS)),) if given.session else (),
    )


def question_to_person(patch: Patch) -> str:
    """What the person is asked: the very text that would be in force, and where."""
    where = f"in {patch.scope.project}" if patch.scope.project else "in every project"
    return f"Put this rule in force {shown(where)}?\n\n{shown(patch.text)}"


def suggest(home: Home, given: Proposal) -> ProposalAnswer:
    """Put a rule among the changes that wait for a person."""
    with opened(home) as database:
        patch = drafted(given)
        entry = propose(home, database, patch, actor=Actor.AGENT, now=time.time())
    state = "waits for a person" if entry.step is Step.PROPOSED else entry.step.value
    advice = f"whet lessons show {entry.number}; to test it: whet try {entry.number}"
    return ProposalAnswer(number=entry.number, name=patch.name, state=state, next=advice)


def put_in_force(home: Home, made: ProposalAnswer, asked: Set[str]) -> ProposalAnswer:
    """Approve what was proposed, on the word that the person gave through the client; nothing but what they saw."""
    with opened(home) as database:
        if ledger_of(home, database).entry(made.number).patch.id not in asked:
            return made
        approve(home, database, made.number, actor=Actor.PERSON, now=time.time())
    return replace(made, state="in force", next="whet ledger undo")


@dataclass(frozen=True)
class RuleAnswer:
    """A rule in force."""

    name: str
    text: str
    project: str
    since: str | None
    trust: str
    live: bool


@dataclass(frozen=True)
class QuoteAnswer:
    """A piece of a session: what was said or failed there."""

    session: str
    message: int | None
    text: str


@dataclass(frozen=True)
class EvidenceAnswer:
    """Why a rule is there."""

    rule: RuleAnswer
    reason: str
    verdict: str
    history: list[str]
    evidence: list[QuoteAnswer]


def why(home: Home, *, rule: str) -> EvidenceAnswer:
    """Where a rule comes from: its evidence, its verdict and what was decided about it."""
    with opened(home) as database:
        ledger = ledger_of(home, database)
        item = ledger.state().get(Form.RULE, rule)
        if item is None:
            known = ", ".join(each.name for each in ledger.state().rules) or "none"
            raise WhetError(f"There is no rule {rule}.", advice=f"Rules in force: {known}.")
        about = [each for each in ledger.entries() if each.patch.form is Form.RULE and each.patch.name == rule]
    made = next((each for each in about if each.number == item.number), None)
    return EvidenceAnswer(
        rule=rule_answer(item),
        reason=made.patch.reason if made else "",
        verdict=next((each.verdict for each in reversed(about) if each.verdict), "not tried"),
        history=[f"{iso(each.at)} {each.step.value} by {each.actor.value}" for each in about],
        evidence=[QuoteAnswer(one.session, one.message, one.quote) for one in (made.patch.proofs if made else ())],
    )


def settled_rules(home: Home, database: Database) -> tuple[Item, ...]:
    """The rules that every session may know. One on trial is not among them, but what stood in its place is: a session
    that drew to do without it must not learn it here.
    """
    offer = offered_rules(ledger_of(home, database))
    standing = (offer.before.get(rule.number) if rule.canary else rule for rule in offer.rules)
    return tuple(rule for rule in standing if rule is not None and not rule.canary)


def rule_answer(rule: Item) -> RuleAnswer:
    """A rule as agents see it."""
    return RuleAnswer(
        name=rule.name,
        text=rule.text,
        project=rule.scope.project,
        since=iso(rule.since),
        trust=rule.trust.label,
        live=rule.canary,
    )


@dataclass(frozen=True)
class LessonAnswer:
    """What sessions teach.

    It has no rule in it: what a person approved is among the rules, and nothing else is advice. `rungs` says what is
    known of it: seen, checked, came back in later sessions, tried, live.
    """

    id: str
    project: str
    source: str
    sessions: int
    not_followed: str
    seen_in: list[str]
    rungs: list[str]


@dataclass(frozen=True)
class TaskAnswer:
    """What is known for a task in a project."""

    project: str
    rules: list[RuleAnswer]
    lessons: list[LessonAnswer]


def for_task(home: Home, *, task: str, folder: str) -> TaskAnswer:
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first.

    What was decided is not told again: it is among the rules, or was refused or undone.
    """
    project = project_in(folder)
    with opened(home) as database:
        rules = settled_rules(home, database)
        found = lessons_in(home, database, project)
    asked = sense(task).words

    def nearness(lesson: Lesson) -> int:
        best = lesson.evidence.best
        return len(asked & sense(f"{lesson.rule} {best.text} {best.fix}").words)

    open_ = (each for each in found if each.standing.stage not in DECIDED)
    nearest = sorted(open_, key=nearness, reverse=True)[:LESSONS_SHOWN]
    return TaskAnswer(
        project=project,
        rules=[rule_answer(rule) for rule in rules if holds(rule.scope, WorkLocation(project, folder=folder))],
        lessons=[_answer(each) for each in nearest],
    )


def lessons_in(home: Home, database: Database, project: str) -> list[Lesson]:
    """What holds in one project, as every other surface shows it, the most promising first."""
    if not project:
        return []
    refresh(database, progress=lambda _: None, processors=1)
    projects = found_by_sources(home, database, EVERYWHERE)
    own = [each for each in folded(home, database, projects) if project in (each.project, *each.seen_by.projects)]
    return sorted(own, key=lambda each: -each.evidence.worth)


def _answer(lesson: Lesson) -> LessonAnswer:
    return LessonAnswer(
        id=lesson.id,
        project=lesson.project,
        source=lesson.evidence.source.value,
        sessions=lesson.evidence.sessions,
        not_followed=lesson.checks.stands_in,
        seen_in=list(dict.fromkeys(piece.session for piece in lesson.evidence.pieces))[:PLACES_SHOWN],
        rungs=list(lesson.climb.words),
    )
