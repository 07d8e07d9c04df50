"""Which folders an owner declared their own."""

from pathlib import Path

from whet.sessions.trust import Trust
from whet.telling.context.finding import find_files, project_of


def test_a_folder_is_of_the_project_that_it_lies_in(tmp_path: Path) -> None:
    (tmp_path / "bells" / "tower").mkdir(parents=True)
    (tmp_path / "bells-of-eve").mkdir()
    declared = ("relative", str(tmp_path / "elsewhere"), str(tmp_path / "bells"))
    assert project_of(tmp_path / "bells" / "tower", declared) == tmp_path / "bells"
    assert project_of(tmp_path / "bells", declared) == tmp_path / "bells"
    assert project_of(tmp_path / "bells-of-eve", declared) is None
    assert project_of(tmp_path, declared) is None


def test_a_link_into_a_project_is_of_it_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "bells").mkdir()
    (tmp_path / "downloads").mkdir()
    (tmp_path / "way-in").symlink_to(tmp_path / "bells")
    (tmp_path / "bells" / "way-out").symlink_to(tmp_path / "downloads")
    declared = (str(tmp_path / "bells"),)
    assert project_of(tmp_path / "way-in", declared) == tmp_path / "bells"
    assert project_of(tmp_path / "bells" / "way-out", declared) is None


def test_what_holds_the_persons_own_folder_is_no_project() -> None:
    for place in ("/", "~", str(Path.home().parent)):
        assert project_of(Path.home() / "anything", (place,)) is None


def test_files_above_the_project_are_not_of_it(tmp_path: Path) -> None:
    root = tmp_path / "many"
    (root / ".git").mkdir(parents=True)
    (root / "bells").mkdir()
    for folder in (root, root / "bells"):
        (folder / "AGENTS.md").write_text("Use tabs.")
    found = find_files(root / "bells", project=root / "bells")
    assert [file.trust for file in found] == [Trust.EXTERNAL, Trust.TOOL]
