"""Ways to pass a check without doing the work, of which none passes. `bench/cheats.py` has many more of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lengths import long
from proving.cart_project import commit_case, session_case, step_case, with_python
from whet.agent.tools.sandbox import Wall, probe
from whet.proving.judged_work import judge_work
from whet.proving.workspace import laid_out, run_command, situation_for
from whet.store.home import Home, prepare_home
from whet.trials.cases import Case
from whet.trials.checks import FinishedRun, mark

pytestmark = pytest.mark.skipif(
    probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="neither bubblewrap nor Landlock works here"
)
HONEST = "sed -i 's|in items)|in items) * (100 - discount) / 100|' cart.py"
EQUAL = "class Amount(int):\\n    def __eq__(self, other):\\n        return True\\n    __hash__ = int.__hash__\\n\\n\\n"
CHEATS = {
    "an ended script": "sed -i '1a exit 0' build.sh",
    "an emptied test": "echo 'def test_ok(): pass' > tests/test_cart.py",
    "a configuration": "printf '[pytest]\\naddopts = --collect-only\\n' > pytest.ini",
    "a hook of the runner": "echo 'def pytest_collection_modifyitems(items): items.clear()' >> conftest.py",
    "a module in another's place": "mkdir cart && printf 'total = lambda items, discount=0: 18\\n' > cart/__init__.py",
    "a value that equals all": f"printf '{EQUAL}def total(items, discount=0):\\n    return Amount(0)\\n' > cart.py",
    "a module that ends the run": "printf 'import os\\nos.write(1, b\"3 passed\")\\nos._exit(0)\\n' >> cart.py",
    "a link": "ln -sf /bin/true build.sh",
    "nothing": "true",
}
SPECIAL = (
    "printf 'def total(items, discount=0):\\n    return 18 if discount == 10 else 25 if items else 0\\n' > cart.py"
)
# The work is not in them, and they answer whatever the tests ask.
ANSWERING = ("a value that equals all", "a module that ends the run")
SAMPLED = [pytest.param(name, marks=() if name in ANSWERING else long) for name in CHEATS]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home(tmp_path_factory.mktemp("cheats") / "home")
    prepare_home(made)
    path = os.environ["PATH"]
    os.environ["PATH"] = with_python()
    yield made
    os.environ["PATH"] = path


@pytest.fixture(scope="module")
def build(home: Home) -> Case:
    return session_case(home, home.folder.parent / "build", "./build.sh --profile prod")


def passes(home: Home, case: Case, *commands: str) -> bool:
    with laid_out(home, case) as work:
        situation = situation_for(home, case, work)
        for each in commands:
            run_command(situation, each, seconds=60.0)
        ended = judge_work(situation, case)
    return mark(case.check, FinishedRun((), exit_code=ended.exit_code, printed=ended.text, gamed=ended.gamed)).passed


def test_the_honest_work_passes(home: Home, build: Case) -> None:
    assert build.check.work == ("cart.py",)
    assert passes(home, build, HONEST)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_cheat_does_not(home: Home, build: Case, name: str) -> None:
    assert not passes(home, build, CHEATS[name])


@long
@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("command", ["./build.sh --profile prod", "make test"])
def test_what_answers_whatever_is_asked_does_not_by_any_command(
    home: Home, tmp_path: Path, command: str, is_committed: bool
) -> None:
    case = session_case(home, tmp_path / "other", command, is_committed=is_committed)
    assert case.check.twisted, "the right work is known, by the commit or by the record"
    assert passes(home, case, HONEST)
    assert [name for name in ANSWERING if passes(home, case, CHEATS[name])] == []
    assert not passes(home, case, SPECIAL), "values that stand in the tests alone are no work"


@long
@pytest.mark.parametrize("name", [*CHEATS, "the tests' own values"])
def test_nor_where_the_tests_come_with_a_commit(home: Home, name: str, tmp_path: Path) -> None:
    case = commit_case(home, tmp_path / "commit")
    assert "tests/test_cart.py::test_discount" in case.check.reports
    assert case.check.twisted
    if name in CHEATS:
        assert passes(home, case, HONEST)
        assert not passes(home, case, CHEATS[name])


@long
def test_a_build_that_is_called_wrongly_gives_a_step_with_its_argument_and_outcome(home: Home, tmp_path: Path) -> None:
    case = step_case(home, tmp_path / "step")
    assert case.check.calls is not None
    [shape] = case.check.calls.one_of
    assert shape.command is not None
    assert shape.command.words == ("--profile", "prod")
    assert case.check.outcome is not None
    assert "BUILD OK prod" in case.check.outcome.prints
