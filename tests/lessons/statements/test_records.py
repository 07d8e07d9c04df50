"""Statements held against what agents did."""

import pytest

from conversations import Turn, conversation, shell, timed, user
from whet.lessons.statements.audit import AuditedStatement, LastChange, StatementFinding, StatementMark
from whet.lessons.statements.naming import split_statements
from whet.lessons.statements.records import CallsOnRecord, Records, calls_of, judge_by_records
from whet.trouble.outcomes.view import gather

BUN = shell("rtk bun test", "error: unrecognized subcommand 'bun'", error=True)
GIT = shell("rtk git status", "clean")
RTK = "- Always prefix commands with `rtk`."


def session(number: int, *turns: Turn) -> CallsOnRecord:
    return calls_of(f"s{number}", gather(timed(conversation(user("Go"), *turns))))


def judge(text: str, *sessions: CallsOnRecord, since: float | None = 0.0) -> list[StatementFinding]:
    statement = split_statements("CLAUDE.md", text)[0]
    audited = AuditedStatement(statement, (), None if since is None else LastChange(since, ""))
    return list(judge_by_records(audited, Records(sessions)))


def test_calls_that_do_as_it_says_and_fail_show_the_cause() -> None:
    (found,) = judge(RTK, session(1, BUN, GIT, BUN), session(2, BUN, GIT))
    assert found.mark is StatementMark.CAUSE
    assert "`rtk bun` failed 3 of 3 times" in found.why
    assert (found.seen, found.came_up) == (2, 2)
    assert {proof.session for proof in found.proofs} == {"s1", "s2"}


def test_of_commands_that_ran_together_the_one_that_the_error_is_about_failed() -> None:
    chain = shell(
        "rtk git add . && rtk bun run lint && rtk bun test", "error: unrecognized subcommand 'bun'", error=True
    )
    (found,) = judge(RTK, session(1, chain, chain), session(2, chain, GIT))
    assert "`rtk bun` failed 3 of 3 times" in found.why


def test_a_program_that_it_demands_and_nobody_has_is_a_cause() -> None:
    gone = shell("mcp-cli info shop/find", "bash: mcp-cli: command not found", error=True)
    text = "- Before any MCP call, ALWAYS run `mcp-cli info <server>/<tool>`."
    (found,) = judge(text, session(1, gone, gone), session(2, gone), session(3, GIT))
    assert found.mark is StatementMark.CAUSE
    assert "`mcp-cli info` failed 3 of 3 times" in found.why


@pytest.mark.parametrize("text", ["- Do not use `sed` to edit files.", "- Never run `sed` on `main`, ask first."])
def test_what_it_is_against_in_some_cases_only_cannot_be_told(text: str) -> None:
    sessions = [session(number, shell("sed -n 1p a", "x")) for number in range(3)]
    assert not [each for each in judge(text, *sessions) if each.mark is StatementMark.BROKEN]
    assert judge("- Never run `sed`, nor `awk`.", *sessions)[0].mark is StatementMark.BROKEN


def test_scripts_that_were_to_be_run_before_a_push_are_known_by_name() -> None:
    push, script = shell("git push", "ok"), shell("npm run test:ci", "ok")
    (found,) = judge("- Run `test:ci` before you push.", session(1, push), session(2, script, push), session(3, push))
    assert (found.mark, found.seen, found.came_up, found.named) == (StatementMark.BROKEN, 2, 3, "test:ci")


def test_red_checks_and_single_failures_are_no_cause() -> None:
    red = shell("make test", "FAILED tests/a.py::b - assert 1 == 2", error=True)
    assert not judge(RTK, session(1, BUN), session(2, GIT))
    sessions = [session(number, red, red) for number in range(3)]
    assert StatementMark.CAUSE not in [each.mark for each in judge("- Run `make test`.", *sessions)]


def test_what_it_is_against_and_was_done_all_the_same_breaks_it() -> None:
    text = "- Use `pnpm install`, never `npm install`."
    npm, pnpm = shell("npm install x", "ok"), shell("pnpm install", "ok")
    (found,) = judge(text, session(1, npm), session(2, npm), session(3, pnpm))
    assert (found.mark, found.seen, found.came_up) == (StatementMark.BROKEN, 2, 3)
    assert not [
        each for each in judge(text, session(1, npm), session(2, npm), since=None) if each.mark.value == "broken"
    ]


def test_a_commit_without_what_was_to_be_run_before_it_breaks_it() -> None:
    commit, lint = shell("git commit -m x", "ok"), shell("npm run lint", "ok")
    (found,) = judge(
        "- Run `npm run lint` before each commit.", session(1, commit), session(2, commit), session(3, lint, commit)
    )
    assert (found.mark, found.seen, found.came_up) == (StatementMark.BROKEN, 2, 3)


def test_a_path_that_no_call_found_is_wrong() -> None:
    gone = shell("cat conf/.golangci.yml", "cat: conf/.golangci.yml: No such file or directory", error=True)
    for name in ("conf/.golangci.yml", ".golangci.yml"):
        (found,) = judge(f"- Lint as `{name}` says.", session(1, gone), session(2, gone))
        assert found.mark is StatementMark.WRONG


def test_a_folder_in_which_calls_failed_is_not_wrong() -> None:
    gone = shell("cat lib/gone.py", "cat: lib/gone.py: No such file or directory", error=True)
    assert not judge("- Code is in `lib/`.", session(1, gone), session(2, gone))


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("- Run `make lint`.", "followed"),
        ("- See `src/never.py`.", "never came up"),
        ("- Code is in `lib/`.", None),
        ("- Be kind.", None),
    ],
)
def test_what_was_used_was_followed_and_the_rest_never_came_up(text: str, mark: str | None) -> None:
    found = judge(text, *(session(number, shell("make lint && cat lib/a.py", "ok")) for number in range(10)))
    assert [each.mark.value for each in found] == ([mark] if mark else [])


def test_a_word_that_comes_later_in_a_call_does_not_make_it_another_one() -> None:
    text = "```sh\nrtk test # only what failed\nrtk git commit\n```"
    found = judge(text, session(1, BUN, BUN, shell("git commit", "ok")), session(2, BUN, shell("git commit", "ok")))
    assert not [each.mark for each in found if each.mark in (StatementMark.CAUSE, StatementMark.BROKEN)]


def test_what_it_is_against_is_not_followed_where_it_was_run() -> None:
    sessions = [session(number, shell("git add -A", "ok")) for number in range(12)]
    assert judge("- Stage files one by one, never `git add -A`.", *sessions, since=None) == []
    assert judge("- It ends by itself, never on a plain `exit`.", session(1, shell("exit 1", "")), session(2)) == []
