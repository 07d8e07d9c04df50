"""Other programs' databases: read as they are, and never written."""

import contextlib
from pathlib import Path

import apsw
import pytest

from whet.agents.formats.source import Source, Unreadable


def database(path: Path, *, journal: str = "delete") -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", journal)
    connection.execute("CREATE TABLE messages (text TEXT)")
    connection.execute("INSERT INTO messages VALUES ('hello')")
    return connection


def texts(source: Source) -> list[object]:
    with source.database() as connection:
        return [row[0] for row in connection.execute("SELECT text FROM messages")]


ENDLESS = "WITH RECURSIVE t(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM t) SELECT x AS text FROM t"


@pytest.mark.parametrize(
    "made",
    [
        f"CREATE VIEW messages AS {ENDLESS}",
        "CREATE VIEW messages AS SELECT hex(zeroblob(400000000)) AS text",
        "CREATE VIEW one AS SELECT 1 AS text; CREATE VIEW messages AS SELECT text FROM one",
        "CREATE TABLE messages (n, text GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL);"
        " INSERT INTO messages (n) VALUES (1)",
        "CREATE VIRTUAL TABLE messages USING fts5(text); INSERT INTO messages VALUES ('x')",
    ],
)
def test_what_a_database_computes_is_not_read(tmp_path: Path, made: str) -> None:
    with contextlib.closing(apsw.Connection(str(tmp_path / "state.db"))) as connection:
        connection.execute(made)
    with pytest.raises(Unreadable, match=r"prohibited|not authorized"):
        texts(Source(tmp_path / "state.db"))


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_at_rest_is_read_and_nothing_is_written_beside_it(tmp_path: Path, journal: str) -> None:
    database(tmp_path / "state.db", journal=journal).close()
    before = contents(tmp_path)
    source = Source(tmp_path / "state.db")
    assert source.kind == "sqlite"
    assert texts(source) == ["hello"]
    assert contents(tmp_path) == before


def test_what_is_still_in_the_log_of_a_live_database_is_read(tmp_path: Path) -> None:
    writer = database(tmp_path / "state.db", journal="wal")
    assert (tmp_path / "state.db-wal").stat().st_size > 0
    assert texts(Source(tmp_path / "state.db")) == ["hello"]
    writer.execute("INSERT INTO messages VALUES ('again')")
    assert texts(Source(tmp_path / "state.db")) == ["hello", "again"]
    writer.close()


def test_a_log_in_a_folder_that_cannot_be_written_is_read_all_the_same(tmp_path: Path) -> None:
    live, folder = tmp_path / "live", tmp_path / "copy"
    live.mkdir()
    folder.mkdir()
    writer = database(live / "state.db", journal="wal")
    for name in ("state.db", "state.db-wal"):
        (folder / name).write_bytes((live / name).read_bytes())
        (folder / name).chmod(0o400)
    writer.close()
    folder.chmod(0o500)
    before = contents(folder)
    try:
        assert texts(Source(folder / "state.db")) == ["hello"]
        assert contents(folder) == before
    finally:
        folder.chmod(0o700)


def test_a_log_whose_index_cannot_be_shared_is_read_from_a_copy(tmp_path: Path) -> None:
    live = tmp_path / "live.db"
    writer = database(live, journal="wal")
    (tmp_path / "state.db").write_bytes(live.read_bytes())
    (tmp_path / "state.db-wal").write_bytes((tmp_path / "live.db-wal").read_bytes())
    (tmp_path / "state.db-shm").mkdir()
    writer.close()
    assert texts(Source(tmp_path / "state.db")) == ["hello"]


def test_reading_a_database_never_changes_it(tmp_path: Path) -> None:
    database(tmp_path / "state.db").close()
    with pytest.raises(Unreadable, match="readonly"), Source(tmp_path / "state.db").database() as connection:
        connection.execute("DELETE FROM messages")
    assert texts(Source(tmp_path / "state.db")) == ["hello"]


def test_a_database_that_changes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    writer = database(tmp_path / "state.db")
    with pytest.raises(Unreadable, match="changed while it was read"), Source(tmp_path / "state.db").database():
        writer.execute("INSERT INTO messages VALUES ('again')")
    writer.close()


@pytest.mark.parametrize("keep", [16, 100, 5000])
def test_a_cut_off_database_is_unreadable(tmp_path: Path, keep: int) -> None:
    database(tmp_path / "state.db").close()
    (tmp_path / "state.db").write_bytes((tmp_path / "state.db").read_bytes()[:keep])
    with pytest.raises(Unreadable, match="broken SQLite database"):
        texts(Source(tmp_path / "state.db"))


def test_text_in_another_encoding_makes_a_database_unreadable(tmp_path: Path) -> None:
    writer = database(tmp_path / "state.db")
    writer.execute("INSERT INTO messages VALUES (CAST(x'ff41' AS TEXT))")
    writer.close()
    with pytest.raises(Unreadable, match="broken SQLite database"):
        texts(Source(tmp_path / "state.db"))
