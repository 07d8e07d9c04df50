"""Many processes at once lose nothing and never hear that the database is locked."""

import contextlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from concurrent_worker import grown

from lengths import long
from patience import PATIENCE_SECONDS
from whet.own.runs.settings import leaves, read
from whet.store import sessions
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


@pytest.mark.parametrize("operations", [500, pytest.param(3_000, marks=long)])
def test_eight_writers_and_four_readers_lose_nothing_and_see_no_lock(home: Home, operations: int) -> None:
    writes = operations // 25  # of each writer; the rest of the operations are the readers'
    reads = (operations - WRITERS * writes) // READERS
    workers = [start(home, "write", number, writes) for number in range(WRITERS)]
    workers += [start(home, "read", number, reads) for number in range(READERS)]
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
