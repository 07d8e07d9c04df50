"""A rule proved on one model is evidence for agents with others: it is said, and tried there where that is allowed."""

from pathlib import Path

import pytest

from whet.changes.apply import apply, revert
from whet.improving.elsewhere import carry_elsewhere, left_out_elsewhere
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.settings_changes import assign
from whet.targets.settings import Target, add
from whet.trials.ideas import Became

RULE = Patch(Form.RULE, Action.ADD, "yes", "Say yes at the door.", Scope(("tiny-1b",)), trust=Trust.AGENT)
SAID = "yes (proved on tiny-1b, not yet on claude of claude-code)"

pytestmark = pytest.mark.parametrize("home", ["sqlite"], indirect=True)


@pytest.fixture
def told(home: Home, tmp_path: Path) -> Path:
    file = tmp_path / "CLAUDE.md"
    add(home, Target("claude-code", "claude-code", file=str(file)))
    return file


def proved(home: Home, database: Database) -> None:
    ledger_of(home, database).append([Entry(0, Step.ACCEPTED, RULE, Actor.POLICY, 1.0)])
    apply(home, database, RULE, actor=Actor.POLICY, now=1.0)


@pytest.mark.usefixtures("told")
def test_what_was_proved_on_another_model_is_said_and_not_told(home: Home, database: Database) -> None:
    proved(home, database)
    done = carry_elsewhere(home, database, share=0.5)
    assert done.outcomes == ()
    assert SAID in done.left_out
    assert "rules.unproved canary" in done.left_out


@pytest.mark.usefixtures("told")
def test_where_the_person_allows_it_it_goes_there_as_a_canary(home: Home, database: Database) -> None:
    proved(home, database)
    assign(home, ("rules", "unproved"), "canary")
    assert SAID in left_out_elsewhere(home, database)
    [outcome] = carry_elsewhere(home, database, share=0.25).outcomes
    assert outcome.became is Became.CANARY
    [rule] = ledger_of(home, database).state().rules
    assert (rule.canary, rule.share, rule.scope.models) == (True, 0.25, ("tiny-1b", "claude"))
    assert carry_elsewhere(home, database, share=0.25).outcomes == (), "it is on its way"


@pytest.mark.usefixtures("told")
def test_what_harmed_there_is_not_tried_there_again(home: Home, database: Database) -> None:
    proved(home, database)
    assign(home, ("rules", "unproved"), "canary")
    [outcome] = carry_elsewhere(home, database, share=0.25).outcomes
    revert(home, database, outcome.entry, actor=Actor.WATCH, now=2.0)
    assert carry_elsewhere(home, database, share=0.25).outcomes == ()


@pytest.mark.usefixtures("told")
def test_a_scope_that_a_person_gave_is_an_order(home: Home, database: Database) -> None:
    apply(home, database, RULE, actor=Actor.PERSON, now=1.0)
    assert left_out_elsewhere(home, database) == ""
