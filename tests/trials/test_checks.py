"""A check holds a run to each of its demands, and says which one was not met."""

import pytest

from whet.errors import WhetError
from whet.sessions.transcripts import Message, Origin, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.trials.checks import (
    CallDemand,
    Check,
    FileDemand,
    FinishedRun,
    expect_sound,
    mark,
)
from whet.trials.shapes import SHOWN, CallShape, TextDemand

LONG = "x" * (SHOWN + 50)
READ = ToolCall("1", "read", '{"path": "a", "lines": 3}')
WRITE = ToolCall("2", "write", '{"path": "b"}')


def asks(*calls: ToolCall) -> Message:
    return Message(Role.AGENT, calls, Trust.AGENT)


def answers(call: ToolCall, *, fails: bool) -> Message:
    return Message(Role.TOOL, (ToolResult(call.id, (Text("text"),), exit_code=int(fails)),), Trust.TOOL)


def why(demand: CallDemand, *calls: ToolCall, known: tuple[str, ...] = ()) -> str:
    found = mark(Check(calls=demand), FinishedRun((asks(*calls),) if calls else (), known_tools=known))
    assert found.passed is (not found.why)
    return found.why


def test_a_check_asks_for_nothing_that_was_not_said() -> None:
    check, demand = Check(), CallDemand()
    assert (check.exit_code, check.seconds, check.is_empty) == (0, 60.0, True)
    assert (demand.valid, demand.repeats_failure, FileDemand().absent) == (False, True, False)
    assert mark(Check(), FinishedRun((), exit_code=7, rubric=False)).passed


@pytest.mark.parametrize("check", [Check(), Check(seconds=5.0), Check(exit_code=1), Check(seconds=5.0, exit_code=1)])
def test_a_check_that_demands_nothing_is_refused(check: Check) -> None:
    with pytest.raises(WhetError, match="The case idle has no check"):
        expect_sound(check, "idle")


@pytest.mark.parametrize(
    "check",
    [
        Check(command="true"),
        Check(answer=TextDemand()),
        Check(json_schema={}),
        Check(files={"a": FileDemand()}),
        Check(calls=CallDemand()),
        Check(rubric="polite"),
    ],
)
def test_each_demand_makes_a_check_sound(check: Check) -> None:
    expect_sound(check, "sound")


@pytest.mark.parametrize(
    "check", [Check(answer=TextDemand(matches="(")), Check(files={"a": FileDemand(), "b": FileDemand(matches="(")})]
)
def test_a_pattern_that_cannot_be_read_is_refused_wherever_it_stands(check: Check) -> None:
    with pytest.raises(WhetError, match="The case bad has a pattern"):
        expect_sound(check, "bad")


@pytest.mark.parametrize(
    ("code", "said"),
    [(0, ""), (1, "the command gave 1, not 0"), (None, "the command gave nothing, not 0")],
)
def test_a_command_must_end_as_wanted(code: int | None, said: str) -> None:
    assert mark(Check(command="make"), FinishedRun((), exit_code=code)).why == said


@pytest.mark.parametrize(
    ("demand", "answer", "said"),
    [
        (TextDemand(equals=" 42 "), "42\n", ""),
        (TextDemand(equals="42"), "43", "the answer is not '42'"),
        (TextDemand(equals=LONG), "", f"the answer is not {LONG[:SHOWN]!r}"),
        (TextDemand(contains=("a", "b")), "ab", ""),
        (TextDemand(contains=("a", "b")), "a", "the answer does not hold 'b'"),
        (TextDemand(contains=(LONG,)), "", f"the answer does not hold {LONG[:SHOWN]!r}"),
        (TextDemand(lacks=("a", "b")), "c", ""),
        (TextDemand(lacks=("a", "b")), "b", "the answer holds 'b'"),
        (TextDemand(lacks=(LONG,)), LONG, f"the answer holds {LONG[:SHOWN]!r}"),
        (TextDemand(matches="4.$"), "it is 42", ""),
        (TextDemand(matches="^4"), "it is 42", "the answer does not match '^4'"),
        (TextDemand(matches=LONG), "", f"the answer does not match {LONG[:SHOWN]!r}"),
    ],
)
def test_the_words_of_an_answer(demand: TextDemand, answer: str, said: str) -> None:
    assert mark(Check(answer=demand), FinishedRun((), answer=answer)).why == said


def test_reasons_are_short_enough_to_be_shown_in_a_table() -> None:
    assert SHOWN == 200
    schema = {"enum": [str(number) * 20 for number in range(40)]}
    assert len(mark(Check(json_schema=schema), FinishedRun((), answer='"x"')).why) == SHOWN


@pytest.mark.parametrize(
    ("demand", "held", "said"),
    [
        (FileDemand(absent=True), None, ""),
        (FileDemand(absent=True), "", "a.txt is there"),
        (FileDemand(), None, "a.txt is not there"),
        (FileDemand(equals="6"), "6\n", ""),
        (FileDemand(equals="6"), "7", "a.txt is not '6'"),
    ],
)
def test_what_a_file_must_hold(demand: FileDemand, held: str | None, said: str) -> None:
    assert mark(Check(files={"a.txt": demand}), FinishedRun((), files={"a.txt": held})).why == said


@pytest.mark.parametrize(
    ("shape", "fits"),
    [
        (CallShape("read"), True),
        (CallShape("write"), False),
        (CallShape("read", {"path": "a"}), True),
        (CallShape("read", {"path": "a", "lines": 3}), True),
        (CallShape("read", {"path": "a", "lines": 4}), False),
        (CallShape("read", {"path": "a", "other": None}), False),
    ],
)
def test_a_call_fits_by_its_tool_and_the_arguments_that_matter(shape: CallShape, fits: bool) -> None:
    other = ToolCall("3", "list", "{}")
    assert why(CallDemand(uses=(shape,)), other, READ) == ("" if fits else f"{shape.tool} was not called as wanted")
    avoided = why(CallDemand(avoids=(shape,)), other, READ)
    assert avoided == (f"{shape.tool} was called as it must not be" if fits else "")


def test_arguments_that_cannot_be_read_fit_nothing() -> None:
    assert why(CallDemand(uses=(CallShape("read"),)), ToolCall("1", "read", "[")) == "read was not called as wanted"


def test_every_wanted_call_must_be_made() -> None:
    assert why(CallDemand(uses=(CallShape("read"), CallShape("write"))), READ, WRITE) == ""
    assert why(CallDemand(uses=(CallShape("read"), CallShape("write"))), READ) == "write was not called as wanted"


def test_a_valid_call_is_of_a_known_tool_and_can_be_read() -> None:
    demand, broken = CallDemand(valid=True), ToolCall("3", "write", "[1]")
    assert why(demand, READ, WRITE) == ""
    assert why(demand, READ, WRITE, known=("read", "write")) == ""
    assert why(demand, READ, WRITE, known=("read",)) == "write is no tool"
    assert why(demand, READ, broken) == "the arguments of write are no JSON object"
    assert why(demand) == "no tool was called"
    assert why(CallDemand(), broken, known=("read",)) == ""


def tried(*steps: tuple[ToolCall, bool]) -> tuple[Message, ...]:
    return tuple(message for call, fails in steps for message in (asks(call), answers(call, fails=fails)))


@pytest.mark.parametrize(
    ("before", "after", "repeats"),
    [
        ((), ((READ, True), (READ, True)), True),
        ((), ((READ, False), (READ, False)), False),
        (((READ, True),), ((READ, False),), True),
        (((READ, False),), ((READ, False),), False),
        (((READ, True), (READ, True)), ((WRITE, False),), False),
        (((READ, True),), ((WRITE, True),), False),
    ],
)
def test_a_run_may_not_repeat_what_failed_in_it_or_before_it(
    before: tuple[tuple[ToolCall, bool], ...], after: tuple[tuple[ToolCall, bool], ...], repeats: bool
) -> None:
    ran = FinishedRun(tried(*after), before=tried(*before))
    found = mark(Check(calls=CallDemand(repeats_failure=False)), ran)
    assert found.why == ("a call was repeated after it had failed" if repeats else "")
    assert mark(Check(calls=CallDemand()), ran).passed


def test_a_call_that_was_never_answered_has_not_failed() -> None:
    ran = FinishedRun((asks(READ), asks(ToolCall("9", READ.name, READ.arguments))))
    assert mark(Check(calls=CallDemand(repeats_failure=False)), ran).passed


def test_an_example_that_failed_is_no_failure_of_the_session() -> None:
    shown = ToolCall("example-1", READ.name, READ.arguments)
    parts: tuple[tuple[Role, Text | ToolCall | ToolResult], ...] = (
        (Role.USER, Text("Do it.")),
        (Role.AGENT, shown),
        (Role.TOOL, ToolResult(shown.id, (Text("text"),), exit_code=1)),
        (Role.AGENT, Text("Done.")),
    )
    examples = tuple(Message(role, (part,), Trust.AGENT, origin=Origin.INSERTED) for role, part in parts)
    demand = Check(calls=CallDemand(repeats_failure=False))
    assert mark(demand, FinishedRun(tried((READ, False)), before=examples)).passed
    assert not mark(demand, FinishedRun(tried((READ, False)), before=(*examples, *tried((READ, True))))).passed


@pytest.mark.parametrize(("said", "why"), [(None, "the judge was not asked"), (False, "the judge says no"), (True, "")])
def test_a_rubric_is_met_when_the_judge_says_so(said: bool | None, why: str) -> None:
    assert mark(Check(rubric="polite"), FinishedRun((), rubric=said)).why == why
