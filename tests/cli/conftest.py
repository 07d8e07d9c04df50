"""A home into which every example was imported once, for the tests that only look at it."""

import shutil
from pathlib import Path

import pytest

from command import runner

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"


@pytest.fixture(scope="session")
def imported_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    whet = runner(folder / "home", folder)
    assert whet("import", str(EXAMPLES)).code == 0
    assert whet("report").code == 0  # analysed too
    return folder / "home"


@pytest.fixture
def imported(imported_home: Path, tmp_path: Path) -> None:
    """The home of a test has every example."""
    shutil.copytree(imported_home, tmp_path / "home")
