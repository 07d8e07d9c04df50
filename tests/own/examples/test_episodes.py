"""What one request took."""

from hypothesis import given
from hypothesis import strategies as st

from conversations import Turn, agent, call, conversation, program, user
from whet.own.examples.candidates import episodes
from whet.sessions.transcripts import Role
from whet.trouble.outcomes.view import gather

LOOK = call("read_file", {"path": "plan.md"}, "water")
WRITE = call("write_file", {"path": "log.md", "content": "done"}, "ok")


def test_the_steps_of_each_request_stand_with_its_answer() -> None:
    turns: list[Turn] = [
        user("Look at the plan."),
        LOOK,
        agent("It says water."),
        user("Go."),
        LOOK,
        WRITE,
        agent("Done."),
    ]
    first, second = episodes(gather(conversation(*turns)))
    assert [first.asked, second.asked] == [0, 4]
    assert [first.is_answered, second.is_answered] == [True, True]
    assert [step.tool for step in second.steps] == ["read_file", "write_file"]


def test_a_request_that_was_broken_off_has_no_answer() -> None:
    (only,) = episodes(gather(conversation(user("Look."), agent("I look."), LOOK)))
    assert not only.is_answered


def test_what_nobody_asked_for_is_an_episode_too() -> None:
    (only,) = episodes(gather(conversation(program("Water the plants."), LOOK, agent("Done."))))
    assert (only.asked, only.is_answered) == (None, True)


TURNS = st.lists(st.sampled_from([user("Look at it."), LOOK, WRITE, agent("Done.")]), max_size=12)


@given(TURNS)
def test_every_step_is_in_one_episode_and_in_order(turns: list[Turn]) -> None:
    evidence = gather(conversation(*turns))
    found = episodes(evidence)
    assert tuple(step for episode in found for step in episode.steps) == evidence.steps
    for episode in found:
        after = evidence.transcript.messages[episode.steps[-1].message + 1 :]
        assert any(message.role is Role.AGENT for message in after) or not episode.is_answered
