"""Attempts carried out: one case in one arm with one seed, in a world of its own, checked and measured."""

import functools
import os
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Event
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import Assembled, RunPlace, RunRequest, RunWords, assemble_run
from whet.agent.metering import Meter
from whet.agent.protocols import Chosen, ProviderFault
from whet.agent.providers.choosing import Supply, missing_key, provider_for
from whet.agent.start import carry_out, says
from whet.errors import WhetError
from whet.ledger.patches import Form, Patch
from whet.own.examples import templates
from whet.own.examples.warm_start import warm_start
from whet.own.runs.models import address_of
from whet.own.runs.run import Ended, Run, Spent, spend
from whet.own.runs.settings import Settings
from whet.own.told.prompt import assemble
from whet.proving.agent_attempt import AttemptScene, WantedAttempt, left_by_run, made_once, make_by_agent
from whet.proving.checks import judge
from whet.proving.overlay import Overlay, overlaid
from whet.proving.replay import Replay
from whet.proving.workspace import hidden_by
from whet.proving.world import (
    TrialWorld,
    expect_same,
    expect_version,
    grounds_of_agent,
    grounds_of_model,
    settings_within,
    world_of,
)
from whet.sessions.transcripts import Ending, Message, Purpose, Role, Usage
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.owner import identity_of
from whet.store.records import (
    has_stored,
    keep_material,
    keep_prompt,
    material,
)
from whet.store.settings_file import load
from whet.telling.context.finding import NAMES
from whet.trials.attempts import Attempt, AttemptRequest, Measures, measure
from whet.trials.cases import Case
from whet.trials.checks import FinishedRun, mark
from whet.values import Value
from whet.work.orders import Done, Failed, Steps, decoded, encoded, left_by

KIND = "attempt"
# The person has to put these right before any attempt can tell anything.
HOPELESS = frozenset({ProviderFault.KEY.value, ProviderFault.MONEY.value, ProviderFault.REQUEST.value})

PAUSE_SECONDS = 3.0  # before a worker puts an attempt back: those that can carry it out come first meanwhile


class _Made(Value, frozen=True):
    """An attempt, or why a guest of the home that ordered it could not make it, and what trying cost."""

    attempt: Attempt | None = None
    put_back: str = ""
    spent: Spent = Spent()


class _Ways(NamedTuple):
    """How an attempt is carried out: who answers, what counts, what stops it, and whether for another home."""

    supply: Supply
    meter: Meter | None
    interrupt: Event
    is_guest: bool


def vouch_for(home: Home, asks: Iterable[AttemptRequest]) -> None:
    """Store what is asked for under this member's name, where others can write orders too."""
    given = tuple(asks)
    if home.database_url and given:
        with opened(home) as database, database.writing():
            for ask in given:
                keep_material(database, _as_read(ask), now=time.time())


def _as_read(ask: AttemptRequest) -> AttemptRequest:
    """The request as whoever takes the order reads it, so that both know it by one key."""
    return decoded(encoded(ask), AttemptRequest)


def attempt(
    home: Home, steps: Steps, ask: AttemptRequest, *, supply: Supply | None = None, meter: Meter | None = None
) -> Done:
    """Carry out one order for an attempt. One that was carried out and paid for is never carried out again.

    Any home of a member may take it, and takes none that another member gave: a case has a task and a command.
    With a meter, what other agents spend counts against the daily limit; a supply counts what models spend.
    """

    def carry_out() -> _Made:
        with opened(home) as database:
            if not has_stored(database, _as_read(ask)):
                raise WhetError(
                    "This attempt was not ordered by a home of this member, so it was not carried out.",
                    advice="Look who can write to the team's database; start the trial anew.",
                )
            is_guest = ask.terms.home != identity_of(home) and bool(ask.conditions.world)
            try:
                made = _carried_out(home, database, ask, _Ways(supply or served, meter, steps.interrupt, is_guest))
            except WhetError as error:
                if not is_guest or steps.interrupt.is_set():
                    raise
                return _Made(put_back=error.message, spent=left_by(error).spent)
            if made.invalid and is_guest:
                return _Made(put_back=made.invalid, spent=made.measures.spent)
            return _Made(made)

    outcome = steps.do("attempt", carry_out, _Made)
    made = outcome.attempt
    if made is None:
        steps.interrupt.wait(PAUSE_SECONDS)
        return Done(f"put back: {outcome.put_back}", spent=outcome.spent, put_back=outcome.put_back)
    how = made.invalid or ("passed" if made.measures.passed else made.measures.why)
    spent = Spent() if made.reused else made.measures.spent
    return Done(f"{made.case}, {made.arm}, seed {made.seed}: {how}", (made.session,), spent, encoded(made))


def served(home: Home, settings: Settings, model: str) -> Chosen:
    """The provider for an attempt. A model on this machine is served once for all attempts of a process."""
    if address_of(settings, model).endpoint.kind == "local":
        return _served_here(home, settings, model)
    return provider_for(settings, environment=os.environ, home=home, model=model)


def unasked(home: Home, settings: Settings, model: str) -> Chosen:
    """The provider for a plan, which sends nothing: where its key is missing, a word stands in its place."""
    variable = missing_key(settings, os.environ, model)
    if not variable:
        return served(home, settings, model)
    return provider_for(settings, environment={**os.environ, variable: "missing"}, home=home, model=model)


@functools.lru_cache(maxsize=2)
def _served_here(home: Home, settings: Settings, model: str) -> Chosen:
    return provider_for(settings, environment=os.environ, home=home, model=model)


def _carried_out(home: Home, database: Database, ask: AttemptRequest, ways: _Ways) -> Attempt:
    own, key, agent = load(home), ask.conditions.world, ask.conditions.agent
    world = material(database, key, TrialWorld) if key else world_of(home, database, own, {})
    settings = settings_within(world, own)
    scene = AttemptScene(home, database, settings, world)
    case = material(database, ask.case, Case)
    wanted = WantedAttempt(ask, case, material(database, ask.patch, Patch) if ask.patch else None)
    if agent is None:
        return _make(scene, wanted, ways)
    if ways.is_guest:
        is_judged = "judge" in world.grounds
        expect_same(world, grounds_of_agent(home, settings, agent, is_judged=is_judged))
        expect_version(agent, settings)
    return make_by_agent(scene, wanted, agent, meter=ways.meter, interrupt=ways.interrupt)


def _make(scene: AttemptScene, wanted: WantedAttempt, ways: _Ways) -> Attempt:
    home, database, settings, world = scene
    ask, case, patch = wanted
    conditions, seed = ask.conditions, ask.place.seed
    chosen = ways.supply(home, settings, conditions.model)
    if ways.is_guest:
        expect_same(world, grounds_of_model(home, settings, conditions.model, chosen))
    hidden = (home.folder, *hidden_by(case), *map(Path, conditions.hidden))
    request = RunRequest(
        replace(settings, sampling=replace(conditions.sampling, seed=seed)),
        RunPlace(hidden=hidden, environments=world.environments),
        chosen=chosen,
        interactive=conditions.interactive,
    )
    with overlaid(home, case, world, patch, now=time.time()) as overlay:
        made = begin(overlay, case, patch, request)
        try:
            parts = _parts(case, made, _server(settings, conditions.model, chosen))
            acting = _Scene(overlay, made, chosen, ways.interrupt)
            return made_once(database, ask, parts, lambda: _carry_out(database, ask, case, acting))
        finally:
            made.means.toolbox.close()


def is_interactive(patch: Patch) -> bool:
    """Whether a change is for conversations alone: then all arms are tried as one."""
    return patch.scope.purposes == ("interactive",)


def begin(overlay: Overlay, case: Case, patch: Patch | None, request: RunRequest) -> Assembled:
    """The run of an attempt, as it begins: behind a sandbox, with the case's own tools, and with no servers."""
    settings, place = request.settings, request.place
    has_repository = case.repository is not None and case.kind == "task"  # a step stands in its conversation
    has_files = has_repository or any(path.rpartition("/")[2] in NAMES for path in case.files)
    task = case.conversation if case.kind == "step" else (says(case.task, now=time.time()),)
    if patch is not None and patch.form is Form.TEMPLATE:
        task = warm_start(templates.read(patch.text, name=patch.name), task, words())
    held_back = replace(
        settings,
        prompt=settings.prompt if has_files else settings.prompt.without("context_files"),
        sandbox=replace(settings.sandbox, required=True, variables=(*settings.sandbox.variables, *case.environment)),
        servers=(),
        budget=case.budget.budget,
    )
    is_replayed = case.kind == "step" or case.replay
    request = request._replace(
        settings=held_back,
        place=place._replace(folder=overlay.work, environment={**place.environment, **case.environment}),
        words=RunWords(messages=task),
        tools=Replay(case.conversation, case.tools, case.definitions) if is_replayed else case.tools,
        purpose=Purpose.TRIAL,
    )
    return assemble_run(overlay.home, overlay.database, request)


def _server(settings: Settings, model: str, chosen: Chosen) -> tuple[object, ...]:
    """All that makes one model answer differently from another, or from itself: where it is served, and how."""
    endpoint = address_of(settings, model).endpoint if model or settings.model else None
    return (endpoint, chosen.model, settings.local if endpoint and endpoint.kind == "local" else None)


def _parts(case: Case, made: Assembled, server: tuple[object, ...]) -> tuple[object, ...]:
    """All that an attempt depends on."""
    assert made.sources is not None
    return (case.key, assemble(replace(made.sources, date=None)).key, made.run.shown, *server, made.run.sampling)


class _Scene(NamedTuple):
    overlay: Overlay
    made: Assembled
    chosen: Chosen
    interrupt: Event

    @property
    def run(self) -> Run:
        return self.made.run


def _carry_out(database: Database, ask: AttemptRequest, case: Case, scene: _Scene) -> Attempt:
    began = time.time()
    if scene.made.prompt is not None:
        keep_prompt(database, scene.made.prompt, now=began)  # beside the session, which outlives the overlay
    messages, ended = carry_out(database, scene.run, scene.made.means, interrupt=scene.interrupt)
    _expect_usable(ended)
    _, arm, seed = ask.place
    made = Attempt(case.name, arm, seed, Measures(False), session=scene.run.id, trial=ask.trial)
    if ended.ending is Ending.FAILED:
        lost = measure(
            messages, mark(case.check, FinishedRun(())), began=began, spent=ended.spent, ending=ended.ending.value
        )
        return replace(made, measures=lost, invalid=ended.detail or "the provider failed")
    ran, spent = _run_checks(database, case, scene, messages, ended)
    marked = mark(case.check, ran)
    return replace(made, measures=measure(messages, marked, began=began, spent=spent, ending=ended.ending.value))


def _expect_usable(ended: Ended) -> None:
    if ended.ending is Ending.INTERRUPTED:
        raise Failed(
            "The attempt was stopped.", advice="`whet worker retry` goes on with the trial.", spent=ended.spent
        )
    if ended.fault in HOPELESS:
        raise Failed(f"The model cannot be asked: {ended.detail}", advice=ended.advice, spent=ended.spent)


def _run_checks(
    database: Database, case: Case, scene: _Scene, messages: tuple[Message, ...], ended: Ended
) -> tuple[FinishedRun, Spent]:
    """What the run left, and what it cost with its judge."""
    check = case.check
    last = next((each for each in reversed(messages) if each.role is Role.AGENT), None)
    answer = ended.report.text if ended.report and ended.report.text else last.text if last else ""
    spent, passed = ended.spent, None
    if check.rubric:
        judged = judge(scene.overlay.home, database, scene.chosen, answer, check.rubric)
        passed = judged.passed
        usage = Usage(judged.spent.input, judged.spent.output, judged.spent.cached, cost_dollars=judged.spent.dollars)
        spent = spend(spent, usage)
    ran = replace(
        left_by_run(scene.made.situation, scene.overlay, case, messages, answer),
        known_tools=tuple(definition.name for definition in scene.run.shown),
        rubric=passed,
        before=scene.run.messages,
    )
    return ran, spent


_READ = tuple(map(msgspec.json.Decoder, (AttemptRequest, _Made)))  # by several threads: see world.py
