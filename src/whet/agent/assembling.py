"""Runs put together, by request and purpose, carried out, and gone on with after whatever ended them."""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from threading import Event
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from whet.agent.compaction import Compacting, Said, pursue
from whet.agent.loop import Clock, stand_in
from whet.agent.protocols import Chosen, Provider, Toolbox
from whet.agent.providers.choosing import provider_for
from whet.agent.redacting import RedactingProvider, RedactingToolbox, Secrets, without_secrets
from whet.agent.tools.processes import safe_path
from whet.agent.tools.sandbox import probe_ahead
from whet.agent.tools.situation import ApprovalQuestion, Situation, ToolLimits
from whet.agent.tools.toolbox import TERMINAL, PlainToolbox, sets_within, toolbox, tools_in
from whet.errors import WhetError
from whet.own.runs.models import Model
from whet.own.runs.run import Ended, Run, Sampling, grown
from whet.own.runs.settings import Settings
from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Prompt, Sources, assemble, trust_of
from whet.secrets.redactor import secret_values
from whet.sessions.tool_families import Definition, trust_of_shown
from whet.sessions.transcripts import Disposition, Ending, Message, Purpose, Role, Text, pair
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import identity_of
from whet.store.recording import SOURCE, recorded, restored_run
from whet.store.records import keep_prompt, restore_prompt
from whet.store.rows import SESSION_COLUMNS, Session, session_of
from whet.telling.context.finding import project_of
from whet.telling.context.gathering import ContextFolder, PromptRequest, environments, gather, prompt_for, this_machine
from whet.telling.targets.project_names import name_of_project

ID_BYTES = 4
LOOKED_AT = 50
COMPACTED_AT = 0.8
UNKNOWN_OUTPUT_SHARE = 0.25
CHAT_TOOLS = ("chat",)
RUN_TOOLS = ("unattended",)
LIVE = frozenset({Purpose.CHAT, Purpose.JOB})  # canaries are drawn for these, and they may outgrow their window
Ask = Callable[[ApprovalQuestion], bool]


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


class ShownToolbox(Toolbox, Protocol):
    """A toolbox that knows what its models are shown."""

    @property
    def definitions(self) -> tuple[Definition, ...]: ...


class RunPlace(NamedTuple):
    """Where a run works."""

    folder: Path | None = None  # None: here, or where the session that goes on was
    environment: Mapping[str, str] = os.environ
    hidden: tuple[Path, ...] = ()  # what no tool may see


class RunWords(NamedTuple):
    """What a new run begins with, besides what the home and the ledger say."""

    caller: str = ""  # instructions of the person for this session
    messages: tuple[Message, ...] = ()
    system: str = ""  # in the place of the prompt, for a question that is no session of the person's agent


class ReviewedSession(NamedTuple):
    """What a review owes to the session that it looks back on."""

    read: tuple[Message, ...] | None = None  # what the tools take for read; None: what the run holds
    project: Path | None = None  # where its owner declared it their own
    trust: Trust = Trust.OPERATOR  # how far what the review writes may be believed at most, whatever the prompt holds


class RunRequest(NamedTuple):
    """A run that is asked for. What it may spend and how its model samples, the settings say."""

    settings: Settings = Settings()
    place: RunPlace = RunPlace()
    words: RunWords = RunWords()
    tools: (
        ShownToolbox | tuple[str, ...]
    ) = ()  # sets of this machine's, or others in their place; (): as the settings say
    purpose: Purpose = Purpose.CHAT
    interactive: bool = False  # whether it is a conversation; else nobody reads along
    id: str = ""  # of the new session; empty: one that tells when
    chosen: Chosen | None = None  # who answers; None: as the settings say
    run: Run | None = None  # that goes on; None: a new one
    reviewed: ReviewedSession | None = None


class Assembled(NamedTuple):
    """A run, its means, and where its tools work. `sources` is what its prompt was made from, where it is new."""

    run: Run
    means: RunParts
    situation: Situation
    prompt: Prompt | None = None
    sources: Sources | None = None


def assemble_run(home: Home, database: Database, request: RunRequest, *, ask: Ask | None = None) -> Assembled:
    """The run that is asked for, its prompt stored, and all that it is carried out with."""
    if isinstance(request.tools, tuple) and not tools_in(_sets(request, request.tools)).isdisjoint(TERMINAL):
        probe_ahead(safe_path(request.place.environment.get("PATH", "")))
    chosen = request.chosen or provider_for(request.settings, environment=request.place.environment, home=home)
    identity = request.run.id if request.run else request.id or new_id(time.time())
    draw_id = identity if request.purpose in LIVE else ""
    situation = _situation(home, request, identity, ask)
    tools = request.tools
    if isinstance(tools, tuple):
        known = request.run.messages if request.run else ()
        read = request.reviewed.read if request.reviewed else None
        tools = toolbox(situation, sets=_sets(request, tools), messages=known if read is None else read)
    prompt = sources = None
    if request.run is not None:
        prompt = restore_prompt(database, request.run.prompt_key) if request.run.prompt_key else None
    elif not request.words.system:
        asked = _prompt_request(request, chosen, tools.definitions, identity=identity, draw_id=draw_id)
        sources = gather(home, database, asked)
        prompt = assemble(sources)
        keep_prompt(database, prompt, now=time.time())
    settings, folder = request.settings, request.place.folder if request.purpose is not Purpose.REVIEW else None
    compacted_at = settings.compaction.at if request.purpose in LIVE else COMPACTED_AT
    run = request.run or Run(
        id=identity,
        model=chosen.model.name,
        system=prompt.text if prompt else request.words.system,
        messages=request.words.messages,
        shown=tools.definitions,
        allowed=frozenset(definition.name for definition in tools.definitions),
        purpose=request.purpose,
        prompt_key=prompt.key if prompt else "",
        folder=str(folder or ""),
        budget=settings.budget,
        sampling=settings.sampling,
        draw_id=draw_id,
        room=room_of(chosen.model, settings.sampling, compacted_at) if prompt else None,
        home=identity_of(home),
    )
    if isinstance(tools, PlainToolbox) and request.purpose is not Purpose.TRIAL:  # what an attempt writes ends with it
        tools.lower(min(trust_of(prompt) if prompt else Trust.EXTERNAL, trust_of_shown(run.shown)))
    compacting = compacting_for(home, database, request, chosen, run)
    means = RunParts(chosen.provider, tools, compacting, Secrets(secret_values(request.place.environment)))
    return Assembled(run, means, situation, prompt, sources)


def declared_project(request: RunRequest) -> Path | None:
    """The project that the session works in, where its owner declared it their own."""
    if request.reviewed is not None:
        return request.reviewed.project
    if request.place.folder is None or request.purpose is Purpose.REVIEW:
        return None
    return project_of(request.place.folder, request.settings.trust.projects)


def compacting_for(home: Home, database: Database, request: RunRequest, chosen: Chosen, run: Run) -> Compacting:
    """How a session is shortened. Who asks once, or tries or reviews something, begins anew instead."""

    def rebuild() -> Prompt:
        asked = _prompt_request(request, chosen, run.shown, identity=run.id, draw_id=run.draw_id)
        return prompt_for(home, database, asked, now=time.time())

    is_enabled = request.settings.compaction.at > 0 and request.purpose in LIVE
    return Compacting(lambda: new_id(time.time()), rebuild, enabled=is_enabled)


def _situation(home: Home, request: RunRequest, identity: str, ask: Ask | None) -> Situation:
    settings = request.settings
    return Situation(
        request.place.folder or Path(),
        home,
        identity,
        request.place.environment,
        ask=ask,
        limits=ToolLimits(settings.sandbox, servers=settings.servers, hidden=request.place.hidden),
        project=declared_project(request),
        told=request.reviewed.trust
        if request.reviewed
        else Trust.OPERATOR,  # lowered to what the prompt really holds, once it is built
        occasion="a review" if request.purpose is Purpose.REVIEW else "a session",
    )


def _sets(request: RunRequest, wanted: tuple[str, ...]) -> tuple[str, ...]:
    if request.run is not None and not wanted:
        return tuple(definition.name for definition in request.run.shown)
    return wanted or request.settings.tools or (CHAT_TOOLS if request.interactive else RUN_TOOLS)


def _prompt_request(
    request: RunRequest, chosen: Chosen, shown: tuple[Definition, ...], *, identity: str, draw_id: str
) -> PromptRequest:
    is_here = request.purpose is not Purpose.REVIEW  # nothing that a review may use works on the machine
    setting = Circumstances(
        tools=tuple(definition.name for definition in shown),
        model=chosen.model.name,
        provider=chosen.provider.name,
        purpose="interactive" if request.interactive else "unattended",
        platform=request.settings.prompt.platform if is_here else "",
        enforcement=request.settings.prompt.enforcement,
        environments=environments(this_machine(request.place.environment)) if is_here else (),
        size=chosen.model.size,
        project=name_of_project(request.place.folder) if request.place.folder and is_here else "",
        folder=str(request.place.folder) if request.place.folder and is_here else "",
    )
    folder, parts = None, request.settings.prompt.parts
    if request.place.folder and "context_files" in parts and is_here:
        secrets = secret_values(request.place.environment)
        folder = ContextFolder(request.place.folder, declared_project(request), secrets)
    today = date.today()  # noqa: DTZ011 - the person's own day is meant
    return PromptRequest(
        setting,
        folder,
        today,
        request.words.caller,
        draw_id=draw_id,
        session=identity if "session" in parts else "",
        memory="memory" in parts,
        profile="profile" in parts,
        sets=sets_within(setting.tools),
    )
