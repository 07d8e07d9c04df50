"""Improvement from end to end: what failed is tried again with a rule, and kept only when that is proved."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from proving.trial_scenes import SHOP, TOLD, declare_shop, failing, questions, supply_of
from proving.trial_scenes import repeats_unless_told as obeys
from replies import says
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Supply
from whet.changes.apply import apply
from whet.cli.shown.trials import report_lines
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.improving.improve import ReadyTrial, improve
from whet.improving.learned import lessons_of
from whet.improving.lessons_to_try import LessonsToTry
from whet.ledger.entries import Actor, Step
from whet.ledger.patches import Action, Form, Patch, Proof, Scope
from whet.own.examples.templates import Example, Template, written
from whet.own.runs.run import Run
from whet.proving.attempt import attempt
from whet.sessions.transcripts import Purpose
from whet.sessions.trust import Trust
from whet.store.case_files import FOLDER, keep_case
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.trials.design import TrialDesign
from whet.trials.improvements import ImproveReport, ImproveRequest, LessonOutcome, LessonResult
from whet.work.orders import DirectSteps, T, decoded, encoded

ASK = ImproveRequest(model="scripted", design=TrialDesign(placebo=False))
DRY = replace(ASK, dry_run=True)
# What does not depend on which database it is.
EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)


@pytest.fixture
def failed(home: Home, database: Database) -> None:
    declare_shop(home)
    for number in range(1, 13):
        keep(database, prepare(failing(number)), Provenance("", float(number), float(number)))


def improved(home: Home, ask: ImproveRequest, supply: Supply) -> ImproveReport:
    steps = DirectSteps("night", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    return decoded(improve(home, steps, ask, supply=supply).value, ImproveReport)


@pytest.mark.usefixtures("failed")
def test_a_rule_that_helps_against_what_failed_becomes_a_canary(home: Home, database: Database) -> None:
    report = improved(home, replace(ASK, most=1, share=0.25), supply_of(obeys))
    assert (report.sessions, report.lessons, report.stopped) == (12, 1, "")
    [outcome] = report.outcomes
    assert outcome.became is LessonResult.CANARY
    assert outcome.verdict is not None
    assert outcome.verdict.ruling is Ruling.ACCEPT
    [rule] = ledger_of(home, database).state().rules
    assert (rule.canary, rule.share, rule.number) == (True, 0.25, outcome.entry)
    assert rule.scope == Scope(project=SHOP), "what it was tried on is evidence, and no scope"
    assert TOLD in rule.text
    tried, told = Ledger(database).entries()
    assert (tried.step, tried.tried_on, told.step) == (Step.ACCEPTED, "scripted", Step.CANARY)
    [lesson] = [each for each in lessons_of(home, database) if each.standing.entry == rule.number]
    *_, verdict, live = lesson.climb.words
    assert re.fullmatch(r"tried: accepted, \d+ of \d+ → \d+ of \d+ \(trial .+\)", verdict)
    assert live == "live: told to a share of the sessions, none counted yet"
    again = improved(home, replace(ASK, most=1), supply_of(lambda _: says("Do as before.")))
    assert all(not each.lesson.is_worded or each.lesson.patch.text != rule.text for each in again.outcomes)


class Died(Exception):
    """The worker is gone, after a step had its effect and before that was written down."""


class Mortal:
    """Steps that are remembered, of a worker that dies in the one of that number."""

    def __init__(self, memory: list[str], supply: Supply, home: Home, *, dies_at: int) -> None:
        self.id = "night"
        self.interrupt = Event()
        self._memory, self._supply, self._home, self._dies_at = memory, supply, home, dies_at
        self._done = 0

    def do(self, _name: str, function: Callable[[], T], type: type[T]) -> T:
        number, self._done = self._done, self._done + 1
        if number == len(self._memory):
            value = function()
            if number == self._dies_at:
                raise Died
            self._memory.append(encoded(value))
        return decoded(self._memory[number], type)

    once = do

    def withdraw(self) -> None:
        pass

    def spread(
        self, _kind: str, asks: Iterable[tuple[str, Any]], type: type[T], *, ahead: Iterable[tuple[str, Any]] = ()
    ) -> tuple[T, ...]:
        assert ahead
        made = (attempt(self._home, DirectSteps(key), ask, supply=self._supply).value for key, ask in asks)
        return tuple(decoded(value, type) for value in self.do("spread", lambda: list(made), list))


@EMBEDDED
@pytest.mark.usefixtures("failed")
def test_a_worker_that_dies_in_every_step_leaves_one_verdict_and_one_canary(
    home: Home, database: Database, tmp_path: Path
) -> None:
    memory: list[str] = []
    log = tmp_path / "log"
    supply = supply_of(obeys, log)
    deaths = 0
    while True:
        try:
            done = improve(home, Mortal(memory, supply, home, dies_at=deaths), replace(ASK, most=1), supply=supply)
            break
        except Died:
            deaths += 1
    assert deaths == len(memory) > 6
    assert [entry.step for entry in Ledger(database).entries()] == [Step.ACCEPTED, Step.CANARY]
    [outcome] = decoded(done.value, ImproveReport).outcomes
    assert len(log.read_text().splitlines()) == outcome.attempts, "no attempt was paid for twice"


@EMBEDDED
@pytest.mark.usefixtures("failed")
def test_a_rule_that_changes_nothing_is_not_kept(home: Home, database: Database) -> None:
    report = improved(home, replace(ASK, most=1), supply_of(lambda run: obeys(replace(run, system=""))))
    assert [each.became for each in report.outcomes] == [LessonResult.WAITS], (
        "sessions show it: a person may still want it"
    )
    assert ledger_of(home, database).state().rules == ()
    assert improved(home, replace(ASK, most=1), supply_of(obeys)).outcomes == (), "nothing new was seen"


@pytest.mark.usefixtures("failed")
def test_without_a_model_what_was_found_waits_for_a_person(home: Home, database: Database) -> None:
    report = improved(home, ImproveRequest(), supply_of(obeys))
    assert "No model is set" in report.stopped
    [outcome] = report.outcomes
    assert outcome.became is LessonResult.WAITS
    assert f"whet lessons approve {outcome.entry}" in outcome.why
    assert [entry.step for entry in Ledger(database).entries()] == [Step.PROPOSED]
    again = improved(home, ImproveRequest(), supply_of(obeys))
    assert (again.outcomes, [each.entry for each in again.waiting]) == ((), [outcome.entry])


@EMBEDDED
@pytest.mark.usefixtures("failed")
def test_a_dry_run_says_what_waits_and_what_a_trial_of_it_would_cost(home: Home) -> None:
    [outcome] = improved(home, ImproveRequest(), supply_of(obeys)).outcomes
    none = improved(home, DRY, supply_of(obeys))
    [waits] = none.waiting
    assert (waits.became, waits.entry, waits.most.attempts) == (LessonResult.WAITS, outcome.entry, 0)
    assert "no case is there" in waits.why
    for case in questions(12):
        keep_case(home.folder / FOLDER, case)
    shown = " ".join(report_lines(improved(home, DRY, supply_of(obeys))))
    assert f"`whet lessons approve {outcome.entry}`" in shown
    assert f"`whet try {outcome.entry}`: at most " in shown
    assert "says proposed" not in shown


@EMBEDDED
@pytest.mark.usefixtures("failed")
def test_a_dry_run_says_what_it_would_do_and_cost_and_does_nothing(home: Home, database: Database) -> None:
    def refuses(_run: Run) -> Reply:
        raise AssertionError("a dry run asks no model")

    report = improved(home, replace(DRY, most=1), supply_of(refuses))
    [outcome] = report.outcomes
    assert (outcome.became, outcome.most.attempts) == (LessonResult.PLANNED, 20)
    assert outcome.most.tokens > 0
    assert outcome.most.minimum_effect is not None
    assert Ledger(database).entries() == []
    [done] = improved(home, replace(ASK, most=1), supply_of(obeys)).outcomes
    assert (done.became, done.lesson.id) == (LessonResult.CANARY, outcome.lesson.id), "what was foretold is done"
    assert 0 < done.attempts <= outcome.most.attempts


@EMBEDDED
@pytest.mark.usefixtures("failed")
def test_a_rule_without_which_more_fails_is_kept(home: Home, database: Database) -> None:
    proofs = tuple(Proof(session, 1) for session in _sessions(database))
    rule = Patch(Form.RULE, Action.ADD, "old", f"Here {TOLD}.", trust=Trust.AGENT, proofs=proofs)
    apply(home, database, rule, actor=Actor.POLICY, now=1.0)
    [outcome] = improved(home, replace(ASK, retire=True), supply_of(obeys)).outcomes
    assert (outcome.became, outcome.why) == (LessonResult.KEPT, "without it, more fails")
    assert ledger_of(home, database).state().get(Form.RULE, "old") is not None


@EMBEDDED
@pytest.mark.usefixtures("failed")
def test_a_rule_that_now_harms_is_retired(home: Home, database: Database) -> None:
    proofs = tuple(Proof(session, 1) for session in _sessions(database))
    rule = Patch(Form.RULE, Action.ADD, "old", "Never look twice.", trust=Trust.AGENT, proofs=proofs)
    apply(home, database, rule, actor=Actor.POLICY, now=1.0)

    def harmed(run: Run) -> Reply:
        return obeys(replace(run, system="" if "Never look twice." in run.system else TOLD))

    [outcome] = improved(home, replace(ASK, retire=True), supply_of(harmed)).outcomes
    assert outcome.became is LessonResult.RETIRED
    assert ledger_of(home, database).state().rules == ()


def test_trials_and_reviews_teach_nothing(home: Home, database: Database) -> None:
    for number in range(1, 13):
        hidden = replace(failing(number), purpose=Purpose.TRIAL)
        keep(database, prepare(hidden), Provenance("", float(number), float(number)))
    assert improved(home, ASK, supply_of(obeys)).sessions == 0


def _sessions(database: Database) -> list[str]:
    return [str(id) for (id,) in database.query("SELECT id FROM sessions ORDER BY no")]


def test_what_an_earlier_version_found_and_did_not_end_is_refused() -> None:
    """An order begun before lessons were one record: nothing is carried out with half of what was found."""
    found = '{"sessions":9,"lessons":1,"ideas":[{"why":"edits fail","way":"catalogue","sessions":["s1"]}]}'
    kept = '{"idea":{"why":"edits fail","way":"catalogue"},"became":"canary","entry":3,"attempts":9}'
    ready = '{"idea":{"why":"edits fail","way":"catalogue"},"asks":"no model is set"}'
    forms: tuple[tuple[str, type[object]], ...] = ((found, LessonsToTry), (kept, LessonOutcome), (ready, ReadyTrial))
    for text, form in forms:
        with pytest.raises(WhetError, match="Another version of Whet started this work"):
            decoded(text, form)


@EMBEDDED
def test_what_cannot_be_tried_takes_no_slot_of_another_night(home: Home) -> None:
    for name in ("first", "second"):
        template = Template(name, (Example("water", f'{{"bed": "{name}"}}', "ok", "Water it."),))
        place = home.folder / "templates" / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(written(template))
    ask = replace(ASK, most=1)
    nights = [improved(home, ask, supply_of(obeys)).outcomes for _ in range(3)]
    assert [[each.lesson.patch.name for each in night] for night in nights] == [["first"], ["second"], []]
    assert [improved(home, replace(ask, dry_run=True), supply_of(obeys)).outcomes] == [()]
