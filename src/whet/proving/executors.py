"""The agents that can carry out attempts, those that Whet knows and commands of a person's own, on this machine."""

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from typing import NamedTuple

from whet import doors
from whet.agents.agent import Agent
from whet.agents.executor import Executor, ProgramLaunch, ProgramTask
from whet.agents.registry import agents, canonical, known
from whet.errors import WhetError
from whet.own.runs.settings import AgentSettings, Settings

TASK, MODEL = "{task}", "{model}"
VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
VERSION_SECONDS = 60.0


class Runner(NamedTuple):
    """An agent that attempts are run on. `agent` is None for a command of the person's own."""

    name: str
    executor: Executor
    agent: Agent | None
    instructions: str = ""  # the file in the workspace that a command of the person's own reads before it begins
    skills: str = ""  # the folder in the workspace in which it looks for skills; empty where it knows none


def runners() -> tuple[str, ...]:
    """The names of the agents that Whet can run."""
    return tuple(agent.name for agent in agents() if agent.executor)


def runner_named(name: str, settings: Settings = Settings()) -> Runner:  # noqa: B008 - it is frozen
    """The agent of this name: one that Whet knows, or a command from the settings."""
    chosen = settings_of(name, settings)
    if chosen.command:
        return Runner(chosen.name, _own_command(chosen), None, chosen.instructions, chosen.skills)
    agent = known(name)
    if agent is None or not agent.executor:
        raise WhetError(
            f"There is no agent {name}.",
            advice=f"Known are {', '.join(runners())}, and whet for Whet's own. For another: "
            f"`whet config agents.{name}.command 'PROGRAM {{task}}'`.",
        )
    skills = agent.files.project_skills if agent.files else ""
    return Runner(agent.name, doors.named(agent.executor), agent, skills=skills)


def settings_of(name: str, settings: Settings) -> AgentSettings:
    """What the settings say of an agent, under whichever of its names."""
    wanted = canonical(name)
    found = sorted(
        (each for each in settings.agents if canonical(each.name) == wanted), key=lambda one: one.name != wanted
    )
    return found[0] if found else AgentSettings(wanted)


def program_of(runner: Runner, *, path: str | None = None) -> str:
    """Where the agent's program is; a person who wants to try it has to have it."""
    found = shutil.which(runner.executor.program, path=path)
    if found is None:
        raise WhetError(
            f"The program {runner.executor.program} is not on this machine.",
            advice=f"Install it, or try with another agent: --agent {' | '.join(runners())}.",
        )
    return found


def version_of(runner: Runner, program: str, environment: Mapping[str, str]) -> str:
    """What the program says of its version; nothing where that is a command of the person's own, or where it fails."""
    if runner.agent is None:
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


def _own_command(settings: AgentSettings) -> Executor:
    """A command of the person's own, and whatever record it leaves."""
    words = _words(settings)

    def launch(errand: ProgramTask, program: str) -> ProgramLaunch:
        filled = (word.replace(MODEL, errand.model).replace(TASK, errand.task) for word in words[1:])
        return ProgramLaunch((program, *filled), {})

    return Executor(words[0], launch, ("", "*"))


def _words(settings: AgentSettings) -> list[str]:
    try:
        words = shlex.split(settings.command)
    except ValueError:
        words = []
    if not words or not any(TASK in word for word in words[1:]):
        raise WhetError(
            f"The command of the agent {settings.name} has no place for the task.",
            advice=f"Such as: whet config agents.{settings.name}.command 'my-agent --quiet {TASK}'.",
        )
    return words
