"""Runs put together: what each is told and shown, and what it is carried out with. They differ by wish and purpose."""

import os
import time
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from whet.agent.compaction import Compacting
from whet.agent.protocols import Chosen, Toolbox
from whet.agent.providers.choosing import provider_for
from whet.agent.redacting import Secrets
from whet.agent.start import COMPACTED_AT, Means, new_id, room_of
from whet.agent.tools.registry import sets_within
from whet.agent.tools.situation import Question, Situation
from whet.agent.tools.toolbox import Box, toolbox
from whet.context.gathering import Request, gather, prompt_for
from whet.context.machine import environments, this_machine
from whet.context.projects import project_of
from whet.runs.models import Model
from whet.runs.run import Budget, Run, Sampling
from whet.runs.settings import Settings
from whet.secrets.redactor import secret_values
from whet.sessions.definitions import Definition, trust_of_shown
from whet.sessions.transcripts import Message, Purpose
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.owner import identity_of
from whet.store.prompts import keep_prompt, restore_prompt
from whet.targets.project_names import name_of_project
from whet.told.passages import Circumstances
from whet.told.prompt import Prompt, assemble, trust_of
from whet.told.prompt_inputs import Sources

CHAT_TOOLS = ("chat",)
RUN_TOOLS = ("unattended",)
LIVE = frozenset({Purpose.CHAT, Purpose.JOB})  # canaries are drawn for these, and they may outgrow their window

Ask = Callable[[Question], bool]


class Kit(Toolbox, Protocol):
    """A toolbox that knows what its models are shown."""

    @property
    def definitions(self) -> tuple[Definition, ...]: ...


class Wish(NamedTuple):
    """What is asked for, over what the settings say."""

    settings: Settings = Settings()
    folder: Path | None = None  # where the agent works; None: here, or where the session that goes on was
    interactive: bool = False  # whether it is a conversation; else nobody reads along
    caller: str = ""  # instructions of the person for this session
    resumed: str = ""  # the id of the session that goes on
    latest: bool = False  # go on with the latest session in the folder
    template: str = ""  # to begin a new session with: a name, or auto
    budget: Budget | None = None
    sampling: Sampling | None = None
    environment: Mapping[str, str] = os.environ
    purpose: Purpose = Purpose.CHAT
    id: str = ""  # of the new session; empty: one that tells when
    platform: str | None = None  # where answers are shown; None: as the settings say
    sets: tuple[str, ...] = ()  # of tools; empty: as the settings say
    hidden: tuple[Path, ...] = ()  # what no tool may see
    chosen: Chosen | None = None  # who answers; None: as the settings say
    run: Run | None = None  # that goes on; None: a new one
    heard: tuple[Message, ...] | None = None  # what the tools take for read; None: what the run holds
    project: Path | None = None  # of the session that is looked back on, where its owner declared it their own
    trust: Trust = Trust.USER  # how far the words of its turns are believed: less where nobody knows who gives them
    told: Trust = Trust.OPERATOR  # how far what it writes may be believed at most, whatever the prompt holds
    messages: tuple[Message, ...] = ()  # that a new run begins with
    toolbox: Kit | None = None  # in the place of the tools of this machine
    system: str = ""  # in the place of the prompt, for a question that is no session of the person's agent
    environments: tuple[str, ...] | None = None  # what is said of the machine; None: what is true of this one


class Assembled(NamedTuple):
    """A run, its means, and where its tools work. `sources` is what its prompt was made from, where it is new."""

    run: Run
    means: Means
    situation: Situation
    prompt: Prompt | None = None
    sources: Sources | None = None


def assemble_run(home: Home, database: Database, wish: Wish, *, ask: Ask | None = None) -> Assembled:
    """The run that is wished for, its prompt stored, and all that it is carried out with."""
    chosen = wish.chosen or provider_for(wish.settings, environment=wish.environment, home=home)
    identity = wish.run.id if wish.run else wish.id or new_id(time.time())
    situation = _situation(home, wish, identity, ask)
    tools: Kit = wish.toolbox or toolbox(situation, sets=_sets(wish), messages=_heard(wish))
    prompt = sources = None
    if wish.run is not None:
        prompt = restore_prompt(database, wish.run.prompt_key) if wish.run.prompt_key else None
    elif not wish.system:
        request = _request(wish, chosen, tools.definitions, identity=identity, lot=_lot(wish, identity))
        sources = gather(home, database, request)
        prompt = assemble(sources)
        keep_prompt(database, prompt, now=time.time())
    run = wish.run or replace(_new_run(wish, chosen.model, identity, tools.definitions, prompt), home=identity_of(home))
    if isinstance(tools, Box) and wish.purpose is not Purpose.TRIAL:  # what an attempt writes ends with it
        tools.lower(min(trust_of(prompt) if prompt else Trust.EXTERNAL, trust_of_shown(run.shown)))
    if wish.purpose is not Purpose.TRIAL and not wish.system:
        run = replace(run, ephemeral=wish.settings.prompt.ephemeral.strip())
    compacting = compacting_for(home, database, wish, chosen, run)
    means = Means(chosen.provider, tools, compacting, Secrets(secret_values(wish.environment)))
    return Assembled(run, means, situation, prompt, sources)


def declared_project(wish: Wish) -> Path | None:
    """The project that the session works in, where its owner declared it their own."""
    if wish.project is not None or wish.folder is None or wish.purpose is Purpose.REVIEW:
        return wish.project
    return project_of(wish.folder, wish.settings.trust.projects)


def compacting_for(home: Home, database: Database, wish: Wish, chosen: Chosen, run: Run) -> Compacting:
    """How a session is shortened. Who asks once, or tries or reviews something, begins anew instead."""

    def rebuild() -> Prompt:
        request = _request(wish, chosen, run.shown, identity=run.id, lot=run.lot)
        return prompt_for(home, database, request, now=time.time())

    limits = wish.settings.compaction
    is_enabled = limits.enabled and wish.purpose in LIVE
    return Compacting(lambda: new_id(time.time()), rebuild, enabled=is_enabled, tail=limits.tail)


def _situation(home: Home, wish: Wish, identity: str, ask: Ask | None) -> Situation:
    return Situation(
        wish.folder or Path(),
        home,
        identity,
        wish.environment,
        ask=ask,
        sandbox=wish.settings.sandbox,
        terminal=wish.settings.terminal,
        servers=wish.settings.servers,
        project=declared_project(wish),
        told=wish.told,  # lowered to what the prompt really holds, once it is built
        occasion="a review" if wish.purpose is Purpose.REVIEW else "a session",
        hidden=wish.hidden,
    )


def _sets(wish: Wish) -> tuple[str, ...]:
    if wish.run is not None and not wish.sets:
        return tuple(definition.name for definition in wish.run.shown)
    return wish.sets or wish.settings.tools or (CHAT_TOOLS if wish.interactive else RUN_TOOLS)


def _heard(wish: Wish) -> tuple[Message, ...]:
    held = wish.run.messages if wish.run else ()
    return held if wish.heard is None else wish.heard


def _lot(wish: Wish, identity: str) -> str:
    return identity if wish.purpose in LIVE else ""


def _request(wish: Wish, chosen: Chosen, shown: tuple[Definition, ...], *, identity: str, lot: str) -> Request:
    is_here = wish.purpose is not Purpose.REVIEW  # nothing that a review may use works on the machine
    setting = Circumstances(
        tools=tuple(definition.name for definition in shown),
        model=chosen.model.name,
        provider=chosen.provider.name,
        purpose="interactive" if wish.interactive else "unattended",
        platform=_platform(wish) if is_here else "",
        enforcement=wish.settings.prompt.enforcement,
        environments=_environments(wish) if is_here else (),
        size=chosen.model.size,
        project=name_of_project(wish.folder) if wish.folder and is_here else "",
    )
    folder = wish.folder if wish.settings.context_files and is_here else None
    today = date.today()  # noqa: DTZ011 - the person's own day is meant
    return Request(
        setting,
        folder,
        today,
        wish.caller,
        lot=lot,
        project=declared_project(wish),
        secrets=secret_values(wish.environment),
        session=identity if wish.settings.prompt.session else "",
        memory=wish.settings.prompt.memory,
        profile=wish.settings.prompt.profile,
        sets=sets_within(setting.tools),
    )


def _platform(wish: Wish) -> str:
    return wish.settings.prompt.platform if wish.platform is None else wish.platform


def _environments(wish: Wish) -> tuple[str, ...]:
    return environments(this_machine(wish.environment)) if wish.environments is None else wish.environments


def _new_run(wish: Wish, model: Model, identity: str, shown: tuple[Definition, ...], prompt: Prompt | None) -> Run:
    sampling = wish.sampling or wish.settings.sampling
    is_live = wish.purpose in LIVE
    return Run(
        id=identity,
        model=model.name,
        system=prompt.text if prompt else wish.system,
        messages=wish.messages,
        shown=shown,
        allowed=frozenset(definition.name for definition in shown),
        purpose=wish.purpose,
        prompt_key=prompt.key if prompt else "",
        folder=str(wish.folder) if wish.folder and wish.purpose is not Purpose.REVIEW else "",
        budget=wish.budget or wish.settings.budget,
        sampling=sampling,
        lot=_lot(wish, identity),
        room=room_of(model, sampling, wish.settings.compaction.at if is_live else COMPACTED_AT) if prompt else None,
    )
