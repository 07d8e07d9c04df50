"""Sessions that a person deletes: for now, or for good."""

from pathlib import Path

from command import Whet


def test_what_is_never_wanted_stays_away(whet: Whet, examples: Path) -> None:
    path = str(examples / "openai")
    assert whet("import", path).code == 0
    gone, stays = sorted(each["id"] for each in whet("sessions", "--json").json["sessions"])
    assert whet("forget", gone[:8], "--never", "--yes", "--json").json["never"]
    again = whet("import", path)
    assert "1 session left out that you never want back" in again.out
    assert [each["id"] for each in whet("sessions", "--json").json["sessions"]] == [stays]


def test_what_is_only_forgotten_comes_back(whet: Whet, examples: Path) -> None:
    path = str(examples / "pi")
    whet("import", path)
    [session] = whet("sessions", "--json").json["sessions"]
    assert "--never keeps them out" in whet("forget", session["id"], "--yes").out
    assert whet("import", path, "--json").json["imported"] == 1
