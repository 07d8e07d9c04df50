"""What the store asks of a database holds on both: transactions, snapshots and text taken as it is."""

import contextlib
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.store.canary_counts import CountedUnit
from whet.store.database import Database
from whet.store.home import MOST_KEPT, Home, Reserve
from whet.store.opening import opened
from whet.store.rows import made

INSERT = "INSERT INTO files (path, size, modified, reader, sessions) VALUES (?, 1, 1, '1', 1)"


def paths(database: Database) -> list[str]:
    return [path for (path,) in database.query("SELECT path FROM files ORDER BY path")]


def test_an_inner_transaction_goes_with_the_outer_one(database: Database) -> None:
    with contextlib.suppress(LookupError), database.writing():
        with database.writing():
            database.execute(INSERT, ("inner",))
        raise LookupError
    assert paths(database) == []
    with database.writing(), database.writing():
        database.execute(INSERT, ("kept",))
    assert paths(database) == ["kept"]


def test_a_reader_sees_one_state_while_others_write(home: Home) -> None:
    with opened(home) as reader, opened(home) as writer:
        with reader.reading():
            assert paths(reader) == []
            writer.execute(INSERT, ("a",))
            assert paths(reader) == []
        assert paths(reader) == ["a"]


def test_signs_that_mean_something_to_a_driver_are_only_text(database: Database) -> None:
    for text in ("100 %", "%s", "?", "'; DROP TABLE files; --", "$1", ":name"):
        database.execute(INSERT, (text,))
    assert len(paths(database)) == 6
    assert database.query("SELECT path FROM files WHERE path LIKE '100 %'") == [("100 %",)]


def test_many_rows_of_nothing_change_nothing(database: Database) -> None:
    database.many(INSERT, [])
    database.many(INSERT, ((name,) for name in "ab"))
    assert paths(database) == ["a", "b"]


def test_a_server_that_only_reads_gives_a_clear_error(postgres_url: str, tmp_path: Path) -> None:
    home = Home(tmp_path, f"{postgres_url}&options=-cdefault_transaction_read_only%3Don")
    with pytest.raises(WhetError, match="read-only") as caught, opened(home):
        pass
    assert "primary" in caught.value.advice


def test_a_connection_is_used_again_by_whoever_comes_next(home: Home) -> None:
    reserve = Reserve()
    kept = home._replace(reserve=reserve)
    with opened(kept) as first:
        with opened(kept) as second:
            assert second is not first
        with opened(kept) as third:
            assert third is second
    reserve.close()
    assert reserve.take() is None


def test_one_on_which_something_failed_is_closed(home: Home) -> None:
    reserve = Reserve()
    with pytest.raises(ValueError, match="midway"), opened(home._replace(reserve=reserve)):
        raise ValueError("midway")
    assert reserve.take() is None


def test_no_more_are_kept_than_that(home: Home) -> None:
    reserve = Reserve()
    for _ in range(MOST_KEPT + 1):
        with opened(home) as other:
            pass
        reserve.give_back(other)
    assert len(list(iter(reserve.take, None))) == MOST_KEPT


def test_whatever_number_a_member_writes_for_true_or_false_is_read() -> None:
    row = ("session", 7, 0.5, 1, None, 0, -1, None, ("id",))
    assert made(CountedUnit, row) == CountedUnit("session", True, 0.5, 1, None, False, True, None, ("id",))
