"""The plugin's commands in the real Claude Code: their text reaches the model, and its calls are answered by Whet."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is an extra")

from command import Whet, runner
from lengths import long
from proving.obedient import Mind, Obedient, PlannedCall, obedient
from telling.hooks.hosts import PLUGIN, install
from whet.mcp.lessons import for_task, next_pass
from whet.store.home import Home
from whet.text.front_matter import split

SHOP = "/home/noor/shop"  # the project of the tutorial's sessions
RULE = "Run the tests with `./dev test`; plain pytest lacks the database."


@pytest.fixture
def whet(tmp_path: Path, examples: Path) -> Whet:
    run = runner(tmp_path / "home", tmp_path / "person")
    assert run("import", str(examples)).code == 0
    return run


def always(**arguments: Any) -> Any:
    return lambda _: arguments


def results(server: Obedient) -> list[str]:
    """What the model got back for its calls, as its last request has it."""
    messages = server.asked[-1][1]["messages"]
    parts = [part for each in messages if isinstance(each["content"], list) for part in each["content"]]
    return [json.dumps(part["content"]) for part in parts if part["type"] == "tool_result"]


def run_command(tmp_path: Path, command: str, *plan: PlannedCall) -> Obedient:
    """One command of the plugin, given without a person, with a model that follows a plan."""
    work = tmp_path / "shop"
    work.mkdir()
    with obedient(Mind(plan=plan)) as server:
        done = install("claude", tmp_path, server).run(work, task=command)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["permission_denials"] == []
    name = command.split()[0].removeprefix("/whet:")
    said = split((PLUGIN / "commands" / f"{name}.md").read_text()).body.strip().splitlines()[-1]
    assert json.dumps(said)[1:-1] in json.dumps(server.asked[0][1]), "the command's text reached the model"
    return server


@long
def test_learn_hands_out_a_pass_and_takes_claims(tmp_path: Path, whet: Whet) -> None:
    folder = next(each["folder"] for each in whet("sessions", "--json", "--source", "codex").json["sessions"])
    handed = next_pass(Home(tmp_path / "home"), folder)
    server = run_command(
        tmp_path,
        "/whet:learn",
        PlannedCall("next_pass", always(project=folder)),
        PlannedCall("claim", always(pass_id=handed.pass_id, lines='{"op": "nothing"}', project=folder)),
    )
    *_, read, claimed = results(server)
    assert "the sessions" in read
    assert "Call next_pass for more" in claimed
    assert next_pass(Home(tmp_path / "home"), folder).pass_id == ""
    assert whet("rules", "--json").json["rules"] == []


@long
def test_failed_why_and_propose_are_answered(tmp_path: Path, whet: Whet) -> None:
    lesson = for_task(Home(tmp_path / "home"), task="", folder=SHOP).lessons[0]
    assert whet("rules", "add", "tidy", "Remove unused imports.").code == 0
    asked = {
        "/whet:failed": (PlannedCall("lessons_for_task", always(project=SHOP)), lesson.id),
        "/whet:why tidy": (PlannedCall("rule_evidence", always(rule="tidy")), "Remove unused imports."),
        "/whet:propose run the tests with ./dev test": (
            PlannedCall("propose", always(text=RULE, reason="The person asks for it.")), "waits for a person"
        ),
    }  # fmt: skip
    for number, (command, (planned, answer)) in enumerate(asked.items()):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "home").symlink_to(tmp_path / "home")
        assert answer in results(run_command(place, command, planned))[-1]
    [waiting] = whet("lessons", "--waiting", "--json").json["waiting"]
    assert waiting["text"] == RULE


@long
def test_review_reads_a_session_and_proposes(tmp_path: Path, whet: Whet) -> None:
    session = whet("sessions", "--json").json["sessions"][0]["id"]
    server = run_command(
        tmp_path,
        "/whet:review",
        PlannedCall("Bash", always(command=f"whet show {session}", description="Look")),
        PlannedCall("show_session", always(session=session, count=2)),
        PlannedCall("propose", always(text=RULE, reason="It failed.", session=session)),
    )
    *_, shown, proposed = results(server)
    assert session in shown
    assert "waits for a person" in proposed
