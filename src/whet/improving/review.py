"""A review: a fork of a finished conversation that may change memory and skills, and nothing else."""

import datetime
import os
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.compaction import Compacting
from whet.agent.protocols import Answer, Chosen, Toolbox
from whet.agent.providers.choosing import provider_for
from whet.agent.redacting import Secrets
from whet.agent.start import Beginning, Means, answered, perform, start
from whet.agent.tools.registry import built_in
from whet.agent.tools.situation import Situation
from whet.agent.tools.toolbox import toolbox
from whet.context.gathering import Request
from whet.engine.orders import Done, Failed, Order
from whet.engine.steps import Steps, encoded
from whet.ledger.entries import Entry
from whet.runs.run import Budget, Ended, Run, Spent, fork, together
from whet.runs.settings import Settings
from whet.runs.shortening import told
from whet.secrets.redactor import secret_values
from whet.sessions.arguments import object_of
from whet.sessions.transcripts import Disposition, Ending, Message, Origin, Purpose, Role, Text, ToolCall, ToolResult
from whet.sessions.transcripts import session_id as id_of
from whet.sessions.trust import Trust
from whet.shipped.guidance import reviewing
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.prompts import restore_prompt
from whet.store.recording import SOURCE, restored_run
from whet.store.sessions import SESSION_COLUMNS, Session, load, session_of, stored
from whet.store.settings_file import load as load_settings
from whet.text.quoting import mark_for, quoted
from whet.told.passages import Circumstances
from whet.told.prompt import trust_of
from whet.told.review_when import ALLOWED, Reviewed, ReviewKind, denial, summary
from whet.values import Value

KIND = "review"
RECORD_TOKENS = 12_000
SHARE_OF_ROOM = 0.6
_ID = re.compile(r"-review-(memory|skill|combined)-(\d+)")  # behind the id of the session


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


def review(home: Home, steps: Steps, ask: ReviewRequest) -> Done:
    """Carry a review out. A worker that takes it over goes on with its session, and writes nothing twice."""

    def look_back() -> ReviewOutcome:
        with opened(home) as database:
            return reviewed(home, database, ask, environment=os.environ, interrupt=steps.interrupt)

    outcome = steps.do("look back", look_back, ReviewOutcome)
    if outcome.ending not in (Ending.FINISHED, Ending.BUDGET):
        why = f"The review ended early: {outcome.ending}. {outcome.detail}".strip()
        raise Failed(why, spent=outcome.spent, sessions=(outcome.session,))
    return Done(outcome.summary or "nothing to keep", (outcome.session,), outcome.spent)


def reviewed(
    home: Home, database: Database, ask: ReviewRequest, *, environment: Mapping[str, str], interrupt: Event
) -> ReviewOutcome:
    """Look back on a conversation, and say what was learned from it."""
    session = find(database, ask.session)
    settings = load_settings(home)
    chosen = provider_for(settings, environment=environment, home=home, model=ask.model or settings.review.model)
    scene = ReviewScene(home, database, settings, chosen, environment)
    own = f"{session.native_id}-review-{ask.kind}-{ask.messages}"
    begun = stored(database, id_of(SOURCE, own))
    if begun is not None:
        run = answered(restored_run(database, begun), now=time.time())
    elif session.source == SOURCE:
        run = _forked(scene, session, ask, own)
    else:
        run = _retold(scene, session, ask, own)
    if begun is not None and begun.ending in (Ending.FINISHED, Ending.BUDGET):
        ended = Ended(Ending(begun.ending), begun.facts.ending_detail)
    else:
        ended = _performed(scene, run, session, interrupt)
    return ReviewOutcome(
        id_of(SOURCE, own),
        ended.ending,
        ended.detail,
        together((_spent(begun), ended.spent)),
        summary(made_by(home, database, id_of(SOURCE, own))),
    )


def _spent(begun: Session | None) -> Spent:
    """What a worker that died has spent on the review before this one."""
    if begun is None:
        return Spent()
    dollars = begun.cost_dollars
    return Spent(input=begun.input_tokens, output=begun.output_tokens, cached=begun.cached_tokens, dollars=dollars)


def reviews_of(database: Database, session: str) -> tuple[Reviewed, ...]:
    """The reviews of a session that were begun, from their names."""
    rows = database.query(
        "SELECT own.native_id, parent.native_id FROM sessions AS own"
        " JOIN sessions AS parent ON parent.id = own.parent_id WHERE own.parent_id = ? AND own.purpose = ?",
        (session, Purpose.REVIEW.value),
    )
    found = (_ID.fullmatch(own.removeprefix(parent)) for own, parent in rows)
    return tuple(Reviewed(ReviewKind(each[1]), int(each[2])) for each in found if each)


def news(home: Home, database: Database, session: str, *, since: float) -> tuple[str, ...]:
    """What reviews of a session that ended since then have learned, a line for each that learned anything."""
    rows = database.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE parent_id = ? AND purpose = ? AND ended > ? ORDER BY ended",
        (session, Purpose.REVIEW.value, since),
    )
    ended = [each for each in map(session_of, rows) if each.ending != Ending.UNKNOWN]
    return tuple(filter(None, (summary(made_by(home, database, each.id)) for each in ended)))


def made_by(home: Home, database: Database, session: str) -> tuple[Entry, ...]:
    """The entries of the ledger that came from a session."""
    entries = ledger_of(home, database).entries()
    return tuple(entry for entry in entries if any(proof.session == session for proof in entry.patch.proofs))


class ReviewScene(NamedTuple):
    """What a review is carried out with."""

    home: Home
    database: Database
    settings: Settings
    chosen: Chosen
    environment: Mapping[str, str]


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


def _forked(scene: ReviewScene, session: Session, ask: ReviewRequest, own: str) -> Run:
    """The conversation as it was sent, byte for byte, and one more order."""
    whole = restored_run(scene.database, session)
    before = msgspec.structs.replace(whole, messages=whole.messages[: ask.messages])
    made = fork(before, id=own, order=(_order(ask.kind),), allowed=ALLOWED, purpose=Purpose.REVIEW)
    return msgspec.structs.replace(made, budget=_budget(scene.settings))


def _retold(scene: ReviewScene, session: Session, ask: ReviewRequest, own: str) -> Run:
    """A conversation with another agent, shown as data to a session of our own."""
    transcript = load(scene.database, session)
    shown = tuple(tool.definition for tool in built_in() if tool.name in ALLOWED)
    setting = Circumstances(
        tools=tuple(definition.name for definition in shown),
        model=scene.chosen.model.name,
        provider=scene.chosen.provider.name,
        purpose="unattended",
        size=scene.chosen.model.size,
    )
    beginning = Beginning(
        own,
        Request(setting, None, datetime.datetime.now(datetime.UTC).date()),
        shown,
        purpose=Purpose.REVIEW,
        budget=_budget(scene.settings),
    )
    run = start(scene.home, scene.database, scene.chosen.model, beginning, now=time.time())
    room = int(run.room * SHARE_OF_ROOM) if run.room else RECORD_TOKENS
    text = told(transcript.messages[: ask.messages], min(room, RECORD_TOKENS))
    mark = mark_for((text,))
    words = reviewing.record(quoted("record", text, mark=mark), mark=mark)
    record = Message(Role.USER, (Text(words),), Trust.EXTERNAL, origin=Origin.INSERTED)
    return msgspec.structs.replace(run, parent=session.native_id, messages=(record, _order(ask.kind)))


def _performed(scene: ReviewScene, run: Run, session: Session, interrupt: Event) -> Ended:
    heard = load(scene.database, session).messages if session.source != SOURCE else run.messages
    ended = Ended(Ending.UNKNOWN)
    with tempfile.TemporaryDirectory(prefix="whet-review-") as folder:
        situation = Situation(
            Path(folder),  # nothing that a review may use works in a folder
            scene.home,
            run.id,
            scene.environment,
            told=trust_of(restore_prompt(scene.database, run.prompt_key)) if run.prompt_key else Trust.EXTERNAL,
            occasion="a review",
        )
        box = toolbox(situation, sets=tuple(sorted(ALLOWED)), messages=heard)
        means = Means(
            scene.chosen.provider,
            ReviewToolbox(box),
            Compacting(lambda: f"{run.id}-more", enabled=False),
            Secrets(secret_values(scene.environment)),
        )
        try:
            for said in perform(scene.database, run, means, interrupt=interrupt):
                ended = said if isinstance(said, Ended) else ended
        finally:
            box.close()
    return ended


def _order(kind: ReviewKind) -> Message:
    return Message(Role.USER, (Text(reviewing.order(kind)),), Trust.OPERATOR, at=None, origin=Origin.INSERTED)


def _budget(settings: Settings) -> Budget:
    limits = settings.review
    return Budget(model_calls=limits.model_calls, tokens=limits.tokens, seconds=limits.seconds)
