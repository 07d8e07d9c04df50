"""Drafts hold the record's own words, and the lowest trust of them."""

import pytest

from conversations import Turn, agent, call, conversation, shell, user
from whet.lessons.candidates import LessonCandidate, candidates
from whet.lessons.drafts import LessonDraft, differing, draft_of, patch_of_draft
from whet.lessons.finding import pieces_of_session
from whet.lessons.pieces import LessonSource
from whet.sessions.trust import Trust


def lessons(*sessions: tuple[Turn, ...]) -> list[tuple[LessonCandidate, LessonDraft | None]]:
    made = [conversation(*turns, native_id=f"s{number}") for number, turns in enumerate(sessions)]
    pieces = [piece for each in made for piece in pieces_of_session(each)]
    return [(one, draft_of(one)) for one in candidates(pieces, {})]


def only(*sessions: tuple[Turn, ...]) -> LessonDraft:
    [(_, draft)] = lessons(*sessions)
    assert draft is not None
    return draft


def test_a_persons_standing_order_stays_in_their_words_and_is_theirs() -> None:
    draft = only((user("Fix it"), agent("Done."), user("yes, and never wrap lines in the markdown")))
    assert (draft.text, draft.trust) == ("never wrap lines in the markdown", Trust.USER)


def test_a_wish_of_one_day_is_no_standing_order() -> None:
    [(_, draft)] = lessons((user("Fix it"), agent("Done."), user("please use the blue button here")))
    assert draft is None


def test_a_recovery_says_what_to_run_what_fails_and_why() -> None:
    failed = shell("cd src && rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    draft = only((user("Go"), failed, shell("cd src && bun install", "Done")))
    assert draft.text == ("In this project run `bun install`; `rtk bun install` fails: unrecognized subcommand 'bun'")
    assert draft.trust is Trust.TOOL


def test_an_errors_own_remedy_is_a_tools_word() -> None:
    failed = shell("deploy app", "error: stale client\nUse: ./dev deploy APP", error=True)
    draft = only((user("Go"), failed))
    assert draft.text == "When `deploy app` fails in this project: Use: ./dev deploy APP"
    assert (draft.source, draft.trust) == (LessonSource.REMEDY, Trust.TOOL)


def test_one_search_that_found_nothing_is_no_fact_yet() -> None:
    missed = call("Grep", {"pattern": "golangci", "path": "src"}, "No matches found")
    found = call("Grep", {"pattern": "golangci", "path": "tools"}, "tools/golangci.yaml")
    once = (user("Go"), missed, found)
    assert [draft for _, draft in lessons(once) if draft] == []
    assert only(once, once).text == "In this project use `Grep golangci in tools`; `Grep golangci in src` is not there."


@pytest.mark.parametrize(
    ("call_made", "fix", "parts"),
    [
        ("cd a && rtk bun i", "cd a && bun i", ("rtk bun i", "bun i")),
        ("make x", "./dev make x", ("make x", "./dev make x")),
        ("a b", "c d", ("a b", "c d")),
    ],
)
def test_of_two_commands_the_parts_that_differ_are_shown(call_made: str, fix: str, parts: tuple[str, str]) -> None:
    assert differing(call_made, fix) == parts


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
    assert draft.text.startswith("Before `git commit` in this project, mind its hooks: ✖ markdownlint --fix:")
    assert draft.text.count("MD025 One title") == draft.text.count("MD040 Fences need a language") == 1


def test_what_made_the_same_call_work_is_the_fix() -> None:
    edit = {"file_path": "/a/b.py"}
    failed = call(
        "Edit", {**edit, "old": "x"}, "<tool_use_error>String not found in file.</tool_use_error>", error=True
    )
    looked = call("Read", edit, "y = 1")
    draft = only((user("Go"), failed, looked, call("Edit", {**edit, "old": "y"}, "Done")))
    assert draft.text == "Edit: after “String not found in file.”, Read the file, then Edit"
