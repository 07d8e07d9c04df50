"""What is on this machine and what is set up already: the facts that a plan is made from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from whet.agents.registry import hosts, known
from whet.errors import WhetError
from whet.hooks.installing import are_installed, are_outdated, has_plugin, host_hooks
from whet.intake.finding import usual_places
from whet.intake.taking import stamp_of
from whet.jobs.nightly import NAME
from whet.setup.agents import FoundAgent, find_agents
from whet.setup.planning import AgentFacts, MachineFacts
from whet.setup.plugins import digest_of_plugin, program_for
from whet.setup.records import load_record
from whet.setup.services import Service
from whet.shipped.extras import FOR_SETUP, how_to_add, is_there
from whet.store import files
from whet.store.home import Home
from whet.store.job_files import read_text
from whet.store.opening import opened
from whet.targets import settings as targets
from whet.targets.readers import hooked_agents
from whet.targets.settings import Target


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
