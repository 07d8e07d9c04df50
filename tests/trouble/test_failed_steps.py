"""What a failed call is: a slip, an answer that was asked for, one that was reckoned with, or time that ran out."""

import pytest

from conversations import Turn, call, conversation, shell, user
from whet.trouble.outcomes.view import JudgedCall, gather
from whet.trouble.verdicts import is_answer, is_expected, timed_out


def step_of(turn: Turn) -> JudgedCall:
    [step] = gather(conversation(user("do it"), turn)).steps
    return step


@pytest.mark.parametrize(
    "failing",
    [
        shell("gradle :x:test", "Exit code 1\n3 tests completed, 1 failed\nBUILD FAILED in 3s", error=True),
        shell("grep -rn timeout src", "", error=True),
        shell("rg -n x src", "", error=True),
    ],
    ids=["a red check", "an honest not found", "a search that finds nothing"],
)
def test_a_red_check_and_a_probes_no_are_answers(failing: Turn) -> None:
    assert is_answer(step_of(failing))


@pytest.mark.parametrize(
    "failing",
    [
        shell("gradle :x:test", "Exit code 1\nBuild daemon is disabled on this host. Use: ./gradlew", error=True),
        shell('rg -n "- x" src', "rg: unrecognized flag -", error=True),
        shell("rtk bun run test", "Exit code 2\nerror: unrecognized subcommand 'bun'", error=True),
        call("read_file", {"path": "a.txt"}, "Error: ENOENT: no such file or directory, open 'a.txt'", error=True),
    ],
    ids=["a check that could not run", "a search with a wrong flag", "a wrong command", "a missing file"],
)
def test_what_could_not_run_is_a_failure(failing: Turn) -> None:
    step = step_of(failing)
    assert step.failed
    assert not is_answer(step)
    assert not is_expected(step)


@pytest.mark.parametrize(
    "failing",
    [
        shell('./run; echo "exit: $?"', "boom\nexit: 3", error=False),
        shell("cat a.txt b.txt 2>/dev/null", "Exit code 1\nwhat is in a", error=True),
        shell("bun pm ls | rg codex", "Exit code 1", error=True),
    ],
    ids=["it asked for the status", "it wanted no error shown", "nothing found"],
)
def test_a_failure_may_be_reckoned_with(failing: Turn) -> None:
    step = step_of(failing)
    assert not step.failed or is_expected(step)


@pytest.mark.parametrize(
    "failing",
    [
        shell("sleep 900", "Command timed out after 2m 0.0s", error=True),
        call("fetch_page", {"url": "x"}, "TimeoutError: deadline exceeded", error=True),
        call("query", {"q": 1}, '{"error": "request timed out", "success": false}', error=True),
    ],
)
def test_a_call_says_that_its_time_ran_out(failing: Turn) -> None:
    assert timed_out(step_of(failing))


def test_a_test_about_timeouts_did_not_run_out_of_time() -> None:
    words = "FAILED test_net.py::test_it_timed_out - AssertionError: timed out" * 9
    assert not timed_out(step_of(shell("pytest -q", words, error=True)))
