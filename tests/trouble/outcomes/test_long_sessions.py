"""The work for a session grows with its length and no faster, counted in calls of functions, whatever the session."""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from whet.agents.formats.content import OpenCalls
from whet.cli.shown.sessions import with_troubles
from whet.own.examples.mining import WantedTemplate, mine
from whet.sessions.transcripts import Message, RecordedCheck, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes.view import analyse

SHORT, LONG = 150, 300


def said(role: Role, text: str) -> Message:
    return Message(role, (Text(text),), Trust.USER if role is Role.USER else Trust.AGENT)


def exchange(number: int, tool: str, result: str, *, error: bool = True, **arguments: str) -> Iterator[Message]:
    call = ToolCall(f"c{number}", tool, json.dumps(arguments))
    yield Message(Role.AGENT, (call,), Trust.AGENT)
    yield Message(Role.TOOL, (ToolResult(call.id, (Text(result),), tool=tool, error=error),), Trust.TOOL)


def word(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in str(number))


def inventing(count: int) -> Iterator[Message]:
    for number in range(count):
        yield from exchange(number, "Read", "Error: no such file or directory", file_path=f"/x/missing{number}q.py")


def checking(count: int) -> Iterator[Message]:
    for number in range(count):
        yield from exchange(number, "Bash", f"E  assert {word(number)}\n1 failed", command=f"pytest t{number}.py")


def claiming(count: int) -> Iterator[Message]:
    for number in range(count):
        yield said(Role.USER, f"no, that is wrong, do {number} again")
        yield from exchange(number, "Edit", "Error: not found", file_path=f"a{number}.py", old_string="a")
        yield said(Role.AGENT, "Done: I have fixed it, and all tests pass.")


def retrying(count: int) -> Iterator[Message]:
    for number in range(count):
        yield from exchange(number, "Bash", "Error: refused", command="deploy now to the server please")


def tooling(count: int) -> Iterator[Message]:
    for number in range(count):
        yield from exchange(number, f"tool_{word(number)}", f"Error: {word(number)} broke", value=word(number))


def working(count: int) -> Iterator[Message]:
    for number in range(count):
        yield from exchange(number, "Bash", f"line {number}", error=False, command=f"sort notes{number}.txt")


SHAPES = (inventing, checking, claiming, retrying, tooling, working)
Shape = Callable[[int], Iterator[Message]]


def counted(work: Callable[[], object]) -> int:
    """How many functions were called, Python's own among them."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def session(shape: Shape, count: int) -> Transcript:
    checks = (RecordedCheck("right", passed=True),)
    return Transcript("test", f"{shape.__name__}{count}", tuple(shape(count)), checks=checks)


def growth(work: Callable[[Transcript], object], shape: Shape) -> float:
    """By what the work grows when a session has twice as many calls."""
    for count in (SHORT, LONG):
        work(session(shape, count))  # what is cached once is no part of it
    short, long = (counted(partial(work, session(shape, size))) for size in (SHORT, LONG))
    return long / short


@pytest.mark.parametrize("shape", SHAPES)
def test_judging_grows_with_the_length(shape: Shape) -> None:
    assert growth(lambda given: analyse(given), shape) < 2.5


@pytest.mark.parametrize("shape", SHAPES)
def test_finding_trouble_grows_with_the_length(shape: Shape) -> None:
    assert growth(find_trouble, shape) < 2.5


@pytest.mark.parametrize("shape", SHAPES)
def test_showing_and_mining_grow_with_the_length(shape: Shape) -> None:
    for work in (
        lambda given: list(with_troubles(given.messages, (), range(len(given.messages)), full=False)),
        lambda given: mine([given], WantedTemplate()),
    ):
        assert growth(work, shape) < 2.5


def test_results_find_their_calls_whatever_their_order_and_number() -> None:
    calls = OpenCalls()
    names = [calls.ask(f"c{number}", f"tool{number % 3}", message=0) for number in range(6)]
    assert calls.answer("c5") == "c5"
    assert calls.answer("", "tool1") == "c1"
    assert [calls.answer("") for _ in range(5)] == [names[0], names[2], names[3], names[4], ""]
    assert calls.ask("same", "a", message=1) == calls.ask("same", "a", message=1)
    assert [calls.answer("") for _ in range(3)] == ["same", "same", ""]
