"""Many processes at once lose nothing and never hear that the database is locked."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from concurrent_worker import grown

from patience import PATIENCE_SECONDS
from whet.intake.reading import ReadOrder, named_files
from whet.intake.taking import take
from whet.own.runs.settings import leaves, read
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, count_sessions, find
from whet.store.opening import opened
from whet.store.search import search
from whet.store.settings_file import assign, loaded

WRITERS, READERS = 8, 4
WORKER = Path(__file__).with_name("concurrent_worker.py")
OPENER = """
import sys
from pathlib import Path
from whet.store.sqlite import SQLite

print("ready", flush=True)
for line in sys.stdin:
    SQLite(Path(line.strip())).close()
    print("opened", flush=True)
"""


def start(home: Home, kind: str, worker: int, operations: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, WORKER, kind, str(home.folder), home.database_url, str(worker), str(operations)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(workers: list[subprocess.Popen[str]]) -> dict[str, int]:
    """What all the processes together were told is kept."""
    acknowledged: dict[str, int] = {}
    ended = [worker.communicate(timeout=PATIENCE_SECONDS) for worker in workers]
    for worker, (output, errors) in zip(workers, ended, strict=True):
        assert worker.returncode == 0, errors
        for name, length in json.loads(output).items():
            acknowledged[name] = max(length, acknowledged.get(name, 0))
    return acknowledged


def test_eight_writers_and_four_readers_lose_nothing_and_see_no_lock(home: Home) -> None:
    writes = 20
    workers = [start(home, "write", number, writes) for number in range(WRITERS)]
    workers += [start(home, "read", number, 85) for number in range(READERS)]
    acknowledged = finish(workers)
    with opened(home) as database:
        assert count_sessions(database, Filters()) == len(acknowledged)
        for name, length in acknowledged.items():
            wanted = grown(name, length)
            assert sessions.load(database, find(database, wanted.id)) == wanted
        owned = sum(length for length in acknowledged.values())
        assert database.query("SELECT count(*) FROM messages") == [(owned,)]
        assert len(search(database, f'"own 7 {writes - 2} step 1"')) == 1
        if database.dialect == "sqlite":
            assert database.query("PRAGMA integrity_check") == [("ok",)]
            database.execute("INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 0)")


def test_processes_that_come_and_go_from_the_first_moment_lose_nothing(home: Home) -> None:
    acknowledged = finish([start(home, "visit", number, 12) for number in range(WRITERS)])
    assert len(acknowledged) == WRITERS * 12
    with opened(home) as database:
        assert count_sessions(database, Filters()) == len(acknowledged)


def test_processes_that_create_the_embedded_database_at_the_same_moment_all_open_it(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        openers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", OPENER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for _ in range(WRITERS)
        ]
        assert {said(opener) for opener in openers} == {"ready"}
        for number in range(20):
            for opener in openers:
                tell(opener, str(tmp_path / f"{number}.db"))
            assert {said(opener) for opener in openers} == {"opened"}


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def test_settings_that_are_set_at_the_same_moment_all_count(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    paths = [("models", f"m{number}", "window") for number in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as threads:
        for size in range(1_000, 1_005):
            list(threads.map(partial(assign, home, value=size), paths))
            found = dict(leaves(read(loaded(home).text)))
            assert [found[path] for path in paths] == [size] * WRITERS


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
