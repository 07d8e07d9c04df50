"""Who is at the command line: a person, or an agent that runs commands for one."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from whet.agents.registry import agents
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.settings_file import load

OWN_VARIABLE = "WHET_RUN"
ANY_AGENT = ("AGENT", "AI_AGENT")  # what agents agree to set, whichever they are
# Agents whose records are not read, and how variables tell of a session at work rather than of a setting.
OTHER_AGENTS = ("AIDER", "AUGMENT", "DEVIN", "FACTORY", "JULES", "KILO", "KIRO", "REPLIT", "ROO", "TRAE", "WINDSURF")
AT_WORK = frozenset(("ACTION", "ACTIVE", "AGENT", "CHAT", "ENTRYPOINT", "SESSION", "SHELL", "THREAD"))
INTERPRETERS = ("node", "bun", "deno", "python", "ruby", "java")  # whose first argument says what runs
PROCESSES = Path("/proc")


def actor_of(environment: Mapping[str, str]) -> Actor:
    """A person, unless the shell was opened by an agent: by its marks, or because an agent is above this process.

    Somebody may unset what agents set in the shells that they open: a second line, behind the terminal.
    """
    marks = (OWN_VARIABLE, *ANY_AGENT, *(name for agent in agents() for name in agent.shell))
    is_marked = any(environment.get(name) for name in marks) or any(map(_is_at_work, environment))
    return Actor.AGENT if is_marked or _is_below_agent() else Actor.PERSON


def _is_at_work(variable: str) -> bool:
    """Whether a variable tells of an agent at work, as `ROO_ACTIVE` does; settings such as `CODEX_HOME` do not."""
    first, *others = variable.split("_")
    if AT_WORK.isdisjoint(others):
        return False
    return first in {*OTHER_AGENTS, *(agent.name.partition("-")[0].upper() for agent in agents() if agent.programs)}


def _is_below_agent() -> bool:
    programs = {name for agent in agents() for name in agent.programs}
    return any(_program(words) in programs for words in _opened_by())


def _program(words: tuple[str, ...]) -> str:
    """What a process runs, by its command line."""
    name = PurePath(words[0]).stem.lstrip("-") if words else ""
    is_script = name.rstrip("0123456789.") in INTERPRETERS and len(words) > 1
    return PurePath(words[1]).stem if is_script else name


def _opened_by() -> Iterator[tuple[str, ...]]:
    """The command lines above this process, up to whoever opened its terminal or began its session."""
    with contextlib.suppress(OSError):
        session, process = os.getsid(0), os.getppid()
        while process > 1:
            is_inside = os.getsid(process) == session
            words, process = _process(process)
            yield words
            if not is_inside:
                return


def _process(number: int) -> tuple[tuple[str, ...], int]:
    """The command line of a process, and its parent."""
    if PROCESSES.is_dir():
        words = (PROCESSES / str(number) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        parent = (PROCESSES / str(number) / "stat").read_bytes().rpartition(b")")[2].split()[1]
        return tuple(words), int(parent)
    told = subprocess.run(
        ["ps", "-o", "ppid=,command=", "-p", str(number)], capture_output=True, check=False, text=True
    )
    parent_of, *rest = told.stdout.split() or ["0"]
    return tuple(rest), int(parent_of)


def has_terminal() -> bool:
    """Whether a person sits there: what is piped in may come from anybody."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())


def need_terminal() -> None:
    """Raise where nobody can be asked: what is piped in is no person's answer."""
    if not has_terminal():
        raise WhetError(
            "This needs a person's approval in a terminal.", advice="Run it in your own terminal, without pipes."
        )


def trust_of(actor: Actor) -> Trust:
    """How far words from the command line are believed: what an agent types may be anybody's."""
    return Trust.OPERATOR if actor is Actor.PERSON else Trust.EXTERNAL


def trust_at(home: Home, actor: Actor, *, yes: bool) -> Trust:
    """How far words are believed that would change what agents are told.

    Without a terminal nobody knows who gave them, so they wait; unless --yes is given and the settings allow that.
    """
    is_known = has_terminal() or (yes and load(home).trust.commands)
    return trust_of(actor) if is_known else Trust.EXTERNAL
