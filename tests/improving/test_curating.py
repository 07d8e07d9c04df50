"""Curating: overlapping skills and stale notes are proposed to a person, and nothing is lost."""

import pytest

from whet.changes.apply import undo
from whet.changes.pending import approve, pending
from whet.changes.writing import Author, create, remember
from whet.improving.curating import DAY, curate, look
from whet.ledger.entries import Actor
from whet.ledger.patches import Action
from whet.own.told.memory import NoteChange
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.skill_files import list_skills, support_files

NOW = 1_800_000_000.0


def author(home: Home, database: Database, at: float = NOW) -> Author:
    return Author(home, database, Actor.PERSON, Trust.USER, at)


def names(home: Home) -> list[str]:
    return [found.name for found in list_skills(home.folder)]


@pytest.fixture
def two_skills(home: Home, database: Database) -> None:
    hand = author(home, database)
    create(hand, "release-notes", "Write the release notes of a version for its users.", "List what users see.")
    create(hand, "baking", "Bake sourdough bread in the morning.", "Knead it.")
    place = home.folder / "skills" / "writing-release-notes"  # a person's own, beside it
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(
        "---\nname: writing-release-notes\ndescription: Write the release notes of a version for users.\n---\n"
        "\nBe short.\n"
    )
    (place / "references").mkdir()
    (place / "references" / "style.md").write_text("Short.\n")


@pytest.mark.usefixtures("two_skills")
def test_overlapping_skills_wait_to_be_merged_and_undo_brings_the_whole_folder_back(
    home: Home, database: Database
) -> None:
    [found] = curate(home, database, now=NOW)
    assert "same kind of task" in found.what
    assert not found.refused
    assert len(names(home)) == 3
    for entry in pending(home, database, now=NOW):
        approve(home, database, entry.number, actor=Actor.PERSON, now=NOW)
    [kept] = [name for name in names(home) if "release" in name]
    text = (home.folder / "skills" / kept / "SKILL.md").read_text()
    assert "List what users see." in text
    assert "Be short." in text
    assert look(home, database, now=NOW) == ()
    undo(home, database, actor=Actor.PERSON, now=NOW)
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert len(names(home)) == 3
    assert support_files(home.folder, "writing-release-notes") == ("references/style.md",)


def test_notes_that_say_the_same_and_old_ones_are_proposed_and_a_persons_own_never(
    home: Home, database: Database
) -> None:
    agent = Author(home, database, Actor.AGENT, Trust.USER, NOW - 400 * DAY)
    remember(agent, "memory", [NoteChange(Action.ADD, "The tests run with make check.")])
    new = Author(home, database, Actor.AGENT, Trust.USER, NOW - DAY)
    remember(new, "memory", [NoteChange(Action.ADD, "Tests and types run with make check.")])
    remember(agent, "user", [NoteChange(Action.ADD, "Works from Lisbon.")])
    (home.folder / "user.md").write_text((home.folder / "user.md").read_text() + "- Likes tea.\n")
    found = curate(home, database, now=NOW)
    assert [each.what.split(";")[0] for each in found] == [
        "Two notes in memory are nearly the same",
        "A note in user is 400 days old",
    ]
    before = (home.folder / "memory.md").read_text()
    assert "The tests run with make check." in before
    for entry in pending(home, database, now=NOW):
        approve(home, database, entry.number, actor=Actor.PERSON, now=NOW)
    assert "The tests run with" not in (home.folder / "memory.md").read_text()
    assert "Likes tea" in (home.folder / "user.md").read_text()
    assert "Lisbon" not in (home.folder / "user.md").read_text()


def test_looking_again_proposes_nothing_twice(home: Home, database: Database) -> None:
    agent = Author(home, database, Actor.AGENT, Trust.USER, NOW - 400 * DAY)
    remember(agent, "user", [NoteChange(Action.ADD, "Works from Lisbon.")])
    first = curate(home, database, now=NOW)
    assert curate(home, database, now=NOW)[0].pending == first[0].pending
    assert len(pending(home, database, now=NOW)) == 1
