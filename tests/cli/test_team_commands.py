"""What members of a team see of each other's rules."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from command import Whet, runner
from team import ALICE, MALLORY, Team, team


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_url, f"commands_{abs(hash(str(tmp_path)))}", tmp_path / "owner") as made:
        yield made


def member(shop: Team, tmp_path: Path, role: str) -> Whet:
    person = tmp_path / f"person-{role}"
    person.mkdir()
    run = runner(tmp_path / role, person)
    return lambda *arguments: run(*arguments, variables={"WHET_DATABASE_URL": shop.url(role)})


def test_the_ledger_names_who_made_an_entry_and_a_colleagues_rule_waits(shop: Team, tmp_path: Path) -> None:
    alice, mallory = member(shop, tmp_path, ALICE), member(shop, tmp_path, MALLORY)
    assert mallory("rules", "add", "brief", "Answer briefly.").code == 0
    assert alice("rules", "add", "tests", "Run the tests.").code == 0
    listed = alice("ledger", "--json").json["entries"]
    assert [(each["maker"], each["counts"]) for each in listed] == [(ALICE, True), (MALLORY, False)]
    shown = alice("ledger").out
    assert MALLORY in shown
    assert "here only if you approve them" in shown
    assert f"applied by a person ({MALLORY})" in alice("ledger", "show", "1").out
    assert alice("ledger", "show", "1", "--json").json["maker"] == MALLORY
    assert [(rule["name"], rule["maker"]) for rule in alice("rules", "--json").json["rules"]] == [("tests", ALICE)]
    [waiting] = alice("lessons", "--waiting", "--json").json["waiting"]
    assert (waiting["id"], waiting["maker"], waiting["step"], waiting["text"]) == (
        1,
        MALLORY,
        "suggested",
        "Answer briefly.",
    )
    assert "+Answer briefly." in alice("lessons", "show", "1").out
    assert "changed nothing that is active" not in alice("lessons", "refuse", "1").err
    assert alice("lessons", "--waiting", "--json").json["waiting"] == []


def test_an_entry_of_another_home_cannot_be_reverted_from_here(shop: Team, tmp_path: Path) -> None:
    alice, mallory = member(shop, tmp_path, ALICE), member(shop, tmp_path, MALLORY)
    assert mallory("memory", "add", "The tea is in the tin.").code == 0
    number = mallory("ledger", "--json").json["entries"][0]["id"]
    done = alice("ledger", "undo", str(number))
    assert done.code == 1
    assert "files of another home" in done.err


def test_status_says_what_is_shared_with_whom_and_pending_whose_rule_it_is(shop: Team, tmp_path: Path) -> None:
    alice, mallory = member(shop, tmp_path, ALICE), member(shop, tmp_path, MALLORY)
    assert mallory("rules", "add", "brief", "Answer briefly.").code == 0
    found = alice("status", "--json").json["team"]
    assert (found["member"], found["others"], found["rules"]) == (ALICE, [MALLORY], {})
    assert {"sessions", "rules"} <= set(found["shared"])
    assert {"notes", "skills", "cases", "jobs"} <= set(found["not_shared"])
    shown = " ".join(alice("status").out.split())
    assert f"you are {ALICE}, with {MALLORY}. Shared: sessions, rules" in shown
    assert "Only on this machine: notes, skills" in shown
    assert f"active for {MALLORY}, another member" in " ".join(alice("lessons", "--waiting").out.split())
    (tmp_path / ALICE / "settings.toml").write_text(f'[team]\nadmins = ["{MALLORY}"]\n')
    assert alice("status", "--json").json["team"]["rules"] == {MALLORY: 1}
    assert "(1 active here by others)" in " ".join(alice("status").out.split())
    assert MALLORY in alice("rules").out


def test_another_members_rule_cannot_be_reverted_and_is_not_said_to_be_undone(shop: Team, tmp_path: Path) -> None:
    alice, mallory = member(shop, tmp_path, ALICE), member(shop, tmp_path, MALLORY)
    assert mallory("rules", "add", "brief", "Answer briefly.").code == 0
    number = mallory("ledger", "--json").json["entries"][0]["id"]
    done = alice("ledger", "undo", str(number))
    assert done.code == 1
    assert f"is by {MALLORY}" in done.err
    assert "undone" not in done.err


def test_nobody_deletes_a_colleagues_sessions_unasked(shop: Team, tmp_path: Path, examples: Path) -> None:
    alice, mallory = member(shop, tmp_path, ALICE), member(shop, tmp_path, MALLORY)
    assert alice("import", str(examples / "pi")).code == 0
    assert mallory("import", str(examples / "codex")).code == 0
    [hers] = alice("sessions", "--source", "pi", "--json").json["sessions"]
    for what in (("--source", "pi"), (hers["id"],)):
        refused = mallory("forget", *what, "--yes")
        assert (refused.code, f"1 session is of {ALICE}" in refused.err, "--everyone" in refused.err) == (1, True, True)
    assert alice("sessions", "--json", "--source", "pi").json["total"] == 1
    asked = mallory("forget", hers["id"], "--everyone")
    assert (asked.code, f"(1 session is of {ALICE})?" in asked.err) == (130, True)
    assert alice("forget", "--source", "pi", "--yes").code == 0
    assert alice("import", str(examples / "pi")).code == 0
    assert mallory("forget", hers["id"], "--everyone", "--yes").code == 0
    assert alice("sessions", "--json", "--source", "pi").json["total"] == 0
