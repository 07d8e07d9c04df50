"""Trials carried out: what helps is accepted, what does nothing is not, and nothing is paid for twice."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from proving.trial_scenes import RULE, WORDS, case_of, obeys, prepared, questions, supply_of, tried
from replies import says
from whet.agent.protocols import ProviderFailed, ProviderFault, Reply
from whet.changes.apply import Refused, apply
from whet.errors import WhetError
from whet.evidence.error_budget import Past
from whet.evidence.verdicts import Ruling
from whet.ledger.entries import Actor, Step
from whet.ledger.patches import Action, Form, Patch, digest
from whet.own.examples.templates import Example, Template, written
from whet.own.runs.run import Run
from whet.proving.attempt import attempt
from whet.proving.plan import WantedTrial
from whet.proving.trial import past_trials, trial
from whet.sessions.transcripts import Usage
from whet.sessions.trust import Trust
from whet.store.attempts import attempts_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.opening import opened
from whet.store.records import progress_of
from whet.store.template_files import worths
from whet.trials.attempts import Arm, AttemptRequest
from whet.trials.design import Allowance, TrialDesign, TrialProgress, TrialStop
from whet.work.orders import DirectSteps

TEMPLATE = Template("greeting", (Example("read_file", '{"path": "a.txt"}', "(1 line)", "Read a.txt."),))
OTHER = replace(RULE, text="Say yes, and say it twice.")
WARM = Patch(Form.TEMPLATE, Action.ADD, "greeting", written(TEMPLATE), trust=Trust.AGENT)


@pytest.fixture
def small(tmp_path: Path) -> Home:
    """A home on the embedded database, for what does not depend on which it is."""
    return Home(tmp_path / "small")


@pytest.fixture
def embedded(small: Home) -> Iterator[Database]:
    with opened(small) as database:
        yield database


def test_a_rule_that_helps_is_accepted_entered_in_the_ledger_and_not_put_in_force(
    home: Home, database: Database, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    ready = prepared(home, database, WantedTrial(RULE, questions(20)))
    progress = tried(home, ready, supply_of(obeys, log))
    result = progress.result
    assert (result.verdict.ruling, result.stop) == (Ruling.ACCEPT, TrialStop.EVIDENCE)
    assert result.verdict.cases < 20, "it stops early"
    assert result.lesson is not None
    assert result.lesson.effect == 1.0, "the placebo has nothing of it"
    assert len(log.read_text().splitlines()) == progress.attempts == result.spent.model_calls
    [entry] = Ledger(database).entries()
    assert (entry.step, entry.patch, entry.actor, entry.number) == (Step.ACCEPTED, RULE, Actor.POLICY, progress.entry)
    assert msgspec.json.decode(entry.verdict, type=TrialProgress).result == result
    assert Ledger(database).state().rules == ()
    assert progress_of(database, "t1", TrialProgress) == progress
    assert past_trials(home, database) == (Past(accepted=True, evidence=result.verdict.evidence_help),)


def test_a_rule_that_harms_is_rejected(small: Home, embedded: Database) -> None:
    ready = prepared(small, embedded, WantedTrial(RULE, questions(20)))
    progress = tried(small, ready, supply_of(lambda run: says("no" if WORDS in run.system else "yes")))
    assert progress.result.verdict.ruling is Ruling.REJECT
    assert Ledger(embedded).entries()[0].step is Step.REJECTED


def test_what_does_nothing_stays_undecided(small: Home, embedded: Database) -> None:
    ready = prepared(small, embedded, WantedTrial(RULE, questions(8)))
    coin = {f"question-{number}?": number % 2 for number in range(8)}
    progress = tried(small, ready, supply_of(lambda run: says("yes" if coin[run.messages[-1].text] else "no")))
    assert (progress.result.verdict.ruling, progress.result.stop) == (Ruling.UNDECIDED, TrialStop.CASES)
    assert len(progress.result.always) == len(progress.result.never) == 4
    assert past_trials(small, embedded) == (Past(accepted=False, left=1.0),)
    later = prepared(small, embedded, WantedTrial(OTHER, questions(8)), id="t2")
    assert later.design.alpha == ready.design.alpha, "nothing differed, so no error was risked"


def test_the_base_arm_is_reused_while_model_prompt_and_case_are_the_same(
    small: Home, embedded: Database, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    wanted = WantedTrial(RULE, questions(3), TrialDesign(placebo=False))
    tried(small, prepared(small, embedded, wanted), supply_of(obeys, log))
    again = tried(small, prepared(small, embedded, wanted._replace(patch=OTHER), id="t2"), supply_of(obeys, log))
    assert again.result.reused == 3
    assert sorted((each.arm, each.reused) for each in attempts_of(embedded, "t2")) == [
        *[(Arm.BASE, True)] * 3,
        *[(Arm.CANDIDATE, False)] * 3,
    ]
    assert len(log.read_text().splitlines()) == 6 + 3
    tidy = Patch(Form.RULE, Action.ADD, "tidy", "Remove unused imports.", trust=Trust.USER)
    apply(small, embedded, tidy, actor=Actor.PERSON, now=1.0)
    third = wanted._replace(patch=replace(OTHER, text="Say yes, and say it always."))
    other = tried(small, prepared(small, embedded, third, id="t3"), supply_of(obeys, log))
    assert other.result.reused == 0, "the prompt is another one"
    fresh = tried(small, prepared(small, embedded, wanted._replace(fresh=True), id="t4"), supply_of(obeys, log))
    assert fresh.result.reused == 0


def test_the_base_arm_is_not_reused_where_the_model_is_served_in_another_way(small: Home, embedded: Database) -> None:
    wanted = WantedTrial(RULE, questions(3), TrialDesign(placebo=False))
    reused = []
    for number, calls in enumerate(("valid", "valid", "always")):
        (small.folder / "settings.toml").write_text(f'model = "local"\n[local]\ncalls = "{calls}"\n')
        patch = replace(RULE, text=f"{WORDS} Rule {number}.")
        ready = prepared(small, embedded, wanted._replace(patch=patch), id=f"t{number}")
        reused.append(tried(small, ready, supply_of(obeys)).result.reused)
    assert reused == [0, 3, 0]


def test_leaving_a_rule_out_is_tried_like_a_change(small: Home, embedded: Database) -> None:
    apply(small, embedded, RULE, actor=Actor.PERSON, now=1.0)
    without = Patch(Form.RULE, Action.REMOVE, RULE.name, before=digest(WORDS), trust=Trust.AGENT)
    ready = prepared(small, embedded, WantedTrial(without, questions(20)))
    assert ready.design.arms == (Arm.BASE, Arm.CANDIDATE)
    assert tried(small, ready, supply_of(obeys)).result.verdict.ruling is Ruling.REJECT
    assert [rule.text for rule in Ledger(embedded).state().rules] == [WORDS]


def test_the_worth_of_a_template_is_kept(small: Home, embedded: Database) -> None:
    ready = prepared(small, embedded, WantedTrial(WARM, questions(20)))
    assert ready.change.price.added > 0
    assert ready.change.price.invalidated == 0
    progress = tried(small, ready, supply_of(lambda run: says("yes" if "a.txt" in str(run.messages) else "no")))
    [worth] = worths(embedded)
    assert (worth.key, worth.effect, worth.cases) == (TEMPLATE.key, 1.0, progress.result.verdict.cases)
    assert progress.result.form is not None
    assert progress.result.form.effect == 0.0


def test_a_budget_ends_the_trial_and_leaves_the_placebo_out(small: Home, embedded: Database) -> None:
    ready = prepared(small, embedded, WantedTrial(RULE, questions(30), TrialDesign(allowance=Allowance(tokens=600))))
    assert Arm.PLACEBO not in ready.design.arms
    progress = tried(small, ready, supply_of(lambda _run: says("no", usage=Usage(input=100, output=1))))
    assert (progress.result.stop, progress.result.verdict.ruling) == (TrialStop.BUDGET, Ruling.UNDECIDED)
    assert progress.attempts < 20


def test_standing_cases_are_run_too(small: Home, embedded: Database) -> None:
    cases = (*questions(12), case_of("standing", guard=True))
    progress = tried(small, prepared(small, embedded, WantedTrial(RULE, cases)), supply_of(obeys))
    assert progress.result.guard is not None
    assert progress.result.guard.cases == 1


def test_what_cannot_be_tried_is_refused_before_anything_is_spent(small: Home, embedded: Database) -> None:
    with pytest.raises(WhetError, match="No case"):
        prepared(small, embedded, WantedTrial(RULE, (case_of("standing", guard=True),)))
    with pytest.raises(WhetError, match="the name question-0"):
        prepared(small, embedded, WantedTrial(RULE, (*questions(1), *questions(1))))
    apply(small, embedded, RULE, actor=Actor.PERSON, now=1.0)
    with pytest.raises(Refused):
        prepared(small, embedded, WantedTrial(RULE, questions(1)))


def test_a_trial_without_a_single_answer_is_no_trial(small: Home, embedded: Database) -> None:
    def lost(_run: Run) -> Reply:
        raise ProviderFailed(ProviderFault.NETWORK, "Nobody answers.")

    ready = prepared(small, embedded, WantedTrial(RULE, questions(2)))
    with pytest.raises(WhetError, match="Nobody answers"):
        tried(small, ready, supply_of(lost))
    assert Ledger(embedded).entries() == []


def test_a_trial_that_came_to_no_verdict_is_the_same_trial_when_it_is_asked_for_again(
    small: Home, embedded: Database, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    wanted = WantedTrial(RULE, questions(20))

    def broken(run: Run) -> Reply:
        if len(log.read_text().splitlines()) > 7:
            raise ProviderFailed(ProviderFault.MONEY, "The account is empty.")
        return obeys(run)

    first = prepared(small, embedded, wanted, id="")
    with pytest.raises(WhetError, match="The account is empty"):
        tried(small, first, supply_of(broken, log))
    assert len(log.read_text().splitlines()) == 8
    again = prepared(small, embedded, wanted, id="")
    assert again == first
    progress = tried(small, again, supply_of(obeys, log))
    assert len(log.read_text().splitlines()) == progress.attempts + 1, "only the call that failed is made again"
    assert progress.result.spent.model_calls == progress.attempts, "and all of it is this trial's cost"
    assert prepared(small, embedded, wanted, id="").id != first.id


def test_two_trials_in_one_piece_of_work_share_no_order(small: Home, embedded: Database) -> None:
    keys: list[str] = []

    def carried_out(inner: DirectSteps, _kind: str, ask: AttemptRequest) -> str:
        keys.append(inner.id)
        return attempt(small, inner, ask, supply=supply_of(obeys)).value

    for id, patch in (("night-1", RULE), ("night-2", OTHER)):
        ready = prepared(small, embedded, WantedTrial(patch, questions(3), TrialDesign(placebo=False)), id=id)
        trial(small, DirectSteps("night", carried_out), ready)
    assert len(keys) == len(set(keys)) == 12
