"""The agents that will call Whet when a session starts: those with its plugin or hooks, seen calling or not yet."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from whet.agents.places import own_folder
from whet.agents.registry import agents
from whet.errors import WhetError
from whet.hooks.installing import are_installed, has_plugin
from whet.hooks.places import has_hooks
from whet.store.home import Home

USUAL_HOME = ".whet"


def installed_hosts(home: Home, person: Path, environment: Mapping[str, str]) -> frozenset[str]:
    """The agents of a person whose plugin or hooks use this home, as their own files name them."""
    if home.folder != person / USUAL_HOME and not has_hooks(home.folder):
        return frozenset()  # agents call the usual home, unless they were set up for this one
    folders = {
        agent.name: own_folder(agent.files, person=person, environment=environment)
        for agent in agents()
        if agent.hooks and agent.files
    }
    return frozenset(name for name, config in folders.items() if config.is_dir() and _calls(name, config))


def _calls(agent: str, config: Path) -> bool:
    with contextlib.suppress(WhetError):  # a file that cannot be read: the agent does not read hooks from it either
        return has_plugin(agent, config) or are_installed(agent, config)
    return False
