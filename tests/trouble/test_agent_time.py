"""Whose time it is, that a minute counts once, and what does not change the count."""

import random

import pytest
from msgspec.structs import replace

from conversations import agent, call, conversation, shell, timed, user
from whet.sessions.transcripts import Disposition, Message, Origin, Transcript, Usage
from whet.trouble.clock import LONGEST_GAP_SECONDS, LONGEST_QUICK_SECONDS
from whet.trouble.finding import find_trouble
from whet.trouble.values import SessionTrouble, TroubleKind


def spent(*turns: Message | tuple[Message, Message], gaps: dict[int, float]) -> float:
    return find_trouble(timed(conversation(*turns), gap=0.0, gaps=gaps)).agent_seconds


def test_the_time_before_a_person_speaks_is_theirs() -> None:
    assert spent(user("Go."), agent("Done."), user("More."), agent("Done."), gaps={1: 20, 2: 5_000, 3: 30}) == 50


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode", "ask_followup_question"])
def test_a_question_waits_in_the_persons_time(tool: str) -> None:
    assert spent(user("Go."), call(tool, {"question": "Which?"}, "That."), gaps={1: 20, 2: 300}) == 20


def test_a_refusal_is_thought_about_in_the_persons_time() -> None:
    refused = call("Bash", {"command": "rm x"}, "No.", error=True, disposition=Disposition.REJECTED)
    assert spent(user("Go."), refused, gaps={1: 20, 2: 300}) == 20


def test_a_tool_that_answers_at_once_waited_for_a_permission() -> None:
    wait = spent(user("Go."), call("Write", {"file_path": "a", "content": "b"}, "ok"), gaps={1: 20, 2: 900})
    assert wait == 20 + LONGEST_QUICK_SECONDS


def test_a_command_cannot_have_run_longer_than_its_own_limit() -> None:
    def ran(seconds: float) -> float:
        build = call("Bash", {"command": "make", "timeout": 60_000}, "ok")
        return spent(user("Go."), build, gaps={2: seconds})

    assert ran(60) == 60
    assert ran(3_000) == LONGEST_QUICK_SECONDS


@pytest.mark.parametrize("command", ["rm -rf build && ls", "git reset HEAD a.ts", "mkdir -p a; mv b a"])
def test_what_moves_files_about_waited_for_a_permission(command: str) -> None:
    assert spent(user("Go."), shell(command, ""), gaps={1: 20, 2: 80}) == 20 + LONGEST_QUICK_SECONDS


@pytest.mark.parametrize("command", ["git push", "git commit -m x", "make", "sh deploy.sh"])
def test_what_may_take_long_is_the_agents_time(command: str) -> None:
    assert spent(user("Go."), shell(command, ""), gaps={1: 20, 2: 80}) == 100


def test_a_night_counts_as_long_as_the_longest_gap() -> None:
    assert spent(user("Go."), call("run_task", {"name": "all"}, "ok"), gaps={2: 30_000}) == LONGEST_GAP_SECONDS


def test_what_runs_until_it_is_stopped_is_the_agents_time() -> None:
    asked, _ = shell("make", "")
    stop = user("[Request interrupted by user]", origin=Origin.INTERRUPT)
    assert spent(user("Go."), asked, stop, gaps={1: 5, 2: 90}) == 95


def test_a_record_without_times_says_so() -> None:
    found = find_trouble(conversation(user("Go."), call("Read", {"file_path": "a"}, "no such file", error=True)))
    assert (found.is_timed, found.agent_seconds, len(found.troubles)) == (False, 0.0, 1)


def any_session(seed: int) -> Transcript:
    """A session of anything in any order."""
    draw = random.Random(seed)
    turns = [user("Go.")]
    pieces = (
        lambda: shell("pytest -q", "1 failed in 0.1s", error=True),
        lambda: shell("pytest -q", "1 passed in 0.1s"),
        lambda: call("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}, "ok"),
        lambda: call("Edit", {"file_path": "a.py", "old_string": "x = 2", "new_string": "x = 1"}, "ok"),
        lambda: call("Read", {"file_path": "b.py"}, "File does not exist", error=True),
        lambda: call("Read", {"file_path": "b.py"}, "text"),
        lambda: shell("sleep 30", ""),
        lambda: shell("git checkout -- a.py", ""),
        lambda: shell("git commit -am x", "", error=draw.random() < 0.5),
        lambda: agent("I have fixed it. All tests pass now."),
        lambda: user("No, it still does not work."),
        lambda: user("[Request interrupted by user]", origin=Origin.INTERRUPT),
        lambda: user("So far.", origin=Origin.SUMMARY),
        lambda: call("Bash", {"command": "rm x"}, "No.", error=True, disposition=Disposition.REJECTED),
    )
    chosen = [draw.choice(pieces)() for _ in range(draw.randrange(5, 60))]
    session = conversation(*turns, *chosen)
    gaps = {at: draw.choice((0.0, 3.0, 40.0, 700.0, 90_000.0)) for at in range(len(session.messages))}
    timed_session = timed(session, gaps=gaps)
    used = (replace(message, usage=Usage(input=10, output=1)) for message in timed_session.messages)
    return replace(timed_session, messages=tuple(used))


@pytest.mark.parametrize("seed", range(60))
def test_a_minute_a_token_and_a_call_count_once(seed: int) -> None:
    session = any_session(seed)
    found = find_trouble(session)
    assert found.lost_seconds <= found.agent_seconds + 0.1 * len(found.troubles)
    assert sum(trouble.tokens for trouble in found.troubles) <= 11 * len(session.messages)
    assert sum(trouble.calls for trouble in found.troubles) <= sum(len(one.calls) for one in session.messages)
    assert all(0 <= one.first <= one.last < len(session.messages) for one in found.troubles)
    assert all(0 <= one.message < len(session.messages) for one in found.interventions)


@pytest.mark.parametrize("seed", range(20))
def test_a_copied_beginning_counts_nothing_again(seed: int) -> None:
    first, more = any_session(seed), any_session(seed + 1000)
    shift = (first.messages[-1].at or 0.0) - (more.messages[0].at or 0.0)
    later = tuple(replace(message, at=(message.at or 0.0) + shift) for message in more.messages)
    resumed = replace(first, native_id="two", messages=(*first.messages, *later))
    shared = len(first.messages)
    again = find_trouble(resumed, copied=frozenset(range(shared)))
    assert all(one.first >= shared - 1 for one in again.troubles)
    assert all(one.message >= shared for one in again.interventions)
    assert again.agent_seconds <= find_trouble(resumed).agent_seconds
    assert _without_names(find_trouble(first)) == _without_names(find_trouble(first, copied=frozenset(range(shared))))


def _without_names(found: SessionTrouble) -> tuple[object, ...]:
    return found.troubles, found.interventions, found.agent_seconds


@pytest.mark.parametrize("seed", range(20))
def test_more_work_without_trouble_adds_no_trouble(seed: int) -> None:
    session = any_session(seed)
    last = (session.messages[-1].at or 0.0) + 5
    _, *calm = timed(conversation(user("x"), user("Now read."), call("Read", {"file_path": "z.py"}, "text"))).messages
    more = replace(session, messages=(*session.messages, *(replace(one, at=last + at) for at, one in enumerate(calm))))
    before, after = find_trouble(session), find_trouble(more)
    assert after.agent_seconds >= before.agent_seconds
    assert {one.kind for one in after.troubles} <= {one.kind for one in before.troubles} | {TroubleKind.CORRECTED}
