"""A rule that changes how calls look, and does nothing about the failure, is not accepted."""

from pathlib import Path

import pytest

from conversations import conversation, shell, user
from proving.trial_scenes import prepared, supply_of, tried
from replies import asks
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Call
from whet.evidence.verdicts import Ruling
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.run import Run
from whet.proving.cases_from_sessions import cases_from
from whet.proving.plan import WantedTrial
from whet.sessions.trust import Trust
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.trials.cases import Case
from whet.trials.design import TrialDesign

NONSENSE = "Begin every shell command with `true; `."
HELPFUL = "Run the tests with `./dev test`."
SESSIONS = 12


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare_home(made)
    return made


def cases(home: Home) -> tuple[Case, ...]:
    sessions = (
        conversation(
            user(f"Run the tests of part {number}."),
            shell(f"pytest part{number}", "bash: pytest: command not found", error=True),
            shell(f"./dev test part{number}", "3 passed"),
            native_id=str(number),
        )
        for number in range(SESSIONS)
    )
    return tuple(case for session in sessions for case in cases_from(home, session).cases)


def obeys(run: Run) -> Reply:
    """Does to the letter what it is told."""
    part = run.messages[0].text.removeprefix("Run the tests of part ").rstrip(".")
    command = f"./dev test part{part}" if HELPFUL in run.system else f"pytest part{part}"
    return asks(Call("Bash", f'{{"command": "{"true; " if NONSENSE in run.system else ""}{command}"}}'))


@pytest.mark.parametrize(("words", "ruling", "passed"), [(NONSENSE, Ruling.UNDECIDED, 0), (HELPFUL, Ruling.ACCEPT, 1)])
def test_only_the_rule_that_helps_is_accepted(home: Home, words: str, ruling: Ruling, passed: int) -> None:
    rule = Patch(Form.RULE, Action.ADD, "tests", words, trust=Trust.USER)
    with opened(home) as database:
        ready = prepared(home, database, WantedTrial(rule, cases(home), TrialDesign(placebo=False)), obeys)
    found = tried(home, ready, supply_of(obeys))
    assert len(ready.cases.tried) == SESSIONS
    assert found.result.verdict.ruling is ruling
    assert found.result.verdict.effect == passed
