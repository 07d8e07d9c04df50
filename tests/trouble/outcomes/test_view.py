"""What a transcript shows, and the facts that are counted."""

import msgspec
import pytest

from conversations import Turn, agent, call, conversation, picture, shell, user
from quickness import is_linear
from whet.sessions.call_effects import Effect
from whet.sessions.transcripts import Disposition, Exchange, Text, ToolCall, ToolResult, Transcript
from whet.trouble.outcomes.deciding import decide
from whet.trouble.outcomes.view import Analysis, JudgedCall, analyse, gather

ASKED = user("Make the tests of part 3 pass.")


def effects(*turns: Turn) -> list[Effect]:
    return [step.effect for step in gather(conversation(*turns)).steps]


def test_without_anybody_who_names_it_a_script_is_any_program() -> None:
    assert effects(ASKED, shell("./dev test part3", "ok")) == [Effect.RUNS]


@pytest.mark.parametrize(
    "error",
    ["Use: ./dev test MODULE", "plain pytest is not used here\nUsage: ./dev test [MODULE]", "Run `./dev test` instead.",
     "Please run the tests with ./dev test.", "error: run tests by ./dev test MODULE"],
)  # fmt: skip
def test_what_a_failed_check_advises_is_a_check(error: str) -> None:
    found = effects(ASKED, shell("pytest a.py", error, error=True), shell("./dev test part3", "1 failed", error=True))
    assert found == [Effect.CHECKS, Effect.CHECKS]


@pytest.mark.parametrize(
    "said",
    ["No. Run the tests with `./dev test MODULE`.", "Tests are run by ./dev test and nothing else.",
     "Use ./dev test for the tests.", "Use `./dev test MODULE` to run tests."],
)  # fmt: skip
def test_what_the_person_names_is_a_check(said: str) -> None:
    assert effects(user(said), shell("cd app && ./dev test part3", "ok")) == [Effect.CHECKS]


@pytest.mark.parametrize(
    ("named", "run"),
    [
        ("Run `npm install` first.", "npm install"),
        ("Use: python3 3.12 or later", "python3 build.py"),
        ("Use: ./dev test MODULE", "./dev deploy"),
        ("Test it with care, by hand.", "care"),
        ("Run the tests with python3.", "python3 server.py"),
    ],
)
def test_other_advice_and_other_commands_are_none(named: str, run: str) -> None:
    assert effects(user(named), shell("pytest a.py", named, error=True), shell(run, "ok"))[1] is not Effect.CHECKS


WORKED = call("Read", {"file_path": "a.py"}, "x = 1")
FAILED = call("Edit", {"file_path": "a.py", "old_string": "y"}, "Error: not found in file", error=True)
REFUSED = call("Bash", {"command": "rm a"}, "no", error=True, disposition=Disposition.REJECTED)


def analysed(*turns: Turn) -> Analysis:
    return analyse(conversation(*turns))


def test_an_analysis_counts_the_calls_of_each_outcome() -> None:
    assert analysed(user("go"), WORKED, FAILED, REFUSED).calls == {
        "ok": 1,
        "failed": 1,
        "rejected": 1,
        "cancelled": 0,
        "unknown": 0,
    }


def test_an_analysis_survives_being_stored() -> None:
    found = analysed(user("change it"), FAILED, agent("I could not do it."))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Analysis) == found


def test_an_empty_record_and_one_of_pictures_are_analysed() -> None:
    assert analyse(Transcript(source="test", native_id="x")).exchanges == ()
    assert analysed(picture(), picture()).exchanges == ()


def test_a_megabyte_of_hostile_output_is_read_in_linear_time() -> None:
    def read(text: str) -> None:
        analysed(user(text), shell("cat log", text), shell("python x.py", text, error=True), agent(text))

    assert is_linear(read, "retry timeout error: failed to call tool ``` \"'“ <thinking> no, that's wrong ", 1 << 20)


def test_an_error_inside_an_envelope_is_quoted_by_its_own_words() -> None:
    envelope = '{"output":"sed: a.ts: No such file or directory\\n","metadata":{"exit_code":1}}'
    exchange = Exchange(ToolCall("c1", "shell", '{"command":["sed"]}'), 0, ToolResult("c1", (Text(envelope),)), 1)
    step = JudgedCall(exchange, decide(exchange))
    assert step.failed
    assert step.text == "sed: a.ts: No such file or directory"
