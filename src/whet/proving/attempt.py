"""Attempts carried out: one case in one arm with one seed, in a world of its own, checked and measured."""

import datetime
import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.compaction import Compacting
from whet.agent.protocols import Chosen, ProviderFault, Toolbox
from whet.agent.providers.choosing import provider_for
from whet.agent.redacting import Secrets
from whet.agent.start import Means, new_id, perform, room_of, says
from whet.agent.tools.situation import Situation
from whet.agent.tools.toolbox import Box, toolbox
from whet.context.finding import NAMES
from whet.context.gathering import Request, gather
from whet.context.machine import environments, this_machine
from whet.engine.orders import Done, Failed
from whet.engine.steps import Steps, encoded
from whet.examples import templates
from whet.examples.warm_start import warm_start
from whet.ledger.patches import Form, Patch
from whet.proving.checks import exit_code_of, judge
from whet.proving.overlay import Overlay, overlaid
from whet.proving.replay import Replay
from whet.runs.endpoints import address_of
from whet.runs.run import Ended, Run, Sampling, Spent, spend
from whet.runs.settings import Settings
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Ending, Message, Purpose, Role, Usage
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.prompts import keep_prompt
from whet.store.settings_file import load
from whet.store.trials import keep_attempt, key_of, known_attempt, material
from whet.told.passages import Circumstances
from whet.told.prompt import Prompt, assemble
from whet.trials.attempts import Arm, Attempt, Measures, measure
from whet.trials.cases import Case
from whet.trials.checks import Ran, mark
from whet.values import Value

KIND = "attempt"
TOOLS = ("unattended",)
# The person has to put these right before any attempt can tell anything.
HOPELESS = frozenset({ProviderFault.KEY.value, ProviderFault.MONEY.value, ProviderFault.REQUEST.value})

Supply = Callable[[Home, Settings, str], Chosen]


class AttemptRequest(Value, frozen=True):
    """Which attempt is wanted. Case and patch are materials of the store; no patch is the base arm."""

    trial: str
    case: str
    arm: Arm
    seed: int
    patch: str = ""
    model: str = ""  # as in the settings
    sampling: Sampling = Sampling()
    hidden: tuple[str, ...] = ()  # folders that no tool may see, such as where the cases lie
    fresh: bool = False  # do not reuse what another trial paid for


class AttemptStart(NamedTuple):
    """What an attempt begins with: the prompt, that prompt without its date, tools, and what comes first."""

    prompt: Prompt
    undated: str
    toolbox: Box | Replay
    situation: Situation
    messages: tuple[Message, ...]


def attempt(home: Home, steps: Steps, ask: AttemptRequest, *, supply: Supply | None = None) -> Done:
    """Carry out one order for an attempt. One that was carried out and paid for is never carried out again."""

    def carry_out() -> Attempt:
        with opened(home) as database:
            return _made(home, database, ask, supply=supply or served, interrupt=steps.interrupt)

    made = steps.do("attempt", carry_out, Attempt)
    how = made.void or ("passed" if made.measures.passed else made.measures.why)
    spent = Spent() if made.reused else made.measures.spent
    return Done(f"{made.case}, {made.arm}, seed {made.seed}: {how}", (made.session,), spent, encoded(made))


def served(home: Home, settings: Settings, model: str) -> Chosen:
    """The provider for an attempt. A model on this machine is served once for all attempts of a process."""
    if address_of(settings, model).endpoint.kind == "local":
        return _served_here(home, settings, model)
    return provider_for(settings, environment=os.environ, home=home, model=model)


@functools.lru_cache(maxsize=2)
def _served_here(home: Home, settings: Settings, model: str) -> Chosen:
    return provider_for(settings, environment=os.environ, home=home, model=model)


def _made(home: Home, database: Database, ask: AttemptRequest, *, supply: Supply, interrupt: Event) -> Attempt:
    case = material(database, ask.case, Case)
    patch = material(database, ask.patch, Patch) if ask.patch else None
    settings = load(home)
    chosen = supply(home, settings, ask.model)
    sampling = replace(ask.sampling, seed=ask.seed)
    with overlaid(home, database, case, patch, now=time.time()) as overlay:
        hidden = (home.folder, *map(Path, ask.hidden))
        begun = beginning(overlay, case, patch, settings=settings, chosen=chosen, hidden=hidden)
        try:
            key = _key(ask, case, begun, _server(settings, ask.model, chosen), sampling)
            known = known_attempt(database, key)
            if known is not None:
                return replace(known, case=case.name, seed=ask.seed, reused=known.trial != ask.trial)
            run = _run(case, begun, chosen, sampling, database=database, folder=overlay.work)
            made = _carried_out(database, ask, case, _Scene(overlay, begun, chosen, run, interrupt))
        finally:
            begun.toolbox.close()
        if not made.void:
            keep_attempt(database, key, made, now=time.time())
        return made


def beginning(
    overlay: Overlay, case: Case, patch: Patch | None, *, settings: Settings, chosen: Chosen, hidden: tuple[Path, ...]
) -> AttemptStart:
    """The prompt, tools and first messages of an attempt."""
    situation = Situation(
        overlay.work,
        overlay.home,
        "trial",
        os.environ,
        sandbox=replace(settings.sandbox, required=True),
        terminal=settings.terminal,
        told=Trust.OPERATOR,
        hidden=hidden,
    )
    tools: Box | Replay
    sets = case.tools or settings.tools or TOOLS
    if case.kind == "step" or case.replay:
        tools = Replay(case.conversation, case.tools)
    else:
        tools = toolbox(situation, sets=sets, messages=())
    setting = Circumstances(
        tools=tuple(definition.name for definition in tools.definitions),
        model=chosen.model.name,
        provider=chosen.provider.name,
        purpose="unattended",
        platform="cli",
        environments=environments(this_machine(os.environ)),
        size=chosen.model.size,
    )
    files = settings.context_files and any(path.rpartition("/")[2] in NAMES for path in case.files)
    today = datetime.date.today()  # noqa: DTZ011 - the person's own day is meant
    request = Request(setting, overlay.work if files else None, today, secrets=secret_values(os.environ))
    sources = gather(overlay.home, overlay.database, request)
    task = case.conversation if case.kind == "step" else (says(case.task, now=time.time()),)
    if patch is not None and patch.form is Form.TEMPLATE:
        task = warm_start(templates.read(patch.text, name=patch.name), task, words())
    undated = assemble(replace(sources, date=None)).key
    return AttemptStart(assemble(sources), undated, tools, situation, task)


def _server(settings: Settings, model: str, chosen: Chosen) -> tuple[object, ...]:
    """All that makes one model answer differently from another, or from itself: where it is served, and how."""
    endpoint = address_of(settings, model).endpoint if model or settings.model else None
    return (endpoint, chosen.model, settings.local if endpoint and endpoint.kind == "local" else None)


def _key(ask: AttemptRequest, case: Case, begun: AttemptStart, server: tuple[object, ...], sampling: Sampling) -> str:
    """All that an attempt depends on. What is not the base arm belongs to its trial."""
    parts = (case.key, begun.undated, begun.toolbox.definitions, *server, sampling)
    return key_of(*parts) if ask.arm is Arm.BASE and not ask.fresh else key_of(*parts, ask.trial, ask.arm)


def _run(
    case: Case, begun: AttemptStart, chosen: Chosen, sampling: Sampling, *, database: Database, folder: Path
) -> Run:
    names = frozenset(definition.name for definition in begun.toolbox.definitions)
    return Run(
        id=new_id(time.time()),
        model=chosen.model.name,
        system=begun.prompt.text,
        messages=begun.messages,
        shown=begun.toolbox.definitions,
        allowed=names,
        purpose=Purpose.TRIAL,
        prompt_key=keep_prompt(database, begun.prompt, now=time.time()),
        folder=str(folder),
        budget=case.budget.budget,
        sampling=sampling,
        room=room_of(chosen.model, sampling),
    )


class _Scene(NamedTuple):
    overlay: Overlay
    begun: AttemptStart
    chosen: Chosen
    run: Run
    interrupt: Event


def _carried_out(database: Database, ask: AttemptRequest, case: Case, scene: _Scene) -> Attempt:
    began = time.time()
    secrets = Secrets(secret_values(os.environ))
    tools: Toolbox = scene.begun.toolbox
    means = Means(scene.chosen.provider, tools, Compacting(lambda: new_id(time.time()), enabled=False), secrets)
    messages: list[Message] = []
    ended = Ended(Ending.UNKNOWN)
    for said in perform(database, scene.run, means, interrupt=scene.interrupt):
        if isinstance(said, Message):
            messages.append(said)
        elif isinstance(said, Ended):
            ended = said
    _expect_usable(ended)
    made = Attempt(case.name, ask.arm, ask.seed, Measures(False), session=scene.run.id, trial=ask.trial)
    if ended.ending is Ending.FAILED:
        lost = measure(messages, mark(case.check, Ran(())), began=began, spent=ended.spent, ending=ended.ending.value)
        return replace(made, measures=lost, void=ended.detail or "the provider failed")
    ran, spent = _ran(database, case, scene, tuple(messages), ended)
    marked = mark(case.check, ran)
    return replace(made, measures=measure(messages, marked, began=began, spent=spent, ending=ended.ending.value))


def _expect_usable(ended: Ended) -> None:
    if ended.ending is Ending.INTERRUPTED:
        raise Failed("The attempt was stopped.", advice="`whet work retry` goes on with the trial.", spent=ended.spent)
    if ended.fault in HOPELESS:
        raise Failed(f"The model cannot be asked: {ended.detail}", advice=ended.advice, spent=ended.spent)


def _ran(
    database: Database, case: Case, scene: _Scene, messages: tuple[Message, ...], ended: Ended
) -> tuple[Ran, Spent]:
    """What the run left, and what it cost with its judge."""
    check = case.check
    last = next((each for each in reversed(messages) if each.role is Role.AGENT), None)
    answer = ended.report.text if ended.report and ended.report.text else last.text if last else ""
    spent, passed = ended.spent, None
    if check.rubric:
        judged = judge(database, scene.chosen, answer, check.rubric)
        passed = judged.passed
        usage = Usage(judged.spent.input, judged.spent.output, judged.spent.cached, cost_dollars=judged.spent.dollars)
        spent = spend(spent, usage)
    exit_code = exit_code_of(scene.begun.situation, check.command, seconds=check.seconds) if check.command else None
    ran = Ran(
        messages=messages,
        answer=answer,
        files={path: scene.overlay.content(path) for path in check.files},
        known_tools=tuple(definition.name for definition in scene.begun.toolbox.definitions),
        exit_code=exit_code,
        rubric=passed,
        before=scene.begun.messages,
    )
    return ran, spent
