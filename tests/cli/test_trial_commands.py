"""whet cases, whet try and whet try --template, as people and programs use them."""

import json
import os
from pathlib import Path

import pytest

from command import Whet
from whet.agent.tools.sandbox import Wall, probe
from whet.cli.options import allowance_of
from whet.errors import WhetError
from whet.own.examples.templates import Example, Template, written
from whet.trials.attempts import Arm
from whet.trials.design import Allowance

sandboxed = pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")
EDIT = {"name": "edit", "arguments": '{"path": "config.ini", "old": "8080", "new": "9000"}'}
RULE = "Read a file before you edit it."


@pytest.fixture
def script(tmp_path: Path, whet: Whet) -> Path:
    """A model that does the example case right, whatever it is told."""
    path = tmp_path / "script.jsonl"
    lines = ({"calls": [EDIT], "usage": {"input": 100, "output": 10}}, {"text": "Port 9000.", "usage": {"input": 120}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert whet("config", "model", f"scripted:{path}").code == 0
    return path


@sandboxed
@pytest.mark.usefixtures("script")
def test_a_new_case_can_be_run_as_it_is(whet: Whet) -> None:
    assert whet("cases").out.startswith("No cases yet")
    path = Path(whet("cases", "add", "--new", "fix-the-port", "--json").json["path"])
    assert path.read_text().startswith("# What the agent is asked")
    [listed] = whet("cases", "--json").json
    assert (listed["name"], listed["checks"]) == ("fix-the-port", ["command", "files"])
    done = whet("cases", "run", "--times", "2", "--json").json
    assert (done["passed"], done["attempts"], done["reused"], done["spent"]["input"]) == (2, 2, 0, 440)
    again = whet("cases", "run", "fix-the-port", "--times", "2", "--json").json
    assert (again["passed"], again["reused"]) == (2, 2)
    assert "9000" in whet("cases", "show", "fix-the-port").out
    assert whet("cases", "run", "nothing").code == 1


@sandboxed
@pytest.mark.usefixtures("script")
def test_a_case_that_always_passes_is_found_by_screening_and_not_tried(whet: Whet) -> None:
    whet("cases", "add", "--new", "fix-the-port")
    screened = whet("cases", "run", "--screen", "--times", "2")
    assert "2 of 2" in screened.out
    assert "0 cases can show something; 1 always passed." in screened.out
    refused = whet("try", "--rule", RULE, "--dry-run")
    assert refused.code == 1
    assert "Every case passes without the change" in refused.err


def test_a_broken_case_is_shown_with_its_fault(whet: Whet, tmp_path: Path) -> None:
    whet("cases", "add", "--new", "one", "--folder", str(tmp_path / "cases"))
    (tmp_path / "cases" / "two.toml").write_text("task = 'Do it.'\n")
    done = whet("cases", "--folder", str(tmp_path / "cases"))
    assert done.code == 1
    assert "no check" in done.out


def more_cases(path: Path) -> None:
    """As many as a first trial needs to be able to prove anything."""
    for number in range(2, 7):
        (path.parent / f"fix-the-port-{number}.toml").write_text(path.read_text())


@sandboxed
@pytest.mark.usefixtures("script")
def test_a_rule_is_tried_at_once_and_the_verdict_is_in_the_ledger(whet: Whet) -> None:
    path = Path(whet("cases", "add", "--new", "fix-the-port", "--json").json["path"])
    refused = whet("try", "--rule", RULE, "--now")
    assert (refused.code, "5 more are needed" in " ".join(refused.err.split())) == (1, True)
    more_cases(path)
    plan = whet("try", "--rule", RULE, "--now", "--dry-run", "--json").json
    assert (plan["cases"], plan["arms"]) == (6, [arm.value for arm in Arm])
    said = " ".join(whet("try", "--rule", RULE, "--now", "--dry-run").out.split())
    assert "runs the cases in Whet's own agent: the verdict is for that model. To judge for another agent" in said
    record = whet("try", "--rule", RULE, "--now", "--json").json
    assert (record["verdict"], record["effect"], record["stop"]) == ("undecided", 0.0, "cases")
    assert len(record["useless"]["always"]) == 6
    assert record["arms"]["candidate"]["first_success_turn"] == 1.0
    assert record["cache"]["added_tokens"] > 0
    [entry] = whet("ledger", "--json").json["entries"]
    assert (entry["step"], entry["id"]) == ("undecided", record["entry"])
    assert whet("rules", "--json").json["rules"] == []
    told = " ".join(whet("ledger", "show", str(record["entry"])).out.split())
    assert "Undecided: helped in 0 of 6 cases; every attempt passed, with it and without; harder cases would" in told
    assert '{"' not in told
    attempts = whet("sessions", "--all", "--json").json["total"]
    assert whet("sessions", "--purpose", "trial", "--json").json["total"] == attempts > 0
    assert f"{attempts} sessions of trials and reviews are left out (--all)." in whet("sessions").out
    assert whet("status", "--json").json["sessions"]["all"] == 0


@sandboxed
@pytest.mark.usefixtures("script")
def test_a_template_is_tried_on_the_engine_and_its_worth_is_kept(whet: Whet, tmp_path: Path) -> None:
    more_cases(Path(whet("cases", "add", "--new", "fix-the-port", "--json").json["path"]))
    folder = tmp_path / "home" / "templates"
    folder.mkdir()
    template = Template("edits", (Example("edit", '{"path": "a", "old": "b", "new": "c"}', "Done.", "Change b."),))
    (folder / "edits.json").write_text(written(template))
    record = whet("try", "--template", "edits", "--json").json
    assert (record["form"], record["verdict"], record["cases"]) == ("template", "undecided", 6)
    stats = whet("templates", "--stats", "--json").out
    assert '"cases": 6' in stats
    [work, *_] = [each for each in whet("worker", "list", "--json").json["work"] if each["kind"] == "trial"]
    assert work["state"] == "done"
    assert "undecided" in work["summary"]


@pytest.mark.usefixtures("script")
def test_mistakes_are_told_before_anything_is_spent(whet: Whet, tmp_path: Path) -> None:
    whet("cases", "add", "--new", "fix-the-port")
    (tmp_path / "patch.json").write_text('{"form": "rule"}')
    for arguments in (
        ("try", "--fresh"),
        ("try", "7", "--rule", RULE),
        ("try", "7"),
        ("try", "--without", "nothing"),
        ("try", str(tmp_path / "patch.json")),
        ("try", "--rule", RULE, "--budget", "much"),
        ("try", "--rule", RULE, "--now", "--background"),
    ):
        done = whet(*arguments)
        assert (done.code, done.err.count("\n") >= 2) == (1, True), arguments
    assert whet("sessions", "--json").json["sessions"] == []


@pytest.mark.usefixtures("script")
def test_an_agent_may_leave_a_rule_out_and_try_no_words_of_its_own(whet: Whet) -> None:
    whet("cases", "add", "--new", "fix-the-port")
    agent = {"WHET_RUN": "run-1"}
    assert whet("try", "--rule", RULE, "--dry-run", variables=agent).code == 1
    assert whet("rules", "add", "calm", RULE).code == 0
    assert whet("try", "--without", "calm", "--dry-run", variables=agent).code == 0


@pytest.mark.usefixtures("imported")
def test_cases_of_a_failed_session(whet: Whet) -> None:
    ids = [session["id"] for session in whet("sessions", "--json", "--limit", "50").json["sessions"]]
    found = {id: whet("cases", "add", id, "--dry-run", "--json") for id in ids[:3]}
    for done in found.values():
        assert done.code == (0 if done.json["cases"] else 1)
        assert len(done.json["cases"]) + len(done.json["left_out"]) == 2


def test_budgets_have_units() -> None:
    assert allowance_of(("2$", "3,000tokens", "60s")) == Allowance(2.0, 3000, 60.0)
    assert allowance_of(("$0.5",)) == Allowance(dollars=0.5)
    for wrong in ("2", "-1$", "$", "ten tokens"):
        with pytest.raises(WhetError, match="not a budget"):
            allowance_of((wrong,))
