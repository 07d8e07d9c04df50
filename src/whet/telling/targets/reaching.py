"""Who reads a rule: agents, by the files that Whet writes for them and by the hooks that call it.

Who is told a rule: the agents whose hooks tell it, the files that hold it, and what is missing where nobody is.
"""

import contextlib
import os
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from whet.agents.registry import USUAL, agents, known
from whet.ledger.entries import Item
from whet.ledger.holding import WorkLocation, holds, lies_in
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import SOURCE
from whet.telling.targets import settings
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project
from whet.telling.targets.settings import FILE_AGENT, Target

PURPOSES = {True: "unattended", False: "interactive"}


class Reader(NamedTuple):
    """An agent that is told rules, and as far as it is known in which project and for what."""

    agent: str
    project: str | None = None
    purpose: str | None = None
    folder: str = ""


def reader_of(target: Target) -> Reader:
    """Who reads a target's file."""
    return Reader(target.agent, name_of_project(target.project), PURPOSES[target.unattended], target.project)


def reads(reader: Reader, rule: Item) -> bool:
    """Whether a rule is for a reader: what its agent runs, whether somebody is there to answer, and the project."""
    agent = known(reader.agent)
    families = agent.models if agent else ()
    where = WorkLocation(reader.project, families=families, purpose=reader.purpose, folder=reader.folder)
    return holds(rule.scope, where)


def is_shown(agents: Collection[str], project: str, *, agent: str, folder: str) -> bool:
    """Whether a session of an agent in a folder is shown a file that these agents read in a project's folder.

    A file of the person's choice may be any agent's, but for Whet's own, which has its prompt.
    """
    is_reader = agent in agents or (FILE_AGENT in agents and agent != SOURCE)
    return is_reader and (not project or lies_in(folder, project))


FOLDERS = "SELECT source, folder FROM sessions WHERE folder <> '' GROUP BY source, folder ORDER BY max(dated) DESC"


class RuleReaders(NamedTuple):
    """Agents that are told a rule at the start of each session it is for, and the files that hold it after a sync."""

    hooked: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class UntoldProject(NamedTuple):
    """A project whose rules stand in no file, how many they are, and the command that gives it one."""

    project: str  # as people read it
    rules: int
    command: str


def readers_of(home: Home, rule: Item, *, now: float) -> RuleReaders:
    """Who reads a rule in this home."""
    hooked = sorted(name for name in hooked_agents(home, now=now) if reads(Reader(name), rule))
    held = (target.file for target in settings.load(home) if target.file and reads(reader_of(target), rule))
    return RuleReaders(tuple(hooked), tuple(dict.fromkeys(held)))


def command_for(database: Database, project: str) -> str:
    """The command that has the rules of a project written where the agent that works in it reads them."""
    known = [agent.name for agent in agents() if agent.files]
    rows = [(source, folder) for source, folder in database.query(FOLDERS) if source in known]
    if not project:
        return f"whet sync add {rows[0][0] if rows else USUAL}"
    here = ((source, folder) for source, folder in rows if name_of_project(folder) == project and Path(folder).is_dir())
    source, folder = next(here, (USUAL, "FOLDER"))
    return f"whet sync add {source} --project {shlex.quote(str(_root(Path(folder))))}"


def untold_projects(
    database: Database, rules: Iterable[Item], targets: tuple[Target, ...]
) -> tuple[UntoldProject, ...]:
    """Projects with active rules that no target's file holds, the most rules first."""
    counts: dict[str, int] = {}
    for rule in rules:
        project = rule.scope.project
        if project and not any(lies_in(name_of_project(target.project), project) for target in targets):
            counts[project] = counts.get(project, 0) + 1
    shown = KnownProjects(database).shown
    ordered = sorted(counts.items(), key=lambda each: -each[1])
    return tuple(UntoldProject(shown(project), number, command_for(database, project)) for project, number in ordered)


def _root(folder: Path) -> Path:
    """The top of its repository, where the agent's file is."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


MARKS = ("hooks", "agents")
LATELY_SECONDS = 30 * 86_400.0


def hooked_agents(home: Home, *, now: float) -> frozenset[str]:
    """The agents whose hook ran in this home in the last weeks, by the marks that it leaves."""
    return frozenset(name for name, at in last_calls(home).items() if at > now - LATELY_SECONDS)


def last_calls(home: Home) -> dict[str, float]:
    """When the hooks of each agent last ran, to the hour; an agent whose hooks never did is not in it."""
    with contextlib.suppress(FileNotFoundError), os.scandir(home.folder.joinpath(*MARKS)) as marks:
        return {mark.name: mark.stat(follow_symlinks=False).st_mtime for mark in marks}
    return {}


def forget_calls(home: Home, agent: str) -> None:
    """Take an agent's mark away, once its hooks are gone."""
    home.folder.joinpath(*MARKS, agent).unlink(missing_ok=True)
