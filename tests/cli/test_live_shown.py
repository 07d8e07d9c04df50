"""A canary that is judged by its own failure says so: the detector, the sessions in its situation, the next look."""

import pytest

from whet.cli.commands.live import live_lines, live_record
from whet.cli.output import give
from whet.evidence.coin_looks import LOOKS
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.record import Lesson, LessonStage, Standing, lesson_of_change
from whet.lessons.rungs import LiveCounts
from whet.trials.canaries import LiveUnit, judge_endpoint

ENDPOINT = "calls in the form that goes wrong"


def watched(*, unchecked: bool = False) -> Lesson:
    units = [
        LiveUnit(index % 2 == 0, 0.3, index % 4 == 1, False, unchecked and index % 2 == 0 and index % 5 == 0, 1000)
        for index in range(90)
    ]
    found = judge_endpoint(units, share=0.5)
    counts = LiveCounts(
        0.0, 0.5, 120, found.comparison,
        endpoint=ENDPOINT, guards=found.guards, held_by=found.held_by, next_look=LOOKS[0],
    )  # fmt: skip
    patch = Patch(Form.RULE, Action.ADD, "bun", "Run bun.")
    return lesson_of_change(patch, standing=Standing(LessonStage.LIVE, 7, "rule bun", counts=counts))


def test_the_detector_is_named_and_the_next_look(capsys: pytest.CaptureFixture[str]) -> None:
    give(None, live_lines([watched()]))
    said = " ".join(capsys.readouterr().out.split())
    assert f"the share of the sessions in its situation (90 of 120) that failed: {ENDPOINT}." in said
    assert f"Next look after {LOOKS[0]}." in said
    assert "Mean loss" not in said
    assert live_record(watched())["endpoint"] == ENDPOINT


def test_a_guard_that_stops_a_promotion_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    give(None, live_lines([watched(unchecked=True)]))
    said = " ".join(capsys.readouterr().out.split())
    assert "bun: changes without a check 0.20 with it, 0.00 without." in said
    assert "bun is not promoted: worse with it: changes without a check." in said


def test_before_anything_is_counted_it_says_when_sessions_count(capsys: pytest.CaptureFixture[str]) -> None:
    counts = LiveCounts(0.0, 0.5, 0, judge_endpoint((), share=0.5).comparison, endpoint=ENDPOINT, next_look=LOOKS[0])
    standing = Standing(LessonStage.LIVE, 7, "rule bun", counts=counts)
    give(None, live_lines([lesson_of_change(Patch(Form.RULE, Action.ADD, "bun", "Run bun."), standing=standing)]))
    said = " ".join(capsys.readouterr().out.split())
    assert "bun: nothing is counted yet. A session counts an hour after its last message" in said
    assert "that day's sessions count when it is over" in said


def test_where_nothing_is_live_it_says_what_became_of_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    patch = Patch(Form.RULE, Action.ADD, "bun", "Run bun.")
    ended = Entry(9, Step.PROMOTED, patch, Actor.WATCH, 0.0, note="bun promoted: 0 % of 6, 93 % of 14")
    give(None, live_lines([], ended))
    said = " ".join(capsys.readouterr().out.split())
    assert "The last one: bun promoted: 0 % of 6, 93 % of 14. To take that back, run `whet ledger undo 9`." in said
