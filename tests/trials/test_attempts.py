"""Measures of an attempt: errors, the first success, and how many different calls there were."""

from conversations import shell
from whet.own.runs.run import Spent
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.trials.attempts import EARLY_TURNS, measure
from whet.trials.checks import Mark

GOOD = Mark(True)


def called(number: int, name: str, *, error: bool) -> tuple[Message, Message]:
    call = ToolCall(f"c{number}", name, f'{{"n": {number // 2}}}')
    result = ToolResult(call.id, (Text("done"),), name, error=error)
    return (
        Message(Role.AGENT, (call,), Trust.AGENT, at=10.0 + number),
        Message(Role.TOOL, (result,), Trust.TOOL, at=10.5 + number),
    )


def test_errors_successes_and_kinds_of_calls_are_counted() -> None:
    messages = [*called(0, "read_file", error=True), *called(1, "read_file", error=True)]
    messages += [*called(2, "edit", error=False), *called(3, "edit", error=True)]
    found = measure(messages, GOOD, began=10.0, spent=Spent(4, 100, 20), ending="finished")
    assert (found.turns, found.calls, found.errors, found.tools, found.distinct_calls) == (4, 4, 3, 2, 2)
    assert found.early_error_rate == 0.75
    assert (found.first_success_turn, found.first_success_seconds) == (3, 2.5)
    assert found.tokens == 120


def test_without_a_call_that_worked_there_is_no_first_success() -> None:
    silent = measure([], Mark(False, "no"), began=0.0, spent=Spent(), ending="empty")
    assert (silent.first_success_turn, silent.early_error_rate, silent.score) == (None, 0.0, 0.0)


def test_late_errors_are_not_early_ones() -> None:
    messages = [message for n in range(EARLY_TURNS) for message in called(n, "edit", error=False)]
    messages += called(EARLY_TURNS, "edit", error=True)
    found = measure(messages, GOOD, began=0.0, spent=Spent(), ending="finished")
    assert (found.errors, found.early_error_rate) == (1, 0.0)


def test_tests_run_by_a_script_of_the_project_are_checks_too() -> None:
    runs = (shell("python3 -m unittest test_a", "OK"), shell("./dev test a", "1 passed"), shell("./dev start", "up"))
    messages = [message for each in runs for message in each]
    assert measure(messages, GOOD, began=0.0, spent=Spent(), ending="finished").checks == 2
