"""A git repository whose tests run by a script of its own, and a person who has an agent work in it."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from command import environment
from proving.agents import MODELS, configure, program
from proving.cart_project import with_python
from proving.obedient import Obedient
from proving.repository_scenes import git, new_repository

WAY = "./dev test"
CORRECTION = f"No. Run the tests with `{WAY} MODULE`."
SECONDS = 300
BEGAN = 1_700_000_000
DEV = """#!/bin/sh
[ "$1" = test ] || { echo "Use: ./dev test MODULE" >&2; exit 2; }
CONFIG=test python3 -B -m unittest "test_$2" && echo passed
"""
TESTS = """import os, sys, unittest

if os.environ.get("CONFIG") != "test":
    sys.exit("Use: ./dev test MODULE")


class Part(unittest.TestCase):
    def test_it(self):
        with open("{part}.txt") as file:
            self.assertEqual(file.read().strip(), "{word}", "{part}.txt must say {word}")
"""
FOLDERS = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
XDG = ("config", "data", "state", "cache")
ASKING = {
    "claude": (("-p",), ("-p", "--continue")),
    "codex": (("exec",), ("exec", "resume", "--last")),
    "opencode": (("run",), ("run", "--continue")),
}
OPTIONS = {
    "claude": ("--output-format", "json", "--model", MODELS["claude"], "--allowedTools", "Bash"),
    "codex": ("--json", "-c", "sandbox_mode=danger-full-access"),
    "opencode": ("--format", "json", "-m", MODELS["opencode"]),
}


def failing_project(folder: Path, *, parts: int) -> Path:
    """A repository with so many parts, of which none is right."""
    made = new_repository(folder)
    (made / "dev").write_text(DEV)
    (made / "dev").chmod(0o755)
    for number in range(parts):
        (made / f"part{number}.txt").write_text("nothing\n")
        (made / f"test_part{number}.py").write_text(TESTS.format(part=f"part{number}", word=f"word{number}"))
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "Begin", at=BEGAN)
    return made


class AgentAtWork(NamedTuple):
    """An agent's program with a login of its own, in a repository."""

    name: str
    path: str
    config: Path
    repository: Path
    variables: dict[str, str]

    def session(self, task: str) -> None:
        """A task, and what the person says when it failed."""
        for words, said in zip(ASKING[self.name], (task, CORRECTION), strict=True):
            done = subprocess.run(
                [self.path, *words, *OPTIONS[self.name], "--", said], cwd=self.repository, env=self.variables,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr


def agent_at_work(name: str, tmp_path: Path, repository: Path, server: Obedient) -> AgentAtWork:
    path, config = program(name), tmp_path / "config"
    login = configure(name, config, server)
    found = {**environment(tmp_path / "home", tmp_path / "person"), **login}
    found |= {FOLDERS[name]: str(config)} if name in FOLDERS else {}
    found |= {f"XDG_{each.upper()}_HOME": str(config / each) for each in XDG} if name == "opencode" else {}
    found |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    found["PATH"] = os.pathsep.join((str(Path(path).parent), with_python()))
    return AgentAtWork(name, path, config, repository, found)
