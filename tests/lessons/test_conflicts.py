"""Sentences that contradict each other are shown, and made into no rule."""

import pytest

from whet.lessons.conflicts import conflicts, contradicted
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.stances import stance_of
from whet.text.key_words import key_words


def said(text: str, session: str, *, at: float = 1.0, who: str = "") -> LessonPiece:
    return LessonPiece(LessonSource.PERSON, session, 3, text, keys=key_words(text), at=at, who=who)


@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        ("use tabs", "don't use tabs", "tabs"),
        ("always use tabs for indentation", "never use tabs for indentation", "tabs"),
        ("use npm for installs", "use pnpm for installs", "npm or pnpm"),
        ("we always use npm for installs", "please use pnpm for installing", "npm or pnpm"),
        ("use `make check` before a commit", "don't use `make check` before a commit", "make check"),
    ],
)
def test_for_and_against_or_another_choice_for_the_same_purpose(one: str, other: str, about: str) -> None:
    [found] = conflicts([said(other, "s2", at=2.0, who="bob"), said(one, "s1", at=1.0, who="ann")])
    assert found.about == about
    assert [(each.text, each.who) for each in (found.first, found.second)] == [(one, "ann"), (other, "bob")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use tabs in the makefile recipes", "don't use tabs when answering questions"),
        ("use pnpm for installs", "use make for releases"),
        ("use pnpm for installs", "use pnpm for installs"),
        ("use pnpm instead of npm", "never use npm, use pnpm"),
    ],
)
def test_other_situations_and_the_same_word_are_no_conflict(one: str, other: str) -> None:
    assert conflicts([said(one, "s1"), said(other, "s2")]) == ()


def test_what_changes_within_one_session_is_no_conflict() -> None:
    assert conflicts([said("use tabs", "s1"), said("don't use tabs", "s1")]) == ()


def test_a_draft_that_takes_a_side_is_known() -> None:
    found = conflicts([said("use tabs", "s1"), said("don't use tabs", "s2")])
    assert contradicted("Don't use tabs", found) == found[0]
    assert contradicted("Use pnpm for installs", found) is None


@pytest.mark.parametrize(
    ("sentence", "wanted", "unwanted"),
    [
        ("use pnpm instead of npm", {"pnpm"}, {"npm"}),
        ("never run pytest, use ./dev test", {"./dev"}, {"pytest"}),
        (
            "don't use `git push --force`, use git push --force-with-lease",
            {"--force-with-lease", "git"},
            {"git push --force"},
        ),
    ],
)
def test_a_sentence_is_for_some_names_and_against_others(sentence: str, wanted: set[str], unwanted: set[str]) -> None:
    stance = stance_of(sentence)
    assert wanted <= stance.wanted
    assert unwanted <= stance.unwanted
    assert not stance.wanted & stance.unwanted
