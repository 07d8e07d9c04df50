"""A trial on another agent before it begins: whether it can be told of the change at all, and what it will cost."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from whet.errors import WhetError
from whet.ledger.patches import Patch
from whet.proving.agent_attempt import AttemptScene, dollars_for, expect_possible
from whet.proving.executors import Runner, program_of, runner_named, settings_of, version_of
from whet.proving.instructing import Instructed, expect_tellable, instruct
from whet.proving.overlay import overlaid
from whet.runs.run import Spent
from whet.runs.settings import Settings
from whet.sessions.transcripts import Usage
from whet.store.database import Database
from whet.store.trials import usual_use
from whet.trials.attempts import TrialAgent
from whet.trials.cases import Case
from whet.trials.design import Price, cache_price

USUAL = Usage(input=100_000, output=2_000, cached=80_000)  # of one attempt, where no earlier one says better


class ReadyAgent(NamedTuple):
    """An agent that a trial can begin with, what the change adds to its sessions, and about what an attempt costs."""

    agent: TrialAgent
    price: Price
    of_one: Spent


def prepare_agent(
    scene: AttemptScene, agent: TrialAgent, patch: Patch, cases: Sequence[Case], *, now: float
) -> ReadyAgent:
    """Prove that the change reaches the agent. Raises WhetError where it does not, or where a case cannot be asked."""
    home, database, settings, world = scene
    runner = runner_named(agent.name, settings)
    program = program_of(runner, path=os.environ.get("PATH"))
    for case in cases:
        expect_possible(runner, case)
    _expect_judge(settings, cases)
    expect_tellable(runner, patch)
    told: list[Instructed] = []
    for each in (None, patch):
        with overlaid(home, cases[0], world, each, now=now) as overlay:
            told.append(instruct(overlay, runner, each))
    if told[0].key == told[1].key:
        raise WhetError(
            f"The change adds nothing to what {runner.name} is told, so there is nothing to try.",
            advice="Look at its scope, and at the rules that are in force already: `whet rules`.",
        )
    model = agent.model or settings_of(agent.name, settings).model
    version = version_of(runner, program, os.environ)
    of_one = _of_one(database, runner, model, settings, seconds=max(case.budget.seconds for case in cases))
    return ReadyAgent(TrialAgent(agent.name, version, model), cache_price(told[0].text, told[1].text), of_one)


def _expect_judge(settings: Settings, cases: Sequence[Case]) -> None:
    asking = next((case.name for case in cases if case.check.rubric), "")
    if asking and not settings.model:
        raise WhetError(
            f"The case {asking} is judged by a model, and none is set.",
            advice="Set one by `whet config model …`, or choose cases with another check.",
        )


def _of_one(database: Database, runner: Runner, model: str, settings: Settings, *, seconds: float) -> Spent:
    """About what an attempt costs: as much as the agent's earlier ones on average, and at most so long."""
    used = usual_use(database, runner.name) or USUAL
    return Spent(0, used.input, used.output, used.cached, seconds, dollars_for(used, model, settings))
