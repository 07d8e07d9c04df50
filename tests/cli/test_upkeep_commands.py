"""whet backup, whet restore and whet doctor, as a person runs them."""

import contextlib
import shutil
from pathlib import Path

import apsw
import pytest

from command import Whet, on_a_terminal
from kept_home import flip, page_of


def test_a_home_comes_back_from_its_backup(whet: Whet, tmp_path: Path, examples: Path) -> None:
    whet("import", str(examples / "claude-code"))
    before = whet("sessions", "--json").json
    made = whet("backup", str(tmp_path / "b.zip"), "--json")
    assert made.code == 0, made.err
    assert made.json["sessions"] == before["total"] > 0
    shutil.rmtree(tmp_path / "home")
    done = whet("restore", str(tmp_path / "b.zip"))
    assert (done.code, done.err) == (0, "")
    assert "whet doctor" in done.out
    assert whet("sessions", "--json").json == before


def test_a_home_is_replaced_after_a_yes(whet: Whet, tmp_path: Path, examples: Path) -> None:
    whet("import", str(examples / "claude-code"))
    whet("backup", str(tmp_path / "b.zip"))
    refused = whet("restore", str(tmp_path / "b.zip"))
    assert (refused.code, "--replace" in refused.err) == (1, True)
    assert whet("restore", str(tmp_path / "b.zip"), "--replace", "--yes", allowed=False).code == 1
    code, shown = on_a_terminal(tmp_path, "n\n", "restore", str(tmp_path / "b.zip"), "--replace")
    assert (code, "Nothing was done" in shown) == (130, True)
    code, shown = on_a_terminal(tmp_path, "y\n", "restore", str(tmp_path / "b.zip"), "--replace")
    assert code == 0, shown
    assert "home.replaced-" in shown.replace("\r\n", "")


def test_an_agent_may_not_restore(whet: Whet, tmp_path: Path) -> None:
    whet("config", "set", "model", "local")
    whet("backup", str(tmp_path / "b.zip"))
    shutil.rmtree(tmp_path / "home")
    done = whet("restore", str(tmp_path / "b.zip"), variables={"CLAUDECODE": "1"})
    assert (done.code, "agent" in done.err) == (1, True)
    assert not (tmp_path / "home").exists()


READING = ("show", "sessions", "search", "stats", "signals", "lessons", "report", "ledger", "rules", "status", "export")
CHANGES = (
    "UPDATE messages SET body = x'7b' WHERE position = 1",
    "UPDATE messages SET body = 7",
    "UPDATE analyses SET record = x'7b'",
    "UPDATE sessions SET facts = 'x', head = 3",
)


def read_all(whet: Whet, session: str) -> list[str]:
    """The commands that fail with anything but words for a person."""
    more = {"show": (session,), "search": ("the",), "export": (session,)}
    found = [(name, whet(name, *more.get(name, ()))) for name in READING]
    assert all(done.code in (0, 1) for _, done in found), found
    return [f"{name}: {done.err}" for name, done in found if "Traceback" in done.err]


@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_cannot_be_read_are_said_and_are_no_tracebacks(
    whet: Whet, tmp_path: Path, examples: Path, change: str
) -> None:
    whet("import", str(examples / "claude-code"), str(examples / "codex"))
    session = whet("sessions", "--json").json["sessions"][0]["id"]
    whet("stats")
    with contextlib.closing(apsw.Connection(str(tmp_path / "home" / "whet.db"))) as connection:
        connection.execute(change)
    assert read_all(whet, session) == []
    doctor = whet("doctor", "--json")
    assert "Traceback" not in doctor.err
    assert doctor.code == (0 if "analyses" in change else 1)


def test_a_damaged_file_is_said_and_what_can_be_read_is_saved(whet: Whet, tmp_path: Path, examples: Path) -> None:
    whet("import", str(examples))
    whet("memory", "add", "The user likes tea.")
    session = whet("sessions", "--json").json["sessions"][0]["id"]
    path = tmp_path / "home" / "whet.db"
    flip(path, page_of(path, "messages"))
    assert read_all(whet, session) == []
    failed = whet("doctor", "--json")
    assert (failed.code, failed.json["ok"]) == (1, False)
    assert all(row["fix"] for row in failed.json["checks"] if row["health"] == "failed")
    saved = whet("doctor", "--repair")
    assert (saved.code, "whet import" in saved.out) == (0, True), saved.err
    assert whet("import", str(examples)).code == 0
    again = {row["name"]: row["health"] for row in whet("doctor", "--json").json["checks"]}
    assert (again["database"], again["sessions"], again["ledger"]) == ("ok", "ok", "ok")
    assert "tea" in whet("memory").out
