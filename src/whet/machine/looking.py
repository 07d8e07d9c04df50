"""What is on this machine and what is set up already, and the plan of what `whet setup` would do."""

import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from whet.agents.places import own_folder
from whet.agents.recognising import formats
from whet.agents.registry import agents, first_step, hosts, known
from whet.errors import WhetError
from whet.intake.reading import usual_places
from whet.intake.taking import stamp_of
from whet.machine.plugins import digest_of_plugin, program_for
from whet.machine.records import load_record
from whet.machine.services import Control, Service, control
from whet.own.jobs.job import NAME
from whet.shipped.extras import FOR_SETUP, how_to_add, is_there
from whet.store import files
from whet.store.home import Home
from whet.store.job_records import read_text
from whet.store.opening import opened
from whet.telling.hooks.installing import are_installed, are_outdated, has_plugin, host_hooks
from whet.telling.targets import settings as targets
from whet.telling.targets.settings import Target, hooked_agents
from whet.values import Value

IMPORT, HOOKS, TARGET, SERVICE, NIGHTLY = "import", "hooks", "target", "service", "nightly"


class StepState(StrEnum):
    """Whether a step is still to be done."""

    TO_DO = "to do"
    DONE = "done"
    NOT_POSSIBLE = "not possible"


class SetupStep(Value, frozen=True):
    """One step: what it is about, in words what it does, and how it stands."""

    kind: str
    name: str
    words: str
    state: StepState
    why_not: str = ""


class FoundAgent(NamedTuple):
    """An agent, its own folder where it is there, and whether it left sessions that can be imported."""

    name: str
    title: str
    config: Path | None
    has_sessions: bool


def find_agents(person: Path, environment: Mapping[str, str]) -> tuple[FoundAgent, ...]:
    """Every known agent that is on this machine. It opens no file, and stops at the first session of each."""
    titles = {known.name: known.title for known in formats() if known.places}
    places = {known.name: known.places for known in formats()}
    folders = {
        agent.name: own_folder(agent.files, person=person, environment=environment) for agent in agents() if agent.files
    }
    found = (
        FoundAgent(
            name,
            titles.get(name, name.capitalize()),
            folders[name] if name in folders and folders[name].is_dir() else None,
            any(path.is_file() for pattern in places.get(name, ()) for path in person.glob(pattern)),
        )
        for name in dict.fromkeys((*titles, *folders))
    )
    return tuple(each for each in found if each.config or each.has_sessions)


class SetupPlace(NamedTuple):
    """Where Whet is set up: its home, the person's own folder, the environment, and the program itself."""

    home: Home
    person: Path
    environment: Mapping[str, str]
    program: Path
    service: Service
    nightly_at: str
    now: float


def planned(here: SetupPlace, *, without: frozenset[str] = frozenset()) -> tuple[SetupStep, ...]:
    """Every step for this machine, in the order in which it is done. It changes nothing."""
    return tuple(step for step in _steps(here) if step.kind not in without)


def _steps(here: SetupPlace) -> Iterator[SetupStep]:
    found, fresh = find_agents(here.person, here.environment), new_files(here)
    for agent in found:
        if new := len(fresh.get(agent.name, ())):
            files = "1 new file" if new == 1 else f"{new:,} new files"
            yield SetupStep(IMPORT, agent.name, f"Import the sessions of {agent.title}: {files}", StepState.TO_DO)
    ran, hooked = (
        hooked_agents(here.home, now=here.now),
        [each for each in found if each.config and each.name in hosts()],
    )
    for agent in hooked:
        yield _hooks(here, agent, ran)
    if not is_there("mcp") and any(program_for(agent.name, here.environment) for agent in hooked):
        command = how_to_add(*(each for each in FOR_SETUP if not is_there(each)))
        why = f"it needs a library: run `{command}`"
        yield SetupStep(HOOKS, "mcp", "Run the plugin's MCP server", StepState.NOT_POSSIBLE, why)
    standing = {each.name for each in targets.load(here.home)}
    for agent in found:
        if target := target_for(here, agent):
            words = f"Write rules and skills for {agent.title} to {target.file}"
            yield SetupStep(TARGET, agent.name, words, _state(target.name in standing))
    yield _service(here)
    words = f"Read new sessions every night at {here.nightly_at}, within the daily limit"
    yield SetupStep(NIGHTLY, "improve", words, _state(read_text(here.home.folder, NAME) is not None))


def _service(here: SetupPlace) -> SetupStep:
    service = here.service
    body = files.read(files.at(service.path)) if service.kind else None
    own = load_record(here.home).service
    is_own = own is not None and own.path == str(service.path)  # made from another shell, its text may differ
    is_foreign = body is not None and not is_own and body != service.text.encode()
    why_not = f"{service.path} is there already, with other content" if is_foreign else service.why_not
    if not service.kind or why_not:
        return SetupStep(SERVICE, "worker", "Run the worker as a service", StepState.NOT_POSSIBLE, why_not)
    words = f"Run the worker as a {service.kind} service: {service.path}"
    return SetupStep(SERVICE, "worker", words, _state(body is not None))


def _state(is_done: bool) -> StepState:
    return StepState.DONE if is_done else StepState.TO_DO


def new_files(here: SetupPlace) -> dict[str, tuple[Path, ...]]:
    """The files with sessions of each agent that were not imported yet, or have changed since."""
    imported: dict[str, tuple[int, ...]] = {}
    if here.home.database_url or here.home.database_path.exists():
        with opened(here.home) as database:
            rows = database.query("SELECT path, size, modified FROM files")
        imported = {path: (size, modified) for path, size, modified in rows}
    found: dict[str, tuple[Path, ...]] = {}
    for place in usual_places(here.person, here.environment):
        fresh = (path for path in place.files if imported.get(os.path.abspath(path)) != tuple(stamp_of(path)))
        found[place.format] = (*found.get(place.format, ()), *fresh)
    return found


def hooks_file(agent: str, config: Path) -> Path:
    """The file in an agent's own folder that holds its hooks."""
    return config / host_hooks(agent).file


def target_for(here: SetupPlace, agent: FoundAgent) -> Target | None:
    """Where an agent reads rules for every project; None where it reads none."""
    found = known(agent.name)
    if agent.config is None or found is None or found.files is None:
        return None
    chosen = targets.choose(agent.name, person=here.person, environment=here.environment, project=None)
    return chosen if chosen.file else None


def _hooks(here: SetupPlace, agent: FoundAgent, ran: frozenset[str]) -> SetupStep:
    """An agent has the hooks or the plugin of this version, or has others, or can have none.

    A plugin that a person installed is theirs to bring up to date.
    """
    name, config = agent.name, agent.config
    assert config is not None  # hooks are for agents with a folder alone
    noted = next((each for each in load_record(here.home).hooks if each.agent == name and each.program), None)
    is_there, has_others, why_not = False, False, ""
    try:
        is_plugin = has_plugin(name, config)
        is_there = name in ran or is_plugin or are_installed(name, config)
        has_others = are_outdated(name, config)
        if noted is not None and is_plugin:
            has_others = noted.plugin != digest_of_plugin()
    except WhetError as error:
        why_not = error.message
    state = StepState.NOT_POSSIBLE if why_not else _state(is_there and not has_others)
    return SetupStep(HOOKS, name, _hook_words(here, agent.title, name, config, has_others), state, why_not)


def _hook_words(here: SetupPlace, title: str, name: str, config: Path, has_others: bool) -> str:
    if has_others:
        return f"Bring Whet's hooks for {title} up to date"
    if program := program_for(name, here.environment):
        return f"Install Whet's plugin (hooks, commands, MCP server) in {title} with {program}"
    return f"Add Whet's hooks for {title} to {hooks_file(name, config)}"


def how_it_calls(agent: str, last_call: float | None) -> str:
    """Whether the hooks of an agent call Whet, in words."""
    if last_call is not None:
        return f"calls Whet (last: {datetime.fromtimestamp(last_call).astimezone():%Y-%m-%d})"
    left = first_step(agent)
    return f"installed, not yet seen calling{f': {left}' if left else ''}"


def is_on_path(person: Path, environment: Mapping[str, str], run: Control = control) -> bool:
    """Whether agents find `whet`: on the PATH of this shell without its virtual environment, or of a login shell."""
    own = os.path.join(environment.get("VIRTUAL_ENV") or os.devnull, "bin")
    folders = [each for each in environment.get("PATH", "").split(os.pathsep) if each != own]
    if shutil.which("whet", path=os.pathsep.join(folders)):
        return True
    shell = environment.get("SHELL") or "/bin/sh"
    return run(("env", "-i", f"HOME={person}", shell, "-l", "-c", "command -v whet"))


def how_to_find(program: Path) -> str:
    """What puts the program where agents find it."""
    return f"Run `mkdir -p ~/.local/bin && ln -s {program} ~/.local/bin/whet`, and have ~/.local/bin on your PATH."
