"""PgBouncer in front of the server: in session mode all works, in transaction mode nothing relies on a session."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pooler import PROGRAM, pooled
from postgres_server import serve
from whet.errors import WhetError
from whet.store.home import Home
from whet.store.opening import connect, opened
from whet.work.given import WorkState, given_orders
from whet.work.life import LifeSign, living, quiet, sign_of
from whet.work.orders import Order, Queue

WORKER = Path(__file__).with_name("lost_server_worker.py")
SESSIONS = Path(__file__).parents[2] / "examples" / "sessions" / "codex"
LOOKS = 20  # more often than a statement is sent before the driver prepares it

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed on this machine")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve() as url:
        yield url


@pytest.fixture
def direct(server: str) -> str:
    """The address of the server with an empty store."""
    with psycopg.connect(server, autocommit=True) as connection:
        for schema in ("public", "whet_engine"):
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
        connection.execute("CREATE SCHEMA public")
    return server


def run(home: Home, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "WHET_HOME": str(home.folder),
        "WHET_DATABASE_URL": home.database_url,
        "PYTHONPATH": str(WORKER.parents[1]),
    }
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def whet(home: Home, *words: str) -> "subprocess.CompletedProcess[str]":
    return run(home, str(Path(sys.executable).with_name("whet")), *words)


def test_a_pooler_that_allows_no_transactions_is_named(direct: str, tmp_path: Path) -> None:
    with pooled(direct, tmp_path, "statement") as url:
        done = whet(Home(tmp_path / "home", url), "sessions")
    assert done.returncode == 1
    assert "statement mode" in done.stderr
    assert "pool_mode = session" in done.stderr


@pytest.mark.parametrize("mode", ["session", "transaction"])
def test_a_store_is_filled_and_backed_up_through_a_pooler(direct: str, mode: str, tmp_path: Path) -> None:
    with pooled(direct, tmp_path, mode) as url:
        home = Home(tmp_path / "home", url)
        for command in (("import", str(SESSIONS)), ("sessions",), ("backup", str(tmp_path / "copy.zip"))):
            done = whet(home, *command)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
        with opened(home) as database, opened(home) as other:
            counts = {each.query("SELECT count(*) FROM sessions")[0] for each in (database, other) * LOOKS}
    assert len(counts) == 1
    assert counts != {(0,)}


def test_workers_work_and_know_each_other_through_a_pooler_in_session_mode(direct: str, tmp_path: Path) -> None:
    with pooled(direct, tmp_path, "session") as url:
        home, elsewhere = (Home(tmp_path / name, url) for name in ("one", "two"))
        with living(home, "alice"), sign_of(elsewhere, "alice") as sign:
            assert sign is LifeSign.ALIVE
            assert quiet(elsewhere, ("alice", "bob")) == ["bob"]
        for name in ("is-back", "is-back-again"):
            (tmp_path / name).touch()
        with given_orders(home) as orders:
            id = orders.submit(Order("enduring", "effect", str(tmp_path / "effect")), Queue.ATTEMPTS)
            assert run(home, sys.executable, str(WORKER)).returncode == 0
            assert orders.find(id).state is WorkState.DONE
    assert len((tmp_path / "effect").read_text().splitlines()) == 1


@pytest.mark.parametrize("turns", [0, 1])
def test_no_worker_believes_that_it_holds_a_lock_through_a_pooler_in_transaction_mode(
    direct: str, turns: int, tmp_path: Path
) -> None:
    with pooled(direct, tmp_path, "transaction", round_robin=turns) as url:
        home = Home(tmp_path / "home", url)
        with pytest.raises(WhetError, match="transaction mode"), living(home, "alice"):
            pass
        with pytest.raises(WhetError, match="transaction mode"), given_orders(home):
            pass
        done = whet(home, "worker", "--until-idle")
    assert done.returncode != 0
    assert "pool_mode = session" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_without_a_pooler_is_taken_for_what_it_is(direct: str, tmp_path: Path) -> None:
    database = connect(Home(tmp_path / "home", direct))
    database.expect_session()
    database.close()
