"""Checks carried out: the command in the workspace behind the sandbox, the rubric by a model that sees little else."""

import time
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.compaction import Compacting
from whet.agent.protocols import Answer, Chosen
from whet.agent.redacting import Secrets
from whet.agent.start import Means, new_id, perform, says
from whet.agent.tools.processes import Process
from whet.agent.tools.sandbox import Wall
from whet.agent.tools.situation import Situation, Workplace
from whet.agent.tools.terminal import plan_of
from whet.errors import WhetError
from whet.runs.run import Budget, Ended, Run, Spent, WorkReport, WorkStatus
from whet.sessions.definitions import Definition
from whet.sessions.transcripts import Purpose, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.shipped.guidance import judging
from whet.store.database import Database
from whet.text.quoting import mark_for, quoted

OUTPUT_CHARACTERS = 20_000
JUDGE = Definition(
    "judge",
    "Say whether the answer meets the rubric.",
    '{"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]}',
)


class RubricJudged(NamedTuple):
    """What the judge said, None where it said nothing, and what that cost."""

    passed: bool | None
    spent: Spent = Spent()


def exit_code_of(situation: Situation, command: str, *, seconds: float) -> int | None:
    """Run a check in the workspace, with all that it starts ended in time; None where it came to no end.

    The workspace holds what the agent wrote, so the command is held back like the agent's own.
    """
    workplace = Workplace(situation, ())
    if workplace.walls.wall is Wall.NONE:
        raise WhetError(
            "A check cannot be run: no sandbox is available here.",
            advice="Install bubblewrap, or use a kernel with Landlock (Linux 5.13 or later).",
        )
    process = Process(plan_of(workplace, command), command, limit=OUTPUT_CHARACTERS)
    try:
        ended = process.wait(seconds, Event())
    finally:
        process.stop()
        workplace.close()
    return process.exit_code if ended == "done" and not process.fault else None


def judge(database: Database, chosen: Chosen, answer: str, rubric: str) -> RubricJudged:
    """Ask a model whether an answer meets a rubric. It sees these two texts alone, the answer as data."""
    mark = mark_for((answer,))
    order = judging.order(rubric=rubric, answer=quoted("the answer", answer, mark=mark))
    run = Run(
        id=new_id(time.time()),
        model=chosen.model.name,
        system=judging.system(),
        messages=(says(order, now=time.time(), trust=Trust.OPERATOR),),
        shown=(JUDGE,),
        allowed=frozenset({JUDGE.name}),
        purpose=Purpose.TRIAL,
        budget=Budget(model_calls=2),
    )
    means = Means(chosen.provider, Bench(), Compacting(lambda: new_id(time.time()), enabled=False), Secrets())
    ended = next((said for said in perform(database, run, means, interrupt=Event()) if isinstance(said, Ended)), None)
    if ended is None or ended.report is None:
        return RubricJudged(None, ended.spent if ended else Spent())
    return RubricJudged(ended.report.status is WorkStatus.DONE, ended.spent)


class Bench:
    """The one tool of a judge: its call ends the run, and its argument is the judgement."""

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
