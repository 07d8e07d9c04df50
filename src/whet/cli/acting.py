"""Who is at the command line, how far they are believed, and what became of the changes that they made."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from whet.agents.registry import agents
from whet.cli.output import give, moment, plain
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.folding import last_batch
from whet.ledger.patches import Form, PatchOrigin, PatchWriter
from whet.machine.records import load_record
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.settings_file import load
from whet.text.showing import shown

if TYPE_CHECKING:
    from whet.changes.writing import Author

OWN = frozenset({Form.RULE, Form.NOTE, Form.SKILL, Form.FILE})  # what people decide on every day
SESSION = "command line"
DONE = {"add": "Added", "change": "Changed", "remove": "Removed"}
OWN_VARIABLE = "WHET_RUN"
ANY_AGENT = ("AGENT", "AI_AGENT")  # what agents agree to set, whichever they are
# Agents whose records are not read, and how variables tell of a session at work rather than of a setting.
OTHER_AGENTS = (
    "AIDER", "ANTIGRAVITY", "AUGMENT", "CRUSH", "DEVIN", "FACTORY", "JULES", "KILO", "KILOCODE", "KIRO", "OPENCLAW",
    "REPLIT", "ROO", "TRAE", "WINDSURF",
)  # fmt: skip
OTHER_PROGRAMS = ("auggie", "crush", "kimi", "kiro-cli")
AT_WORK = frozenset(("ACTION", "ACTIVE", "AGENT", "CHAT", "ENTRYPOINT", "PID", "REMOTE", "SESSION", "SHELL", "THREAD"))
# Programs that run what their first argument names.
PACKAGES = ("node_modules", "site-packages")
INTERPRETERS = ("node", "bun", "deno", "python", "ruby", "java", "sh", "bash", "dash", "zsh", "ksh")
# Programs that give what they run a terminal or a session of its own, and are nobody's terminal themselves.
WRAPPERS = frozenset(
    ("script", "setsid", "expect", "unbuffer", "sudo", "su", "doas", "sh", "bash", "dash", "zsh", "ksh", "fish")
)
# What package managers and releases add to the name of a program.
PLATFORM = re.compile(r"-(?:wrapped|unwrapped|x86_64|x64|aarch64|arm64|amd64|linux|darwin|macos|win32|windows)\b.*")
PROCESSES = Path("/proc")


def expect_meant(home: Home, ledger: Ledger) -> None:
    """Go on where the last change is the person's own, or they say yes to it."""
    from whet.lessons.waiting_words import BY_WHOM
    from whet.own.jobs.job import NAME

    entries = [ledger.entry(change.number) for change in last_batch(ledger.state().done)]
    if all(each.actor is Actor.PERSON and each.patch.form in OWN for each in entries):
        return  # where there is none at all, whoever undoes it says so
    first, *others = entries
    what = f"{first.patch.action} {first.patch.form} {shown(first.patch.name)}"
    by = f"{first.step} by {BY_WHOM[first.actor]}, {moment(first.at)}"
    last = f"The last change is entry {first.number}{f', with {len(others)} more' if others else ''}: {what}, {by}."
    # What belongs together is taken back together.
    is_job = any(each.patch.form is Form.JOB and each.patch.name == NAME for each in entries)
    is_of_setup = is_job and load_record(home).job is not None
    instead = "It is a part of `whet setup`; `whet setup --undo` takes all of that back. " if is_of_setup else ""
    if not has_terminal():
        raise WhetError(last, advice=f"{instead}To undo it, run `whet ledger undo {first.number}`.")
    click.echo(f"{last} {instead}".strip(), err=True)
    click.confirm("Undo it?", abort=True, err=True)


def author_at(home: Home, database: Database) -> "Author":
    """The person at the command line, or the agent that runs commands for one."""
    from whet.changes.writing import Author

    actor = actor_of(os.environ)
    writer = PatchWriter.PERSON if actor is Actor.PERSON else PatchWriter.AGENT
    origin = PatchOrigin(writer, said="written at the command line")
    return Author(home, database, actor, trust_of(actor), time.time(), SESSION, origin)


def person_at(home: Home, database: Database) -> "Author":
    """The person at the command line; raises WhetError for an agent."""
    expect_person("do this")
    return author_at(home, database)


def expect_person(what: str) -> None:
    """Raise WhetError for an agent, with what only a person may do."""
    if actor_of(os.environ) is not Actor.PERSON:
        raise WhetError(f"Only a person may {what}.", advice="Ask the person to run it in their own terminal.")


def ask_person(question: str, home: Home, *, yes: bool) -> None:
    """Go on only after a person's yes; without a terminal --yes is one, where the settings say so."""
    expect_person("do this")
    may_command = False  # damaged settings, for which a restore is the remedy, allow nothing
    with contextlib.suppress(WhetError):
        may_command = load(home).trust.commands
    if not has_terminal() and not (yes and may_command):
        raise WhetError(
            "This needs a person's yes in a terminal.",
            advice="Run it in your own terminal, or set trust.commands to true and pass --yes.",
        )
    if not yes:
        click.confirm(question, abort=True, err=True)


def careful(author: "Author", *, yes: bool) -> "Author":
    """The author as one whose words wait where there is no terminal, unless `yes` is given and a setting allows it."""
    return author._replace(trust=min(author.trust, trust_at(author.home, author.actor, yes=yes)))


def tell(entries: Iterable[Entry], *, done: str = "") -> int:
    """Say which changes are in force, and which wait for a person; `done` is what to call what was done."""
    from whet.cli.shown.entries import entry_record

    made = tuple(entries)
    return give({"entries": list(map(entry_record, made))}, (*(_told(each, done) for each in made), *why_waits(made)))


def _told(entry: Entry, done: str) -> str:
    what = f"{entry.patch.form} {plain(entry.patch.name)}"
    if entry.step is Step.PROPOSED:
        return f"Needs a person's approval: {what} (`whet lessons show {entry.number}`)."
    undo = "undo" if entry.patch.form in OWN else f"undo {entry.number}"
    return f"{done or DONE[entry.patch.action]} {what} (entry {entry.number}; to undo, run `whet ledger {undo}`)."


def why_waits(entries: Iterable[Entry]) -> Iterator[str]:
    """Why what a person seems to have written waits: here nobody can tell."""
    if any(each.step is Step.PROPOSED and each.actor is Actor.PERSON for each in entries) and not has_terminal():
        yield "There is no terminal. To apply changes at once, set trust.commands to true and pass --yes."


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
    if others and AT_WORK.isdisjoint(others):
        return False
    if not others and first not in OTHER_AGENTS:  # as `CRUSH=1`
        return False
    return first in {*OTHER_AGENTS, *(agent.name.partition("-")[0].upper() for agent in agents() if agent.programs)}


def _is_below_agent() -> bool:
    programs = {*OTHER_PROGRAMS, *(name for agent in agents() for name in agent.programs)}
    return any(not programs.isdisjoint(_programs(words)) for words in _opened_by())


def _programs(words: list[str]) -> tuple[str, ...]:
    """What a process runs, by its command line: a program, or a script and the package that it is of."""
    name = PLATFORM.sub("", PurePath(words[0]).stem.lstrip("-.")) if words else ""
    named = next((word for word in words[1:] if not word.startswith("-")), "")
    if name.rstrip("0123456789.") not in INTERPRETERS or not named:
        return (name,)
    around = PurePath(named).parts
    packages = [around[place + 1 : place + 3] for place, part in enumerate(around) if part in PACKAGES]
    package = next((each for part in packages[-1:] for each in part if not each.startswith("@")), "")
    return PurePath(named).stem, package, package.partition("-")[0]


def _opened_by() -> Iterator[list[str]]:
    """The command lines above this process, up to whoever opened its terminal or began its session."""
    with contextlib.suppress(OSError):
        session, process = os.getsid(0), os.getppid()
        while process > 1:
            around = os.getsid(process)
            words, process = _process(process)
            yield words
            if around != session and PurePath(words[0]).stem.lstrip("-") not in WRAPPERS:
                return
            session = around


def _process(number: int) -> tuple[list[str], int]:
    """The command line of a process, and its parent."""
    if PROCESSES.is_dir():
        words = (PROCESSES / str(number) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        parent = (PROCESSES / str(number) / "stat").read_bytes().rpartition(b")")[2].split()[1]
        return words, int(parent)
    told = subprocess.run(
        ["ps", "-o", "ppid=,command=", "-p", str(number)], capture_output=True, check=False, text=True
    )
    parent_of, *rest = told.stdout.split() or ["0"]
    return rest, int(parent_of)


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
