"""Whether hooks that are installed call Whet, and what a person has to do until they do."""

import os
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from whet.agents.registry import known
from whet.machine.services import Control, control


def how_it_calls(agent: str, last_call: float | None) -> str:
    """Whether the hooks of an agent call Whet, in words."""
    if last_call is not None:
        return f"calls Whet (last: {datetime.fromtimestamp(last_call).astimezone():%Y-%m-%d})"
    left = first_step(agent)
    return f"installed, not yet seen calling{f': {left}' if left else ''}"


def left_to_do(agent: str) -> str:
    """What makes hooks call for the first time."""
    return first_step(agent) or "start a session in it"


def first_step(agent: str) -> str:
    """What an agent asks of a person before it calls its hooks; empty where it asks nothing."""
    found = known(agent)
    return found.hooks.first_step if found and found.hooks else ""


def is_on_path(person: Path, environment: Mapping[str, str], run: Control = control) -> bool:
    """Whether agents find `whet`: on the PATH of this shell without its virtual environment, or of a login shell."""
    own = os.path.join(environment.get("VIRTUAL_ENV") or os.devnull, "bin")
    folders = [each for each in environment.get("PATH", "").split(os.pathsep) if each != own]
    if shutil.which("whet", path=os.pathsep.join(folders)):
        return True
    shell = environment.get("SHELL") or "/bin/sh"
    return run(("env", "-i", f"HOME={person}", shell, "-l", "-c", "command -v whet"))


def how_to_find(program: Path) -> str:
    """What puts the program where agents find it."""
    return f"Run `mkdir -p ~/.local/bin && ln -s {program} ~/.local/bin/whet`, and have ~/.local/bin on your PATH."
