"""Cases from commits: only those whose tests really fail before and pass after, made of a real repository."""

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conversations import conversation, shell, user
from lengths import long
from proving.repository_scenes import PLAIN, PYTEST, adding, commit, git, new_repository, test_of
from proving.trial_scenes import Answer, attempted
from replies import asks, says
from whet.agent.providers.choosing import Call
from whet.agent.tools.sandbox import Wall, probe
from whet.errors import WhetError
from whet.proving.cases_from_commits import CommitsAsked, LeftOut, MadeOfCommit, cases_from_commits, sessions_way
from whet.proving.judged_work import judge_work
from whet.proving.workspace import hidden_by, laid_out, situation_for
from whet.sessions.transcripts import Transcript
from whet.store.case_files import keep_case, load_case
from whet.store.home import Home, prepare_home
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep, load
from whet.trials.cases import Case
from whet.trials.checks import command_faults
from whet.trials.ways_to_test import own_way

pytestmark = pytest.mark.skipif(
    probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="neither bubblewrap nor Landlock works here"
)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare_home(made)
    return made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A calculator with a wrong sum, that is put right and gets a product."""
    folder = new_repository(tmp_path / "Calc")
    commit(folder, "Begin", {"calc.py": adding("a - b"), "tests/__init__.py": "", "conftest.py": ""})
    return folder


def tried(home: Home, repository: Path, **asked: Any) -> list[MadeOfCommit]:
    wanted = CommitsAsked(repository, test=own_way(PLAIN), environment=(("PYTHONPATH", "."),))._replace(**asked)
    return list(cases_from_commits(home, wanted))


def only(home: Home, repository: Path, **asked: Any) -> MadeOfCommit:
    return tried(home, repository, **{"last": 1, **asked})[0]


def kept(home: Home, repository: Path, **asked: Any) -> Case:
    made = only(home, repository, **asked)
    assert made.case is not None, made
    return made.case


def put_right(repository: Path, message: str = "Add instead of subtracting in add()") -> str:
    return commit(repository, message, {"calc.py": adding("a + b"), "tests/test_add.py": test_of("add", 5)})


def passes(home: Home, case: Case, work: Path) -> bool:
    ended = judge_work(situation_for(home, case, work), case)
    return not ended.gamed and not any(command_faults(case.check, ended.exit_code, ended.text))


def test_a_commit_gives_the_state_before_its_message_and_a_check_that_only_its_work_passes(
    home: Home, repository: Path, tmp_path: Path
) -> None:
    id = put_right(repository)
    case = kept(home, repository)
    assert case.task == "Add instead of subtracting in add()"
    assert case.repository is not None
    assert case.repository.commit == git(repository, "rev-parse", f"{id}^")
    assert case.files == {}, "it refers to the repository, and copies nothing of it"
    keep_case(tmp_path / "cases", case)
    assert load_case(tmp_path / "cases", case.name) == case
    with laid_out(home, case) as work:
        assert (work / "calc.py").read_text() == adding("a - b")
        assert not (work / "tests/test_add.py").exists(), "the agent sees no test of the commit"
        assert git(work, "log", "--format=%s") == "The state before", "nor the commit itself"
        assert not passes(home, case, work)
    with laid_out(home, case) as work:
        (work / "calc.py").write_text(adding("b + a"))
        assert passes(home, case, work)


def test_what_an_agent_writes_over_the_tests_does_not_count(home: Home, repository: Path, tmp_path: Path) -> None:
    put_right(repository)
    case = kept(home, repository)
    outside = tmp_path / "outside"
    outside.mkdir()
    with laid_out(home, case) as work:
        shutil.rmtree(work / "tests")
        (work / "tests").symlink_to(outside)
        assert not passes(home, case, work)
    assert list(outside.iterdir()) == [], "nothing is written through a link of the agent's"


@long
def test_the_others_are_counted_by_their_reason(home: Home, repository: Path) -> None:
    put_right(repository)
    commit(repository, "Say what add does", {"calc.py": adding("a + b") + "# adds\n"})
    commit(repository, "Test zero as well", {"tests/test_zero.py": test_of("add", 5)})
    commit(repository, "Add a comment and a test that passes anyway",
           {"calc.py": adding("a + b"), "tests/test_more.py": test_of("add", 5)})  # fmt: skip
    commit(repository, "Break everything there is", {"calc.py": adding("0"), "tests/test_less.py": test_of("add", 5)})
    commit(repository, "wip", {"calc.py": adding("a + b"), "tests/test_wip.py": test_of("add", 5)})
    git(repository, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(repository, "Something else beside it", {"README.md": "words"})
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "Merge the side", "side")
    made = tried(home, repository)
    assert Counter(each.left_out for each in made) == {
        None: 1,
        LeftOut.FIRST: 1,
        LeftOut.NO_TESTS: 2,
        LeftOut.NO_CODE: 1,
        LeftOut.PASSES_BEFORE: 1,
        LeftOut.FAILS_AFTER: 1,
        LeftOut.NO_WORDS: 1,
        LeftOut.MERGE: 1,
    }


def test_a_commit_that_only_removes_tests_runs_none(home: Home, repository: Path) -> None:
    put_right(repository)
    commit(repository, "Leave the sum to the library", {"calc.py": adding("sum((a, b))"), "tests/test_add.py": None})
    assert only(home, repository).left_out is LeftOut.NO_TESTS


def test_tests_that_cannot_run_are_no_check(home: Home, repository: Path) -> None:
    put_right(repository)
    made = only(home, repository, test=own_way("no-such-program {files}"))
    assert made.left_out is LeftOut.COULD_NOT_RUN
    assert "no-such-program" in made.said
    failed = only(home, repository, setup=("exit 3",))
    assert failed.left_out is LeftOut.COULD_NOT_RUN
    assert "`exit 3` gave 3" in failed.said


def test_of_a_file_with_a_test_that_always_fails_the_others_are_the_check(home: Home, repository: Path) -> None:
    broken = test_of("add", 5) + "\ndef test_never():\n    assert False\n"
    commit(repository, "Add instead of subtracting", {"calc.py": adding("a + b"), "tests/test_add.py": broken})
    case = kept(home, repository, test=own_way(PYTEST))
    assert case.check.reports == ("tests/test_add.py::test_add",)
    assert case.check.exit_code is None


def test_a_secret_in_a_message_and_trailers_do_not_become_the_task(home: Home, repository: Path) -> None:
    put_right(repository, f"Add the numbers, with token {TOKEN}\n\nAs agreed.\n\nSigned-off-by: A <a@example.org>")
    task = kept(home, repository).task
    assert TOKEN not in task
    assert "Signed-off-by" not in task
    assert task.endswith("As agreed.")


@long
def test_setup_environment_and_modes_are_part_of_a_case(home: Home, repository: Path) -> None:
    program = '#!/bin/sh\ntest -f built && test "$COLOUR" = red && test "$(cat value)" = 2\n'
    commit(repository, "Bring a program", {"value": "1", "tests/run.sh": program})
    (repository / "tests/run.sh").chmod(0o755)
    commit(repository, "Make it a program of its own", {"value.py": "2", "value": "2", "tests/run.sh": program})
    case = kept(
        home, repository, test=own_way("tests/run.sh"), setup=("touch built",), environment=(("COLOUR", "red"),)
    )
    assert (case.setup, case.environment) == (("touch built",), {"COLOUR": "red"})


def test_an_unknown_commit_is_told(home: Home, repository: Path) -> None:
    with pytest.raises(WhetError, match="has no commit nonsense"):
        tried(home, repository, named=("nonsense",))


def test_the_repository_itself_is_hidden_and_what_is_installed_in_it_is_not(home: Home, repository: Path) -> None:
    (repository / ".venv").mkdir()
    put_right(repository)
    hidden = hidden_by(kept(home, repository))
    assert repository / ".git" in hidden
    assert repository / "calc.py" in hidden
    assert repository / ".venv" not in hidden


def test_a_case_whose_repository_lost_the_commit_says_so(home: Home, repository: Path) -> None:
    put_right(repository)
    case = kept(home, repository)
    shutil.rmtree(repository)
    new_repository(repository)
    commit(repository, "Another one", {"a": "b"})
    with pytest.raises(WhetError, match="does not have"), laid_out(home, case):
        pass


@long
def test_a_moved_repository_is_the_same_case_and_another_state_is_not(home: Home, repository: Path) -> None:
    put_right(repository)
    first = kept(home, repository)
    moved = repository.rename(repository.with_name("Moved"))
    again = kept(home, moved)
    assert first.key == again.key


def calling(call: Call) -> Answer:
    """Makes one call and is done."""
    return lambda run: asks(call) if len(run.messages) == 1 else says("Done.")


def test_an_attempt_works_in_the_state_before_and_is_checked_by_tests_it_never_saw(
    home: Home, repository: Path
) -> None:
    put_right(repository)
    case = kept(home, repository)
    wrong = Call("edit", '{"path": "calc.py", "old": "a - b", "new": "a * b"}')
    right = Call("edit", '{"path": "calc.py", "old": "a - b", "new": "a + b"}')
    peek = Call("terminal", f'{{"command": "cat {repository}/tests/test_add.py; ls tests; git log --all --oneline"}}')
    with opened(home) as database:
        marks = [attempted(home, database, case, calling(each)) for each in (wrong, right, peek)]
        seen = load(database, find(database, marks[2].session)).messages
    assert [each.measures.passed for each in marks] == [False, True, False]
    results = "".join(result.text for message in seen for result in message.results)
    assert "The state before" in results
    assert "def test_add" not in results
    assert "Add instead" not in results


def test_sessions_tell_how_tests_are_run(home: Home, repository: Path) -> None:
    ran = conversation(user("Test."), shell("./dev test", "ok"), shell(f"{repository}/dev test", "ok"))
    with opened(home) as database:
        session = Transcript(ran.source, ran.native_id, ran.messages, folder=str(repository))
        keep(database, prepare(session), Provenance("", 1.0, 1.0))
    assert sessions_way(home, repository) == own_way("./dev test")
    assert sessions_way(home, repository.parent) is None
