"""Procedures: several different commands that worked in the same order, session after session."""

import pytest

from conversations import Turn, agent, call, conversation, program, shell, user
from whet.failures.view import gather
from whet.ledger.patches import Form
from whet.lessons.procedure_drafts import procedure_lesson
from whet.lessons.procedures import FoundProcedure, procedures
from whet.lessons.worked_orders import WorkedOrder, form_of_stage, worked_orders
from whet.sessions.shell_lines import split
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust

RELEASE = ("npm version patch", "npm run docs:publish", "npm publish --access public", "git push --follow-tags")


def session(number: int, *commands: str, asked: str = "Release it") -> Transcript:
    turns: list[Turn] = [user(asked), *(shell(command, "done") for command in commands), agent("Done.")]
    return conversation(*turns, native_id=f"s{number}", at=float(number))


def orders(*transcripts: Transcript) -> list[WorkedOrder]:
    return [order for each in transcripts for order in worked_orders(gather(each))]


def found(*transcripts: Transcript) -> tuple[FoundProcedure, ...]:
    return procedures(orders(*transcripts), {})


def test_what_worked_in_the_same_order_in_three_sessions_is_a_procedure() -> None:
    [release] = found(*(session(number, *RELEASE) for number in range(3)))
    assert release.steps == ("npm version", "npm run docs:publish", "npm publish", "git push")
    assert release.sessions == 3


def test_two_sessions_are_not_enough() -> None:
    assert not found(session(1, *RELEASE), session(2, *RELEASE))


def test_a_copy_of_a_session_is_no_further_evidence() -> None:
    sessions = [session(number, *RELEASE) for number in range(3)]
    assert not procedures(orders(*sessions), {sessions[2].id: sessions[0].id})


def test_steps_that_have_no_fixed_order_are_no_procedure() -> None:
    turned = (RELEASE[2], RELEASE[1], RELEASE[0])
    sessions = [session(number, *(RELEASE[:3] if number % 2 else turned)) for number in range(6)]
    assert not found(*sessions)


@pytest.mark.parametrize(
    "commands",
    [
        ("pytest -q", "ruff check .", "mypy src", "git add .", "git commit -m x"),
        ("git checkout main", "git pull", "git checkout -b x", "git add .", "git commit -m x", "git push"),
        ("git status", "ls -la", "cat README.md", "grep -rn x .", "git log --oneline"),
        ("gh pr view 3", "gh pr checks 3", "gh run view 4", "gh issue list"),
    ],
)
def test_checks_everyday_commits_and_reading_are_no_procedure(commands: tuple[str, ...]) -> None:
    assert not found(*(session(number, *commands) for number in range(4)))


def test_a_step_that_failed_where_it_last_ran_is_not_part_of_it() -> None:
    failed = shell("npm publish --access public", "npm error 403 Forbidden", error=True)
    turns = (*(shell(command, "done") for command in RELEASE[:3]), failed)
    sessions = (conversation(user("Release it"), *turns, native_id=f"s{number}") for number in range(3))
    assert not found(*sessions)


def test_a_check_that_was_red_first_takes_its_place_where_it_turned_green() -> None:
    turns = (
        user("Release it"),
        shell("npm test", "1 failed", error=True),
        shell("npm version patch", "v1.0.1"),
        shell("npm test", "1 passed"),
        shell("npm publish", "done"),
    )
    [release] = found(*(conversation(*turns, native_id=f"s{number}") for number in range(3)))
    assert release.steps == ("npm version", "npm test", "npm publish")


def test_what_ends_elsewhere_in_most_sessions_is_no_procedure() -> None:
    ends = ("terraform apply", "docker compose up", "flyctl deploy", "kubectl apply -f x")
    assert not found(*(session(number, *RELEASE[:3], end) for number, end in enumerate(ends)))


def test_steps_for_different_requests_of_a_session_are_not_one_order() -> None:
    turns: list[Turn] = []
    for command in RELEASE:
        turns += (user(f"now {command}"), shell(command, "done"))
    assert not found(*(conversation(*turns, native_id=f"s{number}") for number in range(3)))


def test_of_procedures_that_share_their_steps_only_the_best_is_kept() -> None:
    longer = [session(number, *RELEASE) for number in range(3)]
    shorter = [session(number, *RELEASE[1:]) for number in range(3, 6)]
    assert len(found(*longer, *shorter)) == 1


def test_a_procedure_that_a_skill_told_the_agent_stands_there() -> None:
    skill = program("Base directory for this skill: /shop/.claude/skills/release\n# Steps\n" + "\n".join(RELEASE))
    turns: tuple[Turn, ...] = (skill, *(shell(command, "done") for command in RELEASE))
    told = (conversation(user("Release it"), *turns, native_id=f"s{number}") for number in range(3))
    assert [each.stands_in for each in found(*told)] == ["/shop/.claude/skills/release"]


def test_a_procedure_that_a_page_told_the_agent_stands_there() -> None:
    page = call("Read", {"file_path": "/shop/RELEASING.md"}, "\n".join(RELEASE))
    turns = (page, *(shell(command, "done") for command in RELEASE))
    told = (conversation(user("Release it"), *turns, native_id=f"s{number}") for number in range(3))
    assert [each.stands_in for each in found(*told)] == ["/shop/RELEASING.md"]


def test_the_draft_names_each_step_as_most_sessions_wrote_it() -> None:
    commands = [(*RELEASE[:3], f"gh release create v{number} --notes part{number}") for number in range(3)]
    [release] = found(*(session(number, *each) for number, each in enumerate(commands)))
    candidate, draft = procedure_lesson(release, "github.com/acme/shop", is_declared=False)
    assert draft.text.splitlines()[:4] == [
        "1. `npm version patch`",
        "2. `npm run docs:publish`",
        "3. `npm publish --access public`",
        "4. `gh release create …`",
    ]
    assert (draft.form, draft.name, draft.trust) == (Form.SKILL, "shop-gh-release-create", Trust.TOOL)
    assert [piece.text for piece in candidate.pieces] == ["Release it"] * 3


def test_a_procedure_whose_last_own_step_is_a_check_leads_to_the_commit() -> None:
    commands = ("modernize --fix", "fieldalignment --fix", "pytest -q", "git commit -m x")
    [cleaning] = found(*(session(number, *commands) for number in range(3)))
    assert procedure_lesson(cleaning, "shop", is_declared=False).draft.name == "shop-git-commit"


def test_steps_taken_from_what_a_tool_printed_are_trusted_no_more_than_it() -> None:
    printed = shell("make help", "\n".join(RELEASE))
    turns = (printed, *(shell(command, "done") for command in RELEASE))
    [release] = found(*(conversation(user("Go"), *turns, native_id=f"s{number}") for number in range(3)))
    assert procedure_lesson(release, "shop", is_declared=False).draft.trust is Trust.TOOL
    assert procedure_lesson(release, "shop", is_declared=True).draft.trust is Trust.AGENT


def test_a_declared_project_does_not_vouch_for_steps_after_a_strangers_page() -> None:
    page = call("WebFetch", {"url": "https://example.com"}, "How others release.")
    turns = (page, *(shell(command, "done") for command in RELEASE))
    [release] = found(*(conversation(user("Go"), *turns, native_id=f"s{number}") for number in range(3)))
    assert procedure_lesson(release, "shop", is_declared=True).draft.trust is Trust.EXTERNAL


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("pnpm --filter web test", "pnpm test"),
        ("npm run build -- --watch", "npm run build"),
        ("./dev migrate up", "./dev migrate"),
        ("python scripts/release.py --now", "scripts/release.py"),
        ("git -C /home/noor/shop commit -m x", "git commit"),
        ("gh pr create --fill", "gh pr create"),
        ("gh pr view 3", ""),
        ("python -c 'print(1)'", ""),
        ("rm -rf build", ""),
    ],
)
def test_a_command_is_known_by_its_program_and_subcommand(command: str, form: str) -> None:
    assert form_of_stage(split(command)[0]) == form
