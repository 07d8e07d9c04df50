"""Attempts carried out: one case in one arm with one seed, in a world of its own, checked and measured."""

import functools
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import Assembled, RunPlace, RunRequest, RunWords, assemble_run, carry_out, says
from whet.agent.metering import Meter
from whet.agent.protocols import Answer, Chosen, ProviderFault
from whet.agent.providers.choosing import Supply, missing_key, provider_for
from whet.agent.tools.toolbox import built_in, tools_in
from whet.errors import WhetError
from whet.ledger.patches import Form, Patch
from whet.own.examples import templates
from whet.own.examples.warm_start import warm_start
from whet.own.runs.models import address_of
from whet.own.runs.run import Ended, Spent, together
from whet.own.runs.settings import Settings
from whet.own.told.prompt import assemble
from whet.proving.agent_attempt import AttemptScene, WantedAttempt, judge, left_by_run, made_once, make_by_agent
from whet.proving.executors import machine_key
from whet.proving.workspace import hidden_by
from whet.proving.world import (
    Overlay,
    TrialWorld,
    overlaid,
    world_of,
)
from whet.sessions.tool_families import Definition, seen
from whet.sessions.transcripts import Disposition, Ending, Message, Purpose, Role, Text, ToolCall, ToolResult, pair
from whet.sessions.trust import Trust, trust_of_tool
from whet.shipped.guidance import notice
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import identity_of, opened
from whet.store.records import has_stored, keep_material, keep_prompt, material
from whet.store.settings_file import load
from whet.telling.context.finding import NAMES
from whet.trials.attempts import (
    Arm,
    Attempt,
    AttemptConditions,
    AttemptPlace,
    AttemptRequest,
    OrderTerms,
    measure,
)
from whet.trials.cases import Case
from whet.trials.checks import FinishedRun, mark
from whet.trouble.outcomes.fingerprints import call_key
from whet.values import Value
from whet.work.orders import DirectSteps, Done, Failed, Steps, decoded, encoded, left_by

KIND = "attempt"
# The person has to put these right before any attempt can tell anything.
PAUSE_SECONDS = 3.0  # before a worker puts an attempt back: those that can carry it out come first meanwhile
HOPELESS = frozenset({ProviderFault.KEY.value, ProviderFault.MONEY.value, ProviderFault.REQUEST.value})


class _Ways(NamedTuple):
    """How an attempt is carried out: who answers, what counts, what stops it, and whether for another home."""

    supply: Supply
    meter: Meter | None
    interrupt: Event
    is_guest: bool


class _Made(Value, frozen=True):
    """An attempt, or why a guest of the home that ordered it could not make it, and what trying cost."""

    attempt: Attempt | None = None
    put_back: str = ""
    spent: Spent = Spent()


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

    Any home of a member may take it, and takes none that another member gave; what it cannot carry out as the home that
    ordered it would, it puts back. With a meter, what other agents spend counts against the daily limit; what models
    spend is counted by a supply.
    """
    is_guest = ask.terms.home != identity_of(home) and bool(ask.conditions.world)
    ways = _Ways(supply or served, meter, steps.interrupt, is_guest)

    def carry_out() -> _Made:
        try:
            made = _carried_out(home, ask, ways)
        except WhetError as error:
            if not is_guest or steps.interrupt.is_set():
                raise
            return _Made(put_back=error.message, spent=left_by(error).spent)
        return _Made(put_back=made.invalid, spent=made.measures.spent) if made.invalid and is_guest else _Made(made)

    outcome = steps.do("attempt", carry_out, _Made)
    made = outcome.attempt
    if made is None:
        steps.interrupt.wait(PAUSE_SECONDS)
        return Done(f"put back: {outcome.put_back}", spent=outcome.spent, put_back=outcome.put_back)
    how = made.invalid or ("passed" if made.measures.passed else made.measures.why)
    spent = Spent() if made.reused else made.measures.spent
    return Done(f"{made.case}, {made.arm}, seed {made.seed}: {how}", (made.session,), spent, encoded(made))


def attempted(
    home: Home,
    cases: Iterable[Case],
    conditions: AttemptConditions,
    seeds: range,
    *,
    fresh: bool = False,
    supply: Supply | None = None,
) -> Iterator[tuple[Case, list[Attempt]]]:
    """Attempt each case without any change, once with each seed; a fresh attempt repeats none that was made before."""
    trial = f"cases-{time.time_ns()}"
    for case in cases:
        with opened(home) as database:
            key = keep_material(database, case, now=time.time())
        made: list[Attempt] = []
        for seed in seeds:
            place = AttemptPlace(case.name, Arm.BASE, seed)
            wanted = AttemptRequest(trial, place, key, conditions, terms=OrderTerms(fresh=fresh))
            vouch_for(home, (wanted,))
            done = attempt(home, DirectSteps(f"{trial}/{key}/{seed}"), wanted, supply=supply)
            made.append(decoded(done.value, Attempt))
        yield case, made


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


def _carried_out(home: Home, ask: AttemptRequest, ways: _Ways) -> Attempt:
    with opened(home) as database:
        if not has_stored(database, _as_read(ask)):
            raise WhetError(
                "This attempt was not ordered by a home of this member, so it was not carried out.",
                advice="Look who can write to the team's database; start the trial anew.",
            )
        own, key, agent = load(home), ask.conditions.world, ask.conditions.agent
        world = material(database, key, TrialWorld) if key else world_of(home, database, own)
        if ways.is_guest and machine_key(home, own, ask.conditions) != world.machine:
            raise WhetError(
                "This machine differs from the one that planned the trial.",
                advice="To let it help, give it the same version of Whet and of the agent, and the same settings.",
            )
        settings = replace(own, tools=world.tools, prompt=world.prompt)
        scene = AttemptScene(home, database, settings, world)
        case = material(database, ask.case, Case)
        wanted = WantedAttempt(ask, case, material(database, ask.patch, Patch) if ask.patch else None)
        if agent is None:
            return _make(scene, wanted, ways)
        return make_by_agent(scene, wanted, agent, meter=ways.meter, interrupt=ways.interrupt)


def _make(scene: AttemptScene, wanted: WantedAttempt, ways: _Ways) -> Attempt:
    home, database, settings, world = scene
    ask, case, patch = wanted
    conditions, seed = ask.conditions, ask.place.seed
    chosen = ways.supply(home, settings, conditions.model)
    request = RunRequest(
        replace(settings, sampling=replace(conditions.sampling, seed=seed)),
        RunPlace(hidden=(home.folder, *hidden_by(case), *map(Path, conditions.hidden))),
        chosen=chosen,
        interactive=conditions.interactive,
    )
    with overlaid(home, case, world, patch, now=time.time()) as overlay:
        made = begin(overlay, case, patch, request)
        try:
            parts = _parts(case, made, _server(settings, conditions.model, chosen))
            acting = _Acting(overlay, made, chosen, ways.interrupt)
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


class _Acting(NamedTuple):
    """An attempt under way: where it happens, its run, who answers, and what stops it."""

    overlay: Overlay
    begun: Assembled
    chosen: Chosen
    interrupt: Event


def _carry_out(database: Database, ask: AttemptRequest, case: Case, acting: _Acting) -> Attempt:
    overlay, begun, chosen, interrupt = acting
    began, run = time.time(), begun.run
    if begun.prompt is not None:
        keep_prompt(database, begun.prompt, now=began)  # beside the session, which outlives the overlay
    messages, ended = carry_out(database, run, begun.means, interrupt=interrupt)
    _expect_usable(ended)
    _, arm, seed = ask.place
    ran, invalid, spent = FinishedRun(()), "", ended.spent
    if ended.ending is Ending.FAILED:
        invalid = ended.detail or "the provider failed"
    else:
        last = next((each.text for each in reversed(messages) if each.role is Role.AGENT), "")
        answer = ended.report.text if ended.report and ended.report.text else last
        left = left_by_run(begun.situation, overlay, case, messages, answer)
        judged = judge(overlay.home, database, chosen, answer, case.check.rubric)
        known, spent = tuple(each.name for each in run.shown), together((spent, judged.spent))
        ran = replace(left, known_tools=known, before=run.messages, rubric=judged.passed)
    marked = mark(case.check, ran)
    measures = measure(messages, marked, began=began, spent=spent, ending=ended.ending.value)
    return Attempt(case.name, arm, seed, measures, session=run.id, trial=ask.trial, invalid=invalid)


def _expect_usable(ended: Ended) -> None:
    if ended.ending is Ending.INTERRUPTED:
        raise Failed(
            "The attempt was stopped.", advice="`whet worker retry` goes on with the trial.", spent=ended.spent
        )
    if ended.fault in HOPELESS:
        raise Failed(f"The model cannot be asked: {ended.detail}", advice=ended.advice, spent=ended.spent)


_READ = msgspec.json.Decoder(AttemptRequest)  # by several threads: see world.py


class Replay:
    """Recorded results by the call that they answered; of equal calls the first results come first."""

    def __init__(self, record: Sequence[Message], names: Iterable[str], foreign: Sequence[Definition] = ()) -> None:
        self.definitions = definitions_for(tuple(names), record, foreign)
        self._results: dict[str, list[ToolResult]] = {}
        for exchange in pair(record).exchanges:
            if exchange.result is not None:
                self._results.setdefault(call_key(exchange.call), []).append(exchange.result)

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:  # noqa: ARG002
        found = self._results.get(call_key(call), [])
        if not found:
            text = (Text(notice("call_not_recorded")),)
            result = ToolResult(call.id, text, call.name, error=True, disposition=Disposition.CANCELLED)
            return Answer(result, Trust.AGENT)
        kept = found.pop(0) if len(found) > 1 else found[0]
        return Answer(msgspec.structs.replace(kept, call_id=call.id), trust_of_tool(call.name))

    def can_run_beside(self, call: ToolCall) -> bool:  # noqa: ARG002 - the order of equal calls decides their results
        return False

    def close(self) -> None:
        """Nothing runs."""


def definitions_for(
    names: Sequence[str], record: Sequence[Message], foreign: Sequence[Definition] = ()
) -> tuple[Definition, ...]:
    """What a model is shown of the tools of a session: our own as they are, others as far as their calls tell.

    `foreign` are those that the record does not call.
    """
    calls = [call for message in record for call in message.calls]
    wanted = tools_in(names) or frozenset(call.name for call in calls)
    own = {tool.name: tool.definition for tool in built_in() if tool.name in wanted}
    called = {name: seen(name, calls) for name in sorted(wanted & {call.name for call in calls} - own.keys())}
    told = {each.name: each for each in foreign if each.name in wanted - own.keys() - called.keys()}
    return (*own.values(), *called.values(), *told.values())
