"""Where Whet keeps its things, and which files are its own database."""

import os
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.store.home import Home, find_home, holds, prepare_home
from whet.store.opening import connect, opened


def test_the_environment_names_the_home_and_the_database(tmp_path: Path) -> None:
    assert find_home({"WHET_HOME": str(tmp_path)}) == Home(tmp_path)
    url = "postgresql://kim@host/whet"
    assert find_home({"WHET_HOME": str(tmp_path), "WHET_DATABASE_URL": url}) == Home(tmp_path, url)


def test_without_a_name_the_home_is_in_the_persons_own_folder() -> None:
    assert find_home({}).folder == Path.home() / ".whet"
    assert find_home({"WHET_HOME": "~/elsewhere"}).folder == Path.home() / "elsewhere"
    assert find_home({"WHET_HOME": "relative"}).folder == Path.cwd() / "relative"


def test_the_home_is_made_for_its_owner_only(tmp_path: Path) -> None:
    home = Home(tmp_path / "a" / "b")
    prepare_home(home)
    assert home.folder.stat().st_mode & 0o777 == 0o700


def test_a_home_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "open")
    home.folder.mkdir(mode=0o755)
    home.folder.chmod(0o755)
    prepare_home(home)
    assert home.folder.stat().st_mode & 0o777 == 0o700


def test_a_home_that_is_a_file_is_a_mistake_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(WhetError, match="cannot be used") as caught:
        prepare_home(Home(tmp_path / "file" / "home"))
    assert "WHET_HOME" in caught.value.advice


def test_only_a_postgres_address_is_taken(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="not the address of a Postgres database"):
        connect(Home(tmp_path, "mysql://host/whet"))


def test_a_server_that_is_not_there_gives_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot be reached") as caught:
        connect(Home(tmp_path, f"postgresql:///whet?host={tmp_path}"))
    assert "WHET_DATABASE_URL" in caught.value.advice


def test_the_database_is_known_by_whatever_name_it_goes(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with opened(home):
        own = sorted(home.folder.iterdir())
        assert [path.name for path in own] == ["whet.db", "whet.db-shm", "whet.db-wal"]
        for number, path in enumerate(own):
            (tmp_path / f"symbolic-{number}").symlink_to(path)
            os.link(path, tmp_path / f"hard-{number}")
        assert all(holds(home, path) for path in own)
        assert all(holds(home, path) for path in tmp_path.iterdir() if path.is_file())
        assert holds(home, home.folder / ".." / "home" / "whet.db")


def test_other_files_are_not_its_own(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    prepare_home(home)
    (home.folder / "notes.md").write_text("mine")
    (tmp_path / "whet.db").write_text("a namesake")
    assert not holds(home, home.folder / "notes.md")
    assert not holds(home, tmp_path / "whet.db")
    assert not holds(home, tmp_path / "nothing")


def test_a_server_that_refuses_a_connection_was_reached(postgres_url: str, tmp_path: Path) -> None:
    url = f"{postgres_url}&dbname=nowhere" if "?" in postgres_url else f"{postgres_url}?dbname=nowhere"
    with pytest.raises(WhetError, match=r"refused the connection: .*nowhere") as caught, opened(Home(tmp_path, url)):
        pass
    assert "running" not in caught.value.advice
