"""whet try --agent: a change tried on an agent of the person's own, as a person and as a program use it."""

import json
import os
from pathlib import Path

import pytest

from cli.test_improve_commands import with_failures
from command import Whet, on_a_terminal
from lengths import long
from whet.agent.tools.sandbox import Wall, probe
from whet.own.examples.templates import Example, Template, written

pytestmark = pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")
RULE = "Run the tests with `./dev test`."
# Does what the rule asks for, where it stands in the file that it reads.
AGENT = """#!/bin/sh
echo "$1" >task
if grep -qs "./dev test" AGENTS.md; then echo ran >ran; fi
echo Done.
"""
CASE = """task = "Run the tests, number {number}."
[check]
command = "test -e ran"
[budget]
seconds = 60.0
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    for number in range(8):
        (folder / f"case-{number}.toml").write_text(CASE.format(number=number))
    return folder


def agent(whet: Whet, tmp_path: Path, text: str = AGENT) -> None:
    program = tmp_path / "agent"
    program.write_text(text)
    program.chmod(0o755)
    assert whet("config", "agents.mine.command", f"{program} {{task}}").code == 0


def test_a_rule_that_helps_is_accepted_and_nonsense_is_not(whet: Whet, tmp_path: Path, cases: Path) -> None:
    agent(whet, tmp_path)
    options = ("--agent", "mine", "--cases", str(cases), "--yes", "--now", "--no-placebo", "--json")
    record = whet("try", "--rule", RULE, *options).json
    assert (record["verdict"], record["agent"]["name"]) == ("accept", "mine")
    assert record["arms"]["base"]["passed"] == 0
    assert (record["cache"]["added_tokens"] > 0, record["invalid"]) == (True, 0)
    nonsense = whet("try", "--rule", "Begin every command with `true;`.", *options).json
    assert (nonsense["verdict"], nonsense["effect"]) == ("undecided", 0)
    assert nonsense["reused"] > 0, "what the base did is known"
    assert whet("rules", "--json").json["rules"] == []


def test_a_skill_and_a_rule_that_is_left_out_are_tried_too(whet: Whet, tmp_path: Path, cases: Path) -> None:
    options = ("--agent", "mine", "--cases", str(cases), "--yes", "--now", "--no-placebo", "--json")
    patch = tmp_path / "skill.json"
    text = "---\nname: testing\ndescription: How tests are run here.\n---\nRun `./dev test`.\n"
    patch.write_text(json.dumps({"form": "skill", "action": "add", "name": "testing", "text": text}))
    agent(whet, tmp_path, AGENT.replace("AGENTS.md", "skills/testing/SKILL.md"))
    assert "no folder for them is set" in whet("try", str(patch), *options).err
    whet("config", "agents.mine.skills", "skills")
    assert whet("try", str(patch), *options).json["verdict"] == "accept"
    agent(whet, tmp_path)
    whet("rules", "add", "dev-test", RULE)
    assert whet("try", "--without", "dev-test", *options).json["verdict"] == "reject"


@long
def test_it_is_carried_out_on_the_engine_too(whet: Whet, tmp_path: Path, cases: Path) -> None:
    agent(whet, tmp_path)
    record = whet("try", "--rule", RULE, "--agent", "mine", "--cases", str(cases), "--yes", "--json").json
    assert (record["verdict"], record["lesson"]["verdict"]) == ("accept", "accept")


def test_a_person_sees_what_it_may_take_and_agrees_first(whet: Whet, tmp_path: Path, cases: Path) -> None:
    agent(whet, tmp_path)
    options = ("try", "--rule", RULE, "--agent", "mine", "--cases", str(cases), "--budget", "30min", "--now")
    code, shown = on_a_terminal(tmp_path, "n\n", *options)
    assert code == 130
    words = " ".join(shown.split())
    for said in ("at most 1 min", "It ends at 30 min", "in your name", "Start mine?"):
        assert said in words
    assert not whet("ledger", "--json").json["entries"]
    done = whet(*options)
    assert (done.code, "--yes" in done.err) == (1, True)
    assert whet(*options, "--yes", variables={"WHET_RUN": "run-1"}).code == 1


def test_attempts_that_tell_nothing_are_invalid_and_give_no_verdict(whet: Whet, tmp_path: Path, cases: Path) -> None:
    options = ("--agent", "mine", "--cases", str(cases), "--yes", "--now", "--no-placebo")
    agent(whet, tmp_path, "#!/bin/sh\necho 'Error: not logged in' >&2\nexit 1\n")
    done = whet("try", "--rule", RULE, *options)
    assert done.code == 1
    assert "not logged in" in done.err
    assert "agents.mine.config" in done.err
    agent(whet, tmp_path, AGENT.replace("echo ran >ran", "echo 'HTTP 429' >&2; exit 1"))
    record = whet("try", "--rule", RULE, *options, "--json").json
    assert (record["verdict"], record["invalid"]) == ("undecided", record["arms"]["candidate"]["invalid"])
    shown = whet("try", "--rule", RULE, *options).out
    assert "The arms differ in invalid attempts (without 0, with it 8)" in " ".join(shown.split())


def test_what_no_other_agent_can_do_is_refused(whet: Whet, tmp_path: Path, cases: Path) -> None:
    agent(whet, tmp_path)
    options = ("--agent", "mine", "--yes", "--now")
    note = tmp_path / "note.json"
    note.write_text(json.dumps({"form": "note", "action": "add", "name": "memory/tea", "text": "Likes tea."}))
    done = whet("try", str(note), *options, "--cases", str(cases))
    assert (done.code, "mine cannot be told notes" in done.err) == (1, True)
    step = tmp_path / "steps"
    step.mkdir()
    (step / "one.toml").write_text('kind = "step"\ntask = "x"\n[check.answer]\ncontains = ["x"]\n')
    (step / "one.json").write_text('[{"role": "user", "parts": [{"type": "text", "text": "x"}], "trust": 3}]')
    done = whet("try", "--rule", RULE, *options, "--cases", str(step))
    assert (done.code, "one step of a conversation" in done.err, "task cases" in done.err) == (1, True, True)
    done = whet("try", "--rule", RULE, "--agent", "nobody", "--yes", "--cases", str(cases))
    assert (done.code, "There is no agent nobody" in done.err) == (1, True)


def test_what_failed_is_improved_on_the_agent_without_a_model_of_whets_own(
    whet: Whet, tmp_path: Path, cases: Path
) -> None:
    with_failures(whet, tmp_path / "records")
    agent(whet, tmp_path, AGENT.replace("./dev test", "whet:begin"))
    options = ("try", "--agent", "mine", "--cases", str(cases), "--most", "1", "--no-placebo", "--share", "1")
    [planned] = whet(*options, "--dry-run", "--json").json["outcomes"][:1]
    assert (planned["became"], planned["attempts_most"]) == ("planned", 16)
    done = whet(*options, "--now")
    assert (done.code, "--yes" in done.err) == (1, True)
    report = whet(*options, "--now", "--yes", "--json").json
    # Its words came out of a command, so a person has the last word, whatever the trial says.
    assert (report["stopped"], report["outcomes"][0]["became"]) == ("", "waits")
    assert report["outcomes"][0]["verdict"]["ruling"] == "accept"
    [waiting] = whet("lessons", "--waiting", "--json").json["waiting"]
    assert whet("lessons", "approve", "--yes", str(waiting["id"])).code == 0
    assert len(whet("rules", "--json").json["rules"]) == 1


def test_a_template_is_refused_with_the_reason(whet: Whet, tmp_path: Path, cases: Path) -> None:
    agent(whet, tmp_path)
    folder = tmp_path / "home" / "templates"
    folder.mkdir()
    template = Template("edits", (Example("edit", '{"path": "a"}', "Done.", "Change a."),))
    (folder / "edits.json").write_text(written(template))
    done = whet("try", "--template", "edits", "--agent", "mine", "--cases", str(cases), "--yes")
    assert (done.code, "mine cannot begin a session with examples" in done.err) == (1, True)
