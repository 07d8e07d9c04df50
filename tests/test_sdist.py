"""The source distribution: what is built from it runs without the repository, on the examples that come with it."""

import tarfile
from pathlib import Path

import pytest
from flit_core.sdist import SdistBuilder

from command import environment
from installed import Installed

ROOT = Path(__file__).parents[1]
NEEDED = ("README.md", "LICENSE", "CHANGELOG.md", "docs/tutorial.md", "docs/images/overview.png", "examples/demo.sh")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    archive = SdistBuilder.from_ini_path(ROOT / "pyproject.toml").build(folder)
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    [source] = (path for path in folder.iterdir() if path.is_dir())
    return source


def test_it_has_what_a_reader_needs(unpacked: Path) -> None:
    assert [name for name in NEEDED if not (unpacked / name).is_file()] == []
    assert not list(unpacked.rglob("__pycache__"))


def test_the_wheel_that_it_builds_runs_on_its_examples(unpacked: Path, tmp_path: Path) -> None:
    installed = Installed(tmp_path, unpacked)
    (tmp_path / "person").mkdir()
    found = environment(tmp_path / "home", tmp_path / "person")
    variables = {name: value for name, value in found.items() if name != "PYTHONPATH"}
    assert installed.run("--version", variables=variables).startswith("whet ")
    assert "sessions imported" in installed.run("import", "examples", variables=variables, folder=unpacked)
    assert "bought nothing: slips" in installed.run("report", variables=variables, folder=unpacked)
