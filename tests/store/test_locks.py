"""Nothing else in the process opens the live database: on POSIX, closing any descriptor of a file drops its locks.

Without the guard in the import, another process could then write in the middle of our transaction, or take itself
for the last one, remove the log and so lose all that we commit later.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from patience import PATIENCE_SECONDS
from whet.intake.finding import named_files
from whet.intake.reading import ReadOrder
from whet.intake.taking import take
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened

INSERT = "INSERT INTO files (path, size, modified, reader, sessions) VALUES (?, 1, 1, '1', 1)"

TRY_TO_WRITE = """
import sys
import apsw
connection = apsw.Connection(sys.argv[1])
try:
    connection.execute("BEGIN IMMEDIATE")
    sys.stdout.write("wrote")
except apsw.BusyError:
    sys.stdout.write("locked out")
"""
COMMIT_AND_CLOSE = """
import sys
from pathlib import Path
from whet.store.home import Home
from whet.store.opening import opened
with opened(Home(Path(sys.argv[1]))) as database:
    database.execute("INSERT INTO files VALUES ('theirs', 1, 1, '1', 1)")
"""
LIST = """
import sys
from pathlib import Path
from whet.store.home import Home
from whet.store.opening import opened
with opened(Home(Path(sys.argv[1]))) as database:
    sys.stdout.write(" ".join(path for (path,) in database.query("SELECT path FROM files ORDER BY path")))
"""


def elsewhere(program: str, path: Path) -> str:
    """What a program says that runs in another process."""
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def import_folder(database: Database, home: Home, folder: Path) -> list[str]:
    """Import a folder in this process; the reasons for what was left out."""
    files = list(named_files([str(folder)]))
    assert files
    report = take(database, home, files, ReadOrder(), progress=lambda _name, _size: None)
    return [skipped.reason for skipped in report.skipped]


def the_home_itself(home: Home, _folder: Path) -> Path:
    return home.folder


def a_folder_of_links(home: Home, folder: Path) -> Path:
    """Links of both kinds, with names that do not tell what they lead to."""
    folder.mkdir()
    for number, path in enumerate(sorted(home.folder.iterdir())):
        (folder / f"symbolic-{number}.jsonl").symlink_to(path)
        os.link(path, folder / f"hard-{number}.jsonl")
    return folder


WAYS = pytest.mark.parametrize("way", [the_home_itself, a_folder_of_links])


@pytest.fixture
def embedded(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@WAYS
def test_importing_our_own_database_keeps_the_lock_of_an_open_transaction(
    embedded: Home, tmp_path: Path, way: Callable[[Home, Path], Path]
) -> None:
    with opened(embedded) as database:
        with database.writing():
            database.execute(INSERT, ("ours",))
            reasons = import_folder(database, embedded, way(embedded, tmp_path / "links"))
            assert elsewhere(TRY_TO_WRITE, embedded.database_path) == "locked out"
        assert set(reasons) == {"Whet's own database"}
    assert elsewhere(LIST, embedded.folder) == "ours"


@WAYS
def test_importing_our_own_database_loses_no_later_commit(
    embedded: Home, tmp_path: Path, way: Callable[[Home, Path], Path]
) -> None:
    with opened(embedded) as database:
        database.execute(INSERT, ("before",))
        reasons = import_folder(database, embedded, way(embedded, tmp_path / "links"))
        assert set(reasons) == {"Whet's own database"}
        elsewhere(COMMIT_AND_CLOSE, embedded.folder)
        database.execute(INSERT, ("later",))
        assert elsewhere(LIST, embedded.folder) == "before later theirs"
    assert elsewhere(LIST, embedded.folder) == "before later theirs"
    with opened(embedded) as database:
        assert database.query("PRAGMA integrity_check") == [("ok",)]


def test_a_plain_open_and_close_would_lose_commits(embedded: Home) -> None:
    """The danger is real: this is what the guard prevents."""
    with opened(embedded) as database:
        database.execute(INSERT, ("before",))
        for path in embedded.folder.iterdir():
            path.read_bytes()
        elsewhere(COMMIT_AND_CLOSE, embedded.folder)
        database.execute(INSERT, ("later",))
        assert elsewhere(LIST, embedded.folder) == "before theirs"
