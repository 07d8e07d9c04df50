"""At which commands a rule is reminded of, and whether it was followed after that."""

import pytest

from conversations import Turn, call, conversation, shell, user
from whet.ledger.patches import RuleSituation
from whet.lessons.call_patterns import is_matched
from whet.lessons.following import followed_after, pattern_of
from whet.trouble.outcomes.view import gather

FORMS = RuleSituation("pytest -q", "no database", "./dev test")
ERROR = RuleSituation("git push origin", "error: permission denied to robot")
WRAPPED = RuleSituation("python -m pytest", "", "uv run python -m pytest")
SAID = RuleSituation(said="Use pnpm instead of npm.")


@pytest.mark.parametrize(
    ("situation", "at", "not_at"),
    [
        (FORMS, ["pytest -q", "cd a && A=1 pytest -q b | tail"], ["pytest", "./dev test -q", "echo pytest -q"]),
        (RuleSituation("rtk bun i", "", "bun i"), ["rtk bun i", "rtk bun test"], ["bun i", "rtk git status"]),
        (RuleSituation("npm test", "", "npm test -- --ci"), ["npm test"], ["npm test -- --ci", "npm install"]),
        (WRAPPED, ["python -m pytest x"], ["python a.py", "uv run python -m pytest"]),
        (ERROR, ["git push", "git push -f origin"], ["git pull"]),
        (SAID, ["npm install", "CI=1 npm test"], ["pnpm install", "ls"]),
    ],
)  # fmt: skip
def test_a_rule_is_reminded_of_at_the_calls_that_it_is_about(
    situation: RuleSituation, at: list[str], not_at: list[str]
) -> None:
    pattern = pattern_of(situation)
    assert pattern is not None
    assert [is_matched(pattern, command) for command in at] == [True] * len(at)
    assert [is_matched(pattern, command) for command in not_at] == [False] * len(not_at)


@pytest.mark.parametrize(
    "situation",
    [
        RuleSituation(),
        RuleSituation(said="Be brief."),
        RuleSituation("Edit /a/b.py", "not read yet"),
        RuleSituation("read_file a", "gone", "read_file b"),
    ],
)
def test_what_is_about_no_command_cannot_be_reminded_of(situation: RuleSituation) -> None:
    assert pattern_of(situation) is None


@pytest.mark.parametrize(
    ("situation", "turns", "expected"),
    [
        (FORMS, [shell("./dev test", "ok")], None),
        (FORMS, [shell("pytest -q", "no database", error=True), shell("./dev test", "ok")], True),
        (FORMS, [shell("pytest -q", "x", error=True), shell("./dev test", "ok"), shell("pytest -q", "x")], False),
        (FORMS, [shell("pytest -q", "no database", error=True)], False),
        (ERROR, [shell("git push", "ok")], True),
        (ERROR, [shell("git push", "ok"), shell("git push", "error: permission denied to robot", error=True)], False),
        (SAID, [user("Use pnpm instead of npm."), shell("npm test", "ok"), shell("ls", "a")], True),
        (SAID, [shell("npm test", "ok"), user("Use pnpm instead of npm.")], False),
        (FORMS, [call("Read", {"file_path": "pytest -q"}, "text")], None),
    ],
)
def test_what_was_done_after_the_reminder_counts(
    situation: RuleSituation, turns: list[Turn], expected: bool | None
) -> None:
    assert followed_after(situation, gather(conversation(user("Go"), *turns))) is expected
