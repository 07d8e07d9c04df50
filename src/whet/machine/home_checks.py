"""Whether the home folder can be used: its rights, its room, and the files that people edit.

The rows of a check-up: what was looked at, how it stands, and what to do where it is not in order.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from whet.errors import WhetError
from whet.intake.arrivals import kept_arrivals
from whet.machine.records import load_record
from whet.machine.services import KEYS_FILE
from whet.store import memory_files
from whet.store.case_files import home_cases
from whet.store.files import FoundFile
from whet.store.home import DATABASE_NAME, Home
from whet.store.job_records import list_jobs
from whet.store.left_out import forgotten
from whet.store.memory_files import NAMES, MemoryFolder
from whet.store.opening import SEAL_KEY
from whet.store.settings_file import load
from whet.store.skill_files import list_skills
from whet.store.template_files import list_templates
from whet.telling.targets.settings import load as load_targets
from whet.work.system import FILE as ENGINE

LEAST_BYTES = 100 << 20  # under which an import is likely to fail
LISTED: tuple[tuple[str, Callable[[Path], Iterable[FoundFile[Any]]]], ...] = (
    ("jobs", list_jobs),
    ("templates", list_templates),
    ("skills", list_skills),
    ("cases", home_cases),
)
PRIVATE = (DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm", ENGINE, SEAL_KEY, KEYS_FILE)


class Health(StrEnum):
    """How a thing stands. A warning leaves everything working; a failure does not."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class CheckupRow(NamedTuple):
    """One thing that was looked at; one that is not in order names its fix."""

    name: str
    health: Health
    text: str
    fix: str = ""


class CheckupPlace(NamedTuple):
    """Where a check-up looks: the home, the person's own folder, the environment and the time.

    `progress` hears what is being looked at, and of what takes long, how far it is.
    """

    home: Home
    person: Path
    environment: Mapping[str, str]
    now: float
    progress: Callable[[str], None] = lambda _: None


Rows = Iterator[CheckupRow]


def ok(name: str, text: str) -> CheckupRow:
    return CheckupRow(name, Health.OK, text)


def warning(name: str, text: str, fix: str) -> CheckupRow:
    return CheckupRow(name, Health.WARNING, text, fix)


def failed(name: str, text: str, fix: str) -> CheckupRow:
    return CheckupRow(name, Health.FAILED, text, fix)


def check_rights(place: CheckupPlace) -> Rows:
    """Whether the owner, and nobody else, can read and write the home."""
    folder = place.home.folder
    if not folder.exists():
        yield ok("home", f"{folder} does not exist yet")
        return
    wrong = tuple(_wrong(folder))
    for text, fix in wrong:
        yield failed("permissions", text, fix)
    if not wrong:
        yield ok("permissions", f"{folder} is readable by you alone")


def _wrong(folder: Path) -> Iterator[tuple[str, str]]:
    for path in (folder, *(folder / name for name in PRIVATE)):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        mode = "700" if path == folder else "600"
        if status.st_uid != os.getuid() and os.getuid() != 0:
            yield f"{path} belongs to another account", f"Run `sudo chown -R {os.getuid()} {folder}`."
        elif stat.S_IMODE(status.st_mode) & 0o077:
            yield f"{path} is open to other accounts ({stat.S_IMODE(status.st_mode):o})", f"Run `chmod {mode} {path}`."
        elif (status.st_mode & 0o600) != 0o600:
            yield f"{path} cannot be read and written by its owner", f"Run `chmod {mode} {path}`."


def check_space(place: CheckupPlace) -> Rows:
    """Whether the disk has room, and can be written."""
    folder = next(path for path in (place.home.folder, *place.home.folder.parents) if path.exists())
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield failed("disk", f"{folder} is on a read-only disk", "Mount it writable, or set WHET_HOME elsewhere.")
        return
    free, database = shutil.disk_usage(folder).free, place.home.database_path
    needed = database.stat().st_size if database.exists() else 0
    fix = "Free some space, or move the home and set WHET_HOME."
    if free < LEAST_BYTES:
        yield failed("disk", f"{free / 1e6:,.0f} MB free", fix)
    elif free < needed:
        yield warning("disk", f"{free / 1e6:,.0f} MB free, less than the database has", fix)
    else:
        yield ok("disk", f"{free / 1e9:,.1f} GB free")


def check_files(place: CheckupPlace) -> Rows:
    """Whether the files that commands read can be read, by the same functions."""
    home, is_sound = place.home, True
    for read in (load, load_targets, forgotten, load_record, _notes):
        try:
            read(home)
        except WhetError as error:
            is_sound = False
            yield failed("files", error.message, error.advice)
    for kind, listed in LISTED:
        for each in listed(home.folder):
            if each.fault:
                is_sound = False
                fix = f"Edit it in {home.folder / kind}, or restore a copy."
                yield failed("files", f"{kind.removesuffix('s')} {each.name}: {each.fault}", fix)
    if is_sound:
        yield ok("files", "settings, targets, notes, skills, jobs, cases and templates can be read")
    if kept := kept_arrivals(home):
        text = f"{len(kept)} in spool/kept cannot be imported: {kept[0].reason}"
        yield warning("files", text, "Run `whet import`, which tries them again, or delete them there.")


def _notes(home: Home) -> None:
    for name in NAMES:
        memory_files.load(MemoryFolder(home.folder), name)
