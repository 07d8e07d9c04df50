"""Open files: on the disk for good, and where they really lie."""

import os
from pathlib import Path

from whet.store.folders import place_of, spelled, sync
from whet.store.sqlite import SQLite


def test_files_and_folders_can_be_synced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path in (tmp_path, tmp_path / "file"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)
    assert (tmp_path / "file").read_text() == "text"


def test_an_open_file_is_found_where_it_was_moved_to(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("text")
    descriptor = os.open(old, os.O_RDONLY)
    try:
        old.rename(new)
        assert place_of(descriptor, old) == new.resolve()
    finally:
        os.close(descriptor)


def test_a_link_is_spelled_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert spelled(tmp_path / "link") == (tmp_path / "folder").resolve()
    assert spelled(tmp_path / "missing") == tmp_path.resolve() / "missing"


def test_the_database_asks_for_more_than_the_cache_of_the_drive(tmp_path: Path) -> None:
    database = SQLite(tmp_path / "whet.db")
    try:
        assert database.query("PRAGMA fullfsync") == [(1,)]
    finally:
        database.close()
