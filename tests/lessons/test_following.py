"""Did a rule's situation come up in a session, and was the rule followed?"""

import pytest

from conversations import Turn, agent, call, conversation, shell, user
from whet.ledger.patches import RuleSituation
from whet.lessons.following import Following, SeenRule, count_following, was_followed, was_told
from whet.sessions.transcripts import Origin
from whet.trouble.outcomes.view import gather

BUN = RuleSituation("rtk bun install", "error: unrecognized subcommand 'bun'", "bun install")
DEV = RuleSituation("pytest tests/core", "Use: ./dev test MODULE", "./dev test core")
FORCE = RuleSituation("git push", "rejected: non-fast-forward", "git push --force-with-lease")
PATH = RuleSituation("Read .golangci.yml", "File does not exist", "Read .golangci.yaml")


def followed(situation: RuleSituation, *messages: Turn) -> bool | None:
    return was_followed(situation, gather(conversation(user("Go"), *messages)))


@pytest.mark.parametrize(
    ("situation", "command", "expected"),
    [
        (BUN, "bun test src", True),
        (BUN, "cd app && rtk bun run build", False),
        (BUN, "rtk git status", None),
        (BUN, "ls", None),
        (DEV, "./dev test shop", True),
        (DEV, "CI=1 pytest tests/shop -q", False),
        (DEV, "./dev lint", None),
        (FORCE, "git push --force-with-lease origin main", True),
        (FORCE, "git push origin main", None),
        (FORCE, "git status", None),
    ],
)
def test_a_form_is_known_again_with_other_arguments(
    situation: RuleSituation, command: str, expected: bool | None
) -> None:
    assert followed(situation, shell(command, "done")) is expected


def test_a_form_without_words_of_its_own_goes_wrong_only_where_it_fails() -> None:
    assert followed(FORCE, shell("git push origin main", "rejected: non-fast-forward", error=True)) is False
    assert followed(FORCE, shell("git push origin main", "Everything up-to-date")) is None


def test_other_tools_are_known_by_what_they_were_given() -> None:
    assert followed(PATH, call("Read", {"file_path": ".golangci.yaml"}, "text")) is True
    assert followed(PATH, call("Read", {"file_path": ".golangci.yml"}, "no such file", error=True)) is False
    assert followed(PATH, call("Read", {"file_path": "main.go"}, "text")) is None


def test_without_a_known_fix_the_error_must_not_come_again() -> None:
    stale = RuleSituation("pnpm build", "error: the generated client is stale")
    assert followed(stale, shell("pnpm build", "done")) is True
    assert followed(stale, shell("pnpm build", "error: the generated client is stale", error=True)) is False
    assert followed(stale, shell("make", "done")) is None


def test_what_a_person_has_to_say_again_was_not_followed() -> None:
    said = RuleSituation(said="Never run the integration tests, they are too slow")
    again = user("don't run the integration tests again, too slow")
    assert followed(said, agent("Running all tests."), again) is False
    assert followed(said, agent("Done.")) is None


def test_names_in_a_persons_sentence_are_looked_for_in_calls() -> None:
    said = RuleSituation(said="use pnpm instead of npm")
    assert followed(said, shell("pnpm add left-pad", "done")) is True
    assert followed(said, shell("npm install left-pad", "done")) is False
    assert followed(said, shell("git status", "clean")) is None


def test_a_rule_in_inserted_context_was_told() -> None:
    rule = "In this project run `bun install`."
    context = user(f"# CLAUDE.md\n- {rule}\n", origin=Origin.INSERTED)
    assert was_told(rule, conversation(context, user("Go")))
    assert not was_told(rule, conversation(user(rule)))


def test_what_is_not_known_is_counted_apart() -> None:
    seen = [SeenRule(True, True), SeenRule(False, True), SeenRule(True, None), SeenRule(False, False), SeenRule()]
    counts = count_following(seen)
    assert counts == Following(looked=5, came_up=4, told=2, untold=1, followed=2, told_followed=1)
    assert counts.unknown == 1
