"""What a person sees of the ledger, of what waits for them, and of their rules."""

import sys
import time
from pathlib import Path

import pytest

from command import Whet, on_a_terminal
from whet.changes.pending import submit
from whet.cli.shown.entries import entry_lines
from whet.ledger.entries import Actor, Entry, Key, Step
from whet.ledger.folding import Move
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, Proof
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened

TEXT = "Water the plants on Mondays."


@pytest.fixture
def waiting(tmp_path: Path) -> int:
    """A change that a stranger's page asked for."""
    proof = Proof("s1", 3, "tool_failure", "Error: \x1b[2J[red]dry[/red]")
    patch = Patch(
        Form.RULE, Action.ADD, "plants", TEXT, trust=Trust.EXTERNAL, origin=PatchOrigin(said="a page"), proofs=(proof,)
    )
    home = Home(tmp_path / "home")
    with opened(home) as database:
        return submit(home, database, patch, actor=Actor.AGENT, now=time.time()).number


def test_a_rule_is_added_shown_explained_and_taken_back(whet: Whet) -> None:
    assert whet("ledger").out.startswith("The ledger is empty")
    assert "is active" in whet("rules", "add", "plants", "Water", "the", "plants.").out
    assert [rule["trust"] for rule in whet("rules", "--json").json["rules"]] == ["operator"]
    assert "Water the plants." in whet("rules").out
    assert "+Water the plants." in whet("ledger", "show", "1").out
    assert whet("ledger", "show", "1", "--json").json["diff"].endswith("+Water the plants.")
    assert whet("ledger", "show", "water", "THE").out.startswith("Active:")
    whet("ledger", "undo")
    assert whet("rules", "--json").json["rules"] == []
    assert whet("ledger", "show", "water").out.startswith("No longer active, undone by entry 2")
    whet("ledger", "redo")
    assert whet("ledger", "undo", "1", "--note", "too wet", "--json").json["entries"][0]["note"] == "too wet"
    listing = whet("ledger", "--json").json
    assert [entry["step"] for entry in listing["entries"]] == ["reverted", "redone", "undone", "applied"]
    assert "reverted 1" in whet("ledger").out


def test_a_rule_is_removed(whet: Whet) -> None:
    whet("rules", "add", "plants", TEXT)
    assert "is removed" in whet("rules", "remove", "plants").out
    assert whet("rules", "remove", "plants").code == 1
    assert whet("ledger", "show", "plants").out.startswith("No longer active, removed by entry 2")


def test_a_rule_gets_another_text_and_keeps_its_scope(whet: Whet) -> None:
    whet("rules", "add", "plants", TEXT, "--tool", "hose")
    assert whet("rules", "add", "--replace", "plants", "Water them on Fridays.").code == 0
    (rule,) = whet("rules", "--json").json["rules"]
    assert (rule["text"], rule["scope"]["tools"]) == ("Water them on Fridays.", ["hose"])
    assert whet("ledger", "show", "Mondays").out.startswith("No longer active, replaced by entry 2")
    assert whet("rules", "add", "--replace", "weeds", TEXT).code == 1


def test_nothing_to_undo_gives_advice_and_fails(whet: Whet) -> None:
    for words in (("undo",), ("redo",), ("undo", "7"), ("show", "7"), ("show", "nothing")):
        done = whet("ledger", *words)
        assert done.code == 1
        assert "Traceback" not in done.err
        assert done.err.startswith("Error: ")
    assert whet("ledger", "show", "nothing", "--json").code == 1


def test_a_faulty_rule_is_refused_with_its_reason(whet: Whet) -> None:
    done = whet("rules", "add", "tools", "ghp_0123456789abcdefghijABCDEFGHIJ012345")
    assert done.code == 1
    assert "secret" in done.err


@pytest.mark.usefixtures("waiting")
def test_what_waits_is_listed_and_shown_with_its_source(whet: Whet) -> None:
    listed = whet("lessons", "--waiting").out
    assert TEXT in listed
    assert "external" in listed
    shown = whet("lessons", "show", "1").out
    assert f"+{TEXT}" in shown
    assert "session s1, message 3" in shown
    assert "trust external" in shown
    assert "\x1b" not in shown
    assert whet("lessons", "--waiting", "--json").json["waiting"][0]["trust"] == "external"
    assert whet("lessons", "show", "1", "--json").json["diff"].endswith(f"+{TEXT}")
    assert whet("lessons", "show", "2").code == 1


@pytest.mark.usefixtures("waiting")
def test_no_pipe_and_no_agent_approves(whet: Whet) -> None:
    piped = whet("lessons", "approve", "1", stdin="y\n")
    agent = whet("lessons", "approve", "1", stdin="y\n", variables={"CLAUDECODE": "1"})
    refusing = whet("lessons", "refuse", "1", variables={"CLAUDECODE": "1"})
    assert (piped.code, agent.code, refusing.code) == (1, 1, 1)
    assert "in a terminal" in piped.err
    assert "not the agent" in agent.err
    assert whet("rules", "--json").json["rules"] == []


@pytest.mark.usefixtures("waiting")
def test_a_person_approves_on_a_terminal(whet: Whet, tmp_path: Path) -> None:
    code, shown = on_a_terminal(tmp_path, "n\n", "lessons", "approve", "1")
    assert code == 130
    assert TEXT in shown
    assert whet("rules", "--json").json["rules"] == []
    code, shown = on_a_terminal(tmp_path, "y\n", "lessons", "approve", "1")
    assert code == 0, shown
    assert [rule["text"] for rule in whet("rules", "--json").json["rules"]] == [TEXT]
    assert "Nothing needs your approval" in whet("lessons", "--waiting").out


@pytest.mark.usefixtures("waiting")
def test_a_refused_change_is_gone_for_good(whet: Whet) -> None:
    assert whet("lessons", "refuse", "1", "--note", "no plants").code == 0
    assert whet("lessons", "--waiting", "--json").json["waiting"] == []


def test_what_an_agent_types_waits_for_a_person(whet: Whet) -> None:
    done = whet("rules", "add", "plants", TEXT, variables={"GEMINI_CLI": "1"})
    assert "needs a person's approval" in done.out
    assert whet("rules", "--json").json["rules"] == []
    assert whet("ledger", "undo", variables={"GEMINI_CLI": "1"}).code == 1


MENTION = (sys.executable, "-c", "from whet.cli.main import mention_pending; mention_pending()")


def test_other_commands_mention_what_waits(tmp_path: Path) -> None:
    assert on_a_terminal(tmp_path, "", program=MENTION) == (0, "")
    assert not (tmp_path / "home").exists()
    home = Home(tmp_path / "home")
    with opened(home) as database:
        for name in ("one", "two"):
            patch = Patch(Form.RULE, Action.ADD, name, f"alpha {name}", trust=Trust.TOOL)
            submit(home, database, patch, actor=Actor.AGENT, now=time.time())
    code, shown = on_a_terminal(tmp_path, "", program=MENTION)
    assert (code, shown.strip()) == (0, "2 changes to approve or refuse: whet lessons --waiting")


def test_what_is_taken_back_leaves_every_file_and_names_it(whet: Whet, tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    whet("rules", "add", "plants", TEXT)
    assert whet("sync", "add", str(file)).code == 0
    whet("sync")
    assert TEXT in file.read_text()
    undone = whet("ledger", "undo")
    assert str(file) in undone.out
    assert not file.exists() or TEXT not in file.read_text()
    assert whet("ledger", "redo", "--json").json["files"] == [{"path": str(file), "change": "written"}]
    assert TEXT in file.read_text()


def test_what_is_in_force_untried_says_so(whet: Whet) -> None:
    whet("rules", "add", "plants", TEXT)
    untried = "on your word, not tried"
    assert untried in whet("rules").out
    assert "whet try --without" in whet("rules").out
    assert untried in whet("rules", "show", "plants").out
    assert untried in whet("ledger").out
    assert untried in whet("ledger", "show", "1").out
    assert whet("rules", "--json").json["rules"][0]["grounds"] == untried


def test_a_ledger_that_was_changed_outside_is_shown_with_a_warning(whet: Whet, waiting: int, tmp_path: Path) -> None:
    assert not whet("ledger").err
    with opened(Home(tmp_path / "home")) as database:
        database.execute("DROP TRIGGER entries_stay_as_they_are")
        database.execute("UPDATE entries SET maker = 'another'")
    shown = whet("ledger")
    assert f"entry {waiting} is not as it was entered" in shown.err
    assert TEXT in shown.out


def test_why_finds_what_waits_and_what_was_refused(whet: Whet, waiting: int) -> None:
    assert whet("ledger", "show", "Mondays").out.startswith(
        "Not active. Waits for your approval: `whet lessons --waiting`"
    )
    assert [each["state"] for each in whet("ledger", "show", "Mondays", "--json").json["entries"]] == ["waits"]
    assert whet("lessons", "refuse", str(waiting)).code == 0
    assert whet("ledger", "show", "Mondays").out.startswith("Not active. Refused, entry 2")
    assert whet("ledger", "show", "Sundays").code == 1


def test_what_the_person_did_not_decide_on_is_named_and_asked_about_before_it_is_undone(
    whet: Whet, tmp_path: Path
) -> None:
    whet("rules", "add", "plants", TEXT)
    assert whet("jobs", "add", "0 9 * * *", "Count the leaves.", "--name", "leaves").code == 0
    refused = whet("ledger", "undo")
    assert refused.code == 1
    assert "add job leaves" in refused.err
    job = whet("ledger", "--json").json["entries"][0]["id"]
    assert f"whet ledger undo {job}" in refused.err
    code, shown = on_a_terminal(tmp_path, "n\n", "ledger", "undo")
    assert code != 0
    assert "add job leaves" in shown
    assert [job["name"] for job in whet("jobs", "--json").json["jobs"]] == ["leaves"]
    code, _ = on_a_terminal(tmp_path, "y\n", "ledger", "undo")
    assert code == 0
    assert whet("jobs", "--json").json["jobs"] == []
    assert whet("ledger", "undo").code == 0, "the person's own rule needs no question"
    assert whet("rules", "--json").json["rules"] == []


def test_a_source_without_a_quote_is_named_without_empty_marks() -> None:
    patch = Patch(Form.RULE, Action.ADD, "plants", TEXT, proofs=(Proof("s1", 3, "example", ""),))
    entry = Entry(1, Step.PROPOSED, patch, Actor.PERSON, 1.0)
    lines = tuple(entry_lines(entry, Move(Key(Form.RULE, "plants", ""), None, TEXT), str))
    assert "[none]seen in session s1, message 3: example[/]" in lines
