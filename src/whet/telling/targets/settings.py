"""The targets that a person chose, kept in targets.toml in the home."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from whet.agents.places import reading
from whet.agents.registry import agents, canonical, known
from whet.errors import WhetError
from whet.store import files
from whet.store.home import Home, prepare_home
from whet.text import toml
from whet.values import Value

FILE_NAME = "targets.toml"
HEAD = "# Where Whet writes rules and skills. To change it, run `whet sync --targets`; to write, run `whet sync`.\n"
FILE_AGENT = "file"


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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
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
