"""whet backup, whet restore and whet doctor, as a person runs them."""

import contextlib
import shutil
import subprocess
from pathlib import Path

import apsw
import pytest

from command import COMMAND, Whet, environment, on_a_terminal, runner
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
    assert "A backup has no API keys" in done.out
    assert whet("sessions", "--json").json == before


def test_a_home_is_replaced_after_a_yes(whet: Whet, tmp_path: Path, examples: Path) -> None:
    whet("import", str(examples / "claude-code"))
    whet("backup", str(tmp_path / "b.zip"))
    refused = whet("restore", str(tmp_path / "b.zip"))
    assert (refused.code, "--replace" in refused.err) == (1, True)
    unasked = whet("restore", str(tmp_path / "b.zip"), "--replace", "--yes", allowed=False)
    assert (unasked.code, "trust.commands" in unasked.err) == (1, True)
    code, shown = on_a_terminal(tmp_path, "n\n", "restore", str(tmp_path / "b.zip"), "--replace")
    assert (code, "Nothing was done" in shown) == (130, True)
    code, shown = on_a_terminal(tmp_path, "y\n", "restore", str(tmp_path / "b.zip"), "--replace")
    assert code == 0, shown
    assert "home.replaced-" in shown.replace("\r\n", "")


@pytest.mark.parametrize("damage", [b"[trust", b"\xff\x00\xfe", b"trust = 3\n"])
def test_a_home_with_damaged_settings_is_replaced(whet: Whet, tmp_path: Path, damage: bytes) -> None:
    whet("config", "model", "local")
    whet("backup", str(tmp_path / "b.zip"))
    settings = tmp_path / "home" / "settings.toml"
    before = settings.read_bytes()
    settings.write_bytes(damage)
    code, shown = on_a_terminal(tmp_path, "y\n", "restore", str(tmp_path / "b.zip"), "--replace")
    assert code == 0, shown
    assert settings.read_bytes() == before


def test_an_agent_may_not_restore(whet: Whet, tmp_path: Path) -> None:
    whet("config", "model", "local")
    whet("backup", str(tmp_path / "b.zip"))
    shutil.rmtree(tmp_path / "home")
    done = whet("restore", str(tmp_path / "b.zip"), variables={"CLAUDECODE": "1"})
    assert (done.code, "Only a person may restore" in done.err) == (1, True)
    assert not (tmp_path / "home").exists()


READING = ("show", "sessions", "search", "lessons", "report", "ledger", "rules", "status", "export")
CHANGES = (
    "UPDATE messages SET body = x'7b' WHERE position = 1",
    "UPDATE messages SET body = 7",
    "UPDATE derived SET record = x'7b'",
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
    whet("report")
    with contextlib.closing(apsw.Connection(str(tmp_path / "home" / "whet.db"))) as connection:
        connection.execute(change)
    assert read_all(whet, session) == []
    doctor = whet("doctor", "--json")
    assert "Traceback" not in doctor.err
    assert doctor.code == (0 if "derived" in change else 1)


def test_a_damaged_engine_is_said_with_its_fix(whet: Whet, tmp_path: Path, examples: Path) -> None:
    whet("import", str(examples / "pi"))
    (tmp_path / "home" / "engine.db").write_bytes(b"SQLite format 3\0" + b"\xa5" * 9000)
    for command in (["worker", "list"], ["worker", "--until-idle"], ["status"]):
        done = whet(*command)
        assert (done.code, done.err.startswith("Error: "), "engine.db away" in done.err) == (1, True, True), done.err


def test_a_home_that_is_a_file_is_said_once(tmp_path: Path, person: Path) -> None:
    (tmp_path / "home").touch()
    whet = runner(tmp_path / "home", person)
    for command in ("doctor", "sessions", "worker"):
        done = whet(command)
        assert (done.code, done.err.count("is not a folder")) == (1, 1), done.err
        assert done.out.count("not a folder") == 0


@pytest.mark.parametrize("arguments", ["sessions", "sessions --json", "--help", "--version", "report"])
def test_output_that_nobody_takes_is_no_traceback(whet: Whet, tmp_path: Path, examples: Path, arguments: str) -> None:
    whet("import", str(examples / "pi"))
    for where, code, words in (
        (">/dev/full", 1, "Error: The output cannot be written: No space left on device.\n"),
        (">&-", 0, ""),
    ):
        line = f"exec {COMMAND} {arguments} {where}"
        variables = environment(tmp_path / "home", tmp_path)
        done = subprocess.run(["sh", "-c", line], env=variables, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (code, words)


def test_a_damaged_file_is_said_and_a_backup_takes_its_place(whet: Whet, tmp_path: Path, examples: Path) -> None:
    whet("import", str(examples))
    whet("memory", "add", "The user likes tea.")
    session = whet("sessions", "--json").json["sessions"][0]["id"]
    whet("backup", str(tmp_path / "b.zip"))
    path = tmp_path / "home" / "whet.db"
    flip(path, page_of(path, "messages"))
    assert read_all(whet, session) == []
    failed = whet("doctor", "--json")
    assert (failed.code, failed.json["ok"]) == (1, False)
    assert all(row["fix"] for row in failed.json["checks"] if row["health"] == "failed")
    shutil.rmtree(tmp_path / "home")
    assert whet("restore", str(tmp_path / "b.zip")).code == 0
    again = {row["name"]: row["health"] for row in whet("doctor", "--json").json["checks"]}
    assert (again["database"], again["sessions"], again["ledger"]) == ("ok", "ok", "ok")
    assert "tea" in whet("memory").out
