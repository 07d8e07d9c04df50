"""The agents that Whet knows, and where each of them reads its instructions and its skills."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

CURSOR_PREAMBLE = b"---\ndescription: Rules that Whet learned from sessions\nalwaysApply: true\n---\n"


class Agent(NamedTuple):
    """One agent. Of several files it reads the first that is there: a new one must not hide what it reads now."""

    name: str
    variable: str  # the environment variable that names its own folder
    folder: str  # its own folder otherwise, in the person's
    files: tuple[str, ...]  # everywhere; one that begins with ~ is not in its own folder
    project_files: tuple[str, ...]
    skills: str
    project_skills: str
    models: tuple[str, ...] = ()  # words in the names of the models that it runs; empty: any model
    preamble: bytes = b""  # how a new file begins
    has_default: bool = False  # in place of a file that is not there it says something that a new one would silence


AGENTS = (
    Agent(
        "claude-code",
        variable="CLAUDE_CONFIG_DIR",
        folder=".claude",
        files=("CLAUDE.md",),
        project_files=("CLAUDE.md", ".claude/CLAUDE.md"),
        skills="skills",
        project_skills=".claude/skills",
        models=("claude", "opus", "sonnet", "haiku"),
    ),
    Agent(
        "codex",
        variable="CODEX_HOME",
        folder=".codex",
        files=("AGENTS.override.md", "AGENTS.md"),
        project_files=("AGENTS.override.md", "AGENTS.md"),
        skills="~/.agents/skills",  # its own skills folder is read too, but out of date
        project_skills=".agents/skills",
        models=("gpt", "codex", "o1", "o3", "o4"),
    ),
    Agent(
        "hermes",
        variable="HERMES_HOME",
        folder=".hermes",
        files=("SOUL.md",),
        project_files=(".hermes.md", "HERMES.md", "AGENTS.md", "CLAUDE.md", ".cursorrules"),
        skills="skills",
        project_skills="",
        has_default=True,
    ),
    Agent(
        "cursor",
        variable="",
        folder=".cursor",
        files=(),  # rules for every project are kept in the program's own settings
        project_files=(".cursor/rules/whet.mdc",),
        skills="skills",
        project_skills=".cursor/skills",
        preamble=CURSOR_PREAMBLE,
    ),
    Agent(
        "opencode",
        variable="OPENCODE_CONFIG_DIR",
        folder=".config/opencode",
        files=("AGENTS.md", "~/.claude/CLAUDE.md"),
        project_files=("AGENTS.md", "CLAUDE.md"),
        skills="~/.agents/skills",
        project_skills=".agents/skills",
    ),
    Agent(
        "gemini",
        variable="",
        folder=".gemini",
        files=("GEMINI.md",),
        project_files=("GEMINI.md",),
        skills="~/.agents/skills",
        project_skills=".agents/skills",
        models=("gemini", "gemma"),
    ),
)
# What an agent reads when nobody made a file yet, where that is not the first of its files.
FIRST_CHOICES = ("AGENTS.md", "CLAUDE.md", "SOUL.md", "GEMINI.md")


class ReadingPlace(NamedTuple):
    """Where an agent reads: its file of instructions and its folder of skills; None where it has none."""

    file: Path | None
    skills: Path | None


def known(name: str) -> Agent | None:
    return next((agent for agent in AGENTS if agent.name == name), None)


def own_folder(agent: Agent, *, person: Path, environment: Mapping[str, str]) -> Path:
    """The folder with an agent's own settings, whether it is there or not."""
    named = environment.get(agent.variable, "") if agent.variable else ""
    return Path(os.path.expanduser(named)).absolute() if named else person / agent.folder


def reading(agent: Agent, *, person: Path, environment: Mapping[str, str], project: Path | None) -> ReadingPlace:
    """Where the agent reads for a person in every project, or in one of them."""
    if project is not None:
        files = [project / name for name in agent.project_files]
        return ReadingPlace(_chosen(files), project / agent.project_skills if agent.project_skills else None)
    own = own_folder(agent, person=person, environment=environment)

    def place(name: str) -> Path:
        return person / name[2:] if name.startswith("~/") else own / name

    return ReadingPlace(_chosen([place(name) for name in agent.files]), place(agent.skills))


def _chosen(files: list[Path]) -> Path | None:
    """The first that is there, else the one to make."""
    there = (file for file in files if file.is_symlink() or file.exists())
    made = (file for file in files if file.name in FIRST_CHOICES)
    return next(there, None) or next(made, None) or next(iter(files), None)
