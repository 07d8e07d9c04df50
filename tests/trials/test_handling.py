"""Whether the situation of a case came up in an attempt, and how it was handled."""

import json

import pytest

from conversations import agent, conversation, shell, user
from whet.sessions.transcripts import ToolCall
from whet.trials.cases import Case
from whet.trials.shapes import only_looks
from whet.trials.step_cases import handling, recoveries, step_case
from whet.trials.ways_to_test import counts, reached_by
from whet.trouble.outcomes.view import gather

WRONG = shell("pytest part1", "bash: pytest: command not found", error=True)
RIGHT = shell("./dev test part1", "3 passed")


def case() -> Case:
    session = conversation(user("Run the tests of part1."), WRONG, RIGHT)
    [found] = recoveries(gather(session).steps)
    made = step_case("one", session.messages[:1], found, source="s")
    assert isinstance(made, Case), made
    return made


@pytest.mark.parametrize(
    ("turns", "is_handled"),
    [
        ((shell("ls", "dev"), RIGHT), True),
        ((WRONG, RIGHT), False),  # that it recovers is the trouble
        ((shell("ls", "dev"),), None),
        ((shell("./dev test part7", "3 passed"),), None),
        ((shell("./dev test part1", "1 failed", error=True),), True),  # red tests ran: the work is still to do
        ((shell("./dev test part1", "Use: ./dev test MODULE", error=True),), None),
        ((RIGHT[0],), None),  # its answer is still to come
        ((agent("Which part do you mean?"),), None),
    ],
)
def test_the_first_call_of_the_situation_decides(turns: tuple[object, ...], is_handled: bool | None) -> None:
    told = conversation(user("Run the tests of part1."), *turns)  # type: ignore[arg-type]
    assert handling(case().check, told.messages).is_handled is is_handled


def test_only_looks_are_sure_to_have_changed_nothing() -> None:
    looks = ("ls; cat dev 2>/dev/null", "cat dev 2>&1 | head -5", "cd tests && ls")
    others = (
        "echo x >dev", "ls 2>dev", "cat <(rm dev)", "ls `rm dev`", "ls $(rm dev)", "find . -delete", "ls & rm dev",
        "cd x\nrm dev", "(rm dev)", "ls >/dev/null/../dev", "ls 2>&1 >dev", "",
    )  # fmt: skip
    for line in (*looks, *others):
        assert only_looks(ToolCall("one", "Bash", json.dumps({"command": line}))) is (line in looks), line
    for tool in ("Read", "Grep", "Edit", "Skill"):
        assert only_looks(ToolCall("one", tool, "{}")) is (tool in ("Read", "Grep")), tool


def test_programs_of_the_task_count_and_what_judges_them_does_not() -> None:
    files = {"package.json": '{"scripts": {"test": "node tools/run.js"}}', "tools/run.js": "require('./lib/all.js')",
             "src/cart.js": "", "build.sh": "sh ci/steps.sh", "ci/steps.sh": ""}  # fmt: skip
    reached = reached_by("./build.sh --fast", files, files.__getitem__)
    assert reached == {"tools/run.js", "build.sh", "ci/steps.sh"}
    for path, is_work in {"src/cart.js": True, "src/new.js": True, "tools/run.js": False, "build.sh": False,
                          "tests/cart.js": False, ".eslintrc.js": False, "package.json": False}.items():  # fmt: skip
        assert counts(path, (), reached) is is_work, path
    assert counts("package.json", ("package.json",), reached), "the task itself changes it"
