"""The targets that a person chose, kept in targets.toml in the home; who reads a rule by them and by hooks."""

import contextlib
import os
import shlex
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.agents.places import reading
from whet.agents.registry import USUAL, agents, canonical, known
from whet.errors import WhetError
from whet.ledger.entries import Item
from whet.ledger.holding import WorkLocation, holds, lies_in
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.recording import SOURCE
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project, repository_root
from whet.text import toml
from whet.values import Value

FILE_NAME = "targets.toml"
HEAD = "# Where Whet writes rules and skills. To change it, run `whet sync --targets`; to write, run `whet sync`.\n"
FILE_AGENT = "file"
PURPOSES = {True: "unattended", False: "interactive"}
FOLDERS = "SELECT source, folder FROM sessions WHERE folder <> '' GROUP BY source, folder ORDER BY max(dated) DESC"
MARKS = ("hooks", "agents")
LATELY_SECONDS = 30 * 86_400.0


class Target(Value, frozen=True):
    """One place where learned rules go: the file with the block and the folder with the skills, if there is one."""

    name: str
    agent: str  # a known agent, or "file" for a file of the person's choice
    project: str = ""  # the folder of the project; empty: for every project
    file: str = ""
    skills: str = ""
    unattended: bool = False  # its agent runs with nobody there to answer


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    target: tuple[Target, ...] = ()


def choose(
    asked: str, *, person: Path, environment: Mapping[str, str], project: Path | None, unattended: bool = False
) -> Target:
    """The target that a person asked for by the name of an agent or of a file."""
    agent = known(asked)
    if agent is None or agent.files is None:
        return _choose_file(asked, project=project, unattended=unattended)
    found = reading(agent.files, person=person, environment=environment, project=project)
    return Target(
        name=f"{agent.name}:{project}" if project else agent.name,
        agent=agent.name,
        project=str(project or ""),
        file=str(found.file or ""),
        skills=str(found.skills or ""),
        unattended=unattended,
    )


def _choose_file(asked: str, *, project: Path | None, unattended: bool) -> Target:
    looks_like_a_file = "/" in asked or "." in asked or Path(asked).exists()
    if not looks_like_a_file:
        names = ", ".join(agent.name for agent in agents() if agent.files)
        raise WhetError(f"{asked} is neither a known agent nor a file.", advice=f"Known agents: {names}.")
    path = (project or Path.cwd()) / Path(os.path.expanduser(asked))
    path = path.absolute()
    if path.is_dir():
        raise WhetError(f"{path} is a folder.", advice="Name the file that the agent reads.")
    return Target(name=str(path), agent=FILE_AGENT, project=str(project or ""), file=str(path), unattended=unattended)


def load(home: Home) -> tuple[Target, ...]:
    return parse(files.read(_place(home)))


def parse(content: bytes | None) -> tuple[Target, ...]:
    try:
        document = msgspec.convert(tomllib.loads((content or b"").decode()), _Document)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise WhetError(
            f"{FILE_NAME} cannot be read: {error}.",
            advice="Correct it, or move it away and run `whet sync add` again.",
        ) from error
    names = [target.name for target in document.target]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WhetError(f"{FILE_NAME} names {twice} twice.", advice="Remove one of them.")
    return document.target


def add(home: Home, target: Target) -> bool:
    """Keep a target; False if it was there as it is."""
    prepare_home(home)
    content = files.read(_place(home))
    old = parse(content)
    if target in old:
        return False
    if any(each.name == target.name for each in old):
        raise WhetError(
            f"A target named {target.name} already exists, with another file or other options.",
            advice=f"Remove it first with `whet sync remove {target.name}`, which deletes what Whet wrote there.",
        )
    files.write(_place(home), encode((*old, target)), expected=content)
    return True


def remove(home: Home, name: str) -> None:
    content = files.read(_place(home))
    kept = tuple(each for each in parse(content) if each.name != name)
    files.write(_place(home), encode(kept), expected=content)


def named(targets: Iterable[Target], name: str) -> Target:
    """The target of this name, of this file, or the only one of this agent."""
    known = tuple(targets)
    found = [each for each in known if name in (each.name, each.file)]
    found = found or [each for each in known if each.file == str(Path(os.path.expanduser(name)).absolute())]
    found = found or [each for each in known if each.agent == canonical(name)]
    if len(found) != 1:
        raise WhetError(
            f"{name} matches {len(found)} targets." if found else f"There is no target {name}.",
            advice="To list targets, run `whet sync --targets`.",
        )
    return found[0]


def encode(targets: Iterable[Target]) -> bytes:
    """The file, written so that a person can read and edit it."""
    return "\n".join([HEAD, *(f"[[target]]\n{toml.table(msgspec.to_builtins(each))}" for each in targets)]).encode()


def _place(home: Home) -> files.Place:
    return files.beneath(home.folder, FILE_NAME)


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
    held = (target.file for target in load(home) if target.file and reads(reader_of(target), rule))
    return RuleReaders(tuple(hooked), tuple(dict.fromkeys(held)))


def command_for(database: Database, project: str) -> str:
    """The command that has the rules of a project written where the agent that works in it reads them."""
    known = [agent.name for agent in agents() if agent.files]
    rows = [(source, folder) for source, folder in database.query(FOLDERS) if source in known]
    if not project:
        return f"whet sync add {rows[0][0] if rows else USUAL}"
    here = ((source, folder) for source, folder in rows if name_of_project(folder) == project and Path(folder).is_dir())
    source, folder = next(here, (USUAL, "FOLDER"))
    return f"whet sync add {source} --project {shlex.quote(str(repository_root(Path(folder)) or folder))}"


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
