"""Cases: read, written, refused, and made from what failed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.trials.cases import Case, Limits, is_inside, read, write
from whet.trials.checks import CallDemand, Check, FileDemand, FinishedRun, mark
from whet.trials.shapes import CallShape, TextDemand

texts = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
names = st.text("abcxyz/_. \"'é", min_size=1, max_size=8).filter(is_inside)
json_values = st.recursive(
    st.booleans() | st.integers(-(2**40), 2**40) | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
shapes = st.builds(
    CallShape, tool=st.text("abc_", min_size=1), arguments=st.dictionaries(texts, json_values, max_size=3)
)
words = st.builds(TextDemand, equals=st.none() | texts, contains=st.lists(texts, max_size=2).map(tuple))
checks = st.builds(
    Check,
    command=texts.filter(bool),
    answer=st.none() | words,
    files=st.dictionaries(names, st.builds(FileDemand, contains=st.lists(texts, max_size=2).map(tuple)), max_size=2),
    calls=st.none() | st.builds(CallDemand, avoids=st.lists(shapes, max_size=2).map(tuple)),
)
cases = st.builds(
    Case,
    task=texts.filter(str.strip),
    check=checks,
    name=st.just("some-case"),
    files=st.dictionaries(names, texts, max_size=3),
    tools=st.lists(texts, max_size=2).map(tuple),
    guard=st.booleans(),
    budget=st.builds(Limits, model_calls=st.integers(1, 99)),
)


def message(role: Role, *parts: Text | ToolCall | ToolResult) -> Message:
    return Message(role, parts, Trust.AGENT)


@given(cases)
def test_a_case_that_is_written_reads_back_as_it_was(case: Case) -> None:
    assert read(write(case), name="some-case") == case


def test_a_case_as_a_person_writes_it() -> None:
    case = read(
        """
        task = "Put the sum of the numbers into sum.txt."
        tools = ["files"]
        files = { "numbers.txt" = "1\\n2\\n3\\n" }
        [check.files."sum.txt"]
        equals = "6"
        [check.calls]
        avoids = [{ tool = "terminal" }]
        """,
        name="sum",
    )
    assert case.check.files["sum.txt"] == FileDemand(equals="6")
    wrote = ToolCall("1", "write_file", '{"path": "sum.txt", "content": "6"}')
    ran = FinishedRun((message(Role.AGENT, wrote),), files={"sum.txt": "6\n"})
    assert mark(case.check, ran).passed
    assert mark(case.check, FinishedRun((), files={})).why == "sum.txt is not there"
    shell = ToolCall("1", "terminal", "{}")
    assert not mark(case.check, FinishedRun((message(Role.AGENT, shell),), files={"sum.txt": "6"})).passed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task = 'x'", "no check"),
        ("[check]\ncommand = 'true'", "no task"),
        ("task = 'x'\ncolour = 'red'\n[check]\ncommand = 'true'", "colour"),
        ("task = 'x'\n[check]\ncomand = 'true'", "comand"),
        ("task = 'x'\n[check.answer]\nmatches = '('", "pattern"),
        ("task = 'x'\n[files]\n'../up' = ''\n[check]\ncommand = 'true'", "outside"),
        ("task = 'x'\n[files]\n'/etc/x' = ''\n[check]\ncommand = 'true'", "outside"),
        ("task = 'x'\nkind = 'step'\n[check]\ncommand = 'true'", "conversation"),
        ("task = 3", "Expected `str`"),
        ("task = ", "cannot be read"),
        ("task = 'x'\n[check]\nseconds = 'long'", "seconds"),
    ],
)
def test_a_case_that_cannot_be_used_says_why(text: str, said: str) -> None:
    with pytest.raises(WhetError, match=said):
        read(text, name="bad")


def test_a_call_that_is_repeated_after_it_failed_is_noticed_and_another_is_not() -> None:
    check = Check(calls=CallDemand(repeats_failure=False))

    def tried(*arguments: str) -> FinishedRun:
        parts: list[Message] = []
        for index, text in enumerate(arguments):
            call = ToolCall(str(index), "terminal", text)
            parts += [
                message(Role.AGENT, call),
                message(Role.TOOL, ToolResult(str(index), (Text("boom"),), exit_code=1)),
            ]
        return FinishedRun(tuple(parts))

    assert not mark(check, tried('{"command": "make"}', '{"command": "make"}')).passed
    assert mark(check, tried('{"command": "make"}', '{"command": "make -k"}')).passed


def test_answers_are_checked_by_words_pattern_and_schema() -> None:
    assert mark(Check(answer=TextDemand(equals="42")), FinishedRun((), answer=" 42\n")).passed
    assert mark(
        Check(answer=TextDemand(matches=r"\b4\d\b", lacks=("sorry",))), FinishedRun((), answer="it is 42")
    ).passed
    assert not mark(Check(answer=TextDemand(lacks=("sorry",))), FinishedRun((), answer="sorry")).passed
    schema = Check(json_schema={"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}})
    assert mark(schema, FinishedRun((), answer='{"a": 1}')).passed
    assert "schema" in mark(schema, FinishedRun((), answer='{"a": "1"}')).why
    assert mark(schema, FinishedRun((), answer="a: 1")).why == "the answer is not JSON"
    with pytest.raises(WhetError, match="schema"):
        mark(Check(json_schema={"type": "nonsense"}), FinishedRun((), answer="{}"))


def test_a_demand_that_nobody_looked_at_is_not_met() -> None:
    assert mark(Check(command="true"), FinishedRun(())).why == "the command gave nothing, not 0"
    assert mark(Check(command="false", exit_code=1), FinishedRun((), exit_code=1)).passed
    assert mark(Check(rubric="polite"), FinishedRun(())).why == "the judge was not asked"
    assert mark(Check(rubric="polite"), FinishedRun((), rubric=True)).passed


def test_the_key_of_a_case_changes_with_the_case_and_not_with_its_name() -> None:
    one = Case(task="x", check=Check(command="true"), name="one")
    assert one.key == msgspec.structs.replace(one, name="two", guard=True).key
    assert one.key != msgspec.structs.replace(one, task="y").key


def test_an_attempt_may_spend_this_much_where_its_case_says_nothing() -> None:
    limits = Limits()
    assert (limits.model_calls, limits.tokens, limits.seconds, limits.dollars) == (12, None, 300.0, None)
    budget = Limits(1, 2, 3.0, 4.0).budget
    assert (budget.model_calls, budget.tokens, budget.seconds, budget.dollars) == (1, 2, 3.0, 4.0)


def test_a_case_is_no_guard_and_replays_nothing_unless_it_says_so() -> None:
    case = Case(task="x", check=Check(command="true"))
    assert (case.kind, case.guard, case.replay) == ("task", False, False)
    assert case.key != msgspec.structs.replace(case, replay=True).key


def test_the_key_of_a_case_is_as_it_was_stored() -> None:
    case = Case(task="x", check=Check(command="true"), name="one", tags=("a",), guard=True)
    assert case.key == "40391e916e1b3c98"


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a", True), ("a/b.txt", True), (".hidden/..a", True),
        ("", False), ("/a", False), ("a//b", False), ("a/", False), ("./a", False), ("a/../b", False), ("a\0b", False),
    ],
)  # fmt: skip
def test_a_path_stays_in_its_workspace(path: str, inside: bool) -> None:
    assert is_inside(path) is inside


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task = '  '\n[check]\ncommand = 'true'", "has no task"),
        ("task = 'x'\n[files]\na = ''\n'../b' = ''\n[check]\ncommand = 'true'", "a file outside"),
        ("task = 'x'\n[check.files.'../b']\nequals = ''", "a file outside"),
        ("task = 'x'\nname = 'Two words'\n[check]\ncommand = 'true'", "not lower-case words"),
    ],
)
def test_an_unsound_case_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(WhetError, match=said):
        read(text, name="bad")


def test_a_step_needs_a_conversation_and_no_task() -> None:
    text = "kind = 'step'\n[check]\ncommand = 'true'"
    with pytest.raises(WhetError, match="no conversation before its step"):
        read(text, name="step")
    before = (message(Role.USER, Text("Do it.")),)
    case = read(text, name="step", conversation=msgspec.json.encode(before).decode())
    assert (case.conversation, case.task) == (before, "")
