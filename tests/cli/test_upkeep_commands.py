"""whet backup, whet restore and whet doctor, as a person runs them."""

import shutil
from pathlib import Path

from command import Whet, on_a_terminal


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
    assert "home.replaced-" in shown


def test_an_agent_may_not_restore(whet: Whet, tmp_path: Path) -> None:
    whet("config", "set", "model", "local")
    whet("backup", str(tmp_path / "b.zip"))
    shutil.rmtree(tmp_path / "home")
    done = whet("restore", str(tmp_path / "b.zip"), variables={"CLAUDECODE": "1"})
    assert (done.code, "agent" in done.err) == (1, True)
    assert not (tmp_path / "home").exists()
