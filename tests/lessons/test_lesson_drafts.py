"""Drafts hold the record's own words, and the lowest trust of them."""

import pytest
from msgspec.structs import replace

from conversations import Turn, agent, call, conversation, shell, user
from whet.lessons.candidates import LessonEvidence, candidates
from whet.lessons.contrasts import differing
from whet.lessons.drafts import LessonDraft, draft_of, drafts_of, patch_of_draft
from whet.lessons.finding import pieces_of_session
from whet.lessons.pieces import LessonSource
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\nrebase from main first"
)


def lessons(*sessions: tuple[Turn, ...]) -> list[tuple[LessonEvidence, LessonDraft | None]]:
    made = [conversation(*turns, native_id=f"s{number}") for number, turns in enumerate(sessions)]
    pieces = [piece for each in made for piece in pieces_of_session(each)]
    return [(one, draft_of(one)) for one in candidates(pieces, {})]


def only(*sessions: tuple[Turn, ...]) -> LessonDraft:
    [(_, draft)] = lessons(*sessions)
    assert draft is not None
    return draft


def test_a_persons_standing_order_stays_in_their_words_and_is_theirs() -> None:
    draft = only((user("Fix it"), agent("Done."), user("yes, and never wrap lines in the markdown")))
    assert (draft.text, draft.trust) == ("Never wrap lines in the markdown", Trust.USER)


def test_a_wish_of_one_day_is_no_standing_order() -> None:
    [(_, draft)] = lessons((user("Fix it"), agent("Done."), user("please use the blue button here")))
    assert draft is None


def test_what_can_be_done_is_no_order() -> None:
    [(_, draft)] = lessons((user("Fix it"), agent("Done."), user("all checks can be done alone with the --demo flag")))
    assert draft is None


def test_a_recovery_says_what_to_run_what_fails_and_why() -> None:
    failed = shell("cd src && rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    once = (user("Go"), failed, shell("cd src && bun install", "Done"))
    assert [draft for _, draft in lessons(once) if draft] == []
    draft = only(once, once, once)
    assert draft.text == ("In this project run `bun install`; `rtk bun …` fails: unrecognized subcommand 'bun'")
    assert draft.trust is Trust.TOOL


def test_an_errors_own_remedy_is_a_tools_word() -> None:
    failed = shell("deploy app", "error: stale client\nUse: ./dev deploy APP", error=True)
    draft = only((user("Go"), failed))
    assert draft.text == "In this project use `./dev deploy APP`; `deploy app` fails: stale client"
    assert (draft.source, draft.trust) == (LessonSource.REMEDY, Trust.TOOL)


def test_a_remedy_for_tests_says_what_it_is_for_and_not_what_fails() -> None:
    failed = shell("python -m pytest test_cart.py", "Use: ./dev test MODULE", error=True)
    assert only((user("Go"), failed)).text == "In this project run tests with `./dev test MODULE`."


def test_a_rule_is_written_from_the_oldest_sessions_so_that_the_later_ones_can_judge_it() -> None:
    failed = shell("python -m pytest test_cart.py", "Use: ./dev test MODULE", error=True)
    sessions = [conversation(user("Go"), failed, native_id=f"s{each}") for each in range(8)]
    pieces = [replace(piece, at=at) for at, each in enumerate(sessions, 1) for piece in pieces_of_session(each)]
    [candidate] = candidates(pieces, {})
    draft = draft_of(candidate)
    assert draft is not None
    patch = patch_of_draft(draft, candidate, "example.org/shop")
    assert {proof.session for proof in patch.proofs} == {session.id for session in sessions[:2]}
    assert "8 sessions" in patch.reason
    [alone] = candidates(pieces[:1], {})
    assert len(patch_of_draft(draft, alone, "example.org/shop").proofs) == 1


def test_one_search_that_found_nothing_is_no_fact_yet() -> None:
    missed = call("Grep", {"pattern": "golangci", "path": "src"}, "No matches found")
    found = call("Grep", {"pattern": "golangci", "path": "tools"}, "tools/golangci.yaml")
    once = (user("Go"), missed, found)
    assert [draft for _, draft in lessons(once) if draft] == []
    assert (
        only(once, once).text == "In this project use `Grep golangci in tools`; `Grep golangci in src` finds nothing."
    )


@pytest.mark.parametrize(
    "said",
    [
        "check again on the other machine, and never mind the rest",
        "branching from main for this won't work",
        "what would we then need to change instead of the segments?",
        "there is a bug, the colours do not seem to be correct",
        "Do not update the version of the schema yet",
        "On bullet 1, do not unignore the full folder",
        "at the top of the report, find a way to make the url always visible",
        "I don't want any padding in the header",
        "don't worry about the tests",
        "I prefer trains within that window",
        "I prefer trains before noon, so I'd like to take the early train",
    ],
)
def test_what_was_said_for_the_moment_is_not_drafted(said: str) -> None:
    assert [draft for _, draft in lessons((user("Fix it"), agent("Done."), user(said))) if draft] == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("ok. please dont forget to branch off main", "Branch off main"),
        ("do not wrap long lines as that ruins GitHub (see?)", "Do not wrap long lines as that ruins GitHub"),
        ("full schema should not be updated ever", "Full schema should not be updated ever"),
        ("why are you still using vale?", "Do not use vale"),
        ("Any findings that wait should first get a todo", "Any findings that wait should first get a todo"),
    ],
)
def test_what_holds_beyond_the_day_is_drafted_when_it_is_said_once(said: str, text: str) -> None:
    assert only((user("Fix it"), agent("Done."), user(said))).text == text


def test_an_order_stands_once_three_sessions_heard_it() -> None:
    said = (user("Fix it"), agent("Done."), user("use the sans font for headings"))
    assert [draft for _, draft in lessons(said, said) if draft] == []
    found = [draft.text for _, draft in lessons(said, said, said) if draft]
    assert found == ["Use the sans font for headings"]


def test_what_is_asked_for_again_and_again_says_when_it_is_asked_for() -> None:
    def asked(words: str) -> tuple[Turn, ...]:
        return (user("Fix it"), agent("Done."), user(words))

    alone = asked("update release-notes.txt with a small sentence")
    assert [draft for _, draft in lessons(alone, alone, alone) if draft] == []
    with_act = (
        asked("commit and update release-notes.txt"),
        asked("then commit this, and update release-notes.txt"),
        asked("update release-notes.txt and commit"),
    )
    assert [draft for _, draft in lessons(alone, *with_act[:2]) if draft] == []
    found = [(draft.text, draft.trust) for _, draft in lessons(alone, *with_act) if draft]
    assert found == [("With each commit: update release-notes.txt", Trust.USER)]


@pytest.mark.parametrize("words", ["commit and push", "create a pr and merge it", "commit this and check it again"])
def test_what_ends_the_work_at_hand_has_no_order_for_each_time(words: str) -> None:
    said = (user("Fix it"), agent("Done."), user(words))
    assert [draft for _, draft in lessons(said, said, said) if draft] == []


@pytest.mark.parametrize(
    "words",
    [
        "don't create a pr, just a commit",
        "generate a commit message but don't commit it",
        "fold the changes into the right commits, do not run the tests every time",
        "review the implementation with another model",
        "You should ONLY use the environment AND NEVER ASK FOR HELP",
    ],
)
def test_what_is_to_become_of_the_work_at_hand_is_no_standing_order(words: str) -> None:
    said = (user("Fix it"), agent("Done."), user(words))
    assert [draft for _, draft in lessons(said, said, said) if draft] == []


@pytest.mark.parametrize("task", ["commit and update CHANGELOG.md", "move all files and do not move the sub folders"])
def test_a_task_that_is_given_again_is_no_standing_order(task: str) -> None:
    once = (user(task), agent("Done."))
    assert [draft for _, draft in lessons(once, once, once) if draft] == []


def test_never_here_means_the_project() -> None:
    words = "Never force-push here, others work on this branch"
    assert only((user("Fix it"), agent("Done."), user(words))).text == words


def test_a_task_may_hold_a_standing_order() -> None:
    task = "Fix the parser. From now on write every commit message in English."
    assert only((user(task), agent("Done."))).text == "From now on write every commit message in English"


def test_words_that_were_pasted_are_not_the_persons_order() -> None:
    plan = "\n".join(f"{number}) never edit file number {number} by hand" for number in range(20))
    assert [draft for _, draft in lessons((user("Fix it"), agent("Done."), user(plan))) if draft] == []


def test_a_refused_command_says_when_the_order_holds() -> None:
    refused = call("Bash", {"command": "git push origin x"}, REFUSED, error=True, disposition=Disposition.REJECTED)
    assert only((user("Go"), refused)).text == "Before `git push`: rebase from main first"


def test_an_error_whose_cause_is_known_is_told_in_words_of_nobody_else_once_it_recurs() -> None:
    failed = shell("pnpm add crypto@workspace:*", "(eval):1: no matches found: crypto@workspace:*", error=True)
    once = (user("Go"), failed, shell("pnpm add 'crypto@workspace:*'", "Done"))
    assert [draft for _, draft in lessons(once) if draft] == []
    draft = only(once, once, once)
    assert draft.text.startswith("The shell is zsh, which refuses ")
    assert draft.trust is Trust.AGENT


def test_the_repository_that_was_found_is_named() -> None:
    missed = "GraphQL: Could not resolve to a Repository with the name 'shop-inc/shop'. (repository)"
    failed = shell("gh pr view 7 --repo shop-inc/shop", missed, error=True)
    draft = only((user("Go"), failed, shell("gh pr view 7 --repo jane/shop", "open")))
    assert draft.text.startswith("The repository of this project is `jane/shop`;")


@pytest.mark.parametrize("error", ["Sibling tool call errored", "File has not been read yet. Read it first."])
def test_an_error_that_explains_itself_to_any_agent_is_no_rule_of_a_project(error: str) -> None:
    once = (user("Go"), call("Read", {"file_path": "/a"}, f"<tool_use_error>{error}</tool_use_error>", error=True))
    assert [draft for _, draft in lessons(once, once, once) if draft] == []


@pytest.mark.parametrize(
    ("failed", "error", "fix"),
    [
        (
            "git checkout main && git pull",
            "fatal: Unable to create 'a/.git/index.lock': File exists.",
            "git checkout main",
        ),
        ("mise run lint", "error: 3 problems", "mise run test"),
        ("sed -n 1p a.ts | cat -A", "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]", ""),
        ("git add a b", "The following paths are ignored\nhint: Use -f if you really want to add them.", "git add a"),
    ],
)
def test_what_only_came_later_or_passes_is_no_fix(failed: str, error: str, fix: str) -> None:
    turns = (user("Go"), shell(failed, error, error=True), *((shell(fix, "ok"),) if fix else ()))
    assert [draft for _, draft in lessons(turns) if draft] == []


def test_what_one_candidate_says_is_not_said_again_by_another() -> None:
    said = "never wrap lines in the markdown"
    found = lessons((user("Fix it"), agent("Done."), user(said)))
    [candidate] = [one for one, _ in found]
    assert [draft is not None for _, draft in drafts_of((candidate, candidate))] == [True, False]


def test_the_patch_holds_in_the_project_alone_and_waits_where_its_words_are_a_tools() -> None:
    [(candidate, draft)] = lessons((user("Go"), shell("deploy app", "error: x\nUse: ./dev deploy APP", error=True)))
    assert draft is not None
    patch = patch_of_draft(draft, candidate, "example.org/shop")
    assert patch.scope.project == "example.org/shop"
    assert patch.is_foreign
    assert [(proof.session, proof.message) for proof in patch.proofs] == [
        (piece.session, piece.message) for piece in candidate.pieces
    ]
    assert (patch.situation.call, patch.situation.error) == ("deploy app", "x")


def test_what_hooks_of_commits_refused_is_one_lesson_with_each_thing_once() -> None:
    def refused(rule: str) -> tuple[Turn, ...]:
        text = f"✖ markdownlint --fix:\na.md:3 error {rule}\nhusky - pre-commit script failed (code 1)"
        return (user("Go"), shell("git commit -m 'docs'", text, error=True))

    draft = only(refused("MD040 Fences need a language"), refused("MD025 One title"), refused("MD025 One title"))
    assert draft.text.startswith("Write Markdown so that the hooks of `git commit` pass; they refuse: ")
    assert draft.text.count("MD025 One title") == draft.text.count("MD040 Fences need a language") == 1


def test_what_a_hook_asks_for_is_told_with_its_own_words() -> None:
    text = (
        "Run this command and stage the changes:\n\n    pnpm api:generate\n\nMissing generated files:\nhusky - failed"
    )
    once = (user("Go"), shell("git add a && \\\ngit commit -m x", text, error=True))
    draft = only(once, once)
    assert draft.text.endswith(": Run this command and stage the changes: pnpm api:generate")


@pytest.mark.parametrize(
    ("call_made", "fix", "parts"),
    [
        ("cd a && rtk bun i", "cd a && bun i", ("rtk bun i", "bun i")),
        ("make x", "./dev make x", ("make x", "./dev make x")),
        ("a b", "c d", ("a b", "c d")),
    ],
)
def test_of_two_commands_the_parts_that_differ_are_told_apart(call_made: str, fix: str, parts: tuple[str, str]) -> None:
    assert differing(call_made, fix) == parts


@pytest.mark.parametrize(
    ("check", "fix", "told"),
    [
        (
            "cd web && bun run lint 2>&1 | tail -5",
            "cd web && bun run lint:fix 2>&1",
            ("bun run lint:fix", "bun run lint"),
        ),
        ("ruff check src", "ruff check --fix src", ("ruff check --fix src", "ruff check src")),
        ("cargo fmt --check", "cargo fmt", ("cargo fmt", "cargo fmt --check")),
    ],
)
def test_a_check_that_three_sessions_had_to_put_right_comes_after_its_fixing_form(
    check: str, fix: str, told: tuple[str, str]
) -> None:
    red = shell(check, "src/a.ts:3 error: formatting differs\nFound 1 error.", error=True)
    session = (user("Go"), red, shell(fix, "Fixed 1 file."))
    assert lessons(session, session) == []
    draft = only(session, session, session)
    first, then = told
    assert draft.text == f"Run `{first}` before `{then}`: it puts right itself what the check only reports."
    assert draft.trust is Trust.TOOL


def test_another_check_after_a_red_one_is_no_fix_of_it() -> None:
    red = shell("mise run lint", "src/a.ts:3 error: formatting differs\nFound 1 error.", error=True)
    session = (user("Go"), red, shell("mise run test", "4 passed"))
    assert lessons(session, session, session) == []


def test_commands_that_failed_for_their_folder_teach_one_thing() -> None:
    error = "pattern ./...: directory prefix . does not contain main module"
    go = (user("Go"), shell("go vet ./... | tail", error, error=True), shell("cd /d/shop/src && go vet ./...", "ok"))
    add = shell("git add src/a.go", "fatal: pathspec 'src/a.go' did not match any files", error=True)
    git = (user("Go"), add, shell("cd /d/shop && git add src/a.go", "ok"))
    assert [draft for _, draft in lessons(go) if draft] == []
    draft = only(go, git)
    assert "`cd` and the folder's whole path" in draft.text
    assert draft.trust is Trust.AGENT


def test_another_command_in_another_folder_says_nothing_of_folders() -> None:
    failed = shell("go vet ./...", "error: no packages", error=True)
    session = (user("Go"), failed, shell("cd /d/shop/src && go vet -x .", "ok"))
    assert all(draft is None or "whole path" not in draft.text for _, draft in lessons(session, session))
