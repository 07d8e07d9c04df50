"""Causes that people can read: why a call failed, what was red, what was said."""

import pytest

from conversations import agent, call, conversation, shell, user
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes.view import JudgedCall, gather
from whet.trouble.red_names import first_sentence, plain_error, red_name


def failed(text: str) -> JudgedCall:
    [step] = gather(conversation(user("Go."), shell("npm test", text, error=True))).steps
    return step


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Exit code 1\nerror: unknown flag '--debug' in /srv/a/b", "unknown flag … in …"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ("git: 'psuh' is not a git command.\n\nSee 'git --help'.", "git: … is not a git command."),
        ("12 files, 3 of 4", ""),
        ("{}", ""),
        ("\n".join(["Group ok: 3 commits", *(f"step {number} of 9 went by" for number in range(9))]), ""),
    ],
)
def test_an_error_is_told_without_what_varies_or_not_at_all(text: str, cause: str) -> None:
    assert plain_error(failed(text)) == cause


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("FAIL\tgithub.com/me/shop/src\t0.3s\n--- FAIL: TestPrice (0.00s)", "TestPrice"),
        ("FAIL src/price.test.ts\n", "src/price.test.ts"),
        ("(fail) Price > rounds up [1.85ms]", "Price > rounds up"),
        (" 1365 pass\n" * 9, ""),
        (
            "  ✓  9 [chromium] › a.spec.ts:3:1 › opens\n  ✘  10 [chromium] › a.spec.ts:9:3 › buys (30.0s)",
            "a.spec.ts:9:3 › buys",
        ),
        ("  1) [webkit] › a.spec.ts:9:3 › buys ─────\n\n    Error Context: test-results/a.md", "a.spec.ts:9:3 › buys"),
    ],
)
def test_what_was_red_is_named_without_how_long_it_took(text: str, name: str) -> None:
    assert red_name(failed(text)) == name


def test_a_red_check_is_named_by_the_first_run_that_says_what_was_red() -> None:
    edit = call("Edit", {"file_path": "a.ts", "old_string": "a", "new_string": "b"}, "ok")
    again = call("Edit", {"file_path": "a.ts", "old_string": "b", "new_string": "c"}, "ok")
    silent = shell("npm test", "12 files, 3 of 4", error=True)
    telling = shell("npm test", "FAIL src/price.test.ts", error=True)
    green = shell("npm test", "4 of 4", error=False)
    [trouble] = find_trouble(conversation(user("Go."), edit, silent, again, telling, edit, green)).troubles
    assert trouble.cause == "src/price.test.ts"


def test_a_correction_is_named_by_what_was_said_first() -> None:
    assert first_sentence("No. The header is red. It was blue.") == "No. The header is red."
    edits = (call("Edit", {"file_path": "a.ts", "old_string": each, "new_string": f"{each}1"}, "ok") for each in "ab")
    first, second = edits
    session = conversation(
        user("Make it blue."), first, agent("Done."), user("It is not blue. Look again."), second, shell("ls", "a.ts")
    )
    assert [trouble.cause for trouble in find_trouble(session).troubles] == ["It is not blue."]
