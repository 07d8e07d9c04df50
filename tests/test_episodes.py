"""What one request took."""

from hypothesis import given
from hypothesis import strategies as st

from conversations import Turn, agent, call, conversation, program, user
from whet.episodes import episodes
from whet.evidence import gather
from whet.transcripts import Role

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
    assert [(first.asked, first.answer), (second.asked, second.answer)] == [(0, 3), (4, 9)]
    assert [step.tool for step in second.steps] == ["read_file", "write_file"]


def test_a_request_that_was_broken_off_has_no_answer() -> None:
    (only,) = episodes(gather(conversation(user("Look."), agent("I look."), LOOK)))
    assert only.answer is None


def test_what_nobody_asked_for_is_an_episode_too() -> None:
    (only,) = episodes(gather(conversation(program("Water the plants."), LOOK, agent("Done."))))
    assert (only.asked, only.answer) == (None, 3)


TURNS = st.lists(st.sampled_from([user("Look at it."), LOOK, WRITE, agent("Done.")]), max_size=12)


@given(TURNS)
def test_every_step_is_in_one_episode_and_in_order(turns: list[Turn]) -> None:
    evidence = gather(conversation(*turns))
    found = episodes(evidence)
    assert tuple(step for episode in found for step in episode.steps) == evidence.steps
    for episode in found:
        if episode.answer is not None:
            assert evidence.transcript.messages[episode.answer].role is Role.AGENT
            assert episode.answer > episode.steps[-1].message
