"""Paths as people have them: every character may stand in one, and one that cannot be used is told in words."""

from pathlib import Path

import pytest

from command import Whet, runner

LONG = "a" * 5_000


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    name = 'a:b?c%41d#e it\'s "here" 日本 ü'
    person = tmp_path / "person"
    person.mkdir()
    home = tmp_path / name / "home"
    whet = runner(home, person)
    for command in (
        ("memory", "add", "The build needs Node 22."),
        ("worker", "list"),
        ("jobs",),
        ("worker", "--until-idle"),
    ):
        done = whet(*command)
        assert done.code == 0, done.err
    assert "Node 22" in whet("memory").out
    assert (home / "engine.db").stat().st_size
    assert {each.name for each in tmp_path.iterdir()} == {"person", name}


@pytest.mark.parametrize("command", [("import",), ("migrate", "hermes"), ("backup",)])
@pytest.mark.parametrize("path", ["~nobody-of-this-name/file", LONG])
def test_a_path_that_nobody_has_is_told_in_words(whet: Whet, command: tuple[str, ...], path: str) -> None:
    done = whet(*command, path)
    assert done.code in (1, 2)
    assert done.err.startswith(("Error: ", "Usage: "))
    assert len(done.err) < 600 or command == ("import",)


def test_a_home_of_an_unknown_person_is_told_in_words(whet: Whet, person: Path) -> None:
    for home in ("~nobody-of-this-name/whet", f"/{LONG}", "/dev/null/whet"):
        done = whet("memory", "add", "x", variables={"WHET_HOME": home})
        assert done.code == 1
        assert done.err.startswith("Error: ")
    assert not (person.parent / "~nobody-of-this-name").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("judge", "/dev/zero"),
        ("restore", "/dev/zero"),
        ("restore", "/dev/zero", "--replace"),
        ("try", "/dev/zero", "--cases", "."),
        ("migrate", "hermes", "/dev/zero"),
        ("run", "--system", "/dev/zero", "hello"),
    ],
)
def test_a_file_without_an_end_is_refused(whet: Whet, arguments: tuple[str, ...]) -> None:
    done = whet(*arguments)
    assert done.code != 0
    assert "Traceback" not in done.err
