import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import Turn, agent, call, conversation, shell, user
from whet.failures.score import OF_RESULTS, SAID, SIGNS, WHOLE, failure_of, measure, weigh
from whet.failures.usual import Beyond
from whet.failures.view import gather
from whet.shipped.data import failure_weights

FAILED = call("get_user", {"id": 1}, "Error: no such user", error=True)
WORKED = call("get_user", {"id": 2}, "Kim, 41 years")


def signs(*turns: Turn) -> dict[str, float]:
    return measure(gather(conversation(*turns)))


def failure(*turns: Turn) -> float:
    weights = failure_weights()
    return failure_of(weigh(gather(conversation(*turns)), weights), weights)


def test_the_shipped_weights_know_every_sign_and_excuse_nothing() -> None:
    weights = failure_weights().weights
    assert set(weights) == {*(sign.name for sign in SIGNS), WHOLE, SAID}
    assert all(weight >= 0 for weight in weights.values())


def test_a_session_that_went_well_scores_below_one_half() -> None:
    assert failure(user("How old is user 2?"), WORKED, agent("User 2 is 41 years old.")) < 0.5


def test_a_question_that_is_answered_without_a_call_is_no_failure() -> None:
    answered = (user("What is 2 + 2?"), agent("4"))
    assert failure(*answered) < 0.5
    assert not any(signs(*answered).values())
    assert signs(user("Rename the file a to b."), agent("It is renamed."))["no_calls"] == 1.0
    assert signs(user("How old is user 1?"), agent("I cannot access any users."))["no_calls"] == 1.0


@pytest.mark.parametrize(
    "turns",
    [
        (FAILED, FAILED, FAILED, agent("I could not find the user.")),
        (agent("I cannot access any users. Could you provide their age?"),),
        (WORKED, *(FAILED for _ in range(6))),
    ],
    ids=["stuck", "nothing done", "ends in failures"],
)
def test_a_session_that_went_wrong_scores_above_one_half(turns: tuple[Turn, ...]) -> None:
    assert failure(user("How old is user 1? Update the record."), *turns) > 0.5


def test_every_further_failure_raises_the_score() -> None:
    scores = [failure(user("go"), WORKED, *(FAILED for _ in range(count))) for count in range(4)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_an_open_question_counts_and_a_polite_offer_does_not() -> None:
    assert signs(user("go"), WORKED, agent("Which of the two do you mean?"))["open_question"] == 1
    assert signs(user("go"), WORKED, agent("Done. Is there anything else?"))["open_question"] == 0
    assert signs(user("go"), agent("Which one?"), user("the first"), WORKED)["open_question"] == 0


def test_what_was_asked_is_held_against_what_was_done() -> None:
    sent = call("send_mail", {"to": "kim"}, "sent")
    assert signs(user("Please send a mail to Kim."), WORKED, agent("Kim is 41."))["not_done"] == 1
    assert signs(user("Please send a mail to Kim."), sent, agent("Sent."))["not_done"] == 0
    assert signs(user("How old is Kim?"), sent, agent("41."))["unasked_change"] == 1
    assert signs(user("Please send a mail."), shell("mail kim", ""), agent("Sent."))["not_done"] == 0


def test_a_silent_shell_did_its_work() -> None:
    assert signs(user("go"), shell("mkdir a", ""))["failed_share"] == 0
    assert signs(user("go"), call("search_flights", {"to": "x"}, "[]"))["failed_share"] == 1


def test_labels_and_rewards_of_the_source_are_not_looked_at() -> None:
    plain = conversation(user("go"), WORKED, agent("Done."))
    assert {sign.name for sign in SIGNS}.isdisjoint({"success", "reward", "label", "checks"})
    assert measure(gather(plain)) == measure(gather(conversation(user("go"), WORKED, agent("Done."), native_id="two")))


@given(st.floats(-1e6, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_a_score_is_always_between_nought_and_one(logit: float, whole: float, said: float) -> None:
    assert 0 <= failure_of(logit, failure_weights(), Beyond(whole, said)) <= 1


def test_a_record_without_results_says_nothing_of_how_calls_went() -> None:
    """Some programs keep what the agent asked for and never what came of it."""
    lost, _ = call("write_file", {"path": "a"}, "")
    turns = (user("Change the file a."), lost, agent("I changed the file a."))
    found = signs(*turns)
    assert {found[name] for name in OF_RESULTS} == {0.0}
    assert failure(*turns) < 0.5
    assert signs(user("Change the file a."), lost)["nothing_worked"] == 0, "nor where it ends there"


EDITED = call("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "The file has been updated.")
COMMITTED = shell('git commit -m "Fix a"', "[main 1a2b3c4] Fix a")
ASKED = agent("Fixed; I could not find other callers. Shall I delete the old branch?")


def test_the_last_words_count_for_nothing_once_the_work_is_handed_over_or_checked() -> None:
    said = ("open_question", "inability")
    assert all(signs(user("Fix a."), EDITED, ASKED)[name] for name in said)
    for done in (COMMITTED, shell("pytest -q", "4 passed in 0.1s")):
        assert not any(signs(user("Fix a."), EDITED, done, ASKED)[name] for name in said)
    assert all(signs(user("Fix a."), COMMITTED, EDITED, ASKED)[name] for name in said), "not before the last change"


def test_length_counts_against_what_is_usual() -> None:
    weights = failure_weights()
    usual, longer = (failure_of(-1.0, weights, Beyond(each, each)) for each in (0.5, 1.0))
    assert usual < longer


def test_a_record_without_an_answer_weighs_nothing() -> None:
    weights = failure_weights()
    for turns in ((), (user("Update the record."),), (user("Update the record."), agent(" "))):
        assert weigh(gather(conversation(*turns)), weights) == weights.intercept
