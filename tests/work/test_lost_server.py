"""A server that restarts: its workers live, and what they do is done once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lengths import long
from patience import PATIENCE_SECONDS, until
from postgres_server import Server, serve_restartable
from whet.store.home import Home
from whet.store.opening import opened
from whet.work.given import WorkState, given_orders
from whet.work.life import LifeSign, living, quiet, sign_of
from whet.work.orders import Order, Queue

WORKER = Path(__file__).with_name("lost_server_worker.py")
ORDERS = 4


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve_restartable() as server:
        yield server


def start(home: Home) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,
        "WHET_HOME": str(home.folder),
        "WHET_DATABASE_URL": home.database_url,
        "PYTHONPATH": str(WORKER.parents[1]),
    }
    return subprocess.Popen([sys.executable, str(WORKER)], env=environment)


def restart(server: Server) -> None:
    server.stop()
    server.start()


@long
def test_what_runs_while_the_server_restarts_is_done_once(server: Server, tmp_path: Path) -> None:
    """Two machines of one member: neither takes the other's work, although both lost their locks."""
    homes = [Home(tmp_path / name, server.url) for name in ("one", "two")]
    folder = tmp_path / "effects"
    folder.mkdir()
    names = [f"effect-{number}" for number in range(ORDERS)]
    with given_orders(homes[0]) as orders:
        ids = [orders.submit(Order("enduring", name, str(folder / name)), Queue.ATTEMPTS) for name in names]
    workers = [start(home) for home in homes]
    try:
        until(lambda: all((folder / name).exists() for name in names))
        restart(server)
        (folder / "is-back").touch()
        until(lambda: all((folder / f"{name}-opened").exists() for name in names))
        restart(server)
        (folder / "is-back-again").touch()
        ends = [worker.wait(timeout=PATIENCE_SECONDS) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert ends == [0, 0]
    with given_orders(homes[0]) as orders:
        found = [orders.find(id) for id in ids]
    assert [work.state for work in found] == [WorkState.DONE] * ORDERS, [work.error for work in found]
    assert [len((folder / name).read_text().splitlines()) for name in names] == [1] * ORDERS


def test_a_lock_that_the_server_forgot_is_taken_again_and_nobody_counts_as_dead_meanwhile(
    server: Server, tmp_path: Path
) -> None:
    home, elsewhere = (Home(tmp_path / name, server.url) for name in ("one", "two"))
    with living(home, "alice") as life:
        restart(server)
        with sign_of(home, "alice") as sign:
            assert sign is LifeSign.ALIVE, "its file says so, whatever the server says"
        with sign_of(elsewhere, "alice") as sign:
            assert sign in (LifeSign.ALIVE, LifeSign.SILENT), "silence alone is no death"
        assert life.confirm()
        with sign_of(elsewhere, "alice") as sign:
            assert sign is LifeSign.ALIVE
        assert quiet(elsewhere, ("alice", "bob")) == ["bob"]
    until(lambda: quiet(elsewhere, ("alice", "bob")) == ["alice", "bob"])  # a server needs a moment to notice an end
    with sign_of(elsewhere, "alice") as sign:
        assert sign is LifeSign.SILENT


def test_a_connection_that_was_lost_between_two_transactions_is_made_again(server: Server, tmp_path: Path) -> None:
    with opened(Home(tmp_path / "home", server.url)) as database:
        restart(server)
        assert database.query("SELECT count(*) FROM sessions") == [(0,)]
