"""Step cases: what they contain, what they demand, and which are refused."""

import json

import msgspec
import pytest
from msgspec.structs import replace

from conversations import call, conversation, shell, user
from whet.sessions.transcripts import Disposition, Message, Role, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.trials.cases import Case, read, write
from whet.trials.checks import FinishedRun, mark
from whet.trials.shapes import CallShape, CommandDemand, TextDemand, fits
from whet.trials.shapes import runs as run_by
from whet.trials.step_cases import command_demand, recoveries, step_case
from whet.trouble.outcomes.view import gather

MISSING = "bash: pytest: command not found"


def step_of(session: Transcript) -> Case | str:
    [found] = recoveries(gather(session).steps)
    return step_case("one", session.messages[: found.asked], found, source="s")


def made(session: Transcript) -> Case:
    case = step_of(session)
    assert isinstance(case, Case), case
    return case


def passes(case: Case, tool: str, **arguments: object) -> bool:
    asked = ToolCall("x", tool, json.dumps(arguments))
    return mark(case.check, FinishedRun((Message(Role.AGENT, (asked,), Trust.AGENT),), before=case.conversation)).passed


def runs(case: Case, command: str, **rest: object) -> bool:
    return passes(case, "Bash", command=command, **rest)


def test_the_call_that_worked_passes_and_the_failed_one_in_other_clothes_does_not() -> None:
    case = made(
        conversation(
            user("Run the tests."),
            call("Bash", {"command": "pytest -q", "description": "Run the tests"}, MISSING, error=True),
            shell("uv run pytest -q tests", "3 passed"),
        )
    )
    assert [message.role for message in case.conversation] == [Role.USER]
    assert runs(case, "uv run pytest -q tests")
    assert runs(case, "cd . && timeout 60 uv run pytest -x 2>&1 | tail -5"), "what stands around it does not matter"
    for other in ("pytest -q", "true; pytest -q", "ls", "true", "echo ok", "echo uv run pytest", "pytest  -q "):
        assert not runs(case, other), other
    assert not runs(case, "pytest -q", description="Run all the tests, please")
    assert not passes(case, "Read", file_path="uv run pytest")


def test_a_shell_of_any_name_will_do() -> None:
    case = made(conversation(user("Test."), shell("pytest", MISSING, error=True), shell("./dev test", "ok")))
    assert passes(case, "exec_command", cmd="./dev test")
    assert passes(case, "exec_command", cmd="/repo/dev test")
    assert not passes(case, "exec_command", cmd="./dev lint")


def test_the_failed_calls_of_a_loop_stand_in_the_conversation() -> None:
    tried = shell("pytest -q", MISSING, error=True)
    case = made(
        conversation(
            user("Test."), tried, shell("pytest -q -x", MISSING, error=True), shell("uv run pytest -q -x", "ok")
        )
    )
    assert [call.arguments for message in case.conversation for call in message.calls] == ['{"command": "pytest -q"}']


def test_a_red_run_of_a_script_that_an_error_names_is_no_failed_call() -> None:
    case = made(
        conversation(
            user("Mend part 3."),
            shell("pytest part3", "Use: ./dev test MODULE", error=True),
            shell("./dev test part3", "AssertionError: part3.txt must say word3", error=True),
            shell("echo word3 >part3.txt", ""),
            shell("./dev test part3", "1 passed"),
        )
    )
    assert runs(case, "./dev test part3")
    assert len(case.conversation) == 1


def test_a_failure_in_whose_place_nothing_worked_gives_no_step() -> None:
    lost = conversation(user("Test."), shell("pytest", MISSING, error=True), shell("pytest", MISSING, error=True))
    assert list(recoveries(gather(lost).steps)) == []


def test_what_is_known_to_go_wrong_counts_where_it_was_refused_and_is_the_last_of_its_loop() -> None:
    said, fix = user("Set it to 4."), "./patch Lake"
    no = call("Bash", {"command": "sed -i s/1/4/ Lake"}, "No.", error=True, disposition=Disposition.REJECTED)
    refused = conversation(said, no, shell("./patch Lake", "ok"))
    red = [shell(f"gradlew test{more}", "Unsupported version", error=True) for more in ("", " --trace")]
    looped = conversation(said, *red, shell("JAVA=17 gradlew test", "ok"))
    assert [each.asked for each in recoveries(gather(refused).steps, {2: fix})] == [1]
    assert [each.asked for each in recoveries(gather(looped).steps, {2: "JAVA=17 gradlew test"})] == [3]
    assert not [*recoveries(gather(refused).steps), *recoveries(gather(looped).steps)]


def test_a_red_test_is_no_failed_call() -> None:
    red = conversation(
        user("Fix."), shell("pytest", "1 failed in 0.1s", error=True), shell("pytest -x", "1 passed in 0.1s")
    )
    assert list(recoveries(gather(red).steps)) == []


def test_a_step_whose_check_an_irrelevant_call_would_pass_is_refused() -> None:
    refused = step_of(
        conversation(
            user("Look."),
            shell("git log --onelin", "fatal: unrecognized argument: --onelin", error=True),
            shell("git log a b c d e f", "ok"),
        )
    )
    assert isinstance(refused, str)
    assert "differs in too much" in refused


def test_a_wrong_place_asks_for_the_right_one() -> None:
    case = made(
        conversation(
            user("Read it."),
            call("Read", {"file_path": "/repo/a/cases.py"}, "File does not exist.", error=True),
            call("Read", {"file_path": "/repo/b/cases.py", "limit": 20}, "text"),
        )
    )
    assert passes(case, "Read", file_path="/repo/b/cases.py")
    assert not passes(case, "Read", file_path="/repo/a/cases.py", limit=20)
    body = msgspec.json.encode(case.conversation).decode()
    assert read(write(case), name="one", conversation=body) == case


def test_an_edit_that_did_not_match_asks_for_a_look_or_for_the_text_that_is_there() -> None:
    edit = {"file_path": "/repo/a.py", "new_string": "y"}
    case = made(
        conversation(
            user("Rename x."),
            call("Edit", {**edit, "old_string": "x "}, "String to replace not found in file.", error=True),
            call("Read", {"file_path": "/repo/a.py"}, "x"),
            call("Edit", {**edit, "old_string": "x"}, "updated"),
        )
    )
    assert passes(case, "Read", file_path="/repo/a.py")
    assert passes(case, "Edit", **edit, old_string="x")
    assert not passes(case, "Edit", **edit, old_string="x  ")
    assert not passes(case, "Read", file_path="/repo/b.py")


@pytest.mark.parametrize(
    ("failed", "worked", "demand"),
    [
        ("pytest", "uv run pytest", CommandDemand(("uv run pytest",))),
        ("python -m pytest a", ".venv/bin/python -m pytest a", CommandDemand((".venv/bin/python -m pytest",), ("a",))),
        ("npm test", "cd web && npm test", CommandDemand(("cd web", "npm test"))),
        ("rg --include x", "rg -g x", CommandDemand(("rg",), ("-g", "x"))),
        ("tar -xz a.tar --fast", "tar -xz a.tar", CommandDemand(("tar",), ("a.tar",), ("--fast",))),
        ("TOKEN=1 make it", "TOKEN=2 make it", CommandDemand(("TOKEN=2 make it",))),
        ("a up main && b up x/main", "a up dev && b up x/dev", CommandDemand(("a up", "b up"), ("dev", "x/dev"))),
        ("rtk bun run test", "bun run test", CommandDemand(("bun run test",), (), ("rtk",))),
        ("ssh a 'ls -x y'", "ssh a 'ls z'", None),
        ("make a", "make a", None),
    ],
)
def test_what_mattered_in_a_command(failed: str, worked: str, demand: CommandDemand | None) -> None:
    assert command_demand(failed, worked) == (replace(demand, alone=True) if demand else None)


@pytest.mark.parametrize(
    "line",
    [
        "true || ./dev test a", "false && ./dev test a; true", "if false; then ./dev test a; fi", "echo ./dev test a",
        "./dev test b", "./dev test b # a", "sed -i '1a exit 0' dev && ./dev test a", "dev() { :; }; ./dev test a",
        "function ./dev { echo ok; }; ./dev test a", "./dev test a & disown", "! ./dev test a",
        "exit 0; ./dev test a",
        "./dev test --part=b --part=c a", "sh -c 'exit 0' ./dev test a", "cat <<X\n./dev test a\nX",
        "A=b; ./dev test $A", "printf x > dev; ./dev test a", "export PATH=bin; ./dev test a", ": ./dev test a",
        "xargs ./dev test a </dev/null",
    ],
)  # fmt: skip
def test_a_line_that_only_looks_like_the_call_is_not_it(line: str) -> None:
    demand = command_demand("pytest a", "./dev test a")
    assert demand is not None
    assert run_by(demand, "cd /repo && ./dev test a 2>&1 | tail -5")
    assert run_by(demand, "timeout 60 ./dev test a -v")
    assert not run_by(demand, line)


def test_arguments_are_compared_by_equality_words_and_patterns_and_free_text_never_counts() -> None:
    asked = ToolCall("x", "Bash", '{"command": "make all -j4", "description": "Build"}')
    assert fits(CallShape("Bash", {"description": "Compile", "command": "make all -j4"}), asked)
    assert fits(CallShape("Bash", texts={"command": TextDemand(contains=("all",), matches=r"-j\d")}), asked)
    assert not fits(CallShape("Bash", texts={"command": TextDemand(lacks=("all",))}), asked)
    assert not fits(CallShape("Bash", texts={"path": TextDemand()}), asked)
