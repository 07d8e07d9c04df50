"""`import whet`: every name is there, typed, documented with an example that runs, and loaded only when it is used."""

import ast
import inspect
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import whet
from command import environment, loaded, runner
from documents import SECTIONS, api_page
from front_door_examples import names_and_methods

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the example sessions, a rule and a template, as the examples in the docstrings have it."""
    folder = tmp_path_factory.mktemp("front-door")
    person = folder / "person"
    person.mkdir()
    run = runner(folder / "home", person)
    for command in (
        ("import", str(ROOT / "examples" / "sessions")),
        ("rules", "add", "read-first", "Read a file before you change it."),
        ("templates", "create", "desk-2026-03-03-0121", "--name", "support"),
    ):
        assert run(*command).code == 0
    waiting = [str(each["id"]) for each in run("lessons", "--waiting", "--json").json["waiting"]]
    assert run("lessons", "approve", "--yes", *waiting).code == 0
    return folder / "home"


def imported_for_checkers() -> set[str]:
    """The names that a type checker sees, from the source itself."""
    tree = ast.parse(Path(whet.__file__).read_text())
    [checking] = [node for node in tree.body if isinstance(node, ast.If)]
    return {alias.name for node in checking.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_checkers_and_programs_see_the_same_names() -> None:
    assert imported_for_checkers() == set(whet.__all__)
    assert set(whet.__all__) <= set(dir(whet))
    for name in whet.__all__:
        assert getattr(whet, name).__name__ == name


def test_every_name_is_on_the_page() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(whet.__all__)
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == api_page()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'sharpen'"):
        whet.sharpen  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(whet, "sharpen")


def test_importing_whet_loads_nothing_else(tmp_path: Path) -> None:
    nothing = loaded("-c", "pass", home=tmp_path)
    assert loaded("-c", "import whet", home=tmp_path) - nothing == {"whet"}


def test_a_name_loads_only_what_it_needs(tmp_path: Path) -> None:
    judging = loaded("-c", "import whet; whet.judge([1.0, 0.0])", home=tmp_path)
    assert not {"whet.formats", "whet.store", "whet.trouble", "apsw"} & judging
    reading = loaded("-c", "import whet; whet.Transcript, whet.WhetError", home=tmp_path)
    assert not {"whet.formats", "whet.store", "whet.trouble", "apsw"} & reading


def test_every_example_in_the_docstrings_runs(filled: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("front_door_examples.py"))],
        env=environment(filled, filled),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted(names_and_methods()))
def test_every_name_has_a_sentence_and_an_example(name: str) -> None:
    documented = inspect.getdoc(names_and_methods()[name]) or ""
    assert documented[0].isupper()
    assert ">>> " in documented or name == "Store.close"


def test_a_strict_checker_sees_the_types_from_outside(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "typed_program.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "typed_program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", [name for name in whet.__all__ if name[0].islower()])
def test_every_function_is_typed(name: str) -> None:
    function = getattr(whet, name)
    assert set(typing.get_type_hints(function)) == {*inspect.signature(function).parameters, "return"}
