import pytest

from conversations import Turn, agent, call, conversation, picture, program, shell, user
from whet.failures.detectors import detect
from whet.failures.environment import Cause
from whet.failures.signals import SHOWN, Kind, Signal
from whet.failures.view import gather
from whet.sessions.transcripts import Disposition, Ending, Origin
from whet.sessions.trust import Trust

MEGABYTE = 1 << 20


def signals(*turns: Turn, ending: Ending = Ending.UNKNOWN) -> tuple[Signal, ...]:
    return detect(gather(conversation(*turns, ending=ending)))


def kinds(*turns: Turn, ending: Ending = Ending.UNKNOWN) -> set[str]:
    return {signal.kind for signal in signals(*turns, ending=ending)}


def of_kind(kind: str, *turns: Turn) -> list[Signal]:
    return [signal for signal in signals(*turns) if signal.kind == kind]


MISSING = "Error: ENOENT: no such file or directory, open 'a.txt'"
NOT_FOUND = "<tool_use_error>String to replace not found in file.\nString: x = 1</tool_use_error>"


def edit(answer: str = NOT_FOUND, *, error: bool = True, old: str = "x = 1") -> Turn:
    return call("Edit", {"file_path": "/app/a.py", "old_string": old}, answer, error=error)


# Loops


def test_the_same_call_failing_three_times_is_a_loop() -> None:
    found = of_kind(Kind.RETRY_LOOP, user("change it"), edit(), edit(), edit())
    assert len(found) == 1
    assert found[0].message == 6
    assert found[0].tool == "Edit"
    assert found[0].quote == "String to replace not found in file."


def test_a_loop_is_seen_though_the_arguments_are_written_differently() -> None:
    turns = (
        call("query", {"a": 1, "b": 2}, "Error: bad query", error=True),
        call("query", {"b": 2, "a": 1}, "Error: bad query", error=True),
        call("query", {"b": 2, "a": 1, "description": "once more"}, "Error: bad query", error=True),
    )
    assert Kind.RETRY_LOOP in kinds(user("ask"), *turns)


def test_a_loop_is_seen_across_other_calls_and_from_text_alone() -> None:
    failing = shell("make all", "make: *** No rule to make target 'all'.  Stop.", error=None)
    assert Kind.RETRY_LOOP in kinds(user("build"), failing, shell("ls", "a b", error=None), failing, failing)


def test_hardly_changed_calls_with_the_same_error_are_a_loop() -> None:
    def attempt(number: int) -> Turn:
        words = f"select a b c d e f g h i j k l m n o p q r s t from t where x is {number}"
        return call("execute_sql", {"query": words}, "Error executing query: no such table t", error=True)

    assert Kind.RETRY_LOOP in kinds(user("count"), *(attempt(number) for number in range(6)))


@pytest.mark.parametrize(
    "turns",
    [
        (edit(), edit()),
        (edit(), edit(), edit("ok", error=False)),
        (edit(old="a"), edit(old="b"), edit(old="c")),
        (shell("git status", "clean"), shell("git status", "clean"), shell("git status", "clean")),
    ],
    ids=["two failures", "a retry that worked", "three different calls", "polling that works"],
)
def test_a_retry_is_not_yet_a_loop(turns: tuple[Turn, ...]) -> None:
    assert Kind.RETRY_LOOP not in kinds(user("go on"), *turns)


def test_refused_calls_are_no_loop() -> None:
    refused = call("Bash", {"command": "rm -r x"}, "no", error=True, disposition=Disposition.REJECTED)
    assert Kind.RETRY_LOOP not in kinds(user("clean up"), refused, refused, refused)


# Failures


@pytest.mark.parametrize(
    "failing",
    [
        edit(),
        call("book_reservation", {"id": 1}, "Error: payment method not found", error=True),
        call("read_file", {"path": "a.txt"}, MISSING, error=True),
        shell("rtk bun run test", "Exit code 2\nerror: unrecognized subcommand 'bun'", error=True),
    ],
)
def test_a_failed_call_is_a_failure(failing: Turn) -> None:
    assert Kind.TOOL_FAILURE in kinds(user("do it"), failing)


def test_a_failure_that_was_made_good_is_less_sure_than_one_that_was_not() -> None:
    (recovered,) = of_kind(Kind.TOOL_FAILURE, user("do it"), edit(), edit("done", error=False, old="y"))
    (stuck,) = of_kind(Kind.TOOL_FAILURE, user("do it"), edit())
    assert recovered.confidence < stuck.confidence


def test_one_sort_of_failure_is_told_once() -> None:
    assert len(of_kind(Kind.TOOL_FAILURE, user("do it"), edit(old="a"), edit(old="b"))) == 1


@pytest.mark.parametrize(
    "turns",
    [
        (shell("pytest", "1 failed", error=True), edit("ok", error=False), shell("pytest", "1 passed")),
        (shell("grep -rn timeout src", "", error=True), shell("ls", "src")),
        (call("Read", {"file_path": "retry.py"}, "def f():\n    raise Error('tool call failed')\n"),),
        (call("Bash", {"command": "rm x"}, "refused", error=True, disposition=Disposition.REJECTED),),
        (call("Bash", {"command": "rm x"}, "sibling", error=True, disposition=Disposition.CANCELLED),),
    ],
    ids=["a test meant to fail", "an honest not found", "a file about errors", "a refusal", "a cancelled sibling"],
)
def test_what_only_looks_like_a_failure_is_none(turns: tuple[Turn, ...]) -> None:
    assert Kind.TOOL_FAILURE not in kinds(user("do it"), *turns)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("Exit code 127\n/bin/bash: line 1: npm: command not found", "missing program: npm"),
        ("curl: (6) Could not resolve host: example.org", "no network"),
        ("OSError: [Errno 28] No space left on device", "disk full"),
        ("HTTP 401: Bad credentials", "credentials"),
        ("mkdir: cannot create directory '/opt/x': Permission denied", "permission"),
        ("ModuleNotFoundError: No module named 'yaml'", "missing package: yaml"),
    ],
)
def test_a_fault_of_the_surroundings_is_not_the_agents(answer: str, fault: str) -> None:
    (found,) = of_kind(Kind.TOOL_FAILURE, user("run it"), shell("python deploy.py", answer, error=True))
    assert found.cause is Cause.ENVIRONMENT
    assert found.fingerprint == fault


def test_the_trust_of_a_failure_is_that_of_its_tool() -> None:
    (found,) = of_kind(Kind.TOOL_FAILURE, user("get it"), call("web_fetch", {"url": "x"}, "Error: 404", error=True))
    assert found.trust is Trust.EXTERNAL


# Timeouts


@pytest.mark.parametrize(
    "failing",
    [
        shell("sleep 900", "Command timed out after 2m 0.0s", error=True),
        call("fetch_page", {"url": "x"}, "TimeoutError: deadline exceeded", error=True),
        call("query", {"q": 1}, '{"error": "request timed out", "success": false}', error=True),
    ],
)
def test_a_call_whose_time_ran_out_is_a_timeout(failing: Turn) -> None:
    assert Kind.TIMEOUT in kinds(user("run it"), failing)


@pytest.mark.parametrize(
    "turns",
    [
        (call("Read", {"file_path": "net.py"}, "timeout = 30  # the request timed out\n"),),
        (shell("grep -n timeout net.py", "3:timeout = 30\n9:raise TimeoutError('timed out')"),),
        (user("what does `timed out after 30s` mean?"), agent("A request that timed out took too long.")),
        (shell("pytest -q", "FAILED test_net.py::test_it_timed_out - AssertionError: timed out" * 9, error=True),),
    ],
    ids=["source code", "a search for it", "talk about it", "a test about it"],
)
def test_the_word_timeout_is_not_a_timeout(turns: tuple[Turn, ...]) -> None:
    assert Kind.TIMEOUT not in kinds(user("look"), *turns)


# Inventions


@pytest.mark.parametrize(
    "failing",
    [
        call("get_mail", {}, "ToolNotFoundException: The requested function `get_mail` is not available.", error=True),
        call("fly", {}, "Error: unknown tool: fly", error=True),
    ],
)
def test_a_tool_that_does_not_exist_is_invented(failing: Turn) -> None:
    assert Kind.HALLUCINATION in kinds(user("tidy up"), shell("ls", "main.py"), failing)


@pytest.mark.parametrize(
    "turns",
    [
        (user("read helpers.ts"), call("Read", {"file_path": "helpers.ts"}, "File does not exist.", error=True)),
        (
            user("read it"),
            shell("git log --stat", "helpers.ts | 2 +-"),
            call("Read", {"file_path": "src/helpers.ts"}, "File does not exist.", error=True),
        ),
        (user("read it"), call("Read", {"file_path": "main.py"}, "def tool_not_found(): ...")),
        (user("tidy up"), call("Read", {"file_path": "/app/src/helpers.ts"}, "File does not exist.", error=True)),
    ],
    ids=["the person named it", "a result named it", "it is there", "a guess at a usual name"],
)
def test_an_honest_not_found_is_not_invented(turns: tuple[Turn, ...]) -> None:
    assert Kind.HALLUCINATION not in kinds(*turns)


# What the record already holds


LONG = "def main(): pass\n" * 20


def reread(answer: str = LONG) -> Turn:
    return call("Read", {"file_path": "main.py"}, answer)


def test_the_same_file_read_three_times_may_be_a_lost_thread() -> None:
    (found,) = of_kind(Kind.CONTEXT_LOSS, user("explain"), reread(), reread(), reread())
    assert found.confidence < 0.5


def test_reading_again_after_a_compaction_is_no_lost_thread() -> None:
    summary = user("This session is being continued", origin=Origin.SUMMARY)
    assert Kind.CONTEXT_LOSS not in kinds(user("explain"), reread(), reread(), summary, reread(), reread(), reread())


def test_looking_again_after_a_change_is_no_lost_thread() -> None:
    turns = (reread("a"), edit("ok", error=False), reread("b"), edit("ok", error=False), reread("c"))
    assert Kind.CONTEXT_LOSS not in kinds(user("change it"), *turns)


def test_polling_a_program_is_no_lost_thread() -> None:
    assert Kind.CONTEXT_LOSS not in kinds(user("wait"), *(shell("git status", "clean") for _ in range(5)))


@pytest.mark.parametrize(
    "failing",
    [
        shell('./run; echo "exit: $?"', "boom\nexit: 3", error=False),
        shell("cat a.txt b.txt 2>/dev/null", "Exit code 1\nwhat is in a", error=True),
        shell("bun pm ls | rg codex", "Exit code 1", error=True),
    ],
    ids=["it asked for the status", "it wanted no error shown", "nothing found"],
)
def test_a_failure_that_was_reckoned_with_is_not_shown(failing: Turn) -> None:
    assert all(signal.confidence < SHOWN for signal in signals(user("look"), failing, agent("It is so.")))


def test_a_red_check_is_work_and_one_that_could_not_run_is_a_failure() -> None:
    red = shell("gradle :x:test", "Exit code 1\n3 tests completed, 1 failed\nBUILD FAILED in 3s", error=True)
    barred = shell("gradle :x:test", "Exit code 1\nBuild daemon is disabled on this host. Use: ./gradlew", error=True)
    assert Kind.TOOL_FAILURE not in kinds(user("test it"), red)
    (found,) = of_kind(Kind.TOOL_FAILURE, user("test it"), barred)
    assert found.quote.startswith("Build daemon is disabled")


def test_a_red_check_is_told_by_what_it_prints_too() -> None:
    red = "src/a.ts(3,5): error TS2304: Cannot find name 'x'."
    assert not of_kind(Kind.TOOL_FAILURE, user("fix it"), shell("npx tsgo -p . 2>&1", red))


def test_a_search_with_a_wrong_flag_is_a_failure_and_one_that_finds_nothing_is_none() -> None:
    assert of_kind(Kind.TOOL_FAILURE, user("look"), shell('rg -n "- x" src', "rg: unrecognized flag -", error=True))
    assert not of_kind(Kind.TOOL_FAILURE, user("look"), shell("rg -n x src", "", error=True))


def test_a_loop_needs_the_same_error_with_no_change_between() -> None:
    red = shell("./run", "Exit code 1\nError: no such colour", error=True)
    other = shell("./run", "Exit code 1\nError: no such shape", error=True)
    assert Kind.RETRY_LOOP in kinds(user("run it"), red, red, red)
    assert Kind.RETRY_LOOP not in kinds(user("run it"), red, edit("ok", error=False), red, edit("ok", error=False), red)
    assert Kind.RETRY_LOOP not in kinds(user("run it"), red, other, red)


# Budgets


def test_a_session_cut_off_by_its_budget_says_so() -> None:
    assert Kind.BUDGET_SPENT in kinds(user("go"), shell("ls", "a"), ending=Ending.BUDGET)
    assert Kind.BUDGET_SPENT in kinds(user("go"), shell("ls", "a"), program("Maximum number of turns reached."))
    assert Kind.BUDGET_SPENT in kinds(user("go"), *(edit(old=str(number)) for number in range(9)))


@pytest.mark.parametrize(
    "last",
    ["Exit due to cost limit", "LimitsExceeded", "Agent stopped: step limit", "Maximum number of steps (50) reached"],
)
def test_a_budget_as_the_last_word_of_a_record_is_one_whoever_speaks(last: str) -> None:
    assert Kind.BUDGET_SPENT in kinds(user("go"), shell("ls", "a"), agent(last))
    assert Kind.BUDGET_SPENT in kinds(user("go"), shell("ls", "a"), user(last))


def test_a_record_that_ends_on_an_open_call_was_cut_off() -> None:
    asked, _ = shell("make", "")
    assert Kind.BUDGET_SPENT in kinds(user("go"), shell("ls", "a"), asked)
    assert Kind.BUDGET_SPENT not in kinds(user("go"), shell("ls", "a"), asked, ending=Ending.INTERRUPTED)
    question, _ = call("AskUserQuestion", {"question": "which?"}, "")
    assert Kind.BUDGET_SPENT not in kinds(user("go"), shell("ls", "a"), question)


@pytest.mark.parametrize(
    "turns",
    [
        (shell("ls", "a"), agent("Done.")),
        (shell("cat agent.py", "raise Stop('maximum number of turns reached')"), agent("It stops there.")),
        (user("why does it say maximum number of turns reached?"), agent("Because of its limit.")),
    ],
    ids=["finished", "source code", "a question about it"],
)
def test_a_session_that_ended_by_itself_spent_no_budget(turns: tuple[Turn, ...]) -> None:
    assert Kind.BUDGET_SPENT not in kinds(user("go"), *turns, ending=Ending.FINISHED)


# Shapes of content


def test_nothing_is_found_in_nothing() -> None:
    assert signals() == ()
    assert signals(picture()) == ()
    assert signals(user("hello"), agent("Hello! What shall we do?")) == ()


def test_a_result_of_many_megabytes_is_read_at_its_ends() -> None:
    noise = "the request timed out; retrying; error: failed\n" * (2 * MEGABYTE // 48)
    assert kinds(user("show the log"), shell("cat log", noise), agent("It is long.")) == set()
    (found,) = of_kind(Kind.TOOL_FAILURE, user("go"), call("run", {}, "Error: boom\n" + noise, error=True))
    assert found.quote == "boom"


def test_no_secret_is_quoted() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    (found,) = of_kind(Kind.TOOL_FAILURE, user("go"), call("run", {}, f"Error: cannot log in with {token}", error=True))
    assert token not in found.quote
    assert token.lower() not in found.fingerprint


def test_a_quote_is_short_and_on_one_line() -> None:
    (found,) = of_kind(Kind.TOOL_FAILURE, user("go"), call("run", {}, "Error: " + "very\tlong " * 99, error=True))
    assert len(found.quote) <= 160
    assert "\n" not in found.quote
