"""Skills changed by an agent: only what it read, only what is its to change, and nothing twice."""

from collections.abc import Callable
from functools import partial

import pytest

from whet.changes import writing
from whet.changes.apply import undo
from whet.changes.pending import approve, approve_edited, pending, refuse
from whet.changes.writing import Author
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import PatchOrigin, Proof
from whet.own.told.skills import compose
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import skill_uses
from whet.store.skill_files import load, read_text, support_files

NOW = 1_800_000_000.0
WHAT = "Write release notes from the history. Use before a release."
HOW = "1. Read the log.\n2. Write what users see.\n"


@pytest.fixture
def agent(home: Home, database: Database) -> Author:
    return Author(home, database, Actor.AGENT, Trust.AGENT, NOW, "s1", PatchOrigin(said="the user corrected me"))


@pytest.fixture
def person(agent: Author) -> Author:
    return agent._replace(actor=Actor.PERSON, trust=Trust.OPERATOR, session="terminal")


def by_hand(author: Author, name: str, description: str = "Make tea properly.") -> str:
    folder = author.home.folder / "skills" / name
    folder.mkdir(parents=True)
    text = compose(name, description, "Boil water.")
    (folder / "SKILL.md").write_text(text)
    return text


def attempts(author: Author, name: str, word: str) -> tuple[Callable[[], Entry], ...]:
    """Every way to change a skill that is there."""
    return (
        partial(writing.patch, author, name, word, "Skim"),
        partial(writing.write_file, author, name, "references/x.md", "x"),
        partial(writing.archive, author, name),
    )


def test_an_agent_makes_reads_and_patches_its_own_skill(agent: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    viewed = writing.view(agent, "release-notes")
    assert viewed.digest == load(agent.home.folder, "release-notes").digest
    writing.patch(agent, "release-notes", "Read the log.", "Read the whole log.")
    assert "Read the whole log." in load(agent.home.folder, "release-notes").body
    assert skill_uses(agent.database)["release-notes"].views == 1


def test_what_was_not_read_as_it_is_now_is_not_changed(agent: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    with pytest.raises(WhetError, match="never read"):
        writing.patch(agent, "release-notes", "Read", "Skim")
    writing.view(agent, "release-notes")
    with pytest.raises(WhetError, match="never read"):
        writing.patch(agent._replace(session="s2"), "release-notes", "Read", "Skim")
    path = agent.home.folder / "skills" / "release-notes" / "SKILL.md"
    path.write_text(f"{path.read_text()}3. Ask for a review.\n")
    for attempt in attempts(agent, "release-notes", "Read"):
        with pytest.raises(WhetError, match="has changed since you read it"):
            attempt()
    writing.view(agent, "release-notes")
    writing.patch(agent, "release-notes", "Read", "Skim")
    assert "3. Ask for a review." in path.read_text()
    undo(agent.home, agent.database, actor=Actor.PERSON, now=NOW)
    assert "1. Read the log." in path.read_text()
    assert "3. Ask for a review." in path.read_text()


def test_a_persons_skill_is_read_only_until_it_is_handed_over(agent: Author, person: Author) -> None:
    text = by_hand(agent, "tea")
    writing.view(agent, "tea")
    for attempt in attempts(agent, "tea", "Boil"):
        with pytest.raises(WhetError, match="belongs to a person"):
            attempt()
    assert read_text(agent.home.folder, "tea") == text
    writing.adopt(person._replace(trust=Trust.USER), "tea")
    assert read_text(agent.home.folder, "tea") == text
    writing.patch(agent, "tea", "Boil", "Warm")
    assert "Warm water." in load(agent.home.folder, "tea").body


def test_a_skill_that_a_person_made_by_command_is_theirs_too(agent: Author, person: Author) -> None:
    writing.create(person, "tea", "Make tea properly.", "Boil water.")
    writing.view(agent, "tea")
    with pytest.raises(WhetError, match="belongs to a person"):
        writing.patch(agent, "tea", "Boil", "Warm")


def test_a_double_is_refused_with_the_skill_to_use_instead(agent: Author) -> None:
    by_hand(agent, "release-notes", WHAT)
    with pytest.raises(WhetError, match="The skill release-notes already covers this"):
        writing.create(agent, "release-note", "Something about releases.", HOW)
    with pytest.raises(WhetError, match="The skill release-notes already covers this"):
        writing.create(agent, "changelogs", "Write notes on a release from the history, before the release.", HOW)
    with pytest.raises(WhetError, match="a single case"):
        writing.create(agent, "fix-build-4711", "Fix the build of ticket 4711.", HOW)


@pytest.mark.parametrize(
    ("name", "description", "body"),
    [("tea", "", "Boil."), ("tea", "Make tea.", " "), ("tea", "x" * 1025, "Boil."), ("tea", "a --- b", "Boil.")],
)
def test_what_is_not_written_as_skills_are_is_refused(agent: Author, name: str, description: str, body: str) -> None:
    with pytest.raises(WhetError, match="is not a valid skill"):
        writing.create(agent, name, description, body)
    assert not (agent.home.folder / "skills").exists()


@pytest.mark.parametrize("name", ["../evil", "Tea", "a/b", "", "tea\n"])
def test_a_name_that_is_none_makes_no_folder(agent: Author, name: str) -> None:
    with pytest.raises(WhetError):
        writing.create(agent, name, "Make tea.", "Boil.")
    assert not (agent.home.folder / "skills").exists()


def test_support_files_are_written_read_and_changed(agent: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    writing.view(agent, "release-notes")
    writing.write_file(agent, "release-notes", "references/style.md", "Be short.\n")
    assert support_files(agent.home.folder, "release-notes") == ("references/style.md",)
    with pytest.raises(WhetError, match="never read"):
        writing.write_file(agent, "release-notes", "references/style.md", "Be long.\n")
    writing.view(agent, "release-notes", "references/style.md")
    writing.patch(agent, "release-notes", "short", "brief", "references/style.md")
    assert read_text(agent.home.folder, "release-notes", "references/style.md") == "Be brief.\n"
    for file in ("../SKILL.md", "SKILL.md", "references/../../x", "/etc/x", "other/x.md"):
        with pytest.raises(WhetError):
            writing.write_file(agent, "release-notes", file, "x")


def test_an_archived_skill_comes_back_whole_by_undo_and_by_restore(agent: Author, person: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    writing.view(agent, "release-notes")
    writing.write_file(agent, "release-notes", "references/style.md", "Be short.\n")
    folder = agent.home.folder / "skills" / "release-notes"
    for bring_back in (
        lambda: undo(agent.home, agent.database, actor=Actor.PERSON, now=NOW),
        lambda: writing.restore(person, "release-notes"),
    ):
        writing.archive(agent, "release-notes")
        assert not folder.exists()
        bring_back()
        assert (folder / "references" / "style.md").read_text() == "Be short.\n"


def test_what_a_stranger_wrote_waits_for_a_person(agent: Author) -> None:
    entry = writing.create(agent._replace(trust=Trust.EXTERNAL), "release-notes", WHAT, HOW)
    assert entry.step is Step.PROPOSED
    assert read_text(agent.home.folder, "release-notes") is None
    approve(agent.home, agent.database, entry.number, actor=Actor.PERSON, now=NOW)
    assert load(agent.home.folder, "release-notes").description == WHAT


def test_a_refused_skill_takes_the_files_that_waited_with_it_along(agent: Author) -> None:
    stranger = agent._replace(trust=Trust.EXTERNAL, proofs=(Proof("s1"),))
    skill = writing.create(stranger, "release-notes", WHAT, HOW)
    other = writing.create(stranger, "release-notes-long", WHAT, HOW)
    for name in ("release-notes", "release-notes-long"):
        writing.write_file(stranger, name, "references/style.md", "Be short.\n")
    refuse(agent.home, agent.database, skill.number, actor=Actor.PERSON, now=NOW)
    left = pending(agent.home, agent.database, now=NOW)
    assert [entry.patch.name for entry in left] == ["release-notes-long", "release-notes-long/references/style.md"]
    approve(agent.home, agent.database, other.number, actor=Actor.PERSON, now=NOW)


def test_files_go_on_waiting_for_a_skill_that_a_person_put_in_other_words(agent: Author) -> None:
    stranger = agent._replace(trust=Trust.EXTERNAL, proofs=(Proof("s1"),))
    skill = writing.create(stranger, "release-notes", WHAT, HOW)
    file = writing.write_file(stranger, "release-notes", "references/style.md", "Be short.\n")
    words = skill.patch.text.replace(WHAT, f"{WHAT} Or asked to.")
    approve_edited(agent.home, agent.database, skill.number, words, actor=Actor.PERSON, now=NOW)
    assert [entry.number for entry in pending(agent.home, agent.database, now=NOW)] == [file.number]


def test_a_second_change_of_what_waits_holds_the_first(agent: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    review = agent._replace(trust=Trust.EXTERNAL, session="s2", proofs=(Proof("s2"),))
    writing.view(review, "release-notes")
    first = writing.patch(review, "release-notes", "Read the log.", "Read the whole log.")
    assert "Read the whole log." in writing.view(review, "release-notes").text, "as the session left it"
    assert "Read the whole log." not in writing.view(agent, "release-notes").text
    second = writing.patch(review, "release-notes", "users see", "users can do")
    waiting = pending(agent.home, agent.database, now=NOW)
    assert [each.number for each in waiting] == [second.number]
    assert (first.step, second.step) == (Step.PROPOSED, Step.PROPOSED)
    approve(agent.home, agent.database, second.number, actor=Actor.PERSON, now=NOW)
    body = load(agent.home.folder, "release-notes").body
    assert all(words in body for words in ("Read the whole log.", "users can do"))


def test_words_of_the_person_do_not_put_in_force_what_waits_beside_them(agent: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    review = agent._replace(trust=Trust.EXTERNAL, session="s2", proofs=(Proof("s2"),))
    writing.view(review, "release-notes")
    writing.patch(review, "release-notes", "Read the log.", "Read the whole log.")
    second = writing.patch(review._replace(trust=Trust.USER), "release-notes", "users see", "users can do")
    assert (second.step, second.patch.trust) == (Step.PROPOSED, Trust.EXTERNAL)
    assert "whole" not in load(agent.home.folder, "release-notes").body


def test_the_change_of_another_session_is_left_to_wait(agent: Author) -> None:
    writing.create(agent, "release-notes", WHAT, HOW)
    for session in ("s2", "s3"):
        review = agent._replace(trust=Trust.EXTERNAL, session=session, proofs=(Proof(session),))
        writing.view(review, "release-notes")
        writing.patch(review, "release-notes", "Read the log.", f"Read the log of {session}.")
    assert len(pending(agent.home, agent.database, now=NOW)) == 2
