"""Which commands are checks, and what a failed call is."""

import pytest

from conversations import Turn, call, conversation, shell, user
from whet.sessions.transcripts import Message, Transcript
from whet.trouble.checks import head_counts, learned_checks
from whet.trouble.course import SessionKnowledge
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes.view import JudgedCall, gather
from whet.trouble.values import TroubleKind
from whet.trouble.verdicts import is_answer, is_expected, timed_out


def edit(new: str) -> tuple[Message, Message]:
    return call("Edit", {"file_path": "rules.dl", "old_string": "a", "new_string": new}, "The file was updated.")


def run(command: str, *, failed: bool) -> tuple[Message, Message]:
    return shell(command, "Exit code 1\nnot proved" if failed else "proved", error=failed)


def project(command: str) -> Transcript:
    """A session in which a command turns red, files are changed, and it turns green."""
    return conversation(
        user("Prove it."),
        edit("b"),
        run(f"{command} first.dl", failed=True),
        edit("c"),
        run(f"{command} first.dl", failed=False),
        edit("d"),
        run(f"{command} second.dl", failed=True),
        edit("e"),
        run(f"{command} second.dl", failed=False),
    )


def test_what_fails_and_works_after_a_change_is_a_check() -> None:
    session = project("./prove all")
    checks = learned_checks(head_counts(gather(session).steps))
    assert checks == {("prove", "all")}
    found = find_trouble(session, known=SessionKnowledge(checks))
    assert [(one.kind, one.subject) for one in found.troubles] == [(TroubleKind.RED_CHECK, "prove all")] * 2
    assert {one.kind for one in find_trouble(session).troubles} == {TroubleKind.SLIP}


def test_once_is_not_enough_and_counts_of_sessions_add_up() -> None:
    once = conversation(user("Go."), run("./prove all", failed=True), edit("b"), run("./prove all", failed=False))
    counts = head_counts(gather(once).steps)
    assert not learned_checks(counts)
    assert learned_checks((*counts, *counts)) == {("prove", "all")}


def test_what_works_again_without_a_change_is_no_check() -> None:
    flaky = [run("curl api.example.org", failed=at % 2 == 0) for at in range(8)]
    assert not learned_checks(head_counts(gather(conversation(user("Go."), *flaky)).steps))


def test_what_mostly_fails_for_other_reasons_is_no_check() -> None:
    often = [run("deploy now", failed=True) for _ in range(20)]
    session = conversation(user("Go."), *often, *project("deploy now").messages)
    assert not learned_checks(head_counts(gather(session).steps))


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
