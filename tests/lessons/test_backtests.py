"""Backtests: what later sessions show of a lesson, each stretch counted once, and in which words it is told."""

import pytest

from whet.lessons.claim_checks import backtest, backtest_by_quotes
from whet.lessons.claim_evidence import SeenCall, SessionCalls
from whet.lessons.claims import CheckPlace, ClaimCheck
from whet.lessons.rungs import (
    Backtest,
    CallCounts,
    Climb,
    EvidenceRung,
    LessonMeasures,
    LiveLesson,
    Passed,
    TriedLesson,
)
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.values import Intervention, InterventionKind, SessionTrouble, Speaker, Trouble, TroubleKind

CHECK = ClaimCheck(CheckPlace.COMMAND, "npm install", "bun add")


def calls(*made: tuple[int, str, Outcome]) -> SessionCalls:
    return SessionCalls(tuple(SeenCall(message, command, "", outcome, "") for message, command, outcome in made))


FAILED, WORKED = (4, "npm install x", Outcome.FAILED), (8, "bun add x", Outcome.OK)
TROUBLE = SessionTrouble(
    "a",
    troubles=(
        Trouble(TroubleKind.SLIP, 3, 9, seconds=90.0, tokens=1_000),
        Trouble(TroubleKind.WAITING, 20, 22, seconds=600.0, tokens=5_000),
    ),
    interventions=(
        Intervention(InterventionKind.CORRECTION, 10, by=Speaker.PERSON),
        Intervention(InterventionKind.CORRECTION, 9, by=Speaker.TEAM),
        Intervention(InterventionKind.CORRECTION, 15, by=Speaker.PERSON),
    ),
)


def test_a_stretch_that_holds_several_failures_is_counted_once_and_others_not_at_all() -> None:
    later = {
        "a": calls(FAILED, (6, "npm install x", Outcome.FAILED), WORKED),
        "b": calls(WORKED),
        "c": calls((1, "ls", Outcome.OK)),
        "d": calls((1, "npm install y", Outcome.REJECTED)),
    }
    found = backtest(CHECK, later, {"a": TROUBLE}.get)
    assert found == Backtest(4, 3, 2, 3, minutes=1.5, tokens=1_000, messages=1)
    assert found.came_back


def test_what_only_works_later_did_not_come_back() -> None:
    found = backtest(CHECK, {"b": calls(WORKED)}, lambda _: None)
    assert (found.later, found.came_up, found.came_back) == (1, 1, False)
    assert backtest(CHECK, {}, lambda _: None) == Backtest()


TRIED = TriedLesson("t1", "accepted", Passed(3, 12), Passed(12, 12))
LIVE = LiveLesson(24, 11 / 12, 1 / 12)
CHECKED = LessonMeasures(3, counts=CallCounts(16, 14, 9, 9))


@pytest.mark.parametrize(
    ("climb", "rung", "words"),
    [
        (Climb(1), "seen", ("seen in 1 session", "not tried")),
        (
            Climb(2, LessonMeasures(1, 1, goes_back="its pattern fits no call")),
            "seen",
            ("seen in 2 sessions", "not checked: its pattern fits no call; 1 of 2 quotes exact", "not tried"),
        ),
        (
            Climb(12, CHECKED),
            "checked",
            (
                "seen in 12 sessions",
                "checked: failed 14 of 16, works 9 of 9, all 3 quotes exact",
                "not looked for in later sessions yet",
                "not tried",
            ),
        ),
        (
            Climb(1, LessonMeasures(1, backtest=Backtest(7, 2))),
            "checked",
            (
                "seen in 1 session",
                "checked: its quote is exact",
                "did not come back in 7 later sessions (its situation: in 2)",
                "not tried",
            ),
        ),
        (
            Climb(9, LessonMeasures(2, backtest=backtest_by_quotes(40, {"x": 1, "y": 2})), TriedLesson("t1")),
            "tried",
            (
                "seen in 9 sessions",
                "checked: all 2 quotes exact",
                "came back in 2 of 40 later sessions",
                "upper bound: 3 messages spared",
                "tried in trial t1",
            ),
        ),
        (
            Climb(9, None, TRIED, LIVE),
            "live",
            ("seen in 9 sessions", "tried: accepted, 3 of 12 → 12 of 12 (trial t1)", "live: 92 % → 8 % in 24 sessions"),
        ),
        (
            Climb(9, None, None, LiveLesson(5, 0.41, 0.3, is_share=False)),
            "live",
            ("seen in 9 sessions", "live: mean failure 0.41 → 0.30 in 5 sessions"),
        ),
        (
            Climb(9, None, None, LiveLesson()),
            "live",
            ("seen in 9 sessions", "live: told to a share of the sessions, none counted yet"),
        ),
    ],
)
def test_a_lesson_tells_its_rung_in_plain_words(climb: Climb, rung: str, words: tuple[str, ...]) -> None:
    assert (climb.rung, climb.words) == (EvidenceRung(rung), words)
    found = Climb(9, LessonMeasures(2, backtest=Backtest(131, 40, 12, 1_127, 1_340.0, 12_000_000, 1_132)))
    assert all(len(each) <= 76 for each in (*words, *found.words)), "a line of a terminal, with what stands before it"
    assert found.rung is EvidenceRung.CAME_BACK


def test_what_else_is_to_be_known_is_told_with_it() -> None:
    measures = LessonMeasures(
        1, missing=("a.py", "b"), enforced_in="ruff.toml", wrong_in="AGENTS.md", wrong_as="Run x."
    )
    assert Climb(1, measures).notes == (
        "AGENTS.md says something wrong: Run x.",
        "not in the repository now: a.py, b",
        "a linter is set up for it in ruff.toml",
    )
    assert Climb(1).notes == ()
