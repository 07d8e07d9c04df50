"""The real `whet` command, run as a person runs it, in a home of its own."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from warm_process import begin_copy, ends, needs_start, run_copy

COMMAND = Path(sys.executable).with_name("whet")
KEPT_VARIABLES = ("PATH", "COV", "LANG", "PYTHON")


class Done(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Whet = Callable[..., Done]
# What these change waits for a person where there is no terminal, unless the person has allowed it.
CHANGING = {
    "memory": ("add", "remove"),
    "rules": ("add", "remove"),
    "skills": ("create", "adopt", "archive"),
    "jobs": ("add", "pause", "remove"),
    "live": ("start",),
}


def environment(home: Path, person: Path) -> dict[str, str]:
    """What a program is to find in its environment: this machine's paths, and nothing else of its person."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES)}
    return {**kept, "HOME": str(person), "WHET_HOME": str(home)}


def loaded(*arguments: str, home: Path) -> set[str]:
    """The modules that a Python program loads, as Python itself reports them."""
    # What counts coverage loads much itself, and is none of ours.
    calm = {name: value for name, value in environment(home, home).items() if not name.startswith("COV")}
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, env=calm, capture_output=True, text=True, check=True)
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


def runner(home: Path, person: Path) -> Whet:
    """A way to run `whet`: `stdin` is what is piped to it, `variables` are added to its environment, `folder` is where.

    With `allowed` the person has said that their words count without a terminal too.
    """

    def run(
        *arguments: str,
        stdin: str = "",
        variables: dict[str, str] | None = None,
        allowed: bool = True,
        folder: Path = person.parent,
    ) -> Done:
        if allowed and arguments[1:2] and arguments[1] in CHANGING.get(arguments[0], ()):
            arguments = (*arguments[:2], "--yes", *arguments[2:])
        if allowed and "--yes" in arguments:
            allow(home)
        return command(
            *arguments, stdin=stdin, variables={**environment(home, person), **(variables or {})}, folder=folder
        )

    return run


def command(*arguments: str, stdin: str, variables: dict[str, str], folder: Path) -> Done:
    """Run `whet` to its end: in a copy of a process that has it loaded, where that is the same."""
    # A copy of a worker once ended by SIGSEGV, and nobody knows why: what works is started anew, what looks is not.
    works = arguments[:1] == ("worker",) and not {*arguments[1:2]} & {"list", "cancel", "retry"}
    if needs_start(variables) or works:
        done = subprocess.run(
            [COMMAND, *arguments], input=stdin.encode(), capture_output=True, env=variables, cwd=folder, check=False
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
    return Done(*run_copy(list(arguments), stdin, variables, folder))


def allow(home: Path) -> None:
    """Let commands apply what they are given with --yes, without a terminal."""
    settings = home / "settings.toml"
    text = settings.read_text() if settings.exists() else ""
    if "[trust]" not in text:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.write_text(f"{text.rstrip()}\n[trust]\ncommands = true\n".lstrip())


def _begun(command: list[str], terminal: int, variables: dict[str, str], *, is_whet: bool) -> Callable[[], int]:
    """Start a program on a terminal. What comes back waits for its end and says its code."""
    if is_whet and not needs_start(variables):
        return ends(begin_copy(command, variables, Path.cwd(), (terminal, terminal, terminal)))
    start = [str(COMMAND), *command] if is_whet else command
    return subprocess.Popen(start, stdin=terminal, stdout=terminal, stderr=terminal, env=variables).wait


def on_a_terminal(
    tmp_path: Path,
    answer: str,
    *arguments: str,
    program: tuple[str, ...] = (),
    columns: int = 80,
    prompt: str = "",
    variables: dict[str, str] | None = None,
) -> tuple[int, str]:
    """Run `whet` on a terminal of its own, as a person does, and answer its question.

    With a prompt, a pattern, each line of the answer is typed when it is shown once more; \\r stands for Enter.
    """
    master, slave = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES)}
    terminal = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": str(columns)}
    own = {"HOME": str(tmp_path), "WHET_HOME": str(tmp_path / "home"), **terminal, **(variables or {})}
    end = _begun([*program, *arguments], slave, {**kept, **own}, is_whet=not program)
    os.close(slave)
    keys = answer.split("\n") if prompt else []
    if not prompt:
        os.write(master, answer.encode())
    shown, typed = bytearray(), 0
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
        while typed < min(len(keys), len(re.findall(prompt, shown.decode(errors="replace")))):
            os.write(master, keys[typed].encode())
            typed += 1
    os.close(master)
    return end(), shown.decode(errors="replace")
