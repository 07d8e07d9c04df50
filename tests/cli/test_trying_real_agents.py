"""The whole way with the real Claude Code, Codex and OpenCode: a rule tried on one, accepted, synced, undone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from command import Whet
from lengths import long
from proving.agents import MODELS, NAMES, configure, instructions, program
from proving.obedient import Mind, Obedient, obedient
from whet.agent.tools.sandbox import Wall, probe
from whet.agents.registry import canonical

pytestmark = [long, pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")]
MIND = Mind(rule="sh dev test", told="sh dev test", untold="pytest -q")
RULE = "Run the tests with `sh dev test`; plain `pytest` fails here."
NONSENSE = "Begin every shell command with `true;`."
CASE = """task = "Run the tests ({number})."
[files]
dev = "echo all passed; touch ran"
[check]
command = "test -e ran"
[budget]
seconds = 300.0
"""


class Scene:
    """One agent with its login, cases whose check passes only where the rule was followed, and the command."""

    def __init__(self, name: str, whet: Whet, tmp_path: Path, server: Obedient) -> None:
        found = program(name)
        self.name, self.whet = name, whet
        self.cases = tmp_path / "cases"
        self.cases.mkdir()
        for number in range(8):
            text = CASE.format(number=number)
            (self.cases / f"case-{number}.toml").write_text(text)
        login = tmp_path / "login"
        variables = configure(name, login, server)
        self.variables = {**variables, "PATH": f"{Path(found).parent}:{os.environ['PATH']}"}
        files = [str(path) for path in sorted(login.rglob("*")) if path.is_file()]
        if files:
            assert whet("config", f"agents.{name}.config", json.dumps(files)).code == 0

    def tried(self, rule: str) -> dict[str, Any]:
        done = self.whet(
            "try", "--rule", rule, "--agent", self.name, "--model", MODELS[self.name], "--cases", str(self.cases),
            "--no-placebo", "--budget", "60min", "--yes", "--now", "--json", variables=self.variables,
        )  # fmt: skip
        assert done.code == 0, done.err
        found: dict[str, Any] = done.json
        return found


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_proved_on_the_agent_kept_in_its_file_and_undone(name: str, whet: Whet, tmp_path: Path) -> None:
    with obedient(MIND) as server:
        scene = Scene(name, whet, tmp_path, server)
        record = scene.tried(RULE)
    assert (record["verdict"], record["invalid"], record["invalid_why"]) == ("accept", 0, "")
    assert (record["arms"]["base"]["passed"], record["arms"]["candidate"]["passed"]) == (0, record["cases"])
    assert (record["agent"]["name"], bool(record["agent"]["version"])) == (canonical(name), True)
    assert record["spent"]["input"] > 0
    project = tmp_path / "project"
    project.mkdir()
    target = canonical(name)
    assert whet("sync", "add", target, "--project", str(project)).code == 0
    assert whet("rules", "add", "dev-test", RULE).code == 0
    file = project / instructions(name)
    assert whet("sync").code == 0
    assert RULE in file.read_text()
    assert whet("ledger", "undo").code == 0
    assert whet("sync").code == 0
    assert not file.exists()


def test_a_nonsense_rule_is_not_accepted(whet: Whet, tmp_path: Path) -> None:
    with obedient(MIND) as server:
        record = Scene("claude", whet, tmp_path, server).tried(NONSENSE)
    assert (record["verdict"], record["effect"]) == ("undecided", 0)
