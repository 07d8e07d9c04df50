"""What hooks left is taken in once, by whoever comes first; what cannot be read stays with its reason."""

import json
import shutil
from pathlib import Path

import pytest

from whet.intake.arrivals import is_waiting, take_spool
from whet.store.canary_counts import session_draws, told_entries
from whet.store.database import Database
from whet.store.home import Home
from whet.telling.hooks import events
from whet.telling.hooks.starting import SessionDraw

NOW = 0.0  # before anything arrived, so that nothing is too old


@pytest.fixture
def record(examples: Path, tmp_path: Path) -> Path:
    """The record of a session of Claude Code."""
    source = next(path for path in sorted(examples.rglob("*.jsonl")) if '"sessionId"' in path.read_text())
    return Path(shutil.copy(source, tmp_path / "s1.jsonl"))


def ended(home: Home, record: Path, session: str = "s1") -> None:
    events.put_in_spool(str(home.folder), "session-end", "claude-code", session, path=str(record), folder="/src")


def sessions(database: Database) -> int:
    return int(database.query("SELECT count(*) FROM sessions")[0][0])


def left(home: Home) -> list[str]:
    return sorted(path.name for path in (home.folder / "spool").rglob("*") if path.is_file())


def test_a_session_that_ended_is_imported_and_leaves_the_spool(home: Home, database: Database, record: Path) -> None:
    ended(home, record)
    assert is_waiting(home)
    taken = take_spool(home, database, secrets=(), now=NOW)
    assert (taken.done, taken.report.imported, taken.kept) == (1, 1, ())
    assert sessions(database) == 1
    assert left(home) == []
    assert not is_waiting(home)
    assert take_spool(home, database, secrets=(), now=NOW).done == 0


def test_a_session_that_goes_on_is_taken_in_again(home: Home, database: Database, record: Path) -> None:
    whole = record.read_bytes()
    record.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    for body in (record.read_bytes(), whole):
        record.write_bytes(body)
        ended(home, record)
        take_spool(home, database, secrets=(), now=NOW)
    assert sessions(database) == 1
    assert left(home) == []


def test_a_record_that_cannot_be_read_stays_with_its_reason_until_it_can(
    home: Home, database: Database, record: Path
) -> None:
    good = record.read_bytes()
    record.write_text("this is no session\n")
    ended(home, record)
    ended(home, record.with_name("gone.jsonl"), "s2")
    for _ in range(2):
        taken = take_spool(home, database, secrets=(), now=NOW)
        assert taken.done == 0
        assert {Path(each.path).name: each.reason for each in taken.kept} == {
            "s1.jsonl": "not a session of a known format",
            "gone.jsonl": "No such file or directory",
        }
    assert taken.report.files == 0, "what has not changed is not read again"
    record.write_bytes(good)
    taken = take_spool(home, database, secrets=(), now=NOW)
    assert (taken.done, sessions(database)) == (1, 1)
    assert [Path(each.path).name for each in taken.kept] == ["gone.jsonl"]


def test_a_record_that_is_gone_for_weeks_leaves_the_spool(home: Home, database: Database, tmp_path: Path) -> None:
    ended(home, tmp_path / "gone.jsonl")
    take_spool(home, database, secrets=(), now=NOW)
    [file] = (home.folder / "spool" / "kept").glob("*.json")
    at = json.loads(file.read_text())["at"]
    take_spool(home, database, secrets=(), now=at + 29 * 86_400)
    assert left(home) != []
    take_spool(home, database, secrets=(), now=at + 31 * 86_400)
    assert left(home) == []


DEEP = b'{"event": ' + b'{"a":' * 300_000 + b"1" + b"}" * 300_001


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"event": 3}', b'{"event": "\xff"}', DEEP])
def test_a_damaged_file_of_the_spool_hinders_nothing(home: Home, database: Database, record: Path, body: bytes) -> None:
    ended(home, record)
    (home.folder / "spool" / "session-end-0.json").write_bytes(body)
    taken = take_spool(home, database, secrets=(), now=NOW)
    assert (taken.done, sessions(database)) == (1, 1)
    assert [each.reason.startswith("not a file of the spool") for each in taken.kept] == [True]


@pytest.mark.parametrize(
    "path", ["/" + "a" * 4090, "a" * 300, "/" + "b" * 5000, "/tmp/\0x", "", "/" + "é" * 200 + ".jsonl"]
)
def test_a_path_that_no_file_can_have_hinders_nothing(home: Home, database: Database, record: Path, path: str) -> None:
    events.put_in_spool(str(home.folder), "session-end", "claude-code", "bad", path=path, folder="/src")
    ended(home, record)
    assert take_spool(home, database, secrets=(), now=NOW).done == 1
    taken = take_spool(home, database, secrets=(), now=NOW)
    assert (taken.done, len(taken.kept)) == (0, 1)
    take_spool(home, database, secrets=(), now=1e12)
    assert left(home) == []


def test_what_was_moved_aside_by_one_who_died_is_taken_in(home: Home, database: Database, record: Path) -> None:
    ended(home, record)
    kept = home.folder / "spool" / "kept"
    kept.mkdir()
    [file] = (home.folder / "spool").glob("*.json")
    file.rename(kept / file.name)
    assert take_spool(home, database, secrets=(), now=NOW).done == 1


def test_draws_are_kept_once_and_the_first_holds(home: Home, database: Database) -> None:
    for told in (True, False):
        draws = (SessionDraw(7, told, 0.5),)
        more = {"folder": "/src", "draws": draws, "entries": (7, 3) if told else ()}
        events.put_in_spool(str(home.folder), "session-start", "codex", "s1", **more)
        take_spool(home, database, secrets=(), now=NOW)
    [kept] = session_draws(database, 7)
    assert (kept.told, kept.share, kept.agent, kept.session) == (True, 0.5, "codex", "s1")
    assert told_entries(database, "codex", "s1") == frozenset((3, 7))
    assert told_entries(database, "codex", "s2") is None
    assert left(home) == []


def test_nothing_is_done_where_no_hook_ever_ran(home: Home, database: Database) -> None:
    assert take_spool(home, database, secrets=(), now=NOW).done == 0
    assert not (home.folder / "spool").exists()


def test_sessions_with_any_id_have_files_of_their_own(home: Home) -> None:
    ids = ("a/b", "a b", "../x", "é", "a" * 300, "a-b", "a_b", ".", "")
    names = {events.spool_name("session-end", "codex", each) for each in ids}
    assert len(names) == len(ids)
    for each in ids:
        path = Path(events.put_in_spool(str(home.folder), "session-end", "codex", each, path="/x", folder="/"))
        assert path.parent == home.folder / "spool"
