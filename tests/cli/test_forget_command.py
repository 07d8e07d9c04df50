"""Sessions that a person deletes: for now, or for good."""

from pathlib import Path

from command import Whet


def test_what_is_never_wanted_stays_away_until_it_is_allowed_again(whet: Whet, examples: Path) -> None:
    path = str(examples / "openai")
    assert whet("import", path).code == 0
    assert "Every session may be imported" in whet("forget", "--list").out
    gone, stays = sorted(each["id"] for each in whet("sessions", "--json").json["sessions"])
    assert whet("forget", gone[:8], "--never", "--yes", "--json").json["never"]
    again = whet("import", path)
    assert "1 session left out that you never want back" in again.out
    assert [each["id"] for each in whet("sessions", "--json").json["sessions"]] == [stays]
    assert gone[:8] in whet("forget", "--list").out
    assert whet("forget", "--allow", "f00d").code == 1
    assert "may be imported again" in whet("forget", "--allow", gone[:8]).out
    assert whet("import", path, "--json").json["imported"] == 1
    assert whet("forget", "--list", "--json").json == {"never": []}


def test_what_is_only_forgotten_comes_back(whet: Whet, examples: Path) -> None:
    path = str(examples / "pi")
    whet("import", path)
    [session] = whet("sessions", "--json").json["sessions"]
    assert "--never keeps them out" in whet("forget", session["id"], "--yes").out
    assert whet("import", path, "--json").json["imported"] == 1
