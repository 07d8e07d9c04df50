"""The agents that can carry out attempts, and how one is found on this machine."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from whet.errors import WhetError
from whet.executors.claude_code import EXECUTOR as CLAUDE
from whet.executors.codex import EXECUTOR as CODEX
from whet.executors.errands import Executor
from whet.executors.gemini import EXECUTOR as GEMINI
from whet.executors.hermes import EXECUTOR as HERMES
from whet.executors.opencode import EXECUTOR as OPENCODE
from whet.executors.own_command import OwnCommand
from whet.executors.running import Grounds
from whet.runs.settings import AgentSettings, Settings

EXECUTORS: tuple[Executor, ...] = (CLAUDE, CODEX, OPENCODE, GEMINI, HERMES)
VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
VERSION_SECONDS = 60.0


def executor_named(name: str, settings: Settings = Settings()) -> Executor:  # noqa: B008 - it is frozen
    """The agent of this name: one that Whet knows, or a command from the settings."""
    chosen = settings_of(name, settings)
    if chosen.command:
        return OwnCommand(chosen)
    found = next((each for each in EXECUTORS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in EXECUTORS)
        raise WhetError(
            f"There is no agent {name}.",
            advice=f"Known are {known}, and whet for Whet's own. For another: "
            f"`whet config set agents.{name}.command 'PROGRAM {{task}}'`.",
        )
    return found


def settings_of(name: str, settings: Settings) -> AgentSettings:
    return next((each for each in settings.agents if each.name == name), AgentSettings(name))


def program_of(executor: Executor, *, path: str | None = None) -> str:
    """Where the agent's program is; a person who wants to try it has to have it."""
    found = shutil.which(executor.program, path=path)
    if found is None:
        raise WhetError(
            f"The program {executor.program} is not on this machine.",
            advice=f"Install it, or try with another agent: --agent {' | '.join(each.name for each in EXECUTORS)}.",
        )
    return found


def version_of(executor: Executor, program: str, environment: Mapping[str, str]) -> str:
    """What the program says of its version; nothing where that is a command of the person's own, or where it fails."""
    if isinstance(executor, OwnCommand):
        return ""
    with tempfile.TemporaryDirectory(prefix="whet-version-", ignore_cleanup_errors=True) as home:
        try:
            done = subprocess.run(
                [program, "--version"], env={"PATH": environment.get("PATH", ""), "HOME": home}, cwd=home,
                capture_output=True, text=True, timeout=VERSION_SECONDS, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return ""
    found = VERSION.search(done.stdout)
    return found[0] if found else ""


def grounds_of(name: str, settings: Settings, environment: Mapping[str, str], *, hidden: tuple[Path, ...]) -> Grounds:
    """What an agent gets of this machine, as its settings say."""
    chosen = settings_of(name, settings)
    return Grounds(
        environment,
        variables=chosen.variables,
        config=tuple(Path(os.path.expanduser(each)) for each in chosen.config),
        readable=tuple(Path(os.path.expanduser(each)) for each in chosen.readable),
        hidden=hidden,
    )
