"""The circle from sessions alone: the oldest write the rule, the later ones become the cases that prove it."""

import pytest
from msgspec.structs import replace

from conversations import conversation, shell, user
from proving.trial_scenes import supply_of
from replies import asks, says
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Call
from whet.evidence.verdicts import Ruling
from whet.improving.improve import improve
from whet.own.runs.run import Run
from whet.proving.attempt import attempt
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.trials.design import TrialDesign
from whet.trials.improvements import ImproveReport, ImproveRequest, LessonOutcome, LessonResult
from whet.work.orders import DirectSteps, decoded

RULE = "`pytest …` fails here (“Use: ./dev test MODULE”); run `./dev test …` instead."
EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)  # what does not depend on the database


def obeys(run: Run) -> Reply:
    """Runs tests as it is told, else with pytest; a tool that it is not offered it does not call."""
    if not any(tool.name == "Bash" and '"command"' in tool.parameters for tool in run.shown):
        return says("I have no shell.")
    part = run.messages[0].text.removeprefix("Run the tests of part ").rstrip(".")
    command = f"./dev test part{part}" if RULE in run.system else f"pytest part{part}"
    return asks(Call("Bash", f'{{"command": "{command}"}}'))


def improved(home: Home, database: Database, *, sessions: int) -> LessonOutcome:
    for number in range(sessions):
        turns = (
            user(f"Run the tests of part {number}."),
            shell(f"pytest part{number}", "Use: ./dev test MODULE", error=True),
            shell(f"./dev test part{number}", "3 passed"),
        )
        transcript = replace(conversation(*turns, native_id=f"s{number}", at=float(number)), folder="/home/noor/shop")
        keep(database, prepare(transcript), Provenance("", float(number), float(number)))
    supply = supply_of(obeys)
    steps = DirectSteps("night", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    ask = ImproveRequest(model="scripted", design=TrialDesign(placebo=True), most=1)
    report = decoded(improve(home, steps, ask, supply=supply).value, ImproveReport)
    return report.outcomes[0]


@EMBEDDED
def test_a_rule_that_two_of_eight_sessions_wrote_is_proved_on_the_other_six(home: Home, database: Database) -> None:
    outcome = improved(home, database, sessions=8)
    assert outcome.lesson.patch.text == RULE
    assert outcome.verdict is not None
    assert (outcome.verdict.ruling, outcome.verdict.cases, outcome.attempts) == (Ruling.ACCEPT, 6, 18)
    assert outcome.became is LessonResult.WAITS  # the words are a command's: a person has the last word
    [pending] = ledger_of(home, database).state().pending
    written_from = {proof.session for proof in pending.patch.proofs}
    assert len(written_from) == 2


@EMBEDDED
def test_with_too_few_later_sessions_nothing_is_spent(home: Home, database: Database) -> None:
    outcome = improved(home, database, sessions=5)
    assert (outcome.became, outcome.attempts) == (LessonResult.WAITS, 0)
