"""The embedded database: durable, private, and clear in its words when the disk or the file is at fault."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from disks import mounted
from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.sqlite import OLDEST_SAFE, SQLite

INSERT = "INSERT INTO files (path, size, modified, reader, sessions) VALUES (?, 1, 1, '1', 1)"


@pytest.fixture
def embedded(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def paths(home: Home) -> list[str]:
    with opened(home) as database:
        return [path for (path,) in database.query("SELECT path FROM files ORDER BY path")]


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


def test_the_library_is_one_that_does_not_corrupt() -> None:
    assert tuple(int(number) for number in apsw.sqlite_lib_version().split(".")) >= OLDEST_SAFE >= (3, 51, 3)


def test_the_log_is_written_ahead_and_forced_to_disk_and_references_hold(embedded: Home) -> None:
    with opened(embedded) as database:
        found = {name: database.query(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "fullfsync")}
        assert found == {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1}  # 2 is FULL
        with pytest.raises(apsw.ConstraintError):
            database.execute("INSERT INTO uses (message, tool) VALUES (999, 'Bash')")


def test_only_the_owner_can_read_the_files_whatever_the_umask(embedded: Home) -> None:
    before = os.umask(0)
    try:
        with opened(embedded) as database:
            database.execute(INSERT, ("a",))
            assert embedded.folder.stat().st_mode & 0o777 == 0o700
            files = sorted(embedded.folder.iterdir())
            assert [path.name for path in files] == ["whet.db", "whet.db-shm", "whet.db-wal"]
            assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    finally:
        os.umask(before)


STOPPED_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from whet.store.home import Home
from whet.store.opening import opened

with opened(Home(Path(sys.argv[1]))) as database, database.writing():
    for number in range(20_000):  # more than the cache holds, so that some of it has reached the log
        database.execute("INSERT INTO files VALUES (?, 1, 1, ?, 1)", (f"lost {number}", "x" * 3_000))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_killed_in_the_middle_of_a_transaction_leaves_the_old_state(embedded: Home) -> None:
    with opened(embedded) as database:
        database.execute(INSERT, ("old",))
    ended = python(STOPPED_IN_THE_MIDDLE, str(embedded.folder))
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert (embedded.folder / "whet.db-wal").stat().st_size > 1_000_000
    assert paths(embedded) == ["old"]
    with opened(embedded) as database:
        assert database.query("PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_is_no_database_is_named_and_left_alone(embedded: Home) -> None:
    embedded.folder.mkdir()
    embedded.database_path.write_bytes(b"these are my notes\n" * 200)
    with pytest.raises(WhetError, match=r"whet\.db is damaged") as caught, opened(embedded):
        pass
    assert "whet restore FILE" in caught.value.advice
    assert embedded.database_path.read_bytes() == b"these are my notes\n" * 200


def test_a_damaged_database_gives_a_clear_error(embedded: Home) -> None:
    with opened(embedded) as database:
        for number in range(500):
            database.execute(INSERT, (f"{number} {'x' * 400}",))
    with embedded.database_path.open("r+b") as file:
        for page in range(2, embedded.database_path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    with pytest.raises(WhetError, match="is damaged"), opened(embedded) as database:
        database.query("SELECT count(DISTINCT path || reader) FROM files")


def test_a_folder_in_the_place_of_the_database_gives_a_clear_error(embedded: Home) -> None:
    embedded.database_path.mkdir(parents=True)
    with pytest.raises(WhetError, match="cannot be written"), opened(embedded):
        pass


def test_a_second_writer_waits_for_the_first(embedded: Home) -> None:
    program = """
import sys
from pathlib import Path
from whet.store.home import Home
from whet.store.opening import opened
with opened(Home(Path(sys.argv[1]))) as database:
    sys.stdout.write("ready\\n"); sys.stdout.flush()
    database.execute("INSERT INTO files VALUES ('second', 1, 1, '1', 1)")
"""
    with opened(embedded) as database:
        with database.writing():
            database.execute(INSERT, ("first",))
            other = subprocess.Popen([sys.executable, "-c", program, embedded.folder], stdout=subprocess.PIPE)
            assert other.stdout is not None
            assert other.stdout.readline() == b"ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(timeout=0.2)
        other.communicate(timeout=PATIENCE_SECONDS)
        assert other.returncode == 0
    assert paths(embedded) == ["first", "second"]


FILL_THE_DISK = """
import resource, sys
from pathlib import Path
from whet.errors import WhetError
from whet.store.home import Home
from whet.store.opening import opened
if len(sys.argv) > 2:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
with opened(Home(Path(sys.argv[1]))) as database:
    try:
        with database.writing():
            for number in range(40_000):
                database.execute("INSERT INTO files VALUES (?, 1, 1, ?, 1)", (f"lost {number}", "x" * 3_000))
    except WhetError as error:
        assert error.advice
        assert database.query("SELECT path FROM files") == [("old",)]  # readable while the disk is still full
        sys.stdout.write(error.message)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_gives_a_clear_error_and_leaves_the_old_state(embedded: Home) -> None:
    with mounted(embedded.folder, "size=12m,mode=0700"):
        with opened(embedded) as database:
            database.execute(INSERT, ("old",))
        ended = python(FILL_THE_DISK, str(embedded.folder))
        assert "The disk is full; this change was not stored." in ended.stdout, ended.stderr
        assert paths(embedded) == ["old"]


def test_a_limit_on_the_size_of_files_is_like_a_full_disk(embedded: Home) -> None:
    with opened(embedded) as database:
        database.execute(INSERT, ("old",))
    ended = python(FILL_THE_DISK, str(embedded.folder), str(8 << 20))
    assert "was not stored." in ended.stdout, ended.stderr
    assert paths(embedded) == ["old"]


OPEN_AS_NOBODY = """
import os, sys
from pathlib import Path
from whet.errors import WhetError
from whet.store.home import Home
from whet.store.opening import opened
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    with opened(Home(Path(sys.argv[1]))) as database:
        database.execute("INSERT INTO files VALUES ('x', 1, 1, '1', 1)")
except WhetError as error:
    sys.stdout.write(f"{error.message} {error.advice}")
"""


def test_a_home_that_belongs_to_another_gives_a_clear_error(embedded: Home) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can make a folder for one user and open it as another")
    with opened(embedded) as database:
        database.execute(INSERT, ("old",))
    ended = python(OPEN_AS_NOBODY, str(embedded.folder))
    assert str(embedded.folder) in ended.stdout, ended.stderr
    assert "WHET_HOME" in ended.stdout
    assert paths(embedded) == ["old"]


@pytest.mark.parametrize("there", [True, False], ids=["with a database", "empty"])
def test_a_read_only_home_can_be_read_and_gives_a_clear_error_on_writing(embedded: Home, there: bool) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can mount a folder read-only")
    with mounted(embedded.folder, "size=8m,mode=0700"):
        if there:
            with opened(embedded) as database:
                database.execute(INSERT, ("old",))
        subprocess.run(["mount", "-o", "remount,ro", embedded.folder], check=True)
        if there:
            assert paths(embedded) == ["old"]
        with pytest.raises(WhetError, match="cannot be") as caught, opened(embedded) as database:
            database.execute(INSERT, ("new",))
        assert "WHET_HOME" in caught.value.advice
        subprocess.run(["mount", "-o", "remount,rw", embedded.folder], check=True)
        assert paths(embedded) == (["old"] if there else [])


def test_a_connection_that_could_not_be_made_holds_no_file(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"these are my notes\n" * 200)
    for _ in range(3):
        with pytest.raises(WhetError):
            SQLite(path)
    held = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if _is_link(name)]
    assert str(path) not in held


def _is_link(name: str) -> bool:
    return os.path.islink(f"/proc/self/fd/{name}")
