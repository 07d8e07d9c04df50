"""Who reads a rule: agents, by the files that Whet writes for them and by the hooks that call it."""

from collections.abc import Collection
from typing import NamedTuple

from whet.agents.registry import known
from whet.ledger.entries import Item
from whet.ledger.holding import Whereabouts, holds, lies_in
from whet.store.recording import SOURCE
from whet.targets.project_names import name_of_project
from whet.targets.settings import FILE_AGENT, Target

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
    where = Whereabouts(reader.project, families=families, purpose=reader.purpose, folder=reader.folder)
    return holds(rule.scope, where)


def is_shown(agents: Collection[str], project: str, *, agent: str, folder: str) -> bool:
    """Whether a session of an agent in a folder is shown a file that these agents read in a project's folder.

    A file of the person's choice may be any agent's, but for Whet's own, which has its prompt.
    """
    is_reader = agent in agents or (FILE_AGENT in agents and agent != SOURCE)
    return is_reader and (not project or lies_in(folder, project))
