"""What speaks for a session: verdicts, then checks that it ran, and last a record without failures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conversations import Turn, agent, call, conversation, shell, user
from whet.own.examples.success import SuccessReason, find
from whet.sessions.call_effects import checks_of
from whet.sessions.transcripts import Ending, RecordedCheck, ToolCall, Transcript
from whet.trouble.outcomes.view import gather
from whet.trouble.people import course_of
from whet.trouble.red_checks import verification

REQUEST = user("Mend the broken gate of the north garden.")
READ = call("read_file", {"path": "gate.py"}, "def gate(): ...")
EDIT = call("edit", {"path": "gate.py", "old_string": "a", "new_string": "b"}, "edited")
PASS = shell("python -m pytest -q", "12 passed")
FAIL = shell("pytest tests/", "2 failed", error=True)
LINT = shell("ruff check .", "All checks passed!")
BROKEN_LINT = shell("ruff check src", "Found 3 errors.", error=True)
COMMIT = shell("git commit -m gate", "1 file changed")
DONE = agent("The gate is mended.")
TURNS = st.lists(st.sampled_from([READ, EDIT, PASS, FAIL, LINT, BROKEN_LINT, COMMIT]), max_size=8)


def session(*turns: Turn, **facts: object) -> Transcript:
    return replace(conversation(REQUEST, *turns, DONE), **facts)


def finding(*turns: Turn, vouched: bool = False, **facts: object) -> SuccessReason | str:
    return find(gather(session(*turns, **facts)), vouched=vouched)


def verified(transcript: Transcript) -> bool | None:
    return verification(course_of(gather(transcript)))


@given(TURNS)
def test_a_session_whose_last_check_failed_is_no_success(turns: list[Turn]) -> None:
    assert finding(*turns, FAIL) == "a check failed and was not fixed"
    assert isinstance(finding(*turns, FAIL, EDIT, READ), str)


@given(TURNS)
def test_checks_that_pass_after_a_change_speak_for_it_whatever_came_before(turns: list[Turn]) -> None:
    assert finding(*turns, EDIT, PASS, LINT) is SuccessReason.VERIFIED
    assert finding(*turns, EDIT, shell("pytest && ruff check .", "fine"), READ) is SuccessReason.VERIFIED


@pytest.mark.parametrize(
    ("red", "green", "is_fixed"),
    [
        ("python -m pytest test_cart.py", "./dev test cart", True),
        ("pytest -q tests/test_cart.py::test_total", "make -s; ./dev test cart", True),
        ("npx jest src/cart.test.ts", "npm test cart", True),
        ("pytest", "./dev test", True),
        ("python -m pytest test_cart.py", "./dev test stock", False),
        ("python -m pytest test_cart.py", "./dev build cart", False),
    ],
)
def test_tests_of_the_same_thing_are_the_same_check_by_whichever_command(red: str, green: str, is_fixed: bool) -> None:
    turns = (shell(red, "Use: ./dev test MODULE", error=True), shell(green, "6 passed in 0.1s"))
    assert verified(session(*turns)) is is_fixed


@given(TURNS, st.booleans())
def test_a_verdict_of_its_own_outranks_all_that_the_session_shows(turns: list[Turn], passed: bool) -> None:
    own = (RecordedCheck("success", passed=passed),)
    expected = SuccessReason.CHECKED if passed else "its own check failed"
    assert finding(*turns, FAIL, checks=own, ending=Ending.BUDGET) == expected
    assert finding(*turns, EDIT, PASS, LINT, checks=own) == expected
    assert finding(*turns, FAIL, vouched=True, checks=own) == expected


@given(TURNS)
def test_the_word_of_whoever_makes_the_template_counts_where_the_record_cannot_tell(turns: list[Turn]) -> None:
    assert finding(*turns, FAIL, vouched=True) is SuccessReason.VOUCHED


@pytest.mark.parametrize(
    "turns",
    [
        (EDIT, PASS, EDIT),
        (PASS,),
        (EDIT, COMMIT),
        (EDIT, PASS, agent("Done."), user("No, that is still wrong.")),
        (EDIT, shell("pytest", "Interrupted by the user", error=None)),
    ],
    ids=["a change after it", "no change at all", "only a commit", "the person objects", "no outcome"],
)
def test_a_pass_that_says_nothing_about_the_work_is_no_verification(turns: tuple[Turn, ...]) -> None:
    assert verified(session(*turns)) is not True


def test_a_check_that_failed_and_passes_later_needs_no_change_on_record() -> None:
    assert verified(session(FAIL, shell("sed -i s/a/b/ gate.py", ""), PASS)) is True
    assert verified(session(user("No, that is wrong."), EDIT, PASS)) is True


def test_another_check_that_passes_does_not_put_right_the_one_that_failed() -> None:
    assert verified(session(EDIT, FAIL, EDIT, LINT)) is False


def test_without_a_check_a_short_session_stands_by_its_record_and_a_long_one_not_at_all() -> None:
    assert finding(READ) is SuccessReason.CLEAN
    assert finding(READ, ending=Ending.BUDGET) == "cut off"
    look = [call("read_file", {"path": f"{number}.md"}, f"page {number}") for number in range(7)]
    assert isinstance(finding(*look[:6]), SuccessReason)
    assert finding(*look) == "long, and no check passed at its end"


def test_a_failure_that_no_check_put_right_leaves_nothing_to_go_by() -> None:
    rough = call("find_notes", {"year": "last"}, "no such year", error=True)
    assert finding(rough, READ) == "nothing shows that it went well"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("uv run pytest -q", {"pytest"}),
        ("python -m pytest && npm run lint:fix", {"pytest", "lint"}),
        ("cargo test", {"test"}),
        ("git add . && git commit -m x", {"commit"}),
        ("git log && ls tests", set()),
    ],
)
def test_a_check_has_one_name_however_it_is_started(command: str, names: set[str]) -> None:
    (asked, _) = shell(command, "")
    (part,) = asked.calls
    assert checks_of(part) == names


def test_only_shells_and_tools_for_development_run_checks() -> None:
    assert checks_of(ToolCall("1", "read_file", '{"path": "pytest"}')) == frozenset()
    assert checks_of(ToolCall("1", "run_tests", "{}")) == {"run_tests"}
