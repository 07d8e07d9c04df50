"""A review: a fork of a finished conversation that may change memory and skills, and nothing else.

What it is shown of another agent's session, and the claims in what it answers.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from whet.agent.assembling import ReviewedSession, RunPlace, RunRequest, answered, assemble_run, carry_out, with_model
from whet.agent.protocols import Answer, Toolbox
from whet.agent.providers.choosing import Supply, provider_for
from whet.improving.reviews_begun import made_by, reviews_of
from whet.lessons.claim_evidence import CheckedQuote, check_quotes
from whet.lessons.claims import ClaimAuthor, ClaimOperation, Quote, ReadBy, bounded
from whet.lessons.condensed import EventKind
from whet.lessons.condensing import condense, shown
from whet.own.runs.run import Budget, Ended, Run, Sampling, Spent, fork, together
from whet.own.told.review_when import ALLOWED, ReviewKind, count, denial, due, summary
from whet.reading.answers import FOUND_BY_WORDS, Shown, read_answer, with_exact_quotes
from whet.sessions.lineage import is_typed, is_vouched
from whet.sessions.tool_families import object_of
from whet.sessions.transcripts import (
    Disposition,
    Ending,
    Message,
    Origin,
    Purpose,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from whet.sessions.transcripts import session_id as id_of
from whet.sessions.trust import Trust
from whet.shipped.guidance import REVIEW
from whet.store.claims import keep_pass
from whet.store.database import Database
from whet.store.files import guidance_texts
from whet.store.home import Home
from whet.store.listing import find
from whet.store.opening import identity_of, opened
from whet.store.recording import SOURCE, restored_run
from whet.store.rows import Session
from whet.store.sessions import is_believed, load, stored
from whet.store.settings_file import load as load_settings
from whet.telling.context.finding import project_of
from whet.telling.targets.known_projects import KnownProjects
from whet.text.quoting import mark_for, quoted, shortened, visible
from whet.text.words import estimate
from whet.trouble.outcomes.view import gather
from whet.values import Value
from whet.work.orders import Done, Failed, Order, Steps, encoded

KIND = "review"
RECORD_TOKENS = 12_000
SHARE_OF_ROOM = 0.6

LOOKED_FOR = {
    ReviewKind.MEMORY: ("memory",),
    ReviewKind.SKILL: ("skill",),
    ReviewKind.COMBINED: ("memory", "skill"),
}
BUDGET = Budget(model_calls=8, tokens=200_000, seconds=300.0)  # of one review
LEAST_TOKENS = 60  # of each message of the person, however many there are
MARK_OF_SESSION = "this"
ONLY_NEW = {ClaimOperation.NEW.value: ClaimOperation.NEW}


class ReviewRequest(Value, frozen=True):
    """Which conversation is to be reviewed, up to which message, for what, and by which model (empty: as set)."""

    session: str
    messages: int
    kind: ReviewKind
    model: str = ""


class ReviewOutcome(Value, frozen=True):
    """What came of a review: how it ended, what it cost, and what it changed, in one line."""

    session: str
    ending: Ending
    detail: str
    spent: Spent
    summary: str


def order(ask: ReviewRequest) -> Order:
    """The order for a review. A session has one review at a time."""
    return Order(KIND, f"{ask.session}/{ask.messages}/{ask.kind}", encoded(ask), alone=f"review {ask.session}")


def review(home: Home, steps: Steps, ask: ReviewRequest, *, supply: Supply | None = None) -> Done:
    """Carry a review out. A worker that takes it over goes on with its session, and writes nothing twice."""

    def act() -> ReviewOutcome:
        with opened(home) as database:
            return look_back(home, database, ask, environment=os.environ, interrupt=steps.interrupt, supply=supply)

    outcome = steps.do("look back", act, ReviewOutcome)
    if outcome.ending not in (Ending.FINISHED, Ending.BUDGET):
        why = f"The review ended early: {outcome.ending}. {outcome.detail}".strip()
        raise Failed(why, spent=outcome.spent, sessions=(outcome.session,))
    return Done(outcome.summary or "nothing to keep", (outcome.session,), outcome.spent)


def look_back(
    home: Home,
    database: Database,
    ask: ReviewRequest,
    *,
    environment: Mapping[str, str],
    interrupt: Event,
    supply: Supply | None = None,
) -> ReviewOutcome:
    """Look back on a conversation, and say what was learned from it."""
    session = find(database, ask.session)
    said = load(database, session)
    request = _request(home, database, session, said, ask, environment)
    if supply is not None:
        request = request._replace(chosen=supply(home, request.settings, ask.model or request.settings.review.model))
    begun = stored(database, id_of(SOURCE, request.id))
    if begun is not None and begun.ending in (Ending.FINISHED, Ending.BUDGET):
        ended = Ended(Ending(begun.ending), begun.facts.ending_detail)
    else:
        known = answered(restored_run(database, begun), now=time.time()) if begun else None
        request = request._replace(run=known or _forked(home, database, session, ask, request))
        ended = _carry_out(home, database, request, said, ask, interrupt)
    made = id_of(SOURCE, request.id)
    claims = _keep_claims(database, said, made) if ended.ending is Ending.FINISHED else 0
    told = (summary(made_by(home, database, made)), f"{claims} claimed for `whet lessons`" if claims else "")
    return ReviewOutcome(
        made, ended.ending, ended.detail, together((_spent(begun), ended.spent)), "; ".join(filter(None, told))
    )


def _keep_claims(database: Database, said: Transcript, made: str) -> int:
    """Keep what a review says that every agent should be told, in its last words; how much of it holds."""
    own = stored(database, made)
    if own is None:
        return 0
    words = (each.text for each in reversed(load(database, own).messages) if each.role is Role.AGENT and each.text)
    return keep_claims(database, said, next(words, ""), reader=own.model)


def _spent(begun: Session | None) -> Spent:
    """What a worker that died has spent on the review before this one."""
    if begun is None:
        return Spent()
    dollars = begun.cost_dollars
    return Spent(input=begun.input_tokens, output=begun.output_tokens, cached=begun.cached_tokens, dollars=dollars)


def due_after(home: Home, database: Database, session: str) -> ReviewRequest | None:
    """The review that a session which ended well calls for, if it does."""
    run = restored_run(database, find(database, session))
    counters = count(run.messages, reviews_of(database, session))
    kind = due(counters, Ending.FINISHED, load_settings(home).review, (each.name for each in run.shown))
    return ReviewRequest(session, len(run.messages), kind) if kind else None


class ReviewToolbox:
    """A toolbox of which a review may use what it is allowed to, whichever thread asks."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        why = denial(call.name, object_of(call))
        if why:
            result = ToolResult(call.id, (Text(why),), call.name, error=True, disposition=Disposition.BLOCKED)
            return Answer(result, Trust.AGENT)
        return self._box.answer(call, allowed=allowed & ALLOWED, interrupt=interrupt)

    def can_run_beside(self, call: ToolCall) -> bool:
        return self._box.can_run_beside(call)

    def close(self) -> None:
        self._box.close()


def _request(
    home: Home,
    database: Database,
    session: Session,
    said: Transcript,
    ask: ReviewRequest,
    environment: Mapping[str, str],
) -> RunRequest:
    settings = load_settings(home)
    is_own = _is_own(home, database, session)
    return RunRequest(
        replace(settings, budget=BUDGET, sampling=Sampling()),
        RunPlace(environment=environment),
        tools=tuple(sorted(ALLOWED)),
        purpose=Purpose.REVIEW,
        id=f"{session.native_id}-review-{ask.kind}-{ask.messages}",
        chosen=provider_for(settings, environment=environment, home=home, model=ask.model or settings.review.model),
        reviewed=ReviewedSession(
            read=None if is_own else _vouched(said),
            project=project_of(Path(session.folder), settings.trust.projects) if is_own and session.folder else None,
            trust=Trust.OPERATOR if is_own else Trust.EXTERNAL,
        ),
    )


def _forked(home: Home, database: Database, session: Session, ask: ReviewRequest, request: RunRequest) -> Run | None:
    """The conversation as it was sent, byte for byte, and one more order; None where it was with another agent."""
    if not _is_ours(database, session):
        return None
    whole = restored_run(database, session)
    before = replace(whole, messages=whole.messages[: ask.messages])
    made = fork(
        before, id=request.id, order=(_order(ask.kind, _own_words(home)),), allowed=ALLOWED, purpose=Purpose.REVIEW
    )
    made = replace(made, budget=request.settings.budget)
    return with_model(made, request.chosen.model) if request.chosen else made


def _is_ours(database: Database, session: Session) -> bool:
    """Whether a conversation was with Whet's own agent, and this member had it; another's is shown as data."""
    return session.source == SOURCE and is_believed(database, session)


def _retold(run: Run, said: Transcript, ask: ReviewRequest, own: Mapping[str, str]) -> Run:
    """A conversation with another agent in short, with all that the person said, as data to a session of our own."""
    room = int(run.room * SHARE_OF_ROOM) if run.room else RECORD_TOKENS
    text = retold(replace(said, messages=said.messages[: ask.messages]), min(room, RECORD_TOKENS))
    mark = mark_for((text,))
    words = REVIEW.text("record", own, body=quoted("record", text, mark=mark), mark=mark)
    record = Message(Role.USER, (Text(words),), Trust.EXTERNAL, origin=Origin.INSERTED)
    return replace(run, parent=said.native_id, messages=(record, _order(ask.kind, own)))


def _carry_out(
    home: Home, database: Database, request: RunRequest, said: Transcript, ask: ReviewRequest, interrupt: Event
) -> Ended:
    with tempfile.TemporaryDirectory(prefix="whet-review-") as folder:  # in which nothing that it may use works
        place = request.place._replace(folder=Path(folder))
        made = assemble_run(home, database, request._replace(place=place))
        run = request.run or _retold(made.run, said, ask, _own_words(home))
        means = made.means._replace(toolbox=ReviewToolbox(made.means.toolbox))
        try:
            return carry_out(database, run, means, interrupt=interrupt).ended
        finally:
            means.toolbox.close()


def _is_own(home: Home, database: Database, session: Session) -> bool:
    """Whether a session is one of our own agent, begun in this home: others are other people's."""
    return _is_ours(database, session) and restored_run(database, session).home == identity_of(home)


def _vouched(said: Transcript) -> tuple[Message, ...]:
    """Of another agent's record, what a person certainly typed: nothing else that it says may do without one."""
    if said.source == SOURCE:  # another person's
        return ()
    return tuple(message for message in said.messages if is_vouched(message))


def _own_words(home: Home) -> dict[str, str]:
    """What the person wrote in the home in the place of the texts of a review."""
    own = guidance_texts(home, REVIEW.name)
    REVIEW.expect_sound(own)
    return own


def _order(kind: ReviewKind, own: Mapping[str, str]) -> Message:
    return Message(Role.USER, (Text(order_text(kind, own)),), Trust.OPERATOR, at=None, origin=Origin.INSERTED)


def order_text(kind: ReviewKind, own: Mapping[str, str]) -> str:
    """What a review of this kind is told to do. `own` are a person's texts, by the names of those that they replace."""
    parts = "\n\n".join(REVIEW.text(name, own) for name in LOOKED_FOR[kind])
    return REVIEW.text("order", own, tools=", ".join(sorted(ALLOWED)), parts=parts)


def retold(transcript: Transcript, limit_tokens: int) -> str:
    """A session in short, with all that the person typed: what has no room is shortened there, and events go first."""
    said = [(place, message) for place, message in enumerate(transcript.messages) if is_typed(message)]
    each = max(limit_tokens // max(len(said), 1), LEAST_TOKENS)
    lines = {place: f"[{place}] PERSON: {shortened(visible(message.text), each).text}" for place, message in said}
    left = limit_tokens - sum(map(estimate, lines.values()))
    made = condense(gather(transcript))
    others = tuple(event for event in made.events if event.kind is not EventKind.PERSON)
    events: list[tuple[int, str]] = []
    for event in others:
        line = shown(replace(made, events=(event,), left_out=0)).partition("\n")[2]
        left -= estimate(line)
        if left < 0:
            break
        events.append((event.message, line))
    both = sorted([*lines.items(), *events], key=lambda pair: pair[0])
    return "\n".join(line for _, line in both)


def keep_claims(database: Database, transcript: Transcript, text: str, *, reader: str) -> int:
    """Keep what a review claims of its session besides notes and skills; gives how many claims hold their quotes.

    They wait like any other claim: code checks them, and a person decides.
    """
    project = KnownProjects(database).identity(transcript.folder)
    if not project or "{" not in text:
        return 0
    answer = read_answer(text, Shown(project, {MARK_OF_SESSION: transcript.id}, frozenset(), ONLY_NEW))
    placed = [replace(claim, quotes=tuple(_placed(claim.quotes, transcript))) for claim in answer.claims]
    checked = {quote: CheckedQuote(quote) for claim in placed for quote in claim.quotes}
    kept = with_exact_quotes(answer._replace(claims=tuple(each for each in placed if each.quotes)), checked)
    if kept.claims:
        by = ReadBy(reader, ClaimAuthor.REVIEW)
        keep_pass(database, project, (), bounded(kept.claims), reader=by, now=time.time())
    return len(kept.claims)


def _placed(quotes: Sequence[Quote], transcript: Transcript) -> Iterator[Quote]:
    """Each quote with the message that says it: of several the one that is believed most, for it said it first."""
    for quote in quotes:
        everywhere = tuple(replace(quote, message=place) for place in range(len(transcript.messages)))
        asked = everywhere if quote.message == FOUND_BY_WORDS else (quote,)
        found = [each for each in check_quotes(asked, transcript) if each.is_exact]
        if found:
            yield max(found, key=lambda each: (each.trust, -each.quote.message)).quote
