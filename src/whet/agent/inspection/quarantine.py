"""The quarantine: where what a command left for others to run is kept, without a name or a right that runs it."""

import contextlib
import hashlib
import os
import shutil
import uuid
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from whet.agent.inspection.spots import Content, TriggerPlace

FOLDER = "quarantine"
NAME_BYTES = 180
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def take_aside(spot: TriggerPlace, place: Path) -> str:
    """Move what stands at a spot into the quarantine; gives its name there.

    Where it came from is its name, with every slash spelled out, so that no folder in here is a repository.
    """
    digest = hashlib.sha256(spot.content.body).hexdigest()[:8]
    name = f"{quote(os.fsencode(spot.path), safe='')[-NAME_BYTES:]}.{digest}"
    if spot.content.kind == "folder":
        _move_folder(spot.path, place, name)
        return name
    with contextlib.suppress(OSError):  # neither a full disk nor its absence must keep it where it is
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(place / name, NEW_FILE, 0o600), "wb") as file:
            _copy(spot, file)
    with contextlib.suppress(FileNotFoundError):
        try:
            os.unlink(spot.path)
        except PermissionError:  # the command may have shut the folder
            os.chmod(os.path.dirname(spot.path), 0o700)
            os.unlink(spot.path)
    return name


def _move_folder(path: str, place: Path, name: str) -> None:
    """Move a folder as a whole to where nothing can enter it."""
    with contextlib.suppress(OSError, shutil.Error):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = place / f"{name}.{uuid.uuid4().hex[:8]}"
        shutil.move(path, target)
        target.chmod(0)


def _copy(spot: TriggerPlace, file: BinaryIO) -> None:
    if spot.content.kind != "file":
        file.write(f"a {spot.content.kind}: ".encode() + spot.content.body)
        return
    descriptor = os.open(spot.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as source:
        shutil.copyfileobj(source, file)


def put_back(path: str, content: Content) -> bool:
    """Let stand again at a path what stood there before; False where that is not known any more."""
    if not content.whole or content.kind == "other":
        return False
    folder, name = os.path.split(path)
    temporary = f"{folder}/.{uuid.uuid4().hex}.tmp"
    try:
        os.makedirs(folder, exist_ok=True)
        if content.kind == "link":
            os.symlink(os.fsdecode(content.body), temporary)
        else:
            with os.fdopen(os.open(temporary, NEW_FILE, 0o755 if content.runnable else 0o644), "wb") as file:
                file.write(content.body)
        os.rename(temporary, f"{folder}/{name}")
    except OSError:
        return False
    return True
