"""The plugin's commands in the real Claude Code: their text reaches the model, and its calls are answered by Whet."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is an extra")

from command import COMMAND, Whet, runner
from hooks.hosts import PLUGIN, install
from lengths import long
from proving.obedient import Mind, Obedient, PlannedCall, obedient
from whet.mcp.lessons import LessonAnswer, for_task
from whet.store.home import Home
from whet.text.front_matter import split

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


def first_lesson(tmp_path: Path, whet: Whet) -> tuple[str, LessonAnswer]:
    folder = next(each["folder"] for each in whet("sessions", "--json", "--source", "codex").json["sessions"])
    return folder, for_task(Home(tmp_path / "home"), task="", folder=folder, evidence=True).lessons[0]


@long
def test_improve_hands_over_evidence_and_takes_the_draft_back(tmp_path: Path, whet: Whet) -> None:
    folder, lesson = first_lesson(tmp_path, whet)
    first = json.loads("\n".join(lesson.evidence.split("\n")[1:-1]))["evidence"][0]
    text = f"In this project: {first.get('failed_call') or first['the_person_said']}"[:300]
    server = run_command(
        tmp_path,
        "/whet:improve",
        PlannedCall("Bash", always(command=f"{COMMAND.name} import", description="Import")),
        PlannedCall("lessons_for_task", always(project=folder, evidence=True)),
        PlannedCall("propose", always(text=text, reason="It failed.", project=folder, lesson=lesson.id)),
    )
    *_, evidence, proposed = results(server)
    assert "how_to_write" in evidence
    assert "begins: evidence from sessions" in evidence
    assert "waits for a person" in proposed
    [waiting] = whet("pending", "--json").json["pending"]
    assert (waiting["text"], waiting["trust"]) == (text, "external")
    assert waiting["proofs"]
    assert whet("rules", "--json").json["rules"] == []


@long
def test_failed_why_and_propose_are_answered(tmp_path: Path, whet: Whet) -> None:
    folder, lesson = first_lesson(tmp_path, whet)
    assert whet("rules", "add", "tidy", "Remove unused imports.").code == 0
    asked = {
        "/whet:failed": (PlannedCall("lessons_for_task", always(project=folder, evidence=True)), lesson.id),
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
    [waiting] = whet("pending", "--json").json["pending"]
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
