"""Cases on disk: chosen by name, folder, file and tag; a broken one is listed and never run."""

from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.sessions.transcripts import Message, Role, Text
from whet.sessions.trust import Trust
from whet.store.case_files import chosen, folders_of, home_cases, keep_case, keep_text, list_cases, load_case
from whet.trials.cases import Case
from whet.trials.checks import Check

CHECK = Check(command="true")
SAID = (Message(Role.USER, (Text("Build it."),), Trust.USER),)


def case(name: str, *, guard: bool = False, tags: tuple[str, ...] = ()) -> Case:
    return Case("Do it.", CHECK, name, guard=guard, tags=tags)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for each in (case("one"), case("two", tags=("quick",)), case("standing", guard=True)):
        keep_case(folder / "cases", each)
    return folder


def names(cases: tuple[Case, ...]) -> list[str]:
    return sorted(each.name for each in cases)


def test_a_case_and_its_conversation_come_back_as_they_were(tmp_path: Path) -> None:
    step = Case(check=CHECK, name="step-1", kind="step", conversation=SAID, files={"a b/c.txt": "x'''\n"})
    keep_case(tmp_path / "cases", step)
    assert load_case(tmp_path / "cases", "step-1") == step
    assert (tmp_path / "cases" / "step-1.json").exists()


def test_a_case_is_never_overwritten(home: Path) -> None:
    with pytest.raises(WhetError, match="already"):
        keep_case(home / "cases", case("one"))
    with pytest.raises(WhetError, match="already"):
        keep_text(home / "cases", "one", "x")


def test_cases_are_chosen_by_name_tag_folder_and_file_and_the_standing_ones_always(home: Path, tmp_path: Path) -> None:
    keep_case(tmp_path / "project", case("own"))
    assert names(chosen(home, ())) == ["one", "standing", "two"]
    assert names(chosen(home, ("one",))) == ["one", "standing"]
    assert names(chosen(home, ("tag:quick",))) == ["standing", "two"]
    assert names(chosen(home, (str(tmp_path / "project"),))) == ["own", "standing"]
    assert names(chosen(home, (str(tmp_path / "project" / "own.toml"), "one"))) == ["one", "own", "standing"]
    for wrong in ("three", "tag:slow", str(tmp_path / "empty")):
        with pytest.raises(WhetError):
            chosen(home, (wrong,))


def test_where_the_cases_lie_is_known_so_that_it_can_be_hidden(home: Path, tmp_path: Path) -> None:
    keep_case(tmp_path / "project", case("own"))
    found = folders_of(home, (str(tmp_path / "project"), "one", "tag:quick"))
    assert found == (str(home / "cases"), str(tmp_path / "project"))


def test_a_broken_case_is_listed_with_its_fault_and_refused(home: Path) -> None:
    (home / "cases" / "broken.toml").write_text("task = 3")
    found = {each.name: each for each in home_cases(home)}
    assert found["broken"].value is None
    assert "broken" in found["broken"].fault
    with pytest.raises(WhetError, match=r"broken\.toml"):
        chosen(home, ())
    assert list_cases(home / "nowhere") == ()


@pytest.mark.parametrize("name", ["../x", "A", "", "a/b", "x" * 99])
def test_a_name_cannot_lead_elsewhere(home: Path, name: str) -> None:
    with pytest.raises(WhetError, match="not a valid case name"):
        load_case(home / "cases", name)
