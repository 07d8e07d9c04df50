"""Evidence continues: the same change on new cases goes on with what it has won, and costs no more error budget."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from proving.trial_scenes import RULE, WORDS, case_of, obeys, prepared, questions, supply_of, tried
from replies import says
from whet.agent.protocols import Reply
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.ledger.patches import Proof, Scope
from whet.own.runs.run import Run
from whet.proving.plan import WantedTrial, expect_worth_it
from whet.proving.trial import past_trials
from whet.store.case_files import keep_case
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.trials.attempts import AttemptConditions
from whet.trials.cases import Case
from whet.trials.design import TooFewCases, TrialDesign

FOUR = WantedTrial(RULE, questions(4), TrialDesign(placebo=False))
NINE = FOUR._replace(cases=questions(9))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "small")


@pytest.fixture
def database(home: Home) -> Iterator[Database]:
    with opened(home) as database:
        yield database


def test_the_same_change_goes_on_at_the_same_bar_with_new_cases_alone(home: Home, database: Database) -> None:
    first = prepared(home, database, FOUR)
    undecided = tried(home, first, supply_of(obeys))
    assert (undecided.result.verdict.ruling, undecided.after.helped) == (Ruling.UNDECIDED, 4)
    more = prepared(home, database, NINE, id="t2")
    assert more.design.alpha == first.design.alpha
    assert len(more.cases.tried) == 5
    assert not set(more.cases.tried) & set(first.cases.tried)
    done = tried(home, more, supply_of(obeys))
    assert (done.result.verdict.ruling, done.after.helped, done.after.cases) == (Ruling.ACCEPT, 9, 9)
    [one] = past_trials(home, database)
    assert one.accepted, "both are one trial in the error budget"


def by_chance(run: Run) -> Reply:
    """Helps in one case and harms in the next."""
    is_odd = int(run.messages[-1].text.split("-")[1].rstrip("?")) % 2 == 1
    return says("yes" if is_odd is (WORDS in run.system) else "no")


def test_however_often_it_is_undecided_the_bar_of_no_change_rises(home: Home, database: Database) -> None:
    bars = []
    for number in range(1, 4):
        wanted = WantedTrial(RULE, questions(6 * number), TrialDesign(placebo=False))
        ready = prepared(home, database, wanted, id=f"t{number}")
        bars.append(ready.design.alpha)
        tried(home, ready, supply_of(by_chance))
    assert len(set(bars)) == 1
    assert len(past_trials(home, database)) == 1
    other = replace(RULE, text="Nod.")
    assert prepared(home, database, WantedTrial(other, questions(6)), id="o").design.alpha < bars[0]


def test_a_trial_in_which_nothing_differed_costs_nothing_and_the_next_can_show_as_much(
    home: Home, database: Database
) -> None:
    def ignores(run: Run) -> Reply:  # noqa: ARG001
        return says("no")

    first = prepared(home, database, NINE)
    for number in range(3):
        other = replace(RULE, text=f"Nod {number} times.")
        ready = prepared(home, database, NINE._replace(patch=other), id=f"n{number}")
        assert ready.design.alpha == first.design.alpha
        assert tried(home, ready, supply_of(ignores)).result.verdict.ruling is Ruling.UNDECIDED
    assert [each.left for each in past_trials(home, database)] == [1.0] * 3
    again = prepared(home, database, NINE._replace(patch=other, cases=questions(12)), id="n3")
    assert (len(again.cases.tried), again.before.cases, again.design.alpha) == (3, 9, first.design.alpha)


def test_a_budget_is_each_projects_own(home: Home, database: Database) -> None:
    fresh = prepared(home, database, NINE).design.alpha
    lost = NINE._replace(patch=replace(RULE, text=f"{WORDS} Then nod.", scope=Scope(project="git:shop")))
    tried(home, prepared(home, database, lost, id="t1"), supply_of(by_chance))
    assert [each.left for each in past_trials(home, database, "git:shop")] == [0.0]
    assert prepared(home, database, NINE, id="t2").design.alpha == fresh


def test_nothing_new_to_try_is_said_with_what_is_known(home: Home, database: Database) -> None:
    tried(home, prepared(home, database, FOUR), supply_of(obeys))
    with pytest.raises(WhetError, match="helped in 4 of 4"):
        prepared(home, database, FOUR, id="t2")
    renamed = tuple(replace(case, name=f"other-{case.name}") for case in questions(4))
    with pytest.raises(WhetError, match="helped in 4 of 4"):
        prepared(home, database, FOUR._replace(cases=renamed), id="t2")
    assert prepared(home, database, FOUR._replace(fresh=True), id="t2").before.trials == 0


def test_another_model_or_kind_of_case_begins_anew(home: Home, database: Database) -> None:
    tried(home, prepared(home, database, FOUR), supply_of(obeys))
    assert (
        prepared(home, database, FOUR._replace(conditions=AttemptConditions("openai:other")), id="t2").before.trials
        == 0
    )


def test_a_trial_that_can_prove_nothing_is_not_begun(home: Home, database: Database) -> None:
    with pytest.raises(TooFewCases, match=r"4 cases cannot prove it.* 2 more are needed"):
        expect_worth_it(prepared(home, database, FOUR))
    tried(home, prepared(home, database, FOUR), supply_of(obeys))
    with pytest.raises(TooFewCases, match=r"helped in 4 of 4 cases, not yet proved; 1 new case .* 1 more is needed"):
        expect_worth_it(prepared(home, database, FOUR._replace(cases=questions(5)), id="t2"))
    expect_worth_it(prepared(home, database, NINE, id="t2"))


def test_a_control_rule_that_does_nothing_is_not_accepted(home: Home, database: Database) -> None:
    """Any text does it: the model says yes as soon as the prompt holds a rule at all."""
    bare: list[int] = []

    def eager(run: Run) -> Reply:
        bare.append(len(run.system))
        return says("yes" if len(run.system) > min(bare) else "no")

    ready = prepared(home, database, WantedTrial(RULE, questions(12), TrialDesign(placebo=True)))
    result = tried(home, ready, supply_of(eager)).result
    assert result.verdict.ruling is Ruling.UNDECIDED
    assert "placebo" in result.held_back
    assert result.form is not None
    assert result.form.effect > 0.5


def test_cases_that_always_passed_guard_the_next_trial(home: Home, database: Database) -> None:
    easy = tuple(replace(case, name=f"easy-{case.name}", task=f"easy {case.task}") for case in questions(8))
    for case in easy:
        keep_case(home.folder / "cases", case)
    ready = prepared(home, database, WantedTrial(RULE, easy, TrialDesign(placebo=False)))
    assert ready.cases.guards == ()
    tried(home, ready, supply_of(lambda _run: says("yes")))
    other = replace(RULE, text=f"{WORDS} Always.")
    guarded = prepared(home, database, WantedTrial(other, questions(8), TrialDesign(placebo=False)), id="t2")
    assert len(guarded.cases.guards) == 5
    assert set(guarded.cases.guards) < {case.name for case in easy}
    own = WantedTrial(other, (*questions(8), case_of("standing", guard=True)), TrialDesign(placebo=False))
    assert prepared(home, database, own, id="t3").cases.guards == ("standing",)
    assert tried(home, guarded, supply_of(obeys)).result.guard is not None


def made_from(session: str, name: str) -> Case:
    return case_of(name, source=session)


def test_cases_from_the_sessions_it_was_written_from_do_not_count(home: Home, database: Database) -> None:
    written = replace(RULE, proofs=(Proof("old"),))
    cases = (*(made_from("old", f"old-{n}") for n in range(3)), *(made_from("new", f"new-{n}") for n in range(8)))
    ready = prepared(home, database, WantedTrial(written, cases, TrialDesign(placebo=False)))
    assert (len(ready.cases.tried), ready.cases.left_out) == (8, 3)
    progress = tried(home, ready, supply_of(obeys))
    assert (progress.result.verdict.ruling, progress.left_out) == (Ruling.ACCEPT, 3)
    with pytest.raises(TooFewCases, match="written from"):
        prepared(home, database, WantedTrial(written, cases[:3]), id="t2")


def test_a_rule_that_no_request_would_hold_is_not_tried(home: Home, database: Database) -> None:
    elsewhere = replace(RULE, scope=Scope(models=("quite-another",)))
    with pytest.raises(WhetError, match="No request of these cases"):
        prepared(home, database, WantedTrial(elsewhere, questions(8)))


def test_a_rule_for_conversations_is_tried_in_conversations(home: Home, database: Database) -> None:
    talking = replace(RULE, scope=Scope(purposes=("interactive",)))
    ready = prepared(home, database, WantedTrial(talking, questions(8), TrialDesign(placebo=False)))
    assert ready.conditions.interactive
    assert ready.change.price.added > 0
    assert tried(home, ready, supply_of(obeys)).result.verdict.ruling is Ruling.ACCEPT


def test_the_price_includes_the_conversation(home: Home, database: Database) -> None:
    short = prepared(home, database, WantedTrial(RULE, questions(8))).of_one.input
    long = tuple(replace(case, task=f"{case.task} {WORDS}" * 2000) for case in questions(8))
    assert prepared(home, database, WantedTrial(RULE, long)).of_one.input > 20_000 + short
