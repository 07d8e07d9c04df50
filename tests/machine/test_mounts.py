"""Disks of the network are told from those of this machine, by each system's own table."""

from pathlib import Path

import pytest

from whet.machine.home_checks import mounts, mounts_in, remote_kind

LINUX = """\
/dev/vda / ext4 rw,relatime 0 0
server:/homes /home nfs4 rw,vers=4.2 0 0
/dev/vdb /home/ann/local ext4 rw 0 0
C:\\134 /mnt/c 9p rw,aname=drvfs 0 0
//nas/my\\040share /mnt/my\\040share cifs rw 0 0
"""
MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect)
//ann@nas._smb._tcp.local/my%20share on /Volumes/my share (smbfs, nodev, nosuid, mounted by ann)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/root/.whet", ""),
        ("/home/ann/.whet", "nfs4"),
        ("/home/ann/local/.whet", ""),
        ("/mnt/c/Users/ann/.whet", "9p"),
        ("/mnt/my share/.whet", "cifs"),
        ("/homes/.whet", ""),
    ],
)
def test_the_nearest_mount_decides_on_linux(folder: str, kind: str) -> None:
    assert remote_kind(Path(folder), mounts_in(LINUX, platform="linux")) == kind


@pytest.mark.parametrize(("folder", "kind"), [("/Users/ann/.whet", ""), ("/Volumes/my share/.whet", "smbfs")])
def test_the_nearest_mount_decides_on_macos(folder: str, kind: str) -> None:
    assert remote_kind(Path(folder), mounts_in(MACOS, platform="darwin")) == kind


def test_of_two_mounts_at_one_place_the_later_counts() -> None:
    twice = "/dev/vda / ext4 rw 0 0\nserver:/x / nfs rw 0 0\n"
    assert remote_kind(Path("/a"), mounts_in(twice, platform="linux")) == "nfs"


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert remote_kind(Path("/a"), ()) == ""


def test_the_mounts_of_this_machine_can_be_read() -> None:
    assert Path("/") in {each.place for each in mounts()}
