"""whet skills, as people run it."""

from pathlib import Path

import pytest

from command import Whet

BODY = "1. Read the log.\n2. Write what users see.\n"
CREATE = ("skills", "create", "release-notes", "--description", "Write release notes. Use before a release.", "-f", "-")


def test_a_skill_is_made_shown_put_away_and_brought_back(whet: Whet, tmp_path: Path) -> None:
    assert "Added skill release-notes" in whet(*CREATE, stdin=BODY).out
    folder = tmp_path / "home" / "skills" / "release-notes"
    (folder / "references").mkdir()
    (folder / "references" / "style.md").write_text("Short.\n")
    shown = whet("skills", "show", "release-notes")
    assert "Write what users see." in shown.out
    assert "also: references/style.md" in shown.out
    assert whet("skills", "show", "release-notes", "references/style.md").out == "Short.\n"
    assert whet("skills", "show", "release-notes", "--json").json["files"] == ["references/style.md"]
    assert "1 skill. To read one, run `whet skills show NAME`." in whet("skills").out
    assert whet("skills", "archive", "release-notes").code == 0
    assert not folder.exists()
    assert whet("skills", "--json").json == {"skills": [], "archived": ["release-notes"]}
    assert whet("skills", "archive", "--restore", "release-notes").code == 0
    assert (folder / "references" / "style.md").read_text() == "Short.\n"


def test_undoing_an_archive_brings_every_file_back(whet: Whet, tmp_path: Path) -> None:
    whet(*CREATE, stdin=BODY)
    folder = tmp_path / "home" / "skills" / "release-notes"
    (folder / "scripts").mkdir()
    (folder / "scripts" / "log.sh").write_text("git log\n")
    whet("skills", "archive", "release-notes")
    assert whet("ledger", "undo").code == 0
    assert (folder / "scripts" / "log.sh").exists()


def test_a_skill_is_a_persons_until_it_is_handed_over(whet: Whet) -> None:
    whet(*CREATE, stdin=BODY)
    assert whet("skills", "--json").json["skills"][0]["writers"] == "person"
    assert whet("skills", "adopt", "release-notes", variables={"CLAUDECODE": "1"}).code == 1
    assert whet("skills", "adopt", "release-notes").code == 0
    assert whet("skills", "--json").json["skills"][0]["writers"] == "agents"
    assert whet("ledger", "undo").code == 0
    assert whet("skills", "--json").json["skills"][0]["writers"] == "person"


def test_an_agents_shell_makes_no_skill_by_itself(whet: Whet, tmp_path: Path) -> None:
    done = whet(*CREATE, stdin=BODY, variables={"CLAUDECODE": "1"})
    assert "Needs a person's approval" in done.out
    assert not (tmp_path / "home" / "skills").exists()


def test_a_skill_that_no_agent_can_use_is_listed_with_its_fault(whet: Whet, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "skills" / "broken"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: broken\ndescription: a: b\n---\n")
    done = whet("skills")
    assert done.code == 0
    assert "put it in quotes" in done.out


def test_a_file_with_front_matter_of_its_own_is_taken(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("---\nname: other\ndescription: Make tea.\nlicense: MIT\n---\n\nBoil.\n")
    assert whet("skills", "create", "tea", "-f", "mine.md").code == 0
    assert whet("skills", "create", "more-tea", "-f", "mine.md", "--description", "Brew much of it.").code == 0
    skills = tmp_path / "home" / "skills"
    assert (skills / "tea" / "SKILL.md").read_text() == (
        "---\nname: tea\ndescription: Make tea.\nlicense: MIT\n---\n\nBoil.\n"
    )
    assert "description: Brew much of it.\nlicense: MIT\n" in (skills / "more-tea" / "SKILL.md").read_text()


def test_a_folder_is_taken_with_its_support_files_and_undone_together(whet: Whet, tmp_path: Path) -> None:
    source = tmp_path / "brewing"
    (source / "references" / "teas").mkdir(parents=True)
    (source / "SKILL.md").write_text("---\nname: brewing\ndescription: Brew tea.\n---\n\nBoil.\n")
    (source / "references" / "teas" / "green.md").write_text("80 degrees.\n")
    (source / "notes.txt").write_text("mine")
    done = whet("skills", "create", "brewing", "-f", "brewing")
    assert (done.code, done.out.count("Added")) == (0, 2)
    assert whet("skills", "show", "brewing", "references/teas/green.md").out == "80 degrees.\n"
    assert not (tmp_path / "home" / "skills" / "brewing" / "notes.txt").exists()
    assert whet("ledger", "undo").out.count("is removed") == 2
    assert not (tmp_path / "home" / "skills" / "brewing").exists()
    assert whet("ledger", "redo").code == 0
    assert whet("skills", "show", "brewing", "--json").json["files"] == ["references/teas/green.md"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nothing"),
        ("show", "../etc"),
        ("adopt", "nothing"),
        ("archive", "nothing"),
        ("archive", "nothing", "--restore"),
        ("create", "Not-A-Name", "--description", "x", "-f", "-"),
        ("create", "no-description", "-f", "-"),
        ("create", "no-file", "--description", "x", "-f", "/nowhere"),
    ],
)
def test_a_mistake_gives_advice_and_fails(whet: Whet, arguments: tuple[str, ...]) -> None:
    done = whet("skills", *arguments, stdin=BODY)
    assert done.code == 1
    assert "Error: " in done.err
    assert "Traceback" not in done.err
