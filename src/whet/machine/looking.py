"""What is on this machine and what is set up already, and the plan of what `whet setup` would do."""

import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from whet.agents.places import own_folder
from whet.agents.recognising import formats
from whet.agents.registry import agents, hosts, known
from whet.errors import WhetError
from whet.hooks.installing import are_installed, are_outdated, has_plugin, host_hooks
from whet.intake.finding import usual_places
from whet.intake.taking import stamp_of
from whet.jobs.job import NAME
from whet.machine.plugins import digest_of_plugin, program_for
from whet.machine.records import load_record
from whet.machine.services import Service
from whet.shipped.extras import FOR_SETUP, how_to_add, is_there
from whet.store import files
from whet.store.home import Home
from whet.store.job_records import read_text
from whet.store.opening import opened
from whet.targets import settings as targets
from whet.targets.reaching import hooked_agents
from whet.targets.settings import Target
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


class AgentFacts(Value, frozen=True):
    """An agent as setting up sees it. Hooks and targets that it cannot have are None."""

    name: str
    title: str
    new_files: int = 0
    is_hooked: bool | None = None
    hooks_file: str = ""
    why_no_hooks: str = ""
    is_target: bool | None = None
    target_file: str = ""
    plugin_program: str = ""  # that can install the plugin, which has the hooks
    is_outdated: bool = False  # its hooks, or its plugin, are those of another version


class MachineFacts(Value, frozen=True):
    """All that a plan is made from."""

    agents: tuple[AgentFacts, ...] = ()
    service: str = ""  # the kind of service, empty where the machine has none
    service_file: str = ""
    is_service_there: bool = False
    why_no_service: str = ""
    nightly_at: str = ""
    has_nightly: bool = False
    how_to_add_mcp: str = ""  # the command that does; empty where the MCP server can run


def planned(facts: MachineFacts, *, without: frozenset[str] = frozenset()) -> tuple[SetupStep, ...]:
    """Every step for this machine, in the order in which it is done."""
    return tuple(step for step in _steps(facts) if step.kind not in without)


def _steps(facts: MachineFacts) -> Iterator[SetupStep]:
    for agent in facts.agents:
        if agent.new_files:
            files = "1 new file" if agent.new_files == 1 else f"{agent.new_files:,} new files"
            yield SetupStep(IMPORT, agent.name, f"Import the sessions of {agent.title}: {files}", StepState.TO_DO)
    for agent in facts.agents:
        if agent.is_hooked is not None:
            state = StepState.NOT_POSSIBLE if agent.why_no_hooks else _state(agent.is_hooked)
            yield SetupStep(HOOKS, agent.name, _hook_words(agent), state, agent.why_no_hooks)
    if facts.how_to_add_mcp and any(agent.plugin_program for agent in facts.agents):
        why = f"it needs a library: run `{facts.how_to_add_mcp}`"
        yield SetupStep(HOOKS, "mcp", "Run the plugin's MCP server", StepState.NOT_POSSIBLE, why)
    for agent in facts.agents:
        if agent.is_target is not None:
            words = f"Write rules and skills for {agent.title} to {agent.target_file}"
            yield SetupStep(TARGET, agent.name, words, _state(agent.is_target))
    yield _service(facts)
    words = f"Read new sessions every night at {facts.nightly_at}, within the daily limit"
    yield SetupStep(NIGHTLY, "improve", words, _state(facts.has_nightly))


def _hook_words(agent: AgentFacts) -> str:
    if agent.is_outdated:
        return f"Bring Whet's hooks for {agent.title} up to date"
    if agent.plugin_program:
        return f"Install Whet's plugin (hooks, commands, MCP server) in {agent.title} with {agent.plugin_program}"
    return f"Add Whet's hooks for {agent.title} to {agent.hooks_file}"


def _service(facts: MachineFacts) -> SetupStep:
    if not facts.service or facts.why_no_service:
        words = "Run the worker as a service"
        return SetupStep(SERVICE, "worker", words, StepState.NOT_POSSIBLE, facts.why_no_service)
    words = f"Run the worker as a {facts.service} service: {facts.service_file}"
    return SetupStep(SERVICE, "worker", words, _state(facts.is_service_there))


def _state(is_done: bool) -> StepState:
    return StepState.DONE if is_done else StepState.TO_DO


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
            any(_first(person, pattern) for pattern in places.get(name, ())),
        )
        for name in dict.fromkeys((*titles, *folders))
    )
    return tuple(each for each in found if each.config or each.has_sessions)


def _first(person: Path, pattern: str) -> Path | None:
    return next((path for path in person.glob(pattern) if path.is_file()), None)


class SetupPlace(NamedTuple):
    """Where Whet is set up: its home, the person's own folder, the environment, and the program itself."""

    home: Home
    person: Path
    environment: Mapping[str, str]
    program: Path
    service: Service
    nightly_at: str
    now: float


def look(here: SetupPlace) -> MachineFacts:
    """What setting up finds on this machine. It changes nothing."""
    fresh = new_files(here)
    ran = hooked_agents(here.home, now=here.now)
    standing = {each.name for each in targets.load(here.home)}
    service = here.service
    body = files.read(files.at(service.path)) if service.kind else None
    own = load_record(here.home).service
    is_own = own is not None and own.path == str(service.path)  # made from another shell, its text may differ
    is_foreign = body is not None and not is_own and body != service.text.encode()
    return MachineFacts(
        agents=tuple(_agent(here, each, fresh, ran, standing) for each in find_agents(here.person, here.environment)),
        service=service.kind,
        service_file=str(service.path),
        is_service_there=body is not None,
        why_no_service=f"{service.path} is there already, with other content" if is_foreign else service.why_not,
        nightly_at=here.nightly_at,
        has_nightly=read_text(here.home.folder, NAME) is not None,
        how_to_add_mcp="" if is_there("mcp") else how_to_add(*(each for each in FOR_SETUP if not is_there(each))),
    )


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


def _agent(
    here: SetupPlace,
    agent: FoundAgent,
    fresh: Mapping[str, tuple[Path, ...]],
    ran: frozenset[str],
    standing: set[str],
) -> AgentFacts:
    target = target_for(here, agent)
    config = agent.config if agent.name in hosts() else None
    is_hooked, is_outdated, why_no_hooks = _hooks(here, agent.name, config, ran) if config else (None, False, "")
    return AgentFacts(
        agent.name,
        agent.title,
        len(fresh.get(agent.name, ())),
        is_hooked=is_hooked,
        hooks_file=str(hooks_file(agent.name, config)) if config else "",
        why_no_hooks=why_no_hooks,
        is_outdated=is_outdated,
        plugin_program=program_for(agent.name, here.environment) if config else "",
        is_target=None if target is None else target.name in standing,
        target_file=target.file if target else "",
    )


def _hooks(here: SetupPlace, agent: str, config: Path, ran: frozenset[str]) -> tuple[bool, bool, str]:
    """Whether an agent has the hooks or the plugin of this version, whether it has others, or why it can have none.

    A plugin that a person installed is theirs to bring up to date.
    """
    noted = next((each for each in load_record(here.home).hooks if each.agent == agent and each.program), None)
    try:
        is_plugin = has_plugin(agent, config)
        is_there = agent in ran or is_plugin or are_installed(agent, config)
        has_others = are_outdated(agent, config)
        if noted is not None and is_plugin:
            has_others = noted.plugin != digest_of_plugin()
    except WhetError as error:
        return False, False, error.message
    return is_there and not has_others, has_others, ""
