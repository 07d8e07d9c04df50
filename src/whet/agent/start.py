"""How runs are carried out without a secret leaving, and how one goes on after whatever ended it."""

import json
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.compaction import Compacting, Said, pursue
from whet.agent.loop import Clock, stand_in
from whet.agent.protocols import Answer, Provider, Reply, Toolbox
from whet.errors import WhetError
from whet.own.runs.models import Model
from whet.own.runs.run import Ended, Fragment, Run, Sampling, grown
from whet.secrets.redactor import PLACEHOLDER, Redactor
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Disposition, Ending, Message, Purpose, Role, Text, Thought, ToolCall, pair
from whet.sessions.trust import Trust, trust_of_tool
from whet.shipped.guidance import notice
from whet.store.database import Database
from whet.store.listing import Filters, find, list_sessions
from whet.store.recording import SOURCE, recorded, restored_run
from whet.store.rows import SESSION_COLUMNS, Session, session_of

# Tools that work on files and programs of this machine. A note or a page elsewhere gets the placeholder.
LOCAL = frozenset({Family.SHELL, Family.INTERPRETER, Family.READ, Family.SEARCH, Family.WRITE, Family.EDIT})
ID_BYTES = 4
LOOKED_AT = 50
COMPACTED_AT = 0.8
UNKNOWN_OUTPUT_SHARE = 0.25


class Secrets:
    """The secrets of one session: replaced in what the model sees, put back in what tools of this machine do."""

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        self.known = known
        self._redactor = Redactor(known)
        self._literal: set[str] = set()  # what looks like a placeholder and stood so in a file
        self._lock = Lock()

    def hidden(self, message: Message) -> Message:
        """The message without its secrets; the same object when there are none."""
        with self._lock:
            clean = self._redactor.message(message)
        return clean if clean is message else _unsigned(clean, message)

    def seen(self, answer: Answer) -> Answer:
        """A tool's answer as the model may see it."""
        with self._lock:
            self._literal.update(
                found for found in PLACEHOLDER.findall(answer.result.text) if not self._redactor.has_made(found)
            )
            result = self._redactor.result(answer.result)
        return answer._replace(result=result)

    def lost(self, call: ToolCall) -> str:
        """A placeholder in a call that would be taken literally, where a secret was meant; empty if there is none."""
        return next((each for each in PLACEHOLDER.findall(call.arguments) if not self._value(each)), "")

    def put_back(self, call: ToolCall) -> ToolCall:
        """The call with the secrets in the places of their placeholders."""
        arguments = PLACEHOLDER.sub(lambda found: json.dumps(self._value(found[0]))[1:-1], call.arguments)
        return call if arguments == call.arguments else msgspec.structs.replace(call, arguments=arguments)

    def _value(self, placeholder: str) -> str:
        with self._lock:
            return placeholder if placeholder in self._literal else self._redactor.secret_of(placeholder)


class RedactingProvider:
    """A provider whose replies hold no secrets."""

    def __init__(self, provider: Provider, secrets: Secrets) -> None:
        self.name = provider.name
        self._provider = provider
        self._secrets = secrets

    def request(self, run: Run) -> bytes:
        return self._provider.request(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        for piece in self._provider.reply(run, interrupt=interrupt):
            yield Reply(self._secrets.hidden(piece.message), piece.stop) if isinstance(piece, Reply) else piece


class RedactingToolbox:
    """A toolbox whose answers hold no secrets, and whose tools of this machine are given them."""

    def __init__(self, toolbox: Toolbox, secrets: Secrets) -> None:
        self._toolbox = toolbox
        self._secrets = secrets

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        if _is_local(call):
            lost = self._secrets.lost(call)
            if lost:
                return Answer(stand_in(call, notice("call_secret", placeholder=lost)), Trust.AGENT)
            call = self._secrets.put_back(call)
        return self._secrets.seen(self._toolbox.answer(call, allowed=allowed, interrupt=interrupt))

    def can_run_beside(self, call: ToolCall) -> bool:
        return self._toolbox.can_run_beside(call)

    def close(self) -> None:
        self._toolbox.close()


def without_secrets(run: Run, secrets: Secrets) -> Run:
    """The run as it may be sent; the same object when it holds no secrets."""
    messages = tuple(secrets.hidden(message) for message in run.messages)
    same = all(new is old for new, old in zip(messages, run.messages, strict=True))
    return run if same else msgspec.structs.replace(run, messages=messages)


def _is_local(call: ToolCall) -> bool:
    return trust_of_tool(call.name) is Trust.TOOL and family_of(call) in LOCAL


def _unsigned(clean: Message, before: Message) -> Message:
    """Thoughts that were changed lose their signature: the endpoint would refuse it over other words."""
    parts = tuple(
        Thought(part.text) if isinstance(part, Thought) and part is not old else part
        for part, old in zip(clean.parts, before.parts, strict=True)
    )
    return msgspec.structs.replace(clean, parts=parts)


class RunParts(NamedTuple):
    """What runs of a session are carried out with, the same from its first turn to its last."""

    provider: Provider
    toolbox: Toolbox
    compacting: Compacting
    secrets: Secrets


class Performed(NamedTuple):
    """What a run said and heard, and how it ended."""

    messages: tuple[Message, ...]
    ended: Ended


def new_id(now: float) -> str:
    """An id that tells when, and that no other session has."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{secrets.token_hex(ID_BYTES)}"


def room_of(model: Model, sampling: Sampling, compacted_at: float = COMPACTED_AT) -> int | None:
    """How many tokens a request may have: up to the share at which it is compacted, with room left for the answer."""
    if model.window is None:
        return None
    answer = min(sampling.output_tokens or model.output_tokens or model.window, model.window * UNKNOWN_OUTPUT_SHARE)
    return int(min(model.window * compacted_at, model.window - answer))


def with_model(run: Run, model: Model, compacted_at: float = COMPACTED_AT) -> Run:
    """The run as this model goes on with it."""
    if run.model == model.name:
        return run
    return replace(run, model=model.name, room=room_of(model, run.sampling, compacted_at))


def says(words: str, *, now: float, trust: Trust = Trust.USER) -> Message:
    """A turn of the person, or of whoever speaks in their place and is believed less."""
    return Message(role=Role.USER, parts=(Text(words),), trust=trust, at=now, vouched=trust >= Trust.USER)


def perform(
    database: Database, run: Run, means: RunParts, *, interrupt: Event, now: Clock = time.time
) -> Iterator[Said]:
    """Carry a run out: no secret goes to the model, each message is stored as it happens, a full context is compacted.

    A run in the stream takes the place of the one before; each message adds to it. Where the stream has ended,
    that is where the next turn begins.
    """
    clean = without_secrets(run, means.secrets)
    if clean is not run:
        yield clean
    stream = pursue(
        clean,
        RedactingProvider(means.provider, means.secrets),
        RedactingToolbox(means.toolbox, means.secrets),
        means.compacting,
        interrupt=interrupt,
        now=now,
    )
    yield from recorded(database, clean, stream, secrets=means.secrets.known, now=now)


def carry_out(database: Database, run: Run, means: RunParts, *, interrupt: Event) -> Performed:
    """Carry a run out to its end, where nobody looks on."""
    messages: list[Message] = []
    ended = Ended(Ending.UNKNOWN)
    for said in perform(database, run, means, interrupt=interrupt):
        if isinstance(said, Message):
            messages.append(said)
        elif isinstance(said, Ended):
            ended = said
    return Performed(tuple(messages), ended)


def resume(database: Database, prefix: str, *, now: float) -> Run:
    """The run of a stored session where it was left, also by a sudden end.

    A call whose result is not on record is answered with that fact: nothing is repeated, and nothing is assumed.
    """
    session = _continued(database, find(database, prefix))
    return answered(restored_run(database, session), now=now)


def newest(database: Database, folder: Path) -> str:
    """The id of the latest conversation in this very folder."""
    filters = Filters(source=SOURCE, folder=str(folder), purpose=Purpose.CHAT.value, maker=database.member)
    for session in list_sessions(database, filters, limit=LOOKED_AT):
        if session.folder == str(folder):
            return session.id
    raise WhetError(f"No session to resume in {folder}.", advice="To start one, run `whet chat`.")


def answered(run: Run, *, now: float) -> Run:
    """The run with a result for every call: those without one may have been carried out, and are said to."""
    waiting = [exchange.call for exchange in pair(run.messages).exchanges if exchange.result is None]
    results = (stand_in(call, notice("call_unsure"), Disposition.INTERRUPTED) for call in waiting)
    return grown(run, *(Message(role=Role.TOOL, parts=(each,), trust=Trust.AGENT, at=now) for each in results))


def _continued(database: Database, session: Session) -> Session:
    """The session in which a compacted one goes on."""
    while session.ending == Ending.COMPACTED.value:
        rows = database.query(
            f"SELECT {SESSION_COLUMNS} FROM sessions WHERE parent_id = ? AND source = ? AND purpose = ?"
            " AND maker IN ('', ?) ORDER BY dated DESC LIMIT 1",
            (session.id, session.source, session.purpose, database.member),
        )
        if not rows:
            return session
        session = session_of(rows[0])
    return session
