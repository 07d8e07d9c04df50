"""Whether a worker lives, told without touching its lock: here, and on another machine of the team."""

from pathlib import Path

from patience import until
from whet.store.database import Database
from whet.store.home import Home
from whet.work.life import is_alive, is_any_alive, is_worker_alive, last_life, living, note_life


def test_a_name_is_alive_while_it_is_held(home: Home, database: Database, tmp_path: Path) -> None:
    elsewhere = Home(tmp_path / "elsewhere", home.database_url)
    with living(home, "alice"):
        assert is_alive(home, "alice", database)
        assert is_alive(elsewhere, "alice", database) is bool(home.database_url), "a file tells on its machine alone"
        assert not is_alive(home, "bob", database)
        assert is_worker_alive(home.folder)
    until(lambda: not is_alive(home, "alice", database))  # a server lets go of a lock a moment after its connection
    assert not is_alive(elsewhere, "alice", database)
    assert not is_worker_alive(home.folder)


def test_a_run_in_the_foreground_is_no_worker(home: Home) -> None:
    with living(home, "run-1"):
        assert is_any_alive(home.folder)
        assert not is_worker_alive(home.folder)


def test_when_a_worker_last_ran_is_kept(home: Home) -> None:
    assert last_life(home) is None
    with living(home, "alice"):
        note_life(home)
    assert last_life(home) is not None
