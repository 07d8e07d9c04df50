"""What a commit needs is installed once, holds nothing of the commit itself, and is linked into workspaces."""

import os
import shutil
from pathlib import Path

import pytest

from proving.repository_scenes import commit, new_repository
from whet.agent.tools.sandbox import Wall, probe
from whet.proving.cases_from_commits import CommitsAsked, cases_from_commits, way_in
from whet.proving.dependencies import DONE, installed
from whet.store.home import Home, prepare_home

pytestmark = pytest.mark.skipif(
    probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="neither bubblewrap nor Landlock works here"
)
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
PACKAGE = '{"name": "shop", "scripts": {"test": "node --test"}, "dependencies": {"prices": "file:prices"}}'
PRICES = '{"name": "prices", "version": "1.0.0", "main": "index.js"}'
TEST = """const test = require("node:test"), assert = require("node:assert");
test("a pear", () => assert.strictEqual(require("prices").pear, 3));
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A package that needs another one of its repository, with a wrong price that a commit puts right."""
    made = new_repository(tmp_path / "shop")
    begun = {"package.json": PACKAGE, "prices/package.json": PRICES, "prices/index.js": "exports.pear = 2;\n"}
    commit(made, "Begin", {**begun, "tests/all.test.js": TEST.replace("3", "2")})
    commit(made, "Let a pear cost three", {"prices/index.js": "exports.pear = 3;\n", "tests/all.test.js": TEST})
    return made


@needs_npm
def test_what_is_installed_holds_nothing_of_the_commit_and_is_there_the_second_time(shop: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    prepare_home(home)
    first = installed(home, shop, "HEAD", beneath=tmp_path / "kept", inside="", runner="npm")
    [place] = (tmp_path / "kept").iterdir()
    assert [each.name for each in place.iterdir() if each.is_file()] == [DONE]
    assert not (place / "prices" / "index.js").exists()
    assert first.environment == {"NODE_PATH": str(place)}
    (place / "seen").touch()
    assert installed(home, shop, "HEAD~1", beneath=tmp_path / "kept", inside="", runner="npm") == first
    assert (place / "seen").exists()


@needs_npm
def test_a_workspace_has_what_is_installed_and_its_own_packages_as_they_are_there(shop: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    prepare_home(home)
    [made] = cases_from_commits(home, CommitsAsked(shop, last=1, installs=tmp_path / "kept"))
    assert made.case is not None, (made.left_out, made.said)
    assert made.case.check.reports == ("a pear",)


def test_tests_run_in_the_package_that_they_belong_to(tmp_path: Path) -> None:
    made = new_repository(tmp_path / "mono")
    files = {"package.json": "{}", "a/package.json": '{"devDependencies": {"vitest": "1"}}', "b/pyproject.toml": ""}
    commit(made, "Begin", {**files, "a/one.test.ts": "", "b/tests/test_two.py": ""})
    script = way_in(made, "HEAD", ["a/one.test.ts"])
    assert script is not None
    assert script.line(["a/one.test.ts"]) == "cd a && node_modules/.bin/vitest run --reporter=verbose one.test.ts"
    python = way_in(made, "HEAD", ["b/tests/test_two.py", "a/one.test.ts", "b/tests/data.json"])
    assert python is not None
    assert python.line(["b/tests/test_two.py", "a/one.test.ts"]).startswith("cd b && python3 -m pytest")
    assert python.line(["b/tests/test_two.py", "a/one.test.ts"]).endswith(" tests/test_two.py")
