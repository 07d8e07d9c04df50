"""A review: a fork of a finished conversation that may change memory and skills, and nothing else."""

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from whet.agent.assembling import ReviewedSession, RunPlace, RunRequest, assemble_run
from whet.agent.protocols import Answer, Toolbox
from whet.agent.providers.choosing import Supply, provider_for
from whet.agent.start import answered, carry_out, with_model
from whet.improving.reviews_begun import made_by, reviews_of
from whet.own.runs.run import Budget, Ended, Run, Sampling, Spent, fork, together
from whet.own.told.review_when import ALLOWED, ReviewKind, count, denial, due, summary
from whet.reading.reviewed import keep_claims, retold
from whet.sessions.arguments import object_of
from whet.sessions.lineage import is_vouched
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
from whet.shipped.guidance import reviewing
from whet.store.database import Database
from whet.store.files import guidance_texts
from whet.store.home import Home
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.owner import identity_of
from whet.store.recording import SOURCE, restored_run
from whet.store.rows import Session
from whet.store.sessions import is_believed, load, stored
from whet.store.settings_file import load as load_settings
from whet.telling.context.finding import project_of
from whet.text.quoting import mark_for, quoted
from whet.values import Value
from whet.work.orders import Done, Failed, Order, Steps, encoded

KIND = "review"
RECORD_TOKENS = 12_000
SHARE_OF_ROOM = 0.6

BUDGET = Budget(model_calls=8, tokens=200_000, seconds=300.0)  # of one review


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
    words = reviewing.record(quoted("record", text, mark=mark), own, mark=mark)
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
    own = guidance_texts(home, reviewing.TEXTS.name)
    reviewing.TEXTS.expect_sound(own)
    return own


def _order(kind: ReviewKind, own: Mapping[str, str]) -> Message:
    return Message(Role.USER, (Text(reviewing.order(kind, own)),), Trust.OPERATOR, at=None, origin=Origin.INSERTED)
