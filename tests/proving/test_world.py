"""The world of a trial: all attempts are told the same, and a home in it has what agents are told from and no more."""

from pathlib import Path

import pytest

from proving.trial_scenes import RULE, obeys, prepared, questions, supply_of
from whet.agent.protocols import Reply
from whet.errors import WhetError
from whet.own.runs.run import Run
from whet.proving.attempt import attempt, vouch_for
from whet.proving.plan import WantedTrial
from whet.proving.world import TrialWorld, WorldFile, lay_out_home
from whet.store.database import Database
from whet.store.home import Home
from whet.trials.attempts import Arm, AttemptPlace, AttemptRequest
from whet.trials.design import TrialDesign
from whet.work.orders import DirectSteps


def test_notes_that_change_during_a_trial_are_not_told_to_its_attempts(home: Home, database: Database) -> None:
    prompts: list[str] = []

    def listens(run: Run) -> Reply:
        prompts.append(run.system)
        return obeys(run)

    (home.folder / "settings.toml").write_text('model = "scripted:x"\n')
    (home.folder / "memory.md").write_text("I like tea.\n")
    for _ in range(2):
        ready = prepared(home, database, WantedTrial(RULE, questions(20), TrialDesign(placebo=False)))
        place, case = AttemptPlace("question-0", Arm.BASE, 1), ready.cases.materials["question-0"]
        (home.folder / "memory.md").write_text("I like tea. Changed.\n")
        ask = AttemptRequest(ready.id, place, case, ready.conditions, terms=ready.terms)
        vouch_for(home, (ask,))
        attempt(home, DirectSteps("one"), ask, supply=supply_of(listens))
    assert "like tea" in prompts[0]
    assert "Changed" not in prompts[0]
    assert "tea. Changed" in prompts[1]


def test_a_world_writes_no_other_file_than_those_that_agents_are_told_from(tmp_path: Path) -> None:
    for number, path in enumerate(("settings.toml", "seal.key", "../evil", "skills/../../evil", "jobs/evil.toml")):
        with pytest.raises(WhetError, match="not for it"):
            lay_out_home(TrialWorld((WorldFile(path, b"x"),)), tmp_path / str(number))
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == []
