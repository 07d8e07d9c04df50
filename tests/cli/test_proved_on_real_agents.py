"""The whole circle with the real programs: their failed sessions, the lesson, its proof on them, their file, undone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from command import Whet, on_a_terminal
from lengths import long
from proving.agents import MODELS, instructions
from proving.failing_project import WAY, AgentAtWork, agent_at_work, failing_project
from proving.obedient import Mender, obedient
from proving.repository_scenes import git
from whet.agent.tools.sandbox import Wall, probe

pytestmark = [long, pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")]
RULE = f"; run `{WAY} …` instead."
SESSIONS = 8
RECORDS = {"claude": "projects", "codex": "sessions", "opencode": "data/opencode/opencode.db"}
TRIED_ON = {**MODELS, "codex": "gpt-5"}  # Codex is told only what was proved on a model that it may run
OWN_WORDS = "# The shop\n\nBe kind.\n"


def improved(whet: Whet, worker: AgentAtWork) -> dict[str, Any]:
    """What becomes of the first lesson, on cases that Whet makes of the sessions."""
    files = [str(path) for path in (worker.config / "config.toml", worker.config / "config/opencode/opencode.json")]
    login = [path for path in files if Path(path).exists()]
    assert whet("config", f"agents.{worker.name}.config", json.dumps(login)).code == 0
    done = whet(
        "try", "--agent", worker.name, "--model", TRIED_ON[worker.name], "--most", "1", "--placebo",
        "--budget", "60min", "--yes", "--now", "--json", variables=worker.variables,
    )  # fmt: skip
    assert done.code == 0, done.err
    found: dict[str, Any] = done.json["outcomes"][0]
    return found


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_what_its_sessions_teach_is_proved_on_the_agent_and_stands_in_its_file(
    name: str, whet: Whet, tmp_path: Path
) -> None:
    shop = failing_project(tmp_path / "shop", parts=SESSIONS)
    file = shop / instructions(name)
    with obedient(Mender(WAY, heeds=True)) as server:
        worker = agent_at_work(name, tmp_path, shop, server)
        for number in range(SESSIONS):
            worker.session(f"Make the tests of part{number} pass.")
        git(shop, "checkout", "-q", ".")
        file.write_text(OWN_WORDS)
        assert whet("import", str(worker.config / RECORDS[name])).code == 0
        lessons = whet("lessons", "--json").json
        assert whet("sync", "add", name, "--project", str(shop)).code == 0
        server.mind = Mender(WAY)
        outcome = improved(whet, worker)
    assert RULE in json.dumps(lessons, ensure_ascii=False)
    assert outcome["text"].endswith(RULE)
    assert outcome["became"] == "waits"
    assert (outcome["verdict"]["ruling"], outcome["verdict"]["cases"]) == ("accept", SESSIONS - 2)
    code, shown = on_a_terminal(tmp_path, "y\n", "lessons", "approve", str(outcome["entry"]))
    assert code == 0, shown
    assert whet("sync").code == 0
    assert RULE in file.read_text()
    assert whet("ledger", "undo").code == 0
    assert whet("sync").code == 0
    assert file.read_text() == OWN_WORDS
