"""Pieces that belong together become one candidate; the most promising come first."""

from whet.lessons.candidates import candidates
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.text.key_words import key_words


def said(text: str, session: str, *, weight: float = 2.0, message: int = 2) -> LessonPiece:
    return LessonPiece(LessonSource.PERSON, session, message, text, keys=key_words(text), weight=weight)


def failed(text: str, session: str, *, fix: str = "", habit: bool = False) -> LessonPiece:
    keys = key_words(text)
    return LessonPiece(LessonSource.RECOVERY, session, 4, text, fix=fix, keys=keys, weight=1.5, is_habit=habit)


def test_pieces_about_the_same_thing_are_one_candidate() -> None:
    both = [said("use table-driven tests", "one"), said("why aren't the tests table-driven", "two")]
    [found] = candidates(both, {})
    assert found.sessions == 2
    assert {piece.session for piece in found.pieces} == {"one", "two"}


def test_what_recurs_comes_before_what_was_said_once() -> None:
    often = [said("always branch from main", name) for name in ("one", "two", "three")]
    found = candidates([said("never wrap markdown", "four"), *often], {})
    assert [one.best.text for one in found] == ["always branch from main", "never wrap markdown"]


def test_a_copy_of_a_session_is_no_further_evidence() -> None:
    twice = [said("always branch from main", "one"), said("always branch from main", "copy")]
    [found] = candidates(twice, {"copy": "one"})
    assert found.sessions == 1


def test_a_habit_of_the_agents_tools_ranks_below_what_the_project_teaches() -> None:
    pieces = [
        failed("Edit a.py → File has not been read yet", "one", fix="Edit a.py", habit=True),
        failed("rtk bun → unrecognized subcommand bun", "two", fix="bun"),
    ]
    assert [one.best.is_habit for one in candidates(pieces, {})] == [False, True]


def test_every_candidate_shows_something_that_none_before_it_showed() -> None:
    texts = ("add a gsd todo for the migration", "log a gsd todo for the upload", "write a gsd todo for the login")
    pieces = [said(text, f"s{place}") for place, text in enumerate(texts)]
    seen: set[str] = set()
    for one in candidates([*pieces, said("never wrap markdown", "other", weight=1.2)], {}):
        sessions = {piece.session for piece in one.pieces}
        assert sessions - seen
        seen |= sessions


def test_at_most_as_many_as_are_asked_for() -> None:
    pieces = [said(f"never touch subject{number}", f"s{number}") for number in range(9)]
    assert len(candidates(pieces, {}, most=4)) == 4
