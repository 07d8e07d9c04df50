import json

import pytest

from whet.sessions.call_effects import Effect, checks_of, effect_of, hands_over
from whet.sessions.transcripts import ToolCall


def shell(command: str) -> ToolCall:
    return ToolCall("1", "Bash", json.dumps({"command": command}))


@pytest.mark.parametrize(
    "command",
    [
        "mise run test",
        "turbo run lint --filter web",
        "nx test web",
        "cargo nextest run",
        "go vet ./...",
        "hatch run test:unit",
        "docker compose run --rm web pytest -q",
        "./scripts/test.sh",
        "npm run typecheck",
        "make check",
        "cd app && uv run pytest -q 2>&1 | tail -5",
        "git commit -m x",
        "gh pr checks 12",
    ],
)
def test_a_check_is_known_whatever_starts_it(command: str) -> None:
    assert effect_of(shell(command)) is Effect.CHECKS
    assert checks_of(shell(command))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("docker compose up -d", Effect.RUNS),
        ("npm install", Effect.RUNS),
        ("./scripts/deploy.sh", Effect.RUNS),
        ("ls -la src | head", Effect.PROBES),
        ("grep -rn x src", Effect.PROBES),
        ("git push", Effect.RUNS),
    ],
)
def test_what_checks_nothing_is_no_check(command: str, expected: Effect) -> None:
    assert effect_of(shell(command)) is expected


def test_a_shell_of_another_name_is_a_shell() -> None:
    assert effect_of(ToolCall("1", "PowerShell", '{"command": "npm run build 2>&1"}')) is Effect.CHECKS


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git commit -m 'Fix a'", True),
        ("cd src && git -C .. -c user.name=a commit -n -F -", True),
        ("git add . && git push origin main | tail -1", True),
        ("gh -R a/b pr create --fill", True),
        ("jj git push", True),
        ("git push --dry-run", False),
        ("git log --grep commit", False),
        ("git stash push", False),
        ("gh pr view 12", False),
        ("echo git commit", False),
    ],
)
def test_work_is_handed_over_by_a_commit_a_push_or_a_request_to_merge(command: str, *, expected: bool) -> None:
    assert hands_over(ToolCall("1", "Bash", json.dumps({"command": command}))) is expected


def test_a_tool_that_is_named_after_it_hands_work_over() -> None:
    assert hands_over(ToolCall("1", "mcp__github__create_pull_request", "{}"))
    assert not hands_over(ToolCall("1", "mcp__github__get_pull_request", "{}"))


@pytest.mark.parametrize(
    "command", ["git grep needle", "command -v jq", "git diff --quiet", "hash make && git grep a | head"]
)
def test_a_question_is_a_probe(command: str) -> None:
    assert effect_of(shell(command)) is Effect.PROBES


@pytest.mark.parametrize("command", ["dart analyze", "flutter analyze --no-pub", "npm run analyse:css"])
def test_analyzing_is_a_check(command: str) -> None:
    assert effect_of(shell(command)) is Effect.CHECKS
