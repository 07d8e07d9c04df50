"""Templates in the watch: drawn sessions counted once, the worthless retired, the helpful chosen for it."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import agent, shell, user
from samples_of_templates import TEMPLATE
from whet.agent.warm_start import AUTO, chosen, count_use, draw_template
from whet.changes.apply import undo
from whet.improving.watch import look_at_templates, watch
from whet.ledger.entries import Actor, Step
from whet.ledger.patches import Action
from whet.lessons.rungs import CanaryMove, LiveCounts
from whet.own.examples.templates import SHARES, Choice, Need, TemplateEffect, written
from whet.own.jobs.job import Job
from whet.own.runs.run import Ended, Run
from whet.sessions.transcripts import Ending, Message, Purpose
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.recording import recorded, template_uses
from whet.store.template_files import (
    CountedDraw,
    count_draws,
    list_templates,
    outcomes,
    record_worth,
    uncounted,
    worths,
)
from whet.trials.draws import is_told
from whet.work.clock import order_watch
from whet.work.orders import DirectSteps
from work.job_scenes import ran, script

BEGAN = 1_800_000_000.0
HOUR, DAY = 3600.0, 86_400.0
MODEL = "some-model"
NEED = Need(task="Look at the garden plan.", model=MODEL)
WELL = (user("Sum it up."), *shell("wc -l a.txt", "3 a.txt"), agent("It has three lines."))
BADLY = (
    user("Sum it up."),
    *(part for _ in range(6) for part in shell("cat a.txt", "cat: a.txt: No such file", error=True)),
    agent("I could not do it, sorry."),
    user("No, that is wrong. I told you to look first."),
)
HARMED, HELPED = {True: 0.9, False: 0.1}, {True: 0.1, False: 0.9}
Went = Callable[[bool], Iterable[Message]]


def harmed(told: bool) -> Iterable[Message]:
    return BADLY if told else WELL


def helped(told: bool) -> Iterable[Message]:
    return WELL if told else BADLY


@pytest.fixture(autouse=True)
def templates(home: Home) -> None:
    folder = home.folder / "templates"
    folder.mkdir(parents=True)
    (folder / "garden-work.json").write_text(written(TEMPLATE))


def live(database: Database, run: Run, messages: Iterable[Message], *, at: float) -> None:
    list(recorded(database, run, [*messages, Ended(Ending.FINISHED)], now=lambda: at))


def begin(home: Home, database: Database, draw_id: str, *, at: float, model: str = MODEL) -> bool | None:
    """Whether a session begins warm, drawn as `Talk` does; None where nothing is drawn."""
    choice = chosen(home, database, AUTO, replace(NEED, model=model), now=at)
    draw = draw_template(database, choice, draw_id=draw_id, model=model, now=at)
    if draw is None or draw.told:
        count_use(database, choice, session=draw_id, now=at)
    return draw.told if draw else None


def go_by(home: Home, database: Database, went: Went, *, sessions: range) -> None:
    """Sessions as they happen."""
    for number in sessions:
        draw_id, at = f"session-{number}", BEGAN + 10 * number
        told = begin(home, database, draw_id, at=at)
        live(database, Run(draw_id, MODEL, "", draw_id=draw_id), went(bool(told)), at=at + 5)


def counted(home: Home, database: Database, went: Mapping[bool, float], *, draw_ids: range, model: str = MODEL) -> None:
    """Sessions that drew and were counted already, each with its loss: what a crash after that leaves."""
    for number in draw_ids:
        told = begin(home, database, f"counted-{number}", at=BEGAN + 10 * number, model=model)
        count_draws(database, [CountedDraw(f"counted-{number}", went[bool(told)], 1)])


def looked(home: Home, database: Database, *, at: float = BEGAN + 10 * HOUR) -> list[LiveCounts]:
    return [each.counts for each in look_at_templates(home, database, now=at)]


def is_there(home: Home) -> bool:
    return bool(list_templates(home.folder))


def test_a_template_with_which_sessions_go_badly_is_retired_and_can_be_brought_back(
    home: Home, database: Database
) -> None:
    go_by(home, database, harmed, sessions=range(40))
    [found] = looked(home, database)
    assert found.comparison.decision is CanaryMove.REVERT
    assert found.comparison.told + found.comparison.untold == found.sessions == 40
    last = ledger_of(home, database).entries()[-1]
    assert (last.step, last.actor, last.number) == (Step.APPLIED, Actor.WATCH, found.decided)
    assert last.patch.action is Action.REMOVE
    assert "it harms" in last.patch.reason == found.why
    assert "error rate at most 1 %" in found.why
    assert not is_there(home)
    assert looked(home, database, at=BEGAN + 11 * HOUR) == []

    undo(home, database, actor=Actor.PERSON, now=BEGAN + 12 * HOUR)
    assert is_there(home)
    [again] = looked(home, database, at=BEGAN + 13 * HOUR)
    assert (again.comparison.decision, again.decided, again.comparison.told) == (CanaryMove.WAIT, 0, 0)
    assert is_there(home), "what was counted then was decided on, and the person overruled it"
    choice = chosen(home, database, AUTO, NEED, now=BEGAN + 13 * HOUR)
    assert (choice.template, choice.by) == (TEMPLATE, "fit")


def test_new_evidence_retires_again_what_was_brought_back(home: Home, database: Database) -> None:
    counted(home, database, HARMED, draw_ids=range(60))
    looked(home, database)
    undo(home, database, actor=Actor.PERSON, now=BEGAN + 12 * HOUR)
    counted(home, database, HARMED, draw_ids=range(5000, 5090))
    [found] = looked(home, database, at=BEGAN + 30 * HOUR)
    assert found.decided
    assert found.comparison.told + found.comparison.untold == 90, "of the first sixty nothing counts twice"
    assert not is_there(home)


def test_a_template_with_which_sessions_go_well_is_measured_and_chosen_for_it(home: Home, database: Database) -> None:
    go_by(home, database, helped, sessions=range(40))
    [found] = looked(home, database)
    assert (found.comparison.decision, found.share, found.decided) == (CanaryMove.PROMOTE, SHARES["fit"], 0)
    [worth] = worths(database)
    assert (worth.source, worth.model, worth.worthless) == ("canary", "", False)
    assert worth.low > 0
    looked(home, database, at=BEGAN + 11 * HOUR)
    assert len(worths(database)) == 1, "it is not said at every look"
    choice = chosen(home, database, AUTO, NEED, now=BEGAN + 12 * HOUR)
    assert (choice.template, choice.by) == (TEMPLATE, "measured")
    draw = draw_template(database, choice, draw_id="next", model=MODEL, now=BEGAN + 12 * HOUR)
    assert draw is not None
    assert draw.share == SHARES["measured"]
    counted(home, database, HELPED, draw_ids=range(50, 250))
    looked(home, database, at=BEGAN + 13 * HOUR)
    assert len(worths(database)) == 2, "and again when sessions since then say so"
    late = chosen(home, database, AUTO, NEED, now=BEGAN + 200 * DAY)
    assert late.by == "fit", "old praise proves nothing of today"


def test_a_crash_between_counting_and_deciding_repeats_nothing(home: Home, database: Database) -> None:
    counted(home, database, HARMED, draw_ids=range(60))
    live(database, Run("counted-0", MODEL, "", draw_id="counted-0"), WELL, at=BEGAN)
    before = outcomes(database)
    [found] = looked(home, database)
    assert (found.comparison.decision, found.sessions) == (CanaryMove.REVERT, 60)
    assert outcomes(database) == before, "what was counted stays, and counts once"


def test_a_crash_between_the_verdict_and_the_removal_is_made_good_once(home: Home, database: Database) -> None:
    counted(home, database, HARMED, draw_ids=range(3))
    harm = TemplateEffect(TEMPLATE.key, -0.5, -0.8, -0.2, 3, BEGAN, MODEL, source="canary", worthless=True, counted=3)
    record_worth(database, harm)
    [found] = looked(home, database)
    assert found.decided
    assert not is_there(home)
    assert worths(database) == (harm,)
    removals = [entry for entry in ledger_of(home, database).entries() if entry.step is Step.APPLIED]
    assert len(removals) == 1


def test_a_session_counts_once_with_all_that_goes_on_from_it_and_not_before_it_settled(
    home: Home, database: Database
) -> None:
    told = begin(home, database, "long", at=BEGAN)
    live(database, Run("long", MODEL, "", draw_id="long"), WELL, at=BEGAN)
    live(database, Run("longer", MODEL, "", draw_id="long", parent="long"), BADLY, at=BEGAN + 2 * HOUR)
    assert looked(home, database, at=BEGAN + 2.5 * HOUR) == []
    [found] = looked(home, database, at=BEGAN + 4 * HOUR)
    assert (found.sessions, found.comparison.told, found.comparison.untold) == (2, int(bool(told)), int(not told))
    assert looked(home, database, at=BEGAN + 5 * HOUR) == [found]


def test_only_what_people_and_jobs_do_counts_and_only_where_it_really_began(home: Home, database: Database) -> None:
    for draw_id, purpose in (("chat", Purpose.CHAT), ("job", Purpose.JOB), ("trial", Purpose.TRIAL)):
        begin(home, database, draw_id, at=BEGAN)
        live(database, Run(draw_id, MODEL, "", draw_id=draw_id, purpose=purpose), WELL, at=BEGAN)
    begin(home, database, "never-begun", at=BEGAN)
    live(database, Run("undrawn", MODEL, "", draw_id="undrawn"), WELL, at=BEGAN)
    [found] = looked(home, database)
    assert found.sessions == 2


def test_a_draw_is_the_same_whenever_it_is_asked(home: Home, database: Database) -> None:
    first = [begin(home, database, f"s{number}", at=BEGAN) for number in range(20)]
    record_worth(database, TemplateEffect(TEMPLATE.key, 0.2, 0.1, 0.3, 40, BEGAN, MODEL))
    second = [begin(home, database, f"s{number}", at=BEGAN + 1) for number in range(20)]
    assert first == second == [is_told(f"template/{TEMPLATE.key}", f"s{number}", 0.5) for number in range(20)]
    assert {True, False} == set(first)
    assert template_uses(database)[TEMPLATE.key].sessions == sum(map(bool, first)), "only what was used counts as a use"


def test_what_was_asked_for_by_name_is_no_draw(database: Database) -> None:
    for by in ("name", "none"):
        template = TEMPLATE if by == "name" else None
        choice = Choice(template, "name" if template else "none", "")
        assert draw_template(database, choice, draw_id="one", model=MODEL, now=BEGAN) is None
    assert outcomes(database) == {}


def test_the_procedure_tells_what_it_did_with_templates(home: Home, database: Database) -> None:
    counted(home, database, HARMED, draw_ids=range(4))
    assert watch(home, DirectSteps("w"), "{}").summary == "0 canaries and 1 templates, nothing to decide"
    counted(home, database, HARMED, draw_ids=range(10, 70))
    assert "garden-work retired" in watch(home, DirectSteps("w"), "{}").summary


@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
def test_the_clock_orders_a_look_where_sessions_drew(home: Home, database: Database) -> None:
    assert order_watch(home, now=BEGAN) == ""
    begin(home, database, "one", at=BEGAN)
    assert order_watch(home, now=BEGAN + HOUR) == order_watch(home, now=BEGAN + HOUR + 60) != ""
    assert order_watch(home, now=BEGAN + 200 * DAY) == "", "nobody has drawn for long"


@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
def test_a_job_that_begins_warm_by_auto_draws_too(home: Home, database: Database, tmp_path: Path) -> None:
    reply = {"name": "finish", "arguments": '{"status": "done", "report": "Two leaves."}'}
    model = script(tmp_path / "replies", json.dumps({"calls": [reply]}))
    one = Job("leaves", "every 2h", prompt=NEED.task, model=model, warm="auto", workdir=str(tmp_path), deliver="none")
    assert not ran(home, one).has_failed
    [draw] = uncounted(database)
    assert draw.draw_id.startswith("job-leaves-")
    assert (draw.key, draw.model, draw.share) == (TEMPLATE.key, model, SHARES["fit"])
