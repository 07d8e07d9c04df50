"""A backup holds everything of one moment, and comes back wholly or not at all."""

import contextlib
import hashlib
import itertools
import os
import signal
import sqlite3
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec
import pytest

from command import runner
from disks import mounted
from kept_home import add_session, fill, said
from whet.errors import WhetError
from whet.machine.archive import MANIFEST, ArchivedFile, Manifest
from whet.machine.backup import BackupReport, back_up
from whet.machine.restore import RestoreReport, excluded, restore, working_folder
from whet.store.home import Home
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.opening import FIRST, NEWEST, opened
from whet.store.sessions import load
from whet.work.life import occupied


def backed_up(home: Home, target: Path) -> BackupReport:
    return back_up(home, target, now=5.0, progress=lambda _size: None)


def restored(path: Path, home: Home, *, replace: bool = False) -> RestoreReport:
    return restore(path, home, replace=replace, progress=lambda _size: None)


def emptied(home: Home, folder: Path) -> Home:
    """Another home: a new folder, and on a server the same schema without its tables."""
    if home.database_url:
        with opened(home) as database:
            tables = [
                name
                for (name,) in database.query(
                    "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()"
                )
            ]
            database.execute(f"DROP TABLE {', '.join(tables)} CASCADE")
            functions = database.query(
                "SELECT proname::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
            )
            for (name,) in functions:
                database.execute(f"DROP FUNCTION {name}")
    return Home(folder, home.database_url)


def test_what_is_restored_into_an_empty_home_says_what_the_old_one_said(home: Home, tmp_path: Path) -> None:
    fill(home)
    before = said(home)
    made = backed_up(home, tmp_path / "b.zip")
    assert (made.manifest.sessions, made.manifest.entries) == (3, 1)
    new = emptied(home, tmp_path / "new")
    restored(tmp_path / "b.zip", new)
    assert said(new) == before
    assert (new.folder / "settings.toml").read_text() == 'model = "local"\n'
    assert (new.folder / "skills/tea/scripts/boil").stat().st_mode & 0o777 == 0o700
    assert new.folder.stat().st_mode & 0o777 == 0o700
    with opened(new) as database:  # what is added goes on from there
        add_session(database, "later", "later")
        assert count_sessions(database, Filters()) == 4


def test_a_backup_is_the_owners_alone_and_holds_no_api_key(home: Home, tmp_path: Path) -> None:
    fill(home)
    made = backed_up(home, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    assert "worker.env" in [each.name for each in made.left_out]
    with zipfile.ZipFile(tmp_path / "b.zip") as packed:
        assert not [name for name in packed.namelist() if "worker.env" in name]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".whet")] == []


def test_a_backup_taken_while_others_write_is_of_one_moment(home: Home, tmp_path: Path) -> None:
    fill(home)
    stop = threading.Event()

    def write() -> None:
        with opened(home) as writer:
            for number in itertools.count():
                add_session(writer, f"more{number}", "more")
                if stop.is_set():
                    return

    thread = threading.Thread(target=write)
    thread.start()
    try:
        made = [backed_up(home, tmp_path / f"{number}.zip") for number in range(3)]
    finally:
        stop.set()
        thread.join()
    for number, each in enumerate(made):
        new = emptied(home, tmp_path / f"new{number}")
        restored(tmp_path / f"{number}.zip", new)
        with opened(new) as database:
            listed = list_sessions(database, Filters(), limit=100_000)
            assert len(listed) == each.manifest.sessions >= 3
            assert all(len(load(database, session).messages) == 4 for session in listed)


def test_a_home_is_replaced_only_when_that_is_wanted_and_is_kept_beside(home: Home, tmp_path: Path) -> None:
    fill(home)
    before = said(home)
    backed_up(home, tmp_path / "b.zip")
    with opened(home) as database:
        add_session(database, "later", "later")
    (home.folder / "settings.toml").write_text('model = "other"\n')
    after = said(home)
    with pytest.raises(WhetError, match="not empty"):
        restored(tmp_path / "b.zip", home)
    assert said(home) == after
    done = restored(tmp_path / "b.zip", home, replace=True)
    assert said(home) == before
    assert (home.folder / "worker.env").read_text() == "KEY=secret\n"
    old = Home(Path(done.replaced))
    assert (old.folder / "settings.toml").read_text() == 'model = "other"\n'
    if not home.database_url:
        assert said(old) == after


def flipped(path: Path) -> None:
    """A byte in the middle of the largest file."""
    with zipfile.ZipFile(path) as packed:
        largest = max(packed.infolist(), key=lambda each: each.compress_size)
    body = bytearray(path.read_bytes())
    body[largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2] ^= 0xFF
    path.write_bytes(body)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def foreign(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a.txt", "a")


def no_zip(path: Path) -> None:
    path.write_text("hello")


def rewritten(change: Callable[[Manifest], Manifest], more: dict[str, bytes]) -> Callable[[Path], None]:
    """An archive with another manifest, and with more files."""

    def rewrite(path: Path) -> None:
        with zipfile.ZipFile(path) as packed:
            bodies = {name: packed.read(name) for name in packed.namelist()}
        manifest = change(msgspec.json.decode(bodies.pop(MANIFEST), type=Manifest))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, body in (bodies | more).items():
                packed.writestr(name, body)
            packed.writestr(MANIFEST, msgspec.json.encode(manifest))

    return rewrite


def with_file(name: str, body: bytes = b"x") -> Callable[[Path], None]:
    file = ArchivedFile(name, len(body), "0" * 64)
    return rewritten(lambda m: msgspec.structs.replace(m, files=(*m.files, file)), {name: body})


def with_trigger(path: Path) -> None:
    """A database that would approve by itself whatever is proposed."""
    name, database = "databases/whet.db", path.with_suffix(".db")
    with zipfile.ZipFile(path) as packed:
        database.write_bytes(packed.read(name))
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TRIGGER approving AFTER INSERT ON entries BEGIN DELETE FROM entries; END")
        connection.commit()
    body = database.read_bytes()
    database.unlink()
    file = ArchivedFile(name, len(body), hashlib.sha256(body).hexdigest())

    def changed(manifest: Manifest) -> Manifest:
        others = (each for each in manifest.files if each.name != name)
        return msgspec.structs.replace(manifest, files=(*others, file))

    rewritten(changed, {name: body})(path)


def newer(manifest: Manifest) -> Manifest:
    return msgspec.structs.replace(manifest, steps=NEWEST + 1)


BROKEN = {
    "flipped bytes": (flipped, "damaged"),
    "truncated": (truncated, "damaged"),
    "another zip": (foreign, "not a backup"),
    "no zip": (no_zip, "not a backup"),
    "newer schema": (rewritten(newer, {}), "newer Whet"),
    "older schema": (rewritten(lambda m: msgspec.structs.replace(m, steps=FIRST - 1), {}), "older Whet"),
    "unlisted file": (rewritten(lambda m: m, {"home/x": b"x"}), "not those of its list"),
    "path out of the home": (with_file("home/../../escaped"), "not the name of a file"),
    "absolute path": (with_file("/tmp/escaped"), "not the name of a file"),
    "a second database": (with_file("home/whet.db"), "not the name of a file"),
    "other content": (with_file("home/other"), "not as it was written"),
    "a trigger of its own": (with_trigger, "a trigger that Whet did not make, 'approving'"),
    "a bomb": (with_file("home/bomb", b"\0" * (300 << 20)), "far more than its size allows"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_backup_that_is_damaged_foreign_or_made_to_harm_changes_nothing(what: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    fill(home)
    backed_up(home, tmp_path / "b.zip")
    harm, why = BROKEN[what]
    harm(tmp_path / "b.zip")
    before, listed = said(home), sorted(os.listdir(tmp_path))
    for place in (home, Home(tmp_path / "new")):
        with pytest.raises(WhetError, match=why):
            restored(tmp_path / "b.zip", place, replace=True)
    assert said(home) == before
    assert sorted(os.listdir(tmp_path)) == listed


def test_a_flipped_byte_changes_nothing_on_a_server_either(home: Home, tmp_path: Path) -> None:
    fill(home)
    backed_up(home, tmp_path / "b.zip")
    flipped(tmp_path / "b.zip")
    before = said(home)
    with pytest.raises(WhetError, match="damaged"):
        restored(tmp_path / "b.zip", home, replace=True)
    assert said(home) == before


def test_a_home_that_is_in_use_is_not_replaced(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    fill(home)
    backed_up(home, tmp_path / "b.zip")
    with opened(home), pytest.raises(WhetError, match="Another process uses"):
        restored(tmp_path / "b.zip", home, replace=True)
    with occupied(home), pytest.raises(WhetError, match="worker is running"):
        restored(tmp_path / "b.zip", home, replace=True)
    restored(tmp_path / "b.zip", home, replace=True)


def test_a_worker_does_not_start_in_a_home_that_is_being_replaced(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.folder.mkdir()
    (home.folder / "settings.toml").touch()
    with excluded(home):
        done = runner(home.folder, tmp_path)("worker", "--until-idle")
    assert (done.code, "being restored" in done.err) == (1, True)
    assert sorted(os.listdir(home.folder)) == ["settings.toml", "workers"]
    assert runner(home.folder, tmp_path)("worker", "--until-idle").code == 0


def test_a_database_that_is_not_empty_is_not_called_a_home(home: Home, tmp_path: Path) -> None:
    fill(home)
    backed_up(home, tmp_path / "b.zip")
    if home.database_url:
        with pytest.raises(WhetError, match="The database on the server is not empty"):
            restored(tmp_path / "b.zip", Home(tmp_path / "new", home.database_url))
    with pytest.raises(WhetError, match=f"The home {home.folder} is not empty"):
        restored(tmp_path / "b.zip", home)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small file system")
@pytest.mark.parametrize("name", ["whet.db", "engine.db"])
def test_a_full_disk_is_named_as_the_targets(name: str, tmp_path: Path) -> None:
    home, disk = Home(tmp_path / "home"), tmp_path / "disk"
    home.folder.mkdir()
    with contextlib.closing(apsw.Connection(str(home.folder / name))) as connection:
        connection.execute("CREATE TABLE t AS SELECT randomblob(1000000) AS x")
    with opened(home):
        pass
    with mounted(disk, "size=300k"), pytest.raises(WhetError) as caught:
        backed_up(home, disk / "b.zip")
    assert caught.value.message.startswith(f"{disk / 'b.zip'} cannot be used: No space left on device")


def test_a_damaged_home_is_replaced_and_not_backed_up(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    fill(home, sessions=40)
    before = said(home)
    backed_up(home, tmp_path / "b.zip")
    body = bytearray(home.database_path.read_bytes())
    body[16384 : len(body) : 997] = b"\xa5" * len(body[16384 : len(body) : 997])
    home.database_path.write_bytes(body)
    with pytest.raises(WhetError, match="damaged"):
        backed_up(home, tmp_path / "c.zip")
    assert not (tmp_path / "c.zip").exists()
    restored(tmp_path / "b.zip", home, replace=True)
    assert said(home) == before


def test_a_backup_never_overwrites_a_file_and_is_no_part_of_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    fill(home)
    (tmp_path / "b.zip").write_text("mine")
    with pytest.raises(WhetError, match="already exists"):
        backed_up(home, tmp_path / "b.zip")
    with pytest.raises(WhetError, match="part of the home"):
        backed_up(home, home.folder / "b.zip")
    assert (tmp_path / "b.zip").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="here every file has a name from its beginning")
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_killed_backup_leaves_nothing_behind(home: Home, tmp_path: Path, pieces: int) -> None:
    """While a file of the home is copied, and while the database is."""
    fill(home)
    (tmp_path / "backups").mkdir()
    child = os.fork()
    if not child:  # nothing of this process may go on in it
        copied = itertools.count(1)
        with contextlib.suppress(BaseException):
            back_up(
                home,
                tmp_path / "backups" / "b.zip",
                now=5.0,
                progress=lambda _: os.kill(os.getpid(), signal.SIGKILL) if next(copied) == pieces else None,
            )
        os._exit(3)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert list((tmp_path / "backups").iterdir()) == []


def test_what_a_killed_restore_left_goes_with_the_next_and_one_at_work_stays(tmp_path: Path) -> None:
    left, fresh = tmp_path / ".home.restoring-dead", tmp_path / ".home.restoring-fresh"
    for folder in (left, fresh):
        folder.mkdir()
    with working_folder(tmp_path, ".home.restoring-") as at_work:
        for folder in (left, at_work):
            os.utime(folder, (1.0, 1.0))
        with working_folder(tmp_path, ".home.restoring-"):
            assert at_work.is_dir()
    assert list(tmp_path.iterdir()) == [fresh]
