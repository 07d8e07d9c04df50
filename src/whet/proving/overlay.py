"""An attempt's own world: a workspace with the case's files, and a home that is a copy with one change in it."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.apply import apply
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch
from whet.proving.workspace import lay_out
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.opening import opened
from whet.trials.cases import Case

COPIED_FILES = ("SOUL.md", "memory.md", "user.md", "memory.toml")
COPIED_FOLDERS = ("guidance", "skills", "templates")
MOST_FILE_BYTES = 1_000_000
WITHHELD = Entry(0, Step.ABANDONED, Patch(Form.RULE, Action.REMOVE, "withheld"), Actor.POLICY, 0.0)


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
    home: Home, database: Database, case: Case, patch: Patch | None, *, now: float, set_up: bool = True
) -> Iterator[Overlay]:
    """The world of one attempt, with the patch in force in it; all of it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="whet-trial-", ignore_cleanup_errors=True) as temporary:
        work, own = Path(temporary, "work"), Home(Path(temporary, "home"))
        work.mkdir()
        lay_out(home, case, work, set_up=set_up)
        _copy(home.folder, own.folder)
        with opened(own) as copied:
            Ledger(copied).append(_numbered(ledger_of(home, database).entries()))
            if patch is not None and patch.form is not Form.TEMPLATE:
                _apply(own, copied, patch, now=now)
            yield Overlay(work, own, copied)


def _numbered(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries that count, each with its number: in the place of those that do not stands one that says nothing."""
    by_number = {entry.number: entry for entry in entries}
    for number in range(1, max(by_number, default=0) + 1):
        yield by_number.get(number, replace(WITHHELD, number=number))


def _copy(source: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for name in COPIED_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)
    for name in COPIED_FOLDERS:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, symlinks=True)


def _apply(home: Home, database: Database, patch: Patch, *, now: float) -> None:
    if patch.form is Form.JOB:
        raise WhetError("A job cannot be tried.", advice="Try a rule, a note, a skill or a template.")
    # It is in force in this copy only, and whoever started the trial named this very text. The workspace stands for
    # the project, wherever it is.
    tried = replace(patch, trust=max(patch.trust, Trust.USER), scope=replace(patch.scope, project=""))
    apply(home, database, tried, actor=Actor.PERSON, now=now)
