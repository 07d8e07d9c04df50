"""A small project with a fault, and the cases that come of mending it: from its commits, and from sessions in it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from conversations import agent, call, conversation, shell, user
from proving.repository_scenes import commit, git, new_repository
from whet.proving.cases_from_commits import CommitsAsked, cases_from_commits
from whet.proving.cases_from_sessions import cases_from
from whet.sessions.transcripts import Transcript
from whet.store.home import Home
from whet.trials.cases import Case
from whet.trouble.outcomes.view import gather

BEGAN = 1_700_000_000
WRONG = '''"""A shopping cart."""


def total(items, discount=0):
    """Sum of price times quantity, less `discount` percent."""
    return sum(price * quantity for price, quantity in items)
'''
RIGHT = WRONG.replace("in items)", "in items) * (100 - discount) / 100")
PLAIN_TESTS = """from cart import total


def test_plain():
    assert total([(10, 2), (5, 1)]) == 25
"""
TESTS = f"""{PLAIN_TESTS}

def test_discount():
    assert total([(10, 2)], discount=10) == 18


def test_no_items():
    assert total([], discount=50) == 0
"""
BUILD = """#!/bin/sh
# usage: ./build.sh --profile staging|prod
set -e
profile=dev
[ "$1" = "--profile" ] && profile="$2"
case "$profile" in
  staging|prod) ;;
  *) echo "error: profile '$profile' has no lock file; use --profile staging or prod" >&2; exit 2 ;;
esac
python3 -m pytest -q tests
mkdir -p dist && cp cart.py dist/cart-"$profile".py
echo "BUILD OK $profile"
"""
MAKEFILE = """PROFILE ?= dev

.PHONY: test build
test:
\tpython3 -m pytest -q tests

build:
\t./build.sh --profile $(PROFILE)
"""
PACKAGE = '{"name": "cart", "version": "1.0.0", "scripts": {"test": "python3 -m pytest -q tests"}}\n'
CONFTEST = "import pathlib\nimport sys\n\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
FILES = {
    "cart.py": WRONG, "build.sh": BUILD, "Makefile": MAKEFILE, "package.json": PACKAGE, "conftest.py": CONFTEST,
    "pytest.ini": "[pytest]\ntestpaths = tests\n",
}  # fmt: skip
PASSED = "...                                                                      [100%]\n3 passed in 0.01s\n"
SAID = {"./build.sh --profile prod": f"{PASSED}BUILD OK prod", "make test": PASSED, "npm test": PASSED}


def cart(folder: Path, tests: str, more: Mapping[str, str] | None = None) -> Path:
    """The project before the work, with these tests."""
    made = new_repository(folder)
    commit(made, "Begin", {**FILES, "tests/test_cart.py": tests, **(more or {})}, at=BEGAN)
    (made / "build.sh").chmod(0o755)
    git(made, "commit", "-q", "-a", "--amend", "--no-edit", at=BEGAN)
    return made


def commit_case(home: Home, folder: Path, more: Mapping[str, str] | None = None) -> Case:
    """The work as a commit with its tests, which nobody who works on it sees."""
    made = cart(folder, PLAIN_TESTS, more)
    commit(made, "Take the discount off the total", {"cart.py": RIGHT, "tests/test_cart.py": TESTS}, at=BEGAN + 500)
    [found] = cases_from_commits(home, CommitsAsked(made, last=1))
    assert found.case is not None, (found.left_out, found.said)
    return found.case


def session_case(
    home: Home, folder: Path, check: str, more: Mapping[str, str] | None = None, *, is_committed: bool = True
) -> Case:
    """The work as a session in which this check failed, the fault was mended and the check passed."""
    made = cart(folder, TESTS, more)
    if is_committed:
        commit(made, "Mend it", {"cart.py": RIGHT}, at=BEGAN + 800)
    edit = {"file_path": str(made / "cart.py"), "old_string": WRONG, "new_string": RIGHT}
    told = conversation(
        user("Make the discount work, and build for prod."),
        shell(check, "FAILED tests/test_cart.py::test_discount - assert 20 == 18\n1 failed, 2 passed", error=True),
        call("Edit", edit, "ok"),
        shell(check, SAID[check]),
    )
    session = replace(told, folder=str(made), started=BEGAN + 100.0, ended=BEGAN + 900.0)
    cases = cases_from(home, session)
    found = [each for each in cases.cases if each.kind == "task"]
    assert found, cases.left_out
    return found[0]


def step_session(folder: Path) -> Transcript:
    told = conversation(
        user("Build it for prod."),
        shell("./build.sh prod", "error: profile 'dev' has no lock file; use --profile staging or prod", error=True),
        shell("./build.sh --profile prod", SAID["./build.sh --profile prod"]),
        agent("It is built."),
    )
    return replace(told, folder=str(folder), started=BEGAN + 600.0, ended=BEGAN + 900.0)


def step_case(home: Home, folder: Path) -> Case:
    """A build that failed for want of an option, in the mended project."""
    made = cart(folder, TESTS)
    commit(made, "Mend it", {"cart.py": RIGHT}, at=BEGAN + 500)
    session = step_session(made)
    about = {step.message: "./build.sh --profile prod" for step in gather(session).steps if step.failed}
    found = [each for each in cases_from(home, session, about=about).cases if each.kind == "step"]
    assert found
    return found[0]


def with_python() -> str:
    """A path on which `python3` has pytest."""
    return os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
