"""`whet worker` where its disk is full or its server goes away: an error that says what to do, and no traceback."""

import contextlib
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from command import COMMAND, environment
from lengths import long
from patience import PATIENCE_SECONDS, until
from postgres_server import Server, serve_restartable

SMALL = 40_000


@pytest.fixture
def server() -> Iterator[Server]:
    with serve_restartable() as server:
        yield server


@contextlib.contextmanager
def worker(folder: Path, url: str, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Its complaints go to a file, for they are read while it runs."""
    variables = {**environment(folder / "home", folder), "WHET_DATABASE_URL": url}
    with (folder / "err").open("wb") as err:
        started = subprocess.Popen([COMMAND, "worker", *arguments], env=variables, stdout=subprocess.PIPE, stderr=err)
    with started:
        try:
            yield started
        finally:
            started.kill()


def has_begun(url: str) -> bool:
    """A worker that has begun listens to what the server tells."""
    with contextlib.suppress(psycopg.Error), psycopg.connect(url) as connection:
        return bool(connection.execute("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN %'").fetchall())
    return False


def test_a_disk_without_room_is_an_error_that_says_so(tmp_path: Path) -> None:
    """No file may become larger than the engine needs: for SQLite that is a disk that takes no more."""
    done = subprocess.run(
        [COMMAND, "worker", "--until-idle"],
        env=environment(tmp_path / "home", tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The disk")
    assert "Traceback" not in done.stderr


def test_two_workers_may_be_the_first_in_a_home_at_once(tmp_path: Path) -> None:
    variables = environment(tmp_path / "home", tmp_path)
    command = (str(COMMAND), "worker", "--until-idle")
    both = [subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(each.communicate(timeout=PATIENCE_SECONDS)[1], each.returncode) for each in both] == [("", 0), ("", 0)]


def test_a_server_that_is_not_there_is_an_error_that_says_so(tmp_path: Path, server: Server) -> None:
    server.stop()
    with worker(tmp_path, server.url) as started:
        assert started.wait(PATIENCE_SECONDS) == 1
    assert (tmp_path / "err").read_text().startswith("Error: The Postgres server cannot be reached")


@long
def test_a_worker_waits_for_a_server_that_goes_away_and_says_so(tmp_path: Path, server: Server) -> None:
    err = tmp_path / "err"
    with worker(tmp_path, server.url) as started:
        until(lambda: has_begun(server.url))
        server.stop()
        until(lambda: "Waiting for it." in err.read_text())
        server.start()
        until(lambda: "The server is back." in err.read_text())
        started.send_signal(signal.SIGTERM)
        assert started.wait(PATIENCE_SECONDS) == 0
    assert "Traceback" not in err.read_text()
