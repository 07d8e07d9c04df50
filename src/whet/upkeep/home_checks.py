"""Whether the home folder can be used: its rights, its room, and the files that people edit."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from whet.engine.system import FILE as ENGINE
from whet.errors import WhetError
from whet.setup.service_texts import KEYS_FILE
from whet.store.home import DATABASE_NAME
from whet.store.job_files import list_jobs
from whet.store.owner import SEAL_KEY
from whet.store.settings_file import load
from whet.store.template_files import list_templates
from whet.upkeep.checkup import CheckupPlace, Rows, failed, ok, warning
from whet.upkeep.mounts import mounts, remote_kind

LEAST_BYTES = 100 << 20  # under which an import is likely to fail
PRIVATE = (DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm", ENGINE, SEAL_KEY, KEYS_FILE)


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
    if kind := remote_kind(folder.resolve(), mounts()):
        fix = "Set WHET_HOME to a folder on a disk of this machine, or share a Postgres database."
        yield warning("disk", f"{folder} is on a network disk ({kind}), where the database can be damaged", fix)
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
    """Whether the files that people edit can be read."""
    folder = place.home.folder
    try:
        load(place.home)
        broken = [(f"job {each.name}: {each.fault}", "jobs") for each in list_jobs(folder) if each.fault]
        broken += [
            (f"template {each.name}: {each.fault}", "templates") for each in list_templates(folder) if each.fault
        ]
    except WhetError as error:
        yield failed("files", error.message, error.advice)
        return
    for text, kind in broken:
        yield failed("files", text, f"Edit it in {folder / kind}, or restore a copy.")
    if not broken:
        yield ok("files", "settings, jobs and templates can be read")
