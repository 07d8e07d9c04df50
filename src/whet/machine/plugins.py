"""The plugin that comes with Whet, handed to an agent by the agent's own program, and taken back by it."""

import shutil
from collections.abc import Iterator, Mapping
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path

from whet.agents.agent import AgentPlugin
from whet.agents.registry import known
from whet.errors import WhetError
from whet.machine.services import Control
from whet.store import files
from whet.store.home import Home, prepare_home
from whet.store.records import hash_of

FOLDER = "plugin"
PLUGIN = "whet"
GEMINIS = (PLUGIN, "gemini")
SKILLS = "skills"


def program_for(agent: str, environment: Mapping[str, str]) -> str:
    """Where the program is that can install the plugin for an agent; empty where there is none."""
    found = known(agent)
    plugin = found.plugin if found else None
    return (plugin and shutil.which(plugin.program, path=environment.get("PATH", ""))) or ""


def plugin_of(agent: str) -> AgentPlugin:
    """How an agent that can have the plugin is given it."""
    found = known(agent)
    if found is None or found.plugin is None:
        raise WhetError(f"{agent} has no way to install the plugin.", advice="Give it hooks: `whet setup`.")
    return found.plugin


def add_plugin(agent: str, program: str, home: Home, run: Control) -> None:
    """Have an agent's own program install the plugin from a copy in the home, which stays where it is."""
    folder = lay_out(home)
    for words in plugin_of(agent).add:
        command = (program, *(word.replace("{folder}", str(folder)) for word in words))
        if not run(command):
            remove_plugin(agent, program, run)
            raise WhetError(f"`{' '.join(command)}` failed.", advice="Run that command to see why.")


def remove_plugin(agent: str, program: str, run: Control) -> str:
    """Have it take the plugin away again; gives the command that failed, empty where all was done."""
    failed = [words for words in plugin_of(agent).remove if not run((program, *words))]
    return " ".join((Path(program).name, *failed[0])) if failed else ""


def lay_out(home: Home) -> Path:
    """Copy the plugin that comes with this Whet into the home, where an upgrade or a new environment leaves it."""
    prepare_home(home)
    for names, body in _content(_shipped()):
        place = files.beneath(home.folder, FOLDER, *names)
        standing = files.read(place)
        if standing != body:
            files.write(place, body, expected=standing)
    return home.folder / FOLDER


def digest_of_plugin() -> str:
    """What tells the plugin that comes with this Whet from that of another."""
    parts = [part for names, body in _content(_shipped()) for part in ("/".join(names).encode(), body)]
    return hash_of(b"\0".join(parts))


def clear_away(home: Home) -> None:
    """Remove the copy in the home, once no agent has the plugin from it."""
    if (home.folder / FOLDER).is_dir():
        shutil.rmtree(home.folder / FOLDER)


def _shipped() -> Traversable:
    return resources("whet.shipped").joinpath("plugins")


def _content(shipped: Traversable) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """All files. The one folder of skills is given to Gemini too: a package holds no links."""
    yield from _below(shipped, ())
    skills = shipped.joinpath(PLUGIN, SKILLS)
    yield from (((*GEMINIS, SKILLS, *names), body) for names, body in _below(skills, ()))


def _below(folder: Traversable, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bytes]]:
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.is_file():
            yield (*names, each.name), each.read_bytes()
        elif (*names, each.name) != (*GEMINIS, SKILLS):
            yield from _below(each, (*names, each.name))
