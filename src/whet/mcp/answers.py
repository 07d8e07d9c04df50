"""What an agent may ask Whet for: short, typed answers from the store of a home.

Quotes come from sessions and are data. Nothing here approves, applies or reverts anything.
"""

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from whet.changes.pending import approve, propose, waiting
from whet.errors import WhetError
from whet.improving.taught import TaughtLesson, taught
from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.patches import Action, Form, Patch, Proof, Scope
from whet.sessions.exports import iso
from whet.sessions.transcripts import Message
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.store import search, sessions
from whet.store.analyses import refresh
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, count_sessions, find, list_sessions
from whet.store.opening import opened
from whet.targets.project_names import name_of_project
from whet.text.likeness import sense

LESSONS_SHOWN = 8
QUOTES_SHOWN = 3
QUOTE_LETTERS = 400
MESSAGE_LETTERS = 2_000
MESSAGES_SHOWN = 20
HITS_SHOWN = 10
NAME_LETTERS = 40
_WORD = re.compile("[a-z0-9]+")


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
    """A piece of a session: what was said or failed there, and what worked instead."""

    session: str
    message: int | None
    text: str
    worked: str


@dataclass(frozen=True)
class LessonAnswer:
    """What sessions teach; `draft` is null where nobody has put it in words yet."""

    project: str
    source: str
    situation: str
    draft: str | None
    sessions: int
    not_followed: str
    evidence: list[QuoteAnswer]


@dataclass(frozen=True)
class TaskAnswer:
    """What is known for a task in a project."""

    project: str
    rules: list[RuleAnswer]
    lessons: list[LessonAnswer]


@dataclass(frozen=True)
class HitAnswer:
    """A message that was found."""

    session: str
    message: int
    role: str
    agent: str
    title: str
    at: str | None
    text: str


@dataclass(frozen=True)
class MessageAnswer:
    """One message of a session, shortened."""

    message: int
    role: str
    text: str


@dataclass(frozen=True)
class SessionAnswer:
    """A part of a session."""

    session: str
    agent: str
    title: str
    folder: str
    started: str | None
    messages: int
    part: list[MessageAnswer]


@dataclass(frozen=True)
class EvidenceAnswer:
    """Why a rule is there."""

    rule: RuleAnswer
    reason: str
    verdict: str
    history: list[str]
    evidence: list[QuoteAnswer]


@dataclass(frozen=True)
class ProposalAnswer:
    """What became of a proposal: it waits for a person."""

    number: int
    name: str
    state: str
    next: str


@dataclass(frozen=True)
class StatusAnswer:
    """How things stand in a home."""

    sessions: int
    rules: int
    live_trials: int
    waiting: int
    next: str


def for_task(home: Home, *, task: str, folder: str, evidence: bool) -> TaskAnswer:
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first."""
    project = _project(folder)
    with opened(home) as database:
        rules = ledger_of(home, database).state().rules
        refresh(database, failure_weights(), progress=lambda _: None, processors=1)
        found = taught(database, Filters(), project=project) if project else ()
    asked = sense(task).words
    own = [each for each in found if each.project == project]
    nearest = sorted(own, key=lambda each: -len(asked & sense(_said(each)).words))[:LESSONS_SHOWN]
    holding = [_rule(rule) for rule in rules if rule.scope.project in ("", project)]
    return TaskAnswer(project=project, rules=holding, lessons=[_lesson(each, evidence) for each in nearest])


def find_messages(home: Home, *, query: str, folder: str, limit: int) -> list[HitAnswer]:
    """The messages that hold all the words, the best first."""
    with opened(home) as database:
        most = max(1, min(limit, 5 * HITS_SHOWN))
        hits = search.search(database, query, filters=Filters(folder=folder), role="", limit=most)
    return [
        HitAnswer(
            session=hit.session_id,
            message=hit.position,
            role=hit.role,
            agent=hit.source,
            title=hit.title,
            at=iso(hit.at),
            text=_short(hit.snippet, QUOTE_LETTERS),
        )
        for hit in hits
    ]


def show(home: Home, *, session: str, start: int, count: int) -> SessionAnswer:
    """Some messages of a session, by its id or the beginning of it."""
    with opened(home) as database:
        row = find(database, session)
        messages = sessions.load(database, row).messages
    first = max(0, min(start, len(messages)))
    part = messages[first : first + max(1, min(count, 5 * MESSAGES_SHOWN))]
    return SessionAnswer(
        session=row.id,
        agent=row.source,
        title=row.title,
        folder=row.folder,
        started=iso(row.started),
        messages=len(messages),
        part=[
            MessageAnswer(message=place, role=each.role.value, text=_short(_spoken(each), MESSAGE_LETTERS))
            for place, each in enumerate(part, first)
        ],
    )


def why(home: Home, *, rule: str) -> EvidenceAnswer:
    """Where a rule comes from: its evidence, its verdict and what was decided about it."""
    with opened(home) as database:
        ledger = ledger_of(home, database)
        item = ledger.state().get(Form.RULE, rule)
        if item is None:
            known = ", ".join(each.name for each in ledger.state().rules) or "none"
            raise WhetError(f"There is no rule {rule}.", advice=f"Rules in force: {known}.")
        about = [each for each in ledger.entries() if each.patch.form is Form.RULE and each.patch.name == rule]
    made = ledger_entry(about, item.number)
    return EvidenceAnswer(
        rule=_rule(item),
        reason=made.patch.reason if made else "",
        verdict=next((each.verdict for each in reversed(about) if each.verdict), "not tried"),
        history=[f"{iso(each.at)} {each.step.value} by {each.actor.value}" for each in about],
        evidence=_proofs(made.patch.proofs if made else ()),
    )


def suggest(home: Home, *, text: str, reason: str, folder: str, session: str) -> ProposalAnswer:
    """Put a rule among the changes that wait for a person. An agent's words may be anybody's, so it always waits."""
    project = _project(folder)
    telling = (word for word in _WORD.findall(text.lower()) if sense(word).words)
    name = "-".join(dict.fromkeys(telling))[:NAME_LETTERS].strip("-") or "rule"
    proofs = (Proof(session, quote=_short(reason, QUOTE_LETTERS)),) if session else ()
    patch = Patch(
        Form.RULE, Action.ADD, name, text, Scope(project=project), reason=reason, trust=Trust.EXTERNAL, proofs=proofs
    )
    with opened(home) as database:
        entry = propose(home, database, patch, actor=Actor.AGENT, now=time.time())
    state = "waits for a person" if entry.step is Step.PROPOSED else entry.step.value
    return ProposalAnswer(number=entry.number, name=name, state=state, next=f"whet pending show {entry.number}")


def put_in_force(home: Home, made: ProposalAnswer) -> ProposalAnswer:
    """Approve what was proposed, on the word that the person gave through the client."""
    with opened(home) as database:
        approve(home, database, made.number, actor=Actor.PERSON, now=time.time())
    return replace(made, state="in force", next="whet ledger undo")


def status(home: Home) -> StatusAnswer:
    """How much is stored, in force, on trial and waiting."""
    with opened(home) as database:
        rules = ledger_of(home, database).state().rules
        count = waiting(home, database, now=time.time())
        stored = count_sessions(database, Filters())
    following = "whet pending" if count else "whet lessons" if stored else "whet import"
    live = sum(rule.canary for rule in rules)
    return StatusAnswer(sessions=stored, rules=len(rules) - live, live_trials=live, waiting=count, next=following)


def rules_text(home: Home) -> str:
    """The rules in force, a line each."""
    with opened(home) as database:
        rules = ledger_of(home, database).state().rules
    return "\n".join(f"- {rule.name}: {rule.text}" for rule in rules) or "No rules yet."


def trials_text(home: Home) -> str:
    """The verdicts in the ledger, the newest first."""
    with opened(home) as database:
        judged = [each for each in ledger_of(home, database).entries() if each.verdict]
    return (
        "\n".join(f"- {iso(each.at)} {each.patch.name}: {each.verdict}" for each in reversed(judged))
        or "No trials yet."
    )


def recent_text(home: Home) -> str:
    """The newest sessions, a line each."""
    with opened(home) as database:
        found = list_sessions(database, Filters(), limit=MESSAGES_SHOWN)
    return (
        "\n".join(f"- {each.id} {each.source} {iso(each.started)} {each.title}" for each in found) or "No sessions yet."
    )


def ledger_entry(entries: Iterable[Entry], number: int) -> Entry | None:
    return next((each for each in entries if each.number == number), None)


def _project(folder: str) -> str:
    return name_of_project(os.path.abspath(folder)) if folder else ""


def _rule(rule: Item) -> RuleAnswer:
    return RuleAnswer(
        name=rule.name,
        text=rule.text,
        project=rule.scope.project,
        since=iso(rule.since),
        trust=rule.trust.label,
        live=rule.canary,
    )


def _lesson(lesson: TaughtLesson, evidence: bool) -> LessonAnswer:
    draft, candidate = lesson.draft, lesson.candidate
    pieces = candidate.pieces[:QUOTES_SHOWN] if evidence or draft is None else ()
    return LessonAnswer(
        project=lesson.project,
        source=candidate.source.value,
        situation=draft.situation if draft else _short(candidate.best.text, QUOTE_LETTERS),
        draft=draft.text if draft else None,
        sessions=candidate.sessions,
        not_followed=lesson.stands_in,
        evidence=[
            QuoteAnswer(
                session=piece.session,
                message=piece.message,
                text=_short(piece.text, QUOTE_LETTERS),
                worked=_short(piece.fix or piece.remedy, QUOTE_LETTERS),
            )
            for piece in pieces
        ],
    )


def _proofs(proofs: Iterable[Proof]) -> list[QuoteAnswer]:
    return [QuoteAnswer(session=one.session, message=one.message, text=one.quote, worked="") for one in proofs]


def _said(lesson: TaughtLesson) -> str:
    draft, best = lesson.draft, lesson.candidate.best
    return f"{draft.text if draft else ''} {best.text} {best.fix}"


def _spoken(message: Message) -> str:
    calls = (f"[call {call.name} {call.arguments}]" for call in message.calls)
    results = (f"[{'failed' if each.error else 'result'}] {each.text}" for each in message.results)
    return "\n".join(part for part in (message.text, *calls, *results) if part)


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"
