"""Where an agent reads its instructions and its skills on this machine."""

import os
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from whet.agents.agent import Agent, AgentFiles
from whet.agents.registry import agents

# What an agent reads when nobody made a file yet, where that is not the first of its files.
FIRST_CHOICES = ("AGENTS.md", "CLAUDE.md", "SOUL.md", "GEMINI.md")


class ReadingPlace(NamedTuple):
    """Where an agent reads: its file of instructions and its folder of skills; None where it has none."""

    file: Path | None
    skills: Path | None


def own_folder(files: AgentFiles, *, person: Path, environment: Mapping[str, str]) -> Path:
    """The folder with an agent's own settings, whether it is there or not."""
    named = environment.get(files.variable, "") if files.variable else ""
    return Path(os.path.expanduser(named)).absolute() if named else person / files.folder


def reading(files: AgentFiles, *, person: Path, environment: Mapping[str, str], project: Path | None) -> ReadingPlace:
    """Where the agent reads for a person in every project, or in one of them."""
    if project is not None:
        there = [project / name for name in files.project]
        return ReadingPlace(_chosen(there), project / files.project_skills if files.project_skills else None)
    own = own_folder(files, person=person, environment=environment)

    def place(name: str) -> Path:
        return person / name[2:] if name.startswith("~/") else own / name

    return ReadingPlace(
        _chosen([place(name) for name in files.everywhere]), place(files.skills) if files.skills else None
    )


def _chosen(files: list[Path]) -> Path | None:
    """The first that is there, else the one to make."""
    there = (file for file in files if file.is_symlink() or file.exists())
    made = (file for file in files if file.name in FIRST_CHOICES)
    return next(there, None) or next(made, None) or next(iter(files), None)


def how_read(agent: Agent, path: str, paths: Collection[str] = ()) -> str:
    """Whether an agent reads a file of a project always, on demand or, with nothing, never.

    Of several files in one folder it reads the first of those in `paths`.
    """
    names = agent.files.project if agent.files else ()
    for place, name in enumerate(names):
        if path == name or path.endswith(f"/{name}"):
            folder = path[: len(path) - len(name)]
            return "" if any(folder + before in paths for before in names[:place]) else "always"
    if any(_pattern(each).search(path) for each in agent.reading.always):
        return "always"
    return "on demand" if any(_pattern(each).search(path) for each in agent.reading.on_demand) else ""


def is_read_by_agents(path: str) -> bool:
    """Whether a file is named as agents name their instructions: no other file is ever changed for them."""
    return any(how_read(agent, path) for agent in agents())


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """A pattern that holds below any folder: `**` is any path, `*` any name."""
    inner = re.escape(glob).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.compile(rf"(?:^|/){inner}$")
