"""Skills on disk: listed with their faults, never followed out of their folder, archived and never deleted."""

from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.own.told.skills import compose
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.recording import View, record_view, skill_uses, was_read
from whet.store.skill_files import (
    archive,
    archived,
    archived_text,
    bring_back,
    list_skills,
    load,
    read_text,
    support_files,
    usable,
)

TEA = compose("tea", "How to make tea.", "Boil water.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, "tea", TEA)
    return tmp_path


def put(root: Path, name: str, text: str, file: str = "SKILL.md") -> None:
    path = root / "skills" / name / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_skills_are_listed_and_a_broken_one_says_why(root: Path) -> None:
    put(root, "broken", "---\nname: {broken}\n---\n")
    put(root, "other-name", TEA)
    (root / "skills" / "empty").mkdir()
    (root / "skills" / ".hidden").mkdir()
    found = {each.name: each for each in list_skills(root)}
    assert list(found) == ["broken", "other-name", "tea"]
    assert "is not one text" in found["broken"].fault
    assert "its folder is other-name" in found["other-name"].fault
    assert [skill.name for skill in usable(root)] == ["tea"]


def test_no_skills_are_no_error(tmp_path: Path) -> None:
    assert list_skills(tmp_path) == ()
    assert archived(tmp_path) == ()


def test_links_lead_nowhere(root: Path) -> None:
    outside = root / "outside"
    put(outside, "evil", compose("evil", "From elsewhere.", "Do it."))
    (root / "skills" / "evil").symlink_to(outside / "skills" / "evil")
    put(root, "sly", "", "references/x.md")
    (root / "skills" / "sly" / "SKILL.md").symlink_to(outside / "skills" / "evil" / "SKILL.md")
    (root / "skills" / "tea" / "references").symlink_to(outside)
    assert [skill.name for skill in usable(root)] == ["tea"]
    for name in ("evil", "sly"):
        with pytest.raises(WhetError, match="link"):
            load(root, name)
    with pytest.raises(WhetError, match="link"):
        support_files(root, "tea")
    with pytest.raises(WhetError, match="link"):
        read_text(root, "tea", "references/skills")


@pytest.mark.parametrize("name", ["..", "../tea", "tea/..", "/etc", "", "tea/references", "Tea"])
def test_a_name_never_leaves_the_folder(root: Path, name: str) -> None:
    for attempt in (load, archived_text, support_files):
        with pytest.raises(WhetError):
            attempt(root, name)
    with pytest.raises(WhetError):
        archive(root, name, expected=b"")


@pytest.mark.parametrize("file", ["../SKILL.md", "references/..", "references/../../x", "/etc/passwd", "notes.txt", ""])
def test_a_file_never_leaves_its_skill(root: Path, file: str) -> None:
    with pytest.raises(WhetError, match="not a valid name for a support file"):
        read_text(root, "tea", file)


def test_support_files_are_found_at_any_depth(root: Path) -> None:
    put(root, "tea", "x", "references/green.md")
    put(root, "tea", "x", "scripts/a/b.sh")
    put(root, "tea", "x", "notes.txt")
    assert support_files(root, "tea") == ("references/green.md", "scripts/a/b.sh")


def test_an_archived_skill_comes_back_with_all_its_files(root: Path) -> None:
    put(root, "tea", "leaves", "references/green.md")
    archive(root, "tea", expected=TEA.encode())
    assert list_skills(root) == ()
    assert archived(root) == ("tea",)
    assert archived_text(root, "tea") == TEA
    assert bring_back(root, "tea", TEA.encode())
    assert read_text(root, "tea", "references/green.md") == "leaves"
    with pytest.raises(WhetError, match="no skill tea in the archive"):
        archived_text(root, "tea")


def test_each_archived_state_is_kept_and_the_newest_is_known_first(root: Path) -> None:
    other = compose("tea", "How to make tea.", "Use a kettle.")
    archive(root, "tea", expected=TEA.encode())
    put(root, "tea", other)
    archive(root, "tea", expected=other.encode())
    assert archived(root) == ("tea",)
    assert archived_text(root, "tea") == other
    assert bring_back(root, "tea", TEA.encode())
    assert read_text(root, "tea") == TEA


def test_the_archived_state_that_is_wanted_is_brought_back(root: Path) -> None:
    archive(root, "tea", expected=TEA.encode())
    assert not bring_back(root, "tea", b"another")
    assert bring_back(root, "tea", TEA.encode())
    assert not bring_back(root, "tea", TEA.encode()), "what is there is not written over"


def test_a_skill_that_was_edited_meanwhile_is_not_archived(root: Path) -> None:
    with pytest.raises(Conflict):
        archive(root, "tea", expected=b"another")
    assert read_text(root, "tea") == TEA


def test_what_was_read_is_known_by_session_file_and_state(database: Database) -> None:
    view = View("tea", "d1", "s1")
    record_view(database, view, now=1.0)
    record_view(database, view._replace(session="s2", digest="d2"), now=5.0)
    assert was_read(database, view)
    assert not was_read(database, view._replace(digest="d2"))
    assert not was_read(database, view._replace(file="references/x.md"))
    assert skill_uses(database)["tea"] == (2, 2, 5.0)
