"""The agents that can carry out attempts, and how one is found on this machine."""

import shutil

from whet.errors import WhetError
from whet.executors.claude_code import EXECUTOR as CLAUDE
from whet.executors.codex import EXECUTOR as CODEX
from whet.executors.errands import Executor
from whet.executors.opencode import EXECUTOR as OPENCODE

EXECUTORS: tuple[Executor, ...] = (CLAUDE, CODEX, OPENCODE)


def executor_named(name: str) -> Executor:
    found = next((each for each in EXECUTORS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in EXECUTORS)
        raise WhetError(f"There is no agent {name}.", advice=f"Known are {known}, and whet for Whet's own.")
    return found


def program_of(executor: Executor, *, path: str | None = None) -> str:
    """Where the agent's program is; a person who wants to try it has to have it."""
    found = shutil.which(executor.program, path=path)
    if found is None:
        raise WhetError(
            f"The program {executor.program} is not on this machine.",
            advice=f"Install it, or try with another agent: --agent {' | '.join(each.name for each in EXECUTORS)}.",
        )
    return found
