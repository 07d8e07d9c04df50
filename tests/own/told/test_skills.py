"""Skills as values: what is one, what doubles another, and what the prompt says of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.own.told import skills
from whet.own.told.skills import Skill, compose, file_names, index, name_faults, particular, replace_once, umbrella
from whet.text import words

GIT = Skill("git-history", "Rewrite, split and clean up the history of a git repository. Use before a review.")
PDF = Skill("pdf-forms", "Fill in PDF forms and read their fields. Use when a form in PDF has to be filled in.")
SQL = Skill("sql-reports", "Write SQL reports on the sales database and check their totals.")

names = st.from_regex(r"[a-z0-9]{1,12}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
sayings = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "Zs")), min_size=1, max_size=300)
shelves = st.lists(
    st.builds(Skill, names, sayings, uses=st.integers(0, 50)), max_size=30, unique_by=lambda skill: skill.name
)


def test_a_composed_skill_is_one_and_says_what_was_given() -> None:
    skill = skills.read(compose("tea-making", 'How to make tea: "properly".  Use at four.', "# Steps\n\n1. Boil.\n"))
    assert (skill.name, skill.description) == ("tea-making", 'How to make tea: "properly". Use at four.')
    assert skill.body == "\n# Steps\n\n1. Boil.\n"
    assert skills.strict_faults(skill, folder="tea-making") == ()


def test_fields_of_other_agents_are_kept_and_named() -> None:
    skill = skills.read("---\nname: a\ndescription: b\nversion: 1.0\nallowed-tools: Read Grep\n---\nc\n")
    assert skill.other == ("version",)
    assert skills.faults(skill, folder="a") == ()
    assert "version" in skills.strict_faults(skill, folder="a")[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nname: a\n---\nc\n", "no description"),
        ("---\ndescription: b\n---\nc\n", "no name"),
        ("---\nname: other\ndescription: b\n---\nc\n", "its folder is a"),
        (f"---\nname: a\ndescription: {'b' * 1025}\n---\nc\n", "1,025 characters"),
        (f"---\nname: a\ndescription: b\ncompatibility: {'b' * 501}\n---\nc\n", "compatibility"),
        ("---\nname: a\ndescription: b --- c\n---\nd\n", "three dashes"),
        ("---\nname: a\ndescription: b\n---\n \n", "no instructions"),
        ("---\nname: a\ndescription: b\n---\nRun\u200b it.\n", "U+200B ZERO WIDTH SPACE"),
    ],
)
def test_what_is_wrong_with_a_skill_is_told(text: str, why: str) -> None:
    assert any(why in fault for fault in skills.strict_faults(skills.read(text), folder="a"))


def test_a_field_that_must_be_text_is_refused_as_a_list() -> None:
    with pytest.raises(WhetError, match="description"):
        skills.read("---\nname: a\ndescription: [b]\n---\nc\n")


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", "a--b", "a/b", "..", "a.b", "a b", "x" * 65, "a\n", "a\0"]
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    assert name_faults(name)


@pytest.mark.parametrize("name", ["a", "pdf-processing", "7z", "größe", "x" * 64])
def test_a_name_of_the_form_is_taken(name: str) -> None:
    assert name_faults(name) == ()


@given(st.text(max_size=12))
def test_a_name_without_faults_is_one_plain_part_of_a_path(name: str) -> None:
    if not name_faults(name):
        assert "/" not in name
        assert "." not in name
        assert name.isprintable()


@pytest.mark.parametrize(
    "path",
    [
        *("guide.md", "references", "../x", "references/../x", "references//x", "/references/x", "other/x"),
        *("references/.x", "references/a b", "references/a/b/c/d/e", "references/x\n", "SKILL.md"),
    ],
)
def test_a_support_file_stands_in_its_folders_only(path: str) -> None:
    with pytest.raises(WhetError, match="not a valid name for a support file"):
        file_names(path)


def test_a_support_file_may_lie_deeper() -> None:
    assert file_names("templates/letters/invoice.md") == ("templates", "letters", "invoice.md")


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("git-histories", "Something else entirely."),
        ("history-git", "Something else entirely."),
        ("commits", "Clean up, split and rewrite the git history of a repository before a review."),
        ("git-history-rebase", "Rewrite the history of a repository with git rebase."),
    ],
)
def test_what_doubles_a_skill_is_told_the_umbrella(name: str, description: str) -> None:
    found = umbrella(name, description, [PDF, GIT, SQL])
    assert found is GIT


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("docker-images", "Build small Docker images. Use when an image is too large."),
        ("sql-migrations", "Change the schema of a database step by step without loss."),
        ("pdf-printing", "Choose paper and printer for documents of the office."),
    ],
)
def test_what_is_for_another_class_of_tasks_is_let_through(name: str, description: str) -> None:
    assert umbrella(name, description, [PDF, GIT, SQL]) is None


@pytest.mark.parametrize("name", ["fix-4711", "issue-1234-crash", "release-1-2-3", "todays-task", "commit-3fa9c1d2"])
def test_the_name_of_one_case_is_told_from_that_of_a_class(name: str) -> None:
    assert particular(name)
    assert not any(particular(skill.name) for skill in (GIT, PDF, SQL, Skill("python-3", ""), Skill("oauth2", "")))


def test_words_are_replaced_only_where_they_stand_once() -> None:
    assert replace_once("one two one", "two", "2") == "one 2 one"
    for old in ("one", "three", ""):
        with pytest.raises(WhetError):
            replace_once("one two one", old, "x")


@given(shelves, st.integers(0, 1500))
def test_the_index_keeps_to_its_budget(shelf: list[Skill], budget: int) -> None:
    assert words.estimate(index(shelf, budget)) <= budget


@given(shelves)
def test_with_room_enough_the_index_names_every_skill_and_its_order_does_not_matter(shelf: list[Skill]) -> None:
    text = index(shelf, 100_000)
    assert [line.partition(":")[0] for line in text.split("\n") if text] == [
        f"- {name}" for name in sorted(skill.name for skill in shelf)
    ]
    assert index(shelf[::-1], 100_000) == text


def test_a_small_budget_shortens_then_names_then_keeps_what_is_used() -> None:
    shelf = [GIT, PDF, Skill("sql-reports", SQL.description, uses=3)]
    assert index(shelf, 55) == (
        "- git-history: Rewrite, split and clean up the history of a git repository.\n"
        "- pdf-forms: Fill in PDF forms and read their fields.\n"
        "- sql-reports: Write SQL reports on the sales database and check their totals."
    )
    assert index(shelf, 12) == "git-history, pdf-forms, sql-reports"
    assert index(shelf, 7) == "sql-reports, and 2 more"
    assert index(shelf, 2) == ""
