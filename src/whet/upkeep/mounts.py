"""Which kind of disk a folder lies on: a database with many writers needs one of this machine."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whet.text.words import names

SECONDS = 5.0
TABLE = Path("/proc/self/mounts")
REMOTE = names(
    "nfs nfs4 cifs smb3 smbfs afpfs webdav davfs fuse.sshfs fuse.rclone fuse.davfs fuse.s3fs macfuse osxfuse 9p drvfs"
    " afs ceph fuse.ceph fuse.glusterfs lustre"
)
_OF_LINUX = re.compile(r"^\S+ (\S+) (\S+) ", re.MULTILINE)
_OF_MACOS = re.compile(r"^.+ on (.+) \((\w+)[,)]", re.MULTILINE)
_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A place in the tree of files, and the kind of disk that begins there."""

    place: Path
    kind: str


def mounts(platform: str = sys.platform) -> tuple[Mount, ...]:
    """Every mount of this machine; none where the system does not tell."""
    try:
        if platform == "linux":
            return mounts_in(TABLE.read_text(encoding="utf-8", errors="surrogateescape"), platform=platform)
        done = subprocess.run(("/sbin/mount",), capture_output=True, check=False, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return mounts_in(done.stdout.decode(errors="surrogateescape"), platform=platform)


def mounts_in(text: str, *, platform: str) -> tuple[Mount, ...]:
    """The mounts that a system's table lists."""
    return tuple(_rows(text, _OF_MACOS if platform == "darwin" else _OF_LINUX))


def _rows(text: str, form: "re.Pattern[str]") -> Iterator[Mount]:
    for place, kind in form.findall(text):
        yield Mount(Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), place)), kind)


def remote_kind(folder: Path, known: tuple[Mount, ...]) -> str:
    """The kind of network disk that a folder lies on; empty for a disk of this machine."""
    around = [each for each in known if folder.is_relative_to(each.place)]
    kind = max(reversed(around), key=lambda each: len(each.place.parts)).kind if around else ""  # a later one covers
    return kind if kind in REMOTE else ""
