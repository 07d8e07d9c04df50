"""The agents on this machine: those that left sessions in their usual places, or have a folder of their own."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from whet.agents.places import own_folder
from whet.agents.recognising import formats
from whet.agents.registry import agents


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
