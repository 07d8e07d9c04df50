"""The world of a trial: all that its attempts depend on besides case, change and seed, fixed when it is planned.

A machine that carries an attempt out for another home takes from the order what a model reads, and limits that only
make its own narrower. Where models answer, what is started and what a command may touch is never taken from an order:
these are compared with the machine's own, and where they differ it leaves the attempt to another.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from whet.agent.protocols import Chosen
from whet.agent.tools.processes import safe_path
from whet.agent.tools.sandbox import Wall, probe
from whet.errors import WhetError
from whet.ledger.entries import CHANGES, Entry, Step
from whet.ledger.patches import Form, Patch
from whet.own.runs.models import address_of
from whet.own.runs.settings import PromptSettings, Sandbox, Settings
from whet.proving.executors import program_of, runner_named, settings_of, version_of
from whet.shipped.guidance import built_in
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.memory_files import connected
from whet.store.records import key_of
from whet.telling.context.gathering import VAULT_CHARACTERS, environments, this_machine
from whet.trials.attempts import TrialAgent
from whet.trials.cases import Case, is_inside
from whet.trials.design import Trial
from whet.values import Value

FILES = ("SOUL.md", "memory.md", "user.md")
FOLDERS = ("guidance", "skills", "templates")
# What says which rules are in force, and whether a person approved them; trials and proposals do not.
FOLDED = CHANGES | {Step.PROMOTED, Step.APPROVED}


class WorldFile(Value, frozen=True):
    """A file of the home: notes, a skill, a template or guidance."""

    path: str
    content: bytes
    is_program: bool = False


class TrialWorld(Value, frozen=True):
    """What every attempt of a trial is told and may do, whichever machine carries it out."""

    files: tuple[WorldFile, ...] = ()
    entries: tuple[Entry, ...] = ()  # of the ledger: the rules in force
    tools: tuple[str, ...] = ()
    prompt: PromptSettings = PromptSettings()
    sandbox: Sandbox = Sandbox()
    environments: tuple[str, ...] = ()  # what is said of the machine
    grounds: Mapping[str, str] = {}  # hashes of what a machine must have as the first one has it


class UnlikeMachine(WhetError):
    """A machine that differs from the one on which the trial was planned, so that it cannot carry out its attempts."""


def world_of(home: Home, database: Database, settings: Settings, grounds: Mapping[str, str]) -> TrialWorld:
    """The world as it stands now in a home."""
    return TrialWorld(
        files=tuple(_files(home.folder)),
        entries=tuple(_in_force(ledger_of(home, database).entries())),
        tools=settings.tools,
        prompt=settings.prompt,
        sandbox=settings.sandbox,
        environments=environments(this_machine(os.environ)),
        grounds=grounds,
    )


def grounds_of_model(home: Home, settings: Settings, model: str, chosen: Chosen) -> dict[str, str]:
    """What a machine must have to carry attempts of Whet's own agent out as this one does."""
    address = address_of(settings, model) if model or settings.model else None
    endpoint = address.endpoint if address else None
    where = (endpoint.name, endpoint.kind, endpoint.base_url) if endpoint else None
    served = settings.local if endpoint and endpoint.kind == "local" else None
    return {**_grounds(home), "model": key_of(where, replace(chosen.model, prices=None), served)}


def grounds_of_agent(home: Home, settings: Settings, agent: TrialAgent, *, is_judged: bool) -> dict[str, str]:
    """What a machine must have to carry attempts of another agent out as this one does."""
    chosen = settings_of(agent.name, settings)
    judge = address_of(settings) if is_judged and settings.model else None
    where = (judge.endpoint.kind, judge.endpoint.base_url, judge.model) if judge else None
    return {
        **_grounds(home),
        "agent": key_of(chosen.command, chosen.instructions, chosen.skills),
        **({"judge": key_of(where)} if is_judged else {}),
    }


def expect_same(world: TrialWorld, grounds: Mapping[str, str]) -> None:
    """Raise UnlikeMachine where this machine is not like the one on which the trial was planned."""
    differing = sorted(name for name, key in world.grounds.items() if grounds.get(name) != key)
    if differing:
        raise UnlikeMachine(
            f"This machine differs from the one that planned the trial: {', '.join(differing)}.",
            advice="To let it help, give it the same version of Whet and the same settings.",
        )


def expect_version(agent: TrialAgent, settings: Settings) -> None:
    """Raise WhetError where the agent is not on this machine, or UnlikeMachine where it is another version."""
    runner = runner_named(agent.name, settings)
    found = version_of(runner, program_of(runner, path=os.environ.get("PATH")), os.environ)
    if found != agent.version:
        raise UnlikeMachine(
            f"The trial is about {agent.name} {agent.version}, and this machine has {found or 'no known version'}.",
            advice=f"Install that version of {agent.name}.",
        )


def settings_within(world: TrialWorld, own: Settings) -> Settings:
    """This machine's settings with the world's where they shape a request. Raises WhetError rather than allow more."""
    asked, allowed = world.sandbox, own.sandbox
    exceeds = (
        (asked.network and not allowed.network)
        or not set(asked.writable) <= set(allowed.writable)
        or not set(asked.variables) <= set(allowed.variables)
        or not set(asked.readable) <= set(allowed.readable)
    )
    if exceeds:
        raise UnlikeMachine(
            "The sandbox of this machine allows less than the trial was planned with.",
            advice="To let it help, set sandbox.network, .readable, .writable and .variables as there.",
        )
    return replace(
        own,
        tools=world.tools,
        prompt=world.prompt,
        sandbox=replace(asked, required=allowed.required or asked.required),
    )


def lay_out_home(world: TrialWorld, folder: Path) -> None:
    """Write the files of the world into a new home, and nothing else, whatever an order names."""
    folder.mkdir(mode=0o700)
    for file in world.files:
        top, _, below = file.path.partition("/")
        if not is_inside(file.path) or (top not in FOLDERS if below else top not in FILES):
            raise WhetError(f"A trial's material names a file that is not for it: {file.path!r}.", advice="Leave it.")
        place = folder / file.path
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(0o700 if file.is_program else 0o600)


def _files(folder: Path) -> Iterator[WorldFile]:
    """What agents are told from, in an order that every machine has. Links lead elsewhere, so none is followed."""
    for name in FILES:
        yield from _file(folder, folder / name)
    for name in FOLDERS:
        for above, folders, names in os.walk(folder / name):
            folders.sort()
            for each in sorted(names):
                yield from _file(folder, Path(above, each))


def _file(folder: Path, path: Path) -> Iterator[WorldFile]:
    try:
        status = path.lstat()
        if stat.S_ISREG(status.st_mode):
            relative = path.relative_to(folder).as_posix()
            yield WorldFile(relative, path.read_bytes(), bool(status.st_mode & stat.S_IXUSR))
    except FileNotFoundError:
        return


def _in_force(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries that say what is in force, without what trials said of them: that reaches no prompt."""
    return (
        replace(entry, verdict="", note="")
        for entry in entries
        if entry.step in FOLDED and entry.patch.form is not Form.JOB
    )


def _grounds(home: Home) -> dict[str, str]:
    vault = connected(home.folder)
    return {
        "system": key_of(sys.platform),
        "version of Whet": key_of(built_in()),
        "notes folder": key_of(vault.block(VAULT_CHARACTERS) if vault and not vault.is_lost else ""),
        "sandbox": key_of(probe(safe_path(os.environ.get("PATH", ""))).wall is Wall.NONE),
    }


# msgspec looks into a type when it first reads one, and crashes where two threads do so at once. Attempts run side by
# side, so what they read is looked into when this is loaded.
_READ = tuple(map(msgspec.json.Decoder, (TrialWorld, Case, Patch, Trial)))
