"""Steps carried out: the call of a step case, run in the case's workspace behind the walls."""

from collections.abc import Iterable
from contextlib import closing

from msgspec.structs import replace

from whet.agent.tools.sandbox import advice, holds_network
from whet.agent.tools.situation import Situation, ToolState
from whet.errors import WhetError
from whet.proving.cases_from_commits import checkout, links_in
from whet.proving.cases_from_repositories import stretch_of
from whet.proving.checks import run_command
from whet.proving.judged_work import fresh_workspace
from whet.proving.workspace import laid_out, situation_for
from whet.sessions.arguments import command_of
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Message, Transcript
from whet.store.home import Home
from whet.trials.cases import Case
from whet.trials.shapes import fits
from whet.trials.step_cases import IRRELEVANT, Recovery
from whet.trials.step_outcomes import CarriedCall, OutcomeDemand, lines_of, telling_lines
from whet.trouble.outcomes.purposes import is_shell
from whet.trouble.outcomes.view import JudgedCall

MOST_CALLS = 3  # of one step


def with_outcome(home: Home, transcript: Transcript, case: Case, found: Recovery) -> Case:
    """The step case with what its call must come to, where both were seen here: the failure, and what worked instead.

    Where they were not, or where no line tells what worked from `true`, the case stays one that compares calls.
    """
    stretch = stretch_of(transcript)
    if isinstance(stretch, str):
        return case
    if found.worked is None or not (is_shell(found.failed) and is_shell(found.worked)) or stretch.inside:
        return case
    placed = replace(case, repository=checkout(stretch.repository, stretch.before), setup=links_in(stretch.repository))
    try:
        lines = _lines_that_tell(home, placed, found.failed, found.worked)
    except WhetError:  # no sandbox, or what the repository needs is not here
        return placed
    return replace(placed, check=replace(case.check, outcome=OutcomeDemand(lines))) if lines else placed


def carried_calls(situation: Situation, case: Case, messages: Iterable[Message]) -> tuple[CarriedCall, ...]:
    """What the commands of a step came to in a fresh workspace; none where there is nothing to carry them out.

    Whatever the agent did before, it did elsewhere. Those that fit what is wanted come first.
    """
    shells = [call for message in messages for call in message.calls if family_of(call) is Family.SHELL]
    shapes = case.check.calls.one_of if case.check.calls else ()
    calls = sorted(shells, key=lambda call: not any(fits(shape, call) for shape in shapes))
    try:
        return tuple(_in_workspace(situation, case, command_of(call)) for call in calls[:MOST_CALLS])
    except WhetError:  # no sandbox
        return ()


def _in_workspace(situation: Situation, case: Case, command: str) -> CarriedCall:
    folder = str(situation.folder)  # which the agent knew the workspace by
    with fresh_workspace(situation, case) as fresh:
        return _carry_out(fresh, case, command.replace(folder, str(fresh.folder)))


def _lines_that_tell(home: Home, case: Case, failed: JudgedCall, worked: JudgedCall) -> tuple[str, ...]:
    again = _in_fresh_workspace(home, case, worked)
    if again.exit_code != 0:
        return ()
    lost = _in_fresh_workspace(home, case, failed)
    is_same_failure = lines_of(lost.text).keys() & lines_of(failed.text).keys()
    if lost.exit_code == 0 or not is_same_failure:
        return ()
    with laid_out(home, case) as work:
        situation = situation_for(home, case, work)
        idle = tuple(_carry_out(situation, case, line) for line in IRRELEVANT)
    return telling_lines(worked.text, again, (lost, *idle))


def _in_fresh_workspace(home: Home, case: Case, step: JudgedCall) -> CarriedCall:
    with laid_out(home, case) as work:
        return _carry_out(situation_for(home, case, work), case, command_of(step.exchange.call))


def _carry_out(situation: Situation, case: Case, command: str) -> CarriedCall:
    """Run a command; the folder of the session, which the agent knows, stands for the workspace.

    It was meant for another day, so it reaches nothing but the workspace, whatever the settings open to commands.
    """
    assert case.repository is not None
    held = situation._replace(
        limits=situation.limits._replace(
            sandbox=replace(situation.limits.sandbox, network=False, writable=(), required=True)
        )
    )
    with closing(ToolState(held, ())) as workplace:
        if not holds_network(workplace.walls, network=False):
            raise WhetError("No sandbox here keeps commands from the network.", advice=advice())
    here = command.replace(case.repository.path, str(held.folder))
    ended = run_command(held, here, seconds=case.check.seconds)
    return CarriedCall(ended.exit_code, ended.text)
