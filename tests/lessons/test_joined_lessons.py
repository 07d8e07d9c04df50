"""What a reader claims and what code found are one lesson where they name one remedy for one situation."""

import pytest
from msgspec.structs import replace

from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope
from whet.lessons.claim_remedies import is_same_lesson, joined
from whet.lessons.record import (
    Lesson,
    LessonChecks,
    LessonEvidence,
    LessonPiece,
    LessonSource,
    SeenBy,
    lesson_of_change,
)
from whet.lessons.rungs import LessonMeasures


def made(rule: str, call: str = "", fix: str = "", *, at: tuple[int, ...] = (), is_read: bool = False) -> Lesson:
    situation = RuleSituation(call, "", fix)
    patch = Patch(Form.RULE, Action.ADD, rule[:20], rule, scope=Scope(project="shop"), situation=situation)
    pieces = tuple(LessonPiece(LessonSource.RECOVERY, f"s{each}", 4, call) for each in at)
    checks = LessonChecks(measures=LessonMeasures(1)) if is_read else LessonChecks()
    evidence = LessonEvidence(LessonSource.RECOVERY, pieces, len(pieces), float(len(pieces)))
    return replace(
        lesson_of_change(patch), fix=fix, evidence=evidence, checks=checks, seen_by=SeenBy(("claude",) if at else ())
    )


TESTS = made("`pytest …` fails here; run `./dev test …` instead.", "pytest", "./dev test", at=(1, 2, 3))


@pytest.mark.parametrize(
    ("claimed", "is_same"),
    [
        ("Run the tests with `./dev test MODULE`, never with `pytest`.", True),
        ("Tests laufen hier nur über `./dev test`; `pytest` allein findet die Datenbank nicht.", True),
        ("Never use `./dev test`; run `pytest` for the tests.", False),
        ("Run `./dev lint` before you commit.", False),
        ("Run `pytest` with `-x`.", False),
        ("Run `./dev test` once a day.", False),
    ],
)
def test_a_claim_is_the_same_that_names_the_remedy_and_the_situation(claimed: str, is_same: bool) -> None:
    assert is_same_lesson(made(claimed, is_read=True), TESTS) is is_same


def test_a_claim_from_the_same_messages_need_not_name_the_situation() -> None:
    assert is_same_lesson(made("The runner is `./dev test`.", at=(2,), is_read=True), TESTS)


def test_the_evidence_of_both_is_kept_each_message_once() -> None:
    claimed = made("Run the tests with `./dev test`, not `pytest`.", at=(3, 4), is_read=True)
    other = made("`npm ci …` fails here; run `pnpm i …` instead.", "npm ci", "pnpm i", at=(1, 2))
    one, left = joined([claimed, TESTS, other])
    assert (one.rule, one.sessions, one.repeats) == (claimed.rule, 4, (TESTS.patch,))
    assert one.evidence.session_ids == ("s3", "s4", "s1", "s2")
    assert one.patch.situation == TESTS.patch.situation, "by this later sessions are asked whether it is followed"
    assert left == other


def test_what_another_project_teaches_is_another_lesson() -> None:
    elsewhere = replace(made("Run `./dev test`, not `pytest`.", at=(3,), is_read=True), project="till")
    assert len(joined([elsewhere, TESTS])) == 2
