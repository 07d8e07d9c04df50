"""Checks carried out: the command in the workspace behind the sandbox, the rubric by a model that sees little else."""

import time
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.assembling import RunRequest, RunWords, assemble_run
from whet.agent.protocols import Answer, Chosen
from whet.agent.start import carry_out, says
from whet.agent.tools.processes import Process
from whet.agent.tools.sandbox import Wall, advice
from whet.agent.tools.situation import Situation, ToolState
from whet.agent.tools.terminal import plan_of
from whet.errors import WhetError
from whet.own.runs.run import Budget, Spent, WorkReport, WorkStatus
from whet.own.runs.settings import Settings
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Purpose, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.shipped.guidance import judging
from whet.store.database import Database
from whet.store.home import Home
from whet.text.quoting import mark_for, quoted

OUTPUT_CHARACTERS = 200_000
JUDGE = Definition(
    "judge",
    "Say whether the answer meets the rubric.",
    '{"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]}',
)


class RubricJudged(NamedTuple):
    """What the judge said, None where it said nothing, and what that cost."""

    passed: bool | None
    spent: Spent = Spent()


class CommandEnd(NamedTuple):
    """How a command ended: its exit code, None where it came to no end, and what it printed."""

    exit_code: int | None
    text: str = ""


def run_command(situation: Situation, command: str, *, seconds: float) -> CommandEnd:
    """Run a command in the workspace, with all that it starts ended in time.

    The workspace holds what the agent wrote, so the command is held back like the agent's own.
    """
    workplace = ToolState(situation, ())
    if workplace.walls.wall is Wall.NONE:
        raise WhetError(
            "A check cannot be run: no sandbox is available here.",
            advice=advice(),
        )
    process = Process(plan_of(workplace, command), command, limit=OUTPUT_CHARACTERS)
    try:
        ended = process.wait(seconds, Event())
    finally:
        process.stop()
        workplace.close()
    text = process.tape.take().text
    return CommandEnd(process.exit_code if ended == "done" and not process.fault else None, text)


def judge(home: Home, database: Database, chosen: Chosen, answer: str, rubric: str) -> RubricJudged:
    """Ask a model whether an answer meets a rubric. It sees these two texts alone, the answer as data."""
    mark = mark_for((answer,))
    order = judging.order(rubric=rubric, answer=quoted("the answer", answer, mark=mark))
    asked = (says(order, now=time.time(), trust=Trust.OPERATOR),)
    request = RunRequest(
        Settings(budget=Budget(model_calls=2)),
        words=RunWords(messages=asked, system=judging.system()),
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
