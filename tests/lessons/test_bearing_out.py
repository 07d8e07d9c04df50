"""Only what says the draft, or shows its failure, is evidence for it."""

import pytest

from conversations import Turn, agent, conversation, shell, user
from whet.lessons.bearing_out import bearing_out
from whet.lessons.candidates import LessonEvidence, candidates
from whet.lessons.drafts import draft_of
from whet.lessons.finding import pieces_of_session
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.sayings import is_against, says_same
from whet.sessions.trust import Trust
from whet.text.key_words import key_words


def said(text: str, session: str, weight: float = 3.0) -> LessonPiece:
    return LessonPiece(LessonSource.PERSON, session, 4, text, keys=key_words(text), weight=weight)


def failed(call: str, error: str, session: str, fix: str = "") -> LessonPiece:
    keys = frozenset(("not", "found"))  # the same for all: one group
    text = f"{call} → {error}"
    return LessonPiece(LessonSource.RECOVERY, session, 4, text, call, error, fix, keys=keys, trust=Trust.TOOL)


def group(*pieces: LessonPiece) -> LessonEvidence:
    return LessonEvidence(pieces[0].source, pieces, len({piece.session for piece in pieces}), 9.0)


def borne_out(candidate: LessonEvidence) -> LessonEvidence:
    draft = draft_of(candidate)
    assert draft is not None
    return bearing_out(candidate, draft)


def test_an_order_to_push_is_no_evidence_for_a_ban_on_pushing_migrations() -> None:
    ban = said("don't push the migrations directly to the server", "one")
    found = borne_out(group(ban, said("ok commit and push", "two"), said("push the migrations to the server", "three")))
    assert (found.sessions, [piece.session for piece in found.pieces]) == (1, ["one"])


def test_who_says_the_same_in_other_words_counts() -> None:
    asked = said("why aren't we using table-driven tests?", "one")
    others = (said("can't the tests be table driven?", "two"), said("never run all tests", "three"))
    found = borne_out(group(asked, *others, said("use table driven tests where possible", "four")))
    assert {piece.session for piece in found.pieces} == {"one", "two", "four"}


def test_pieces_beyond_those_that_are_kept_count_too() -> None:
    pieces = [said("never wrap lines in the markdown", f"s{number}") for number in range(20)]
    [candidate] = candidates(pieces, {})
    assert (len(candidate.pieces), len(candidate.more)) == (12, 8)
    found = borne_out(candidate)
    assert (found.sessions, len(found.pieces), found.more) == (20, 20, ())


def test_a_copy_is_no_further_session() -> None:
    both = group(said("never wrap lines in the markdown", "one"), said("never wrap the markdown lines", "copy"))
    draft = draft_of(both)
    assert draft is not None
    assert bearing_out(both, draft, {"copy": "one"}).sessions == 1


def test_another_missing_program_is_no_evidence_for_this_one() -> None:
    docker = [failed("docker ps", "zsh: command not found: docker", name) for name in ("one", "two")]
    found = borne_out(group(*docker, failed("redis-cli ping", "zsh: command not found: redis-cli", "three")))
    assert found.sessions == 2


def test_a_search_without_a_hit_says_nothing_of_the_shell() -> None:
    shells = [failed(f"ls {name}/*.md", f"(eval):1: no matches found: {name}/*.md", name) for name in ("one", "two")]
    searches = [failed("Grep key in src", "No matches found", f"g{number}") for number in range(5)]
    found = borne_out(group(*shells, *searches))
    assert {piece.session for piece in found.pieces} == {"one", "two"}


def test_the_same_failure_counts_whatever_worked_then() -> None:
    error = "unrecognized subcommand 'bun'"
    same = [failed("rtk bun run test", error, name, "bun run test") for name in ("one", "two")]
    other = failed("rtk bun run test 2>&1", error, "three", "bun test src | tail")
    found = borne_out(group(*same, other, failed("rtk tsc", "unrecognized subcommand 'tsc'", "four")))
    assert {piece.session for piece in found.pieces} == {"one", "two", "three"}


def test_a_check_that_could_not_run_is_not_put_right_by_its_fixing_form() -> None:
    red = "a.ts:3 no-unused-vars\nFound 1 error."

    def turns(output: str) -> tuple[Turn, ...]:
        fix = shell("cd /shop && bun run lint:fix", "Done")
        return (user("Go"), shell("bun run lint", output, error=True), fix, agent("Done."))

    made = [conversation(*turns(red), native_id=f"s{number}") for number in range(3)]
    made.append(conversation(*turns('error: Script not found "lint"'), native_id="elsewhere"))
    found = candidates([piece for each in made for piece in pieces_of_session(each)], {})
    drafted = [(each, draft) for each in found if (draft := draft_of(each))]
    [(candidate, draft)] = drafted
    assert draft.text.startswith("Run `bun run lint:fix` before `bun run lint`")
    assert {piece.session for piece in bearing_out(candidate, draft).pieces} == {each.id for each in made[:3]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("don't forget to branch off main and not the current branch", "always branch off main"),
        ("commit and update changelog.md", "update changelog with a small sentence"),
    ],
)
def test_sentences_that_say_the_same(one: str, other: str) -> None:
    assert says_same(one, other)
    assert says_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("branch off main", "branching from main for this won't work"),
        ("internal changes are never breaking changes", "commit the internal changes"),
        ("full schema should not be updated ever", "update the schema"),
        ("yes", "yes please"),
    ],
)
def test_sentences_that_do_not(one: str, other: str) -> None:
    assert not says_same(one, other)


def test_a_question_that_finds_fault_is_for_what_it_misses() -> None:
    assert not is_against("why aren't we using table-driven tests?")
    assert is_against("we are not using table-driven tests")


@pytest.mark.parametrize(
    "other",
    [
        "please rebase from develop instead of main",
        "always rebase the feature from staging, not main",
        "never rebase from main",
    ],
)
def test_who_says_the_contrary_does_not_count(other: str) -> None:
    found = borne_out(group(said("always rebase from main", "one"), said(other, "two")))
    assert [piece.session for piece in found.pieces] == ["one"]


def test_who_asks_for_something_similar_does_not_count() -> None:
    asked = said("always run the migrations before you deploy", "one")
    found = borne_out(group(asked, said("always run the linter before you deploy", "two")))
    assert [piece.session for piece in found.pieces] == ["one"]
