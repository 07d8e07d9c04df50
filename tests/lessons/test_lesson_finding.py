"""What one session teaches: the person's words, with what was done for them, and which sessions are copies."""

import pytest
from msgspec.structs import replace

from conversations import agent, call, conversation, shell, timed, user
from quickness import is_linear
from whet.lessons.finding import (
    copied_sessions,
    holds_for_good,
    opening_of,
    said_pieces,
    standing_sentences,
    teaching_of,
)
from whet.sessions.transcripts import Disposition, Transcript
from whet.sessions.trust import Trust
from whet.trouble.outcomes.view import gather


def said(transcript: Transcript) -> list[tuple[str, Trust]]:
    return [(piece.text, piece.trust) for piece in said_pieces(gather(transcript))]


@pytest.mark.parametrize(
    "text",
    [
        "Never commit to main.",
        "please always run the linter first",
        "We never squash here",
        "You must never touch the vendor folder.",
        "From now on, use pnpm.",
        "Bitte immer zuerst die Tests laufen lassen",
        "Nutze immer pnpm statt npm.",
        "Всегда запускай тесты через make",
        "Désormais, utilise pnpm pour tout.",
    ],
)
def test_a_whole_sentence_that_says_for_good_is_an_order(text: str) -> None:
    assert [each.rstrip(".") for each in standing_sentences(text)] == [text.rstrip(".")]


@pytest.mark.parametrize(
    "text",
    [
        "Never mind, we'll look at it later",
        "The loader always returns null here",
        "It never finishes on my machine",
        "Look into recon: never finishes",
        "Why do you always do that?",
        "If we don't have a session state",
        "API calls always fail at night",
        "never!",
        "Tests schlagen hier immer wieder fehl",
    ],
)
def test_a_statement_is_no_order(text: str) -> None:
    assert list(standing_sentences(text)) == []


def test_an_order_is_read_in_linear_time() -> None:
    assert is_linear(holds_for_good, "never use it ", 20_000)


def test_what_a_person_types_is_kept_once_and_what_they_paste_is_not() -> None:
    pasted = "x\n" * 40
    turns = (user("Fix it"), agent("Done."), user("and the changelog"), user("and the changelog"), user(pasted))
    assert said(conversation(*turns)) == [("Fix it", Trust.USER), ("and the changelog", Trust.USER)]


def test_words_that_no_record_vouches_for_are_trusted_as_a_tools() -> None:
    assert said(conversation(user("Never push.", vouched=False))) == [("Never push.", Trust.TOOL)]


def test_the_words_of_a_refusal_are_the_persons_where_the_record_marks_it() -> None:
    text = "The user doesn't want to proceed with this tool use. the user said:\nnever push from here"
    for disposition, trust in ((Disposition.REJECTED, Trust.USER), (None, Trust.EXTERNAL)):
        refused = call("Bash", {"command": "git push"}, text, error=True, disposition=disposition)
        assert said(conversation(user("Ship it"), refused))[1:] == [("never push from here", trust)]


def test_what_was_done_for_a_persons_words_is_kept_with_them() -> None:
    edit = call("Edit", {"file_path": "/app/CHANGELOG.md", "old_string": "a", "new_string": "b"}, "updated")
    made = conversation(user("Fix it"), shell("make fix", "ok"), agent("Done."), user("now the log"), edit)
    first, second = said_pieces(gather(made))
    assert "make fix" in first.did
    assert second.did == frozenset({"CHANGELOG.md"})


def test_a_session_that_begins_with_the_same_words_at_the_same_time_is_a_copy() -> None:
    one = timed(conversation(user("Fix it"), agent("Done."), native_id="one"))
    two = replace(one, native_id="two", messages=(*one.messages, agent("More.")))
    three = timed(conversation(user("Fix that"), native_id="three"))
    assert copied_sessions({each.id: opening_of(each) for each in (one, two, three)}) == {two.id: one.id}
    assert teaching_of(one).opening == teaching_of(two).opening
