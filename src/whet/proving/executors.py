"""The agents that can carry out attempts on this machine, and how each is told a change in an attempt."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet import doors
from whet.agent.tools.processes import safe_path
from whet.agent.tools.sandbox import Wall, probe
from whet.agents.agent import Agent
from whet.agents.executor import Executor, ProgramLaunch, ProgramTask
from whet.agents.places import reading
from whet.agents.registry import agents, canonical, known
from whet.errors import WhetError
from whet.ledger.patches import Form, Patch
from whet.own.examples import templates
from whet.own.examples.warm_start import as_openai, examples
from whet.own.runs.models import address_of
from whet.own.runs.settings import AgentSettings, Settings
from whet.proving.world import Overlay
from whet.shipped.guidance import built_in
from whet.shipped.guidance.warm import words
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.memory_files import connected
from whet.store.records import key_of
from whet.store.skill_files import usable
from whet.telling.context.gathering import VAULT_CHARACTERS, environments, this_machine
from whet.telling.targets.drawing import offered
from whet.telling.targets.settings import FILE_AGENT, Target
from whet.telling.targets.sync import SyncOrder, sync
from whet.trials.attempts import AttemptConditions

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


REFUSED = {
    Form.TEMPLATE: "begin a session with examples",
    Form.NOTE: "be told notes: memory is Whet's own",
    Form.JOB: "be given jobs",
}


def machine_key(home: Home, settings: Settings, conditions: AttemptConditions) -> str:
    """What attempts depend on and no order brings along: version, sandbox, connected notes, and who answers where."""
    vault, agent = connected(home.folder), conditions.agent
    who: object = agent
    if agent is not None:
        chosen, path = settings_of(agent.name, settings), os.environ.get("PATH")
        runner = runner_named(agent.name, settings)
        version = version_of(runner, program_of(runner, path=path), os.environ)
        who = (agent.name, version, chosen.command, chosen.instructions, chosen.skills)
    elif conditions.model or settings.model:
        endpoint = address_of(settings, conditions.model).endpoint
        who = (endpoint.name, endpoint.kind, endpoint.base_url, settings.local if endpoint.kind == "local" else None)
    return key_of(
        sys.platform,
        built_in(),
        vault.block(VAULT_CHARACTERS) if vault and not vault.is_lost else "",
        probe(safe_path(os.environ.get("PATH", ""))).wall is Wall.NONE,
        settings.sandbox,
        environments(this_machine(os.environ)),
        who,
    )


class Instructed(NamedTuple):
    """What an agent reads before it begins, and the hash of all that it can read: rules, skills and their files."""

    text: str
    key: str
    examples: str = ""  # as chat messages


def expect_tellable(runner: Runner, patch: Patch) -> None:
    """Raise WhetError for a change that this agent has no way to be told."""
    reason = "" if patch.form is Form.TEMPLATE and runner.executor.begins_warm else REFUSED.get(patch.form, "")
    if patch.form in (Form.SKILL, Form.FILE) and not runner.skills:
        reason = "find skills: no folder for them is set"
    if reason:
        raise WhetError(
            f"{runner.name} cannot {reason}, so the {patch.form} cannot be tried on it.",
            advice="Try it on Whet's own agent: --agent whet.",
        )


def instruct(overlay: Overlay, runner: Runner, patch: Patch | None) -> Instructed:
    """Write what is in force in the overlay into the workspace, as `whet sync` would. A template's examples are told
    by the agent's own way."""
    work = Path(os.path.realpath(overlay.work))
    files = runner.agent.files if runner.agent else None
    place = reading(files, person=work, environment={}, project=work) if files else None
    file = place.file if place and place.file else work / runner.instructions
    folder = place.skills if place else work / runner.skills if runner.skills else None
    # A rule for interactive sessions is tried too: nobody else would ever try it.
    targets = tuple(
        Target(
            runner.name,
            runner.agent.name if runner.agent else FILE_AGENT,
            str(work),
            str(file),
            str(folder or ""),
            unattended=unattended,
        )
        for unattended in (False, True)
    )
    order = SyncOrder(overlay.home, lambda: offered(overlay.home, Ledger(overlay.database)))
    for change in sync(order, targets):
        if change.kind in ("conflict", "skipped"):
            raise WhetError(
                f"{runner.name} cannot be told of the change: {change.note}", advice="Look at the case's files."
            )
    told = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    copied = sorted(path for path in folder.rglob("*") if path.is_file()) if folder else []
    described = (f"{each.name}: {each.description}" for each in usable(overlay.home.folder)) if folder else ()
    key = key_of(told, [(str(path.relative_to(work)), path.read_bytes()) for path in copied])
    shown = _examples(patch) if patch and patch.form is Form.TEMPLATE else ""
    return Instructed("\n".join((told, *described, shown)), key_of(key, shown), shown)


def _examples(patch: Patch) -> str:
    return msgspec.json.encode(as_openai(examples(templates.read(patch.text, name=patch.name), words()))).decode()
