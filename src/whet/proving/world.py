"""The world of an attempt: a workspace with the case's files, and a home as the trial found it, with one change.

What a model reads is fixed before the first attempt, so that both arms are told the same whatever changes meanwhile.
Where models answer, what is started and what a command may touch is never taken from an order.
"""

import contextlib
import functools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.changes.apply import apply
from whet.errors import WhetError
from whet.ledger.entries import CHANGES, Actor, Entry, Step
from whet.ledger.marked_block import find_passage, passage_place, replace_passage
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.settings import PromptSettings, Settings
from whet.proving.workspace import lay_out
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.opening import opened
from whet.trials.cases import Case, is_inside
from whet.trials.design import Trial
from whet.values import Value

FILES = ("SOUL.md", "memory.md", "user.md")
FOLDERS = ("guidance", "skills", "templates")
# What says which rules are in force, and whether a person approved them; trials and proposals do not.
FOLDED = CHANGES | {Step.PROMOTED, Step.APPROVED}
OWN_NOTES = "memory.toml"  # where this machine has a person's own notes: an order names no folder
MOST_FILE_BYTES = 1_000_000
WITHHELD = Entry(0, Step.ABANDONED, Patch(Form.RULE, Action.REMOVE, "withheld"), Actor.POLICY, 0.0)


class WorldFile(Value, frozen=True):
    """A file of the home: notes, a skill, a template or guidance."""

    path: str
    content: bytes
    is_program: bool = False


class TrialWorld(Value, frozen=True):
    """What every attempt of a trial is told, and which tools it has."""

    files: tuple[WorldFile, ...] = ()
    entries: tuple[Entry, ...] = ()  # of the ledger: the rules in force
    tools: tuple[str, ...] = ()
    prompt: PromptSettings = PromptSettings()
    machine: str = ""  # the key of what a machine must have to carry the attempts out as the first one does


def world_of(home: Home, database: Database, settings: Settings) -> TrialWorld:
    """The world as it stands now in a home."""
    return TrialWorld(
        files=tuple(_files(home.folder)),
        entries=tuple(_in_force(ledger_of(home, database).entries())),
        tools=settings.tools,
        prompt=settings.prompt,
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


class Overlay(NamedTuple):
    """Where an attempt happens. Whatever its tools write, notes and skills included, ends with it."""

    work: Path
    home: Home
    database: Database

    def content(self, path: str) -> str | None:
        """What a file of the workspace holds in the end; None where there is no ordinary file there."""
        place = self.work / path
        if not place.resolve().is_relative_to(self.work.resolve()) or place.is_symlink() or not place.is_file():
            return None
        with place.open("rb") as file:
            return file.read(MOST_FILE_BYTES).decode("utf-8", "replace")


@contextlib.contextmanager
def overlaid(
    home: Home,
    case: Case,
    world: TrialWorld,
    patch: Patch | None,
    *,
    now: float,
    set_up: bool = True,
) -> Iterator[Overlay]:
    """A place for one attempt, as the world has it, with the patch in force; all of it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="whet-trial-", ignore_cleanup_errors=True) as temporary:
        work, own = Path(temporary, "work"), Home(Path(temporary, "home"))
        work.mkdir()
        lay_out(home, case, work, set_up=set_up)
        lay_out_home(world, own.folder)
        if (home.folder / OWN_NOTES).is_file():
            shutil.copyfile(home.folder / OWN_NOTES, own.folder / OWN_NOTES)
        own.database_path.write_bytes(_empty_database())
        own.database_path.chmod(0o600)
        with opened(own) as copied:
            Ledger(copied).append(_numbered(world.entries))
            if patch is not None and patch.form is Form.STATEMENT:
                change_statement(work, case, patch)
            elif patch is not None and patch.form is not Form.TEMPLATE:
                _apply(own, copied, patch, now=now)
            yield Overlay(work, own, copied)


@functools.cache
def _empty_database() -> bytes:
    """A database of this version, in which nothing is: to make one takes longer than all else."""
    with tempfile.TemporaryDirectory(prefix="whet-trial-", ignore_cleanup_errors=True) as temporary:
        home = Home(Path(temporary, "home"))
        with opened(home):
            pass
        return home.database_path.read_bytes()


def _numbered(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries that count, each with its number: in the place of those that do not stands one that says nothing."""
    by_number = {entry.number: entry for entry in entries}
    for number in range(1, max(by_number, default=0) + 1):
        yield by_number.get(number, replace(WITHHELD, number=number))


def change_statement(work: Path, case: Case, patch: Patch) -> None:
    """Change a passage of a file that agents read, in the workspace alone; the project's file stays as it is."""
    place = passage_place(patch.name)
    own = max((path for path in case.files if f"/{place.path}".endswith(f"/{path}")), key=len, default="")
    file = work / own
    if not own or file.is_symlink() or not file.is_file():
        raise WhetError(f"The case {case.name} has no file for {place.path}.", advice="Start the trial anew.")
    text = file.read_bytes().decode("utf-8")
    before = find_passage(text, place, patch.before)
    changed = None if before is None else replace_passage(text, before, patch.text)
    if changed is None:
        raise WhetError(
            f"The passage does not stand in {place.path} as it was read.", advice="Look at the file, and try again."
        )
    file.write_bytes(changed.encode())


def _apply(home: Home, database: Database, patch: Patch, *, now: float) -> None:
    if patch.form is Form.JOB:
        raise WhetError("A job cannot be tried.", advice="Try a rule, a note, a skill or a template.")
    # It is in force in this copy only, and whoever started the trial named this very text. The workspace stands for
    # the project, wherever it is.
    tried = replace(patch, trust=max(patch.trust, Trust.USER), scope=replace(patch.scope, project=""))
    apply(home, database, tried, actor=Actor.PERSON, now=now)


# msgspec looks into a type when it first reads one, and crashes where two threads do so at once. Attempts run side by
# side, so what they read is looked into when this is loaded.
_READ = tuple(map(msgspec.json.Decoder, (TrialWorld, Case, Patch, Trial)))
