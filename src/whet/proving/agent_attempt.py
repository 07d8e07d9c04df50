"""An attempt by another agent: its program in a fresh workspace and a config home of its own, then the case's check."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import RunRequest, RunWords, assemble_run, carry_out, says
from whet.agent.metering import Meter, metered
from whet.agent.protocols import Answer, Chosen
from whet.agent.providers.choosing import provider_for
from whet.agent.tools.situation import Situation, ToolLimits
from whet.agents.executor import Carried, ProgramTask
from whet.errors import WhetError
from whet.ledger.patches import Patch
from whet.own.runs.models import Amount, cost, errand_most, model_of, with_facts
from whet.own.runs.run import Budget, Spent, WorkReport, WorkStatus, together
from whet.own.runs.settings import Settings
from whet.proving import executing
from whet.proving.executing import grounds_of
from whet.proving.executors import Runner, instruct, program_of, runner_named, version_of
from whet.proving.judged_work import WorkEnd, carried_calls, judge_work, was_handled
from whet.proving.workspace import hidden_by
from whet.proving.world import Overlay, TrialWorld, overlaid
from whet.secrets.redactor import redact, secret_values
from whet.sessions.tool_families import Definition, command_of
from whet.sessions.transcripts import Message, Purpose, Role, Text, ToolCall, ToolResult, Transcript, Usage, pair
from whet.sessions.trust import Trust
from whet.shipped import guidance
from whet.shipped.data import models
from whet.shipped.guidance import text
from whet.store.attempts import keep_attempt, known_attempt, reuse
from whet.store.database import Database
from whet.store.home import Home
from whet.store.records import key_of
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.text.quoting import mark_for, quoted
from whet.trials.attempts import Arm, Attempt, AttemptRequest, Measures, TrialAgent, measure
from whet.trials.cases import Case, is_errand
from whet.trials.checks import FinishedRun, mark
from whet.trials.step_cases import handling
from whet.work.orders import Failed

STEP_TURNS = 12  # of another agent, until the situation of a step is decided
MOST_SHOWN, MOST_TEXT = 12, 1_000  # calls of a step's conversation that are told, and letters of each result


class WantedAttempt(NamedTuple):
    """An attempt that was asked for, with its materials."""

    ask: AttemptRequest
    case: Case
    patch: Patch | None


def expect_possible(runner: Runner, case: Case) -> None:
    """Raise WhetError for a case that no other agent can be asked to do."""
    if not is_errand(case):
        raise WhetError(
            f"The case {case.name} is one step of a conversation in no workspace, which {runner.name} cannot take up.",
            advice="Give it task cases: `whet cases add --new NAME` writes one, `--cases` chooses them.",
        )


class AttemptScene(NamedTuple):
    """Where attempts are made: the home and its database, the settings that hold, and the world of the trial."""

    home: Home
    database: Database
    settings: Settings
    world: TrialWorld


def make_by_agent(
    scene: AttemptScene, wanted: WantedAttempt, agent: TrialAgent, *, interrupt: Event, meter: Meter | None = None
) -> Attempt:
    """Carry out one attempt, unless the same was made before."""
    home, database, settings, world = scene
    ask, case, patch = wanted
    runner = runner_named(agent.name, settings)
    expect_possible(runner, case)
    with overlaid(home, case, world, patch, now=time.time()) as overlay:
        told = instruct(overlay, runner, patch)
        stage = _Stage(scene, overlay, runner, agent, tuple(map(Path, ask.conditions.hidden)), meter)
        parts = (case.key, told.key, agent, ask.place.seed)
        return made_once(database, ask, parts, lambda: stage.attempt(ask, case, told.examples, interrupt))


def made_once(
    database: Database, ask: AttemptRequest, parts: tuple[object, ...], make: Callable[[], Attempt]
) -> Attempt:
    """The attempt, by all that it depends on: as it was made before, else made now and kept where it tells anything.

    What is not the base arm belongs to its trial.
    """
    case, arm, seed = ask.place
    key = key_of(*parts) if arm is Arm.BASE and not ask.terms.fresh else key_of(*parts, ask.trial, arm)
    known = known_attempt(database, key)
    if known is not None:
        return reuse(database, known, case=case, seed=seed, trial=ask.trial, now=time.time())
    made, asked = make(), ask.conditions.agent
    is_same = made.agent is None or asked is None or made.agent.version in ("", asked.version)
    if not made.invalid and is_same:
        keep_attempt(database, key, made, now=time.time())
    return made


def left_by_run(
    situation: Situation, overlay: Overlay, case: Case, messages: tuple[Message, ...], answer: str
) -> FinishedRun:
    """What an agent left, as the check looks at it: its files, what the command says, what its calls come to."""
    check = case.check
    ended = judge_work(situation, case) if check.command else WorkEnd(None)
    return FinishedRun(
        messages,
        answer,
        {path: overlay.content(path) for path in check.files},
        exit_code=ended.exit_code,
        printed=ended.text,
        gamed=ended.gamed,
        carried=carried_calls(situation, case, messages) if check.outcome else (),
        handled=was_handled(situation, case, messages) if case.kind == "step" else None,
    )


class _Stage(NamedTuple):
    """One attempt by an agent while it is made."""

    scene: AttemptScene
    overlay: Overlay
    runner: Runner
    agent: TrialAgent
    hidden: tuple[Path, ...]
    meter: Meter | None = None

    def attempt(self, ask: AttemptRequest, case: Case, examples: str, interrupt: Event) -> Attempt:
        began = time.time()
        limits = case.budget
        call = (
            self.meter.begin(Purpose.TRIAL, errand_most(limits.tokens, limits.dollars), interrupt)
            if self.meter
            else None
        )
        carried = self._carried(case, examples, interrupt)
        spent = spent_on(carried, self.scene.settings)
        if self.meter:
            self.meter.end(call, Amount(spent.input + spent.output, spent.dollars))
        if interrupt.is_set():
            raise Failed("The attempt was stopped.", advice="`whet worker retry` goes on with the trial.", spent=spent)
        recorded = TrialAgent(self.agent.name, carried.version or self._version(), carried.model)
        session = self._keep(carried.transcript) if carried.transcript else ""
        _, arm, seed = ask.place
        measures = Measures(False, spent=spent)
        made = Attempt(case.name, arm, seed, measures, session=session, trial=ask.trial, agent=recorded)
        if not carried.validity.counts or carried.transcript is None:
            why = f": {carried.why}" if carried.why else ""
            return replace(made, invalid=f"{self.agent.name} {carried.validity.value}{why}")
        messages, ending = carried.transcript.messages, carried.transcript.ending.value
        ran, judging = self._left(ask.trial, case, messages)
        spent, marked = together((spent, judging)), mark(case.check, ran)
        return replace(made, measures=measure(messages, marked, began=began, spent=spent, ending=ending))

    def _version(self) -> str:
        """What the program says of itself, where its record does not name a version."""
        return version_of(self.runner, program_of(self.runner, path=os.environ.get("PATH")), os.environ)

    def _carried(self, case: Case, examples: str, interrupt: Event) -> Carried:
        limits = case.budget
        work = Path(os.path.realpath(self.overlay.work))
        errand = ProgramTask(
            errand_words(case), work, work.parent / "config", model=self.agent.model, seconds=limits.seconds,
            dollars=limits.dollars, turns=turns_of(case), examples=examples, environment=case.environment,
        )  # fmt: skip
        hidden = (self.scene.home.folder, self.overlay.home.folder, *hidden_by(case), *self.hidden)
        return executing.carry_out(
            self.runner,
            errand,
            program=program_of(self.runner, path=os.environ.get("PATH")),
            grounds=grounds_of(self.agent.name, self.scene.settings, os.environ, hidden=hidden),
            interrupt=interrupt,
            is_decided=partial(_is_decided, case) if case.kind == "step" else None,
        )

    def _keep(self, transcript: Transcript) -> str:
        """Store the record as a trial's, without secrets; gives the session's id."""
        clean = redact(replace(transcript, purpose=Purpose.TRIAL), secret_values(os.environ)).transcript
        now = time.time()
        keep(self.scene.database, prepare(clean), Provenance(f"trial:{clean.id}", now, now))
        return clean.id

    def _left(self, trial: str, case: Case, messages: tuple[Message, ...]) -> tuple[FinishedRun, Spent]:
        """What the agent left, and what a judge of it cost."""
        home, database, settings, _ = self.scene
        limits = ToolLimits(replace(settings.sandbox, required=True), hidden=(home.folder, *self.hidden))
        situation = Situation(self.overlay.work, self.overlay.home, trial, os.environ, limits=limits)
        answer = next((each.text for each in reversed(messages) if each.role is Role.AGENT and each.text), "")
        left = left_by_run(situation, self.overlay, case, messages, answer)
        if not case.check.rubric:
            return left, Spent()
        chosen = provider_for(settings, environment=os.environ, home=home)
        chosen = metered(chosen, self.meter) if self.meter else chosen
        judged = judge(self.overlay.home, database, chosen, answer, case.check.rubric)
        return replace(left, rubric=judged.passed), judged.spent


def _is_decided(case: Case, transcript: Transcript) -> bool:
    return handling(case.check, transcript.messages).is_handled is not None


def turns_of(case: Case) -> int:
    """How many answers of its model an agent may use: a step is carried on until its situation is decided."""
    return STEP_TURNS if case.kind == "step" else case.budget.model_calls


def errand_words(case: Case) -> str:
    """What an agent is asked for: of a step the request, with what was done for it so far as a record to go on from."""
    if case.kind != "step":
        return case.task
    done = list(pair(case.conversation).exchanges)[-MOST_SHOWN:]
    if not done:
        return case.task
    calls = (command_of(each.call) or each.call.arguments[:MOST_TEXT] for each in done)
    results = (each.result.text[-MOST_TEXT:] if each.result else "" for each in done)
    record = "\n\n".join(f"{call}\n{result}" for call, result in zip(calls, results, strict=True))
    return guidance.text(
        "judging/going_on", request=case.task.strip(), record=quoted("the record", record, mark=mark_for((record,)))
    )


def spent_on(carried: Carried, settings: Settings) -> Spent:
    """What an errand cost: as the agent reports it, else by the prices that are known of its model."""
    used = carried.usage
    calls = sum(message.role is Role.AGENT for message in carried.transcript.messages) if carried.transcript else 0
    dollars = used.cost_dollars if used.cost_dollars is not None else dollars_for(used, carried.model, settings)
    return Spent(calls, used.input, used.output, used.cached, carried.seconds, dollars)


def dollars_for(used: Usage, model: str, settings: Settings) -> float | None:
    """What this use costs by the table of prices; None where the model is not in it."""
    known = with_facts(model_of(model, models()), settings.models) if model else None
    return cost(used, known.prices) if known else None


JUDGE = Definition(
    "judge",
    "Say whether the answer meets the rubric.",
    '{"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]}',
)


class RubricJudged(NamedTuple):
    """What the judge said, None where it said nothing, and what that cost."""

    passed: bool | None
    spent: Spent = Spent()


def judge(home: Home, database: Database, chosen: Chosen, answer: str, rubric: str) -> RubricJudged:
    """Ask a model whether an answer meets a rubric, if there is one. It sees these two texts alone."""
    if not rubric:
        return RubricJudged(None)
    mark = mark_for((answer,))
    order = text("judging/order", rubric=rubric.strip(), answer=quoted("the answer", answer, mark=mark))
    asked = (says(order, now=time.time(), trust=Trust.OPERATOR),)
    request = RunRequest(
        Settings(budget=Budget(model_calls=2)),
        words=RunWords(messages=asked, system=text("judging/system").strip()),
        tools=JudgeTool(),
        purpose=Purpose.TRIAL,
        chosen=chosen,
    )
    made = assemble_run(home, database, request)
    ended = carry_out(database, made.run, made.means, interrupt=Event()).ended
    return RubricJudged(ended.report.status is WorkStatus.DONE if ended.report else None, ended.spent)


class JudgeTool:
    """The one tool of a judge: its call ends the run, and its argument is the judgement."""

    definitions = (JUDGE,)

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:  # noqa: ARG002
        try:
            passed = msgspec.json.decode(call.arguments, type=RubricForm).passed
        except msgspec.MsgspecError as error:
            return Answer(ToolResult(call.id, (Text(str(error)),), call.name, error=True), Trust.AGENT)
        report = WorkReport(WorkStatus.DONE if passed else WorkStatus.FAILED)
        return Answer(ToolResult(call.id, (Text("Noted."),), call.name, error=False), Trust.AGENT, report)

    def can_run_beside(self, call: ToolCall) -> bool:  # noqa: ARG002
        return False

    def close(self) -> None:
        """Nothing runs."""


class RubricForm(msgspec.Struct, frozen=True):
    """What the judge gives."""

    passed: bool
