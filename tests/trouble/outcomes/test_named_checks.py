"""Commands that a project's own error, or the person, names as the way to test are checks."""

import pytest

from conversations import Turn, conversation, shell, user
from whet.sessions.call_effects import Effect
from whet.trouble.outcomes.view import gather

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
