"""Durable files: old or new, nobody's change lost, and no way out of the root."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.store.files import Conflict, Place, at, beneath, entries, locked, move, read, remove, write
from whet.store.folders import LIMIT_BYTES, place_of, spelled, temporary_name

WORKER = Path(__file__).with_name("file_worker.py")
SMALL_DISK_BYTES = 64 * 1024


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_file_is_made_with_its_folders_for_the_owner_only(tmp_path: Path) -> None:
    place = beneath(tmp_path, "a", "b", "note.md")
    assert read(place) is None
    write(place, b"one", expected=None)
    assert read(place) == b"one"
    assert (mode(place.path), mode(place.path.parent), mode(tmp_path / "a")) == (0o600, 0o700, 0o700)


def test_a_change_of_somebody_else_is_never_overwritten(tmp_path: Path) -> None:
    place = beneath(tmp_path, "note.md")
    write(place, b"one", expected=None)
    place.path.write_bytes(b"by hand")
    for expected in (None, b"one"):
        with pytest.raises(Conflict, match="was changed"):
            write(place, b"two", expected=expected)
    with pytest.raises(Conflict):
        remove(place, expected=b"one")
    assert read(place) == b"by hand"
    assert [path.name for path in tmp_path.iterdir()] == ["note.md"]


def test_a_file_that_is_gone_is_a_conflict_and_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(Conflict):
        write(beneath(tmp_path, "a", "b"), b"two", expected=b"one")
    with pytest.raises(Conflict):
        remove(beneath(tmp_path, "a", "b"), expected=b"one")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_agent_keeps_its_mode_and_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    path.chmod(0o664)
    before = path.stat()
    body = read(at(path))
    assert body == b"\xef\xbb\xbfone\r\ntwo"
    write(at(path), body + b"\r\nthree", expected=body)
    after = path.stat()
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo\r\nthree"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.listdir(tmp_path) == ["AGENTS.md"]


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"one")
    path.chmod(0o444)
    with pytest.raises(WhetError, match="read-only"):
        write(at(path), b"two", expected=b"one")
    assert path.read_bytes() == b"one"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/etc", "a\\b", "a\nb", "a\0b", "x" * 256, temporary_name("x"), "whet.db"]
)
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WhetError, match="is not a valid"):
        beneath(tmp_path, "skills", name)


@given(st.text(max_size=20))
def test_whatever_is_taken_for_a_name_stays_beneath_the_root(name: str) -> None:
    try:
        place = beneath(Path("/home/root"), name)
    except WhetError:
        return
    assert os.path.normpath(place.path) == f"/home/root/{name}"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(b"secret")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_a_link_in_the_place_of_a_file_is_refused(root: Path, outside: Path) -> None:
    (root / "note").symlink_to(outside / "secret")
    place = beneath(root, "note")
    with pytest.raises(WhetError, match="is a link"):
        read(place)
    for expected in (None, b"secret"):
        with pytest.raises(WhetError):
            write(place, b"x", expected=expected)
    with pytest.raises(WhetError):
        remove(place, expected=b"secret")
    assert (outside / "secret").read_bytes() == b"secret"
    assert (root / "note").is_symlink()


def test_a_link_in_the_place_of_a_folder_is_refused(root: Path, outside: Path) -> None:
    (root / "skills").symlink_to(outside)
    for attempt in (
        lambda: read(beneath(root, "skills", "secret")),
        lambda: entries(beneath(root, "skills")),
        lambda: write(beneath(root, "skills", "new"), b"x", expected=None),
        lambda: remove(beneath(root, "skills", "secret"), expected=b"secret"),
        lambda: move(beneath(root, "skills", "secret"), beneath(root, "mine")),
    ):
        with pytest.raises(WhetError, match="is a link or is not a folder"):
            attempt()
    assert os.listdir(outside) == ["secret"]


def test_the_root_itself_may_be_a_link(tmp_path: Path, root: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    write(beneath(tmp_path / "alias", "a"), b"1", expected=None)
    assert (root / "a").read_bytes() == b"1"


def test_a_link_planted_under_the_temporary_name_is_not_followed(root: Path, outside: Path) -> None:
    (root / temporary_name("note")).symlink_to(outside / "secret")
    write(beneath(root, "note"), b"x", expected=None)
    assert (outside / "secret").read_bytes() == b"secret"
    assert os.listdir(root) == ["note"]


def test_what_is_no_ordinary_file_is_refused_without_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(WhetError, match="not an ordinary file"):
            read(beneath(root, name))
        with pytest.raises(WhetError, match="not an ordinary file"):
            write(beneath(root, name), b"x", expected=None)


def test_a_file_that_is_too_large_is_refused(root: Path) -> None:
    with (root / "large").open("wb") as file:
        file.truncate(LIMIT_BYTES + 1)
    with pytest.raises(WhetError, match="is larger than"):
        read(beneath(root, "large"))


def test_a_folder_is_listed_without_what_a_crash_left(root: Path) -> None:
    (root / temporary_name("b")).write_bytes(b"half")
    (root / "b").write_bytes(b"22")
    (root / "a").mkdir()
    (root / "c").symlink_to("b")
    found = [(entry.name, entry.kind) for entry in entries(Place(root, ()))]
    assert found == [("a", "folder"), ("b", "file"), ("c", "other")]
    assert entries(beneath(root, "missing")) == ()


def test_a_move_takes_all_and_overwrites_nothing(root: Path) -> None:
    write(beneath(root, "skills", "x", "SKILL.md"), b"1", expected=None)
    move(beneath(root, "skills", "x"), beneath(root, "archive", "x"))
    assert read(beneath(root, "archive", "x", "SKILL.md")) == b"1"
    write(beneath(root, "skills", "x", "SKILL.md"), b"2", expected=None)
    with pytest.raises(Conflict, match="already exists"):
        move(beneath(root, "archive", "x"), beneath(root, "skills", "x"))
    with pytest.raises(WhetError, match="nothing was changed"):
        move(beneath(root, "skills", "missing"), beneath(root, "skills", "y"))


def test_who_waited_while_a_folder_was_moved_does_not_write_into_the_moved_one(root: Path) -> None:
    write(beneath(root, "skills", "x", "SKILL.md"), b"1", expected=None)
    with locked(root, ("skills", "x")):
        worker = f"""
from pathlib import Path
from whet.store.files import Conflict, beneath, write
try:
    write(beneath(Path({str(root)!r}), "skills", "x", "SKILL.md"), b"2", expected=b"1")
except Conflict:
    print("conflict")
"""
        waiting = subprocess.Popen([sys.executable, "-c", worker], stdout=subprocess.PIPE)
        move(beneath(root, "skills", "x"), beneath(root, "archive", "x"))
    out, _ = waiting.communicate(timeout=PATIENCE_SECONDS)
    assert out == b"conflict\n"
    assert read(beneath(root, "archive", "x", "SKILL.md")) == b"1"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_gives_advice(root: Path) -> None:
    root.chmod(0o500)
    try:
        with pytest.raises(WhetError, match="nothing was changed") as caught:
            write(beneath(root, "a"), b"1", expected=None)
    finally:
        root.chmod(0o700)
    assert "permissions" in caught.value.advice


def test_a_missing_root_is_told_and_not_made(tmp_path: Path) -> None:
    assert read(beneath(tmp_path / "nowhere", "a")) is None
    with pytest.raises(WhetError, match="No such file"):
        write(beneath(tmp_path / "nowhere", "a"), b"1", expected=None)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(root: Path) -> None:
    """A limit on the size of files stands for the full disk: the write fails after a part of it."""
    write(beneath(root, "a"), b"old", expected=None)
    worker = f"""
import resource, signal
from pathlib import Path
from whet.errors import WhetError
from whet.store.files import beneath, write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({SMALL_DISK_BYTES}, {SMALL_DISK_BYTES}))
try:
    write(beneath(Path({str(root)!r}), "a"), b"x" * {SMALL_DISK_BYTES * 2}, expected=b"old")
except WhetError as error:
    print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", worker], capture_output=True, text=True, check=True)
    assert "nothing was changed" in done.stdout
    assert os.listdir(root) == ["a"]
    assert read(beneath(root, "a")) == b"old"


def test_a_process_killed_at_any_moment_leaves_a_whole_file(root: Path) -> None:
    size = 300_000
    place = beneath(root, "deep", "file")
    for attempt in range(8):
        worker = subprocess.Popen(
            [sys.executable, str(WORKER), "write", str(root), str(size)], stdout=subprocess.PIPE, bufsize=0
        )
        assert worker.stdout is not None
        worker.stdout.read(1 + attempt)  # so that it is killed in the middle of its work
        worker.kill()
        worker.communicate()
        body = read(place)
        assert body is not None
        assert len(body) == size
        assert len(set(body)) == 1
    write(place, b"whole", expected=read(place))
    assert [path.name for path in place.path.parent.iterdir()] == ["file"]


def test_eight_processes_that_count_lose_nothing(root: Path) -> None:
    workers = [subprocess.Popen([sys.executable, str(WORKER), "count", str(root), "10"]) for _ in range(8)]
    assert [worker.wait(timeout=PATIENCE_SECONDS) for worker in workers] == [0] * 8
    assert read(beneath(root, "number")) == b"80"


def test_an_open_file_is_found_where_it_was_moved_to(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("text")
    descriptor = os.open(old, os.O_RDONLY)
    try:
        old.rename(new)
        assert place_of(descriptor, old) == new.resolve()
    finally:
        os.close(descriptor)


def test_a_link_is_spelled_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert spelled(tmp_path / "link") == (tmp_path / "folder").resolve()
    assert spelled(tmp_path / "missing") == tmp_path.resolve() / "missing"
