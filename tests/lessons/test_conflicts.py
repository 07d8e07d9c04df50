"""Where people order for good what they forbid for good elsewhere."""

from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.said import conflicts, contradicted


def piece(session: str, text: str, at: float = 0.0) -> LessonPiece:
    return LessonPiece(LessonSource.PERSON, session, 3, text, at=at)


def test_an_order_and_its_contrary_are_shown_with_both_sentences() -> None:
    pieces = [
        piece("a", "Always use tabs for the indentation.", 1.0),
        piece("b", "never use tabs for the indentation", 2),
    ]
    [found] = conflicts(pieces)
    assert (found.first.session, found.second.session) == ("a", "b")
    assert "tab" in found.about
    assert contradicted("Never use tabs for the indentation", [found]) is found
    assert contradicted("Always run the tests with make", [found]) is None


def test_people_who_say_the_same_or_change_their_mind_in_one_session_contradict_nobody() -> None:
    assert conflicts([piece("a", "Always use tabs for code."), piece("b", "always use tabs for code")]) == ()
    assert conflicts([piece("a", "Always use tabs for code."), piece("a", "Never use tabs for code.")]) == ()


def test_of_several_on_one_subject_the_latest_is_shown() -> None:
    pieces = [
        piece("a", "Always use tabs for code.", 1.0),
        piece("b", "Never use tabs for code.", 2.0),
        piece("c", "Always use tabs for code.", 3.0),
    ]
    assert [each.second.session for each in conflicts(pieces)] == ["c"]
