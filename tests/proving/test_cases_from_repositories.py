"""Task cases from sessions in a repository that is here: its state then, the request, and what told success."""

import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import call, conversation, shell, user
from proving.repository_scenes import adding, commit, git, new_repository, test_of
from whet.agent.tools.sandbox import Wall, probe
from whet.improving.lessons_to_try import cases_of_session
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.record import Lesson, LessonEvidence, LessonPiece, LessonSource
from whet.proving.cases_from_commits import LeftOut
from whet.proving.cases_from_sessions import cases_from, repository_case, stretch_of
from whet.proving.repositories import in_force
from whet.sessions.transcripts import Message, Transcript
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.trials.cases import Case

sandboxed = pytest.mark.skipif(
    probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="neither bubblewrap nor Landlock works here"
)
T0 = 1_700_000_000
MAKE = f"test:\n\tPYTHONPATH=. {sys.executable} -S tests/add.py\n"


EDIT = shell("sed -i s/-/+/ calc.py", "")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare_home(made)
    return made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = new_repository(tmp_path / "calc")
    commit(folder, "Begin", {"calc.py": adding("a - b")}, at=T0)
    return folder


def session(folder: Path, *turns: object, began: int = T0 + 100, ended: int = T0 + 900) -> Transcript:
    told = conversation(user("The sum of 2 and 3 is wrong."), *turns)  # type: ignore[arg-type]
    return replace(told, folder=str(folder), started=float(began), ended=float(ended))


def test_the_state_is_the_one_that_was_checked_out_when_the_session_began(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    second = commit(repository, "More", {"a": "1"}, at=T0 + 1_000)
    assert in_force(repository, T0 + 10) == first
    assert in_force(repository, T0 + 2_000) == second
    assert in_force(repository, T0 - 10) == ""
    git(repository, "checkout", "-q", "--detach", first, at=T0 + 3_000)
    assert in_force(repository, T0 + 2_000) == second
    assert in_force(repository, T0 + 4_000) == first, "the reflog knows what the dates of commits do not"


@sandboxed
def test_the_tests_of_the_commit_that_came_of_a_session_are_its_check(home: Home, repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    work = {"calc.py": adding("a + b"), "tests/add.py": test_of("add", 5), "Makefile": MAKE}
    after = commit(repository, "Fix it", work, at=T0 + 800)
    commit(repository, "Later", {"calc.py": adding("0")}, at=T0 + 90_000)
    found = repository_case(home, session(repository))
    assert isinstance(found, Case), found
    assert found.task == "The sum of 2 and 3 is wrong."
    assert found.repository is not None
    assert found.repository.commit == before
    assert found.check.tests is not None
    assert found.check.tests.commit == after


@sandboxed
def test_without_a_commit_the_command_that_told_success_is_the_check(home: Home, repository: Path) -> None:
    commit(repository, "Test it", {"Makefile": MAKE, "tests/add.py": test_of("add", 5)}, at=T0 + 50)
    told = session(repository, EDIT, shell("make test", "ok"))
    [case] = [each for each in cases_from(home, told).cases if each.kind == "task"]
    assert case.check.command == "make test"
    assert case.check.tests is None
    assert case.check.work == ("calc.py",)
    assert case.repository is not None


@sandboxed
@pytest.mark.parametrize(
    "around", ["Chunk ID: c1\nWall time: 0.1 s\nOutput:\n{}", "{}\n<done in 3 s>\n<shell 7 is idle>"]
)
def test_what_a_tool_writes_around_a_check_is_not_asked_of_the_work(home: Home, repository: Path, around: str) -> None:
    commit(repository, "Test it", {"Makefile": MAKE, "tests/add.py": test_of("add", 5)}, at=T0 + 50)
    edit = shell("sed -i s/-/+/ calc.py", around.format(""))
    found = repository_case(home, session(repository, edit, shell("make test", around.format("all is well"))))
    assert isinstance(found, Case), found
    assert found.check.prints == ("all is well",)


@sandboxed
def test_a_script_that_the_projects_own_error_names_is_such_a_command(home: Home, repository: Path) -> None:
    script = f"#!/bin/sh\nPYTHONPATH=. exec {sys.executable} -S tests/$2.py\n"
    commit(repository, "Test it", {"dev": script, "tests/add.py": test_of("add", 5)}, at=T0 + 50)
    (repository / "dev").chmod(0o755)
    commit(repository, "Let it run", {}, at=T0 + 60)
    failed = shell("pytest tests/add.py", "Use: ./dev test MODULE", error=True)
    found = repository_case(home, session(repository, failed, EDIT, shell("./dev test add", "ok")))
    assert isinstance(found, Case), found
    assert found.check.command == "./dev test add"


@sandboxed
def test_a_check_that_passes_before_or_cannot_run_gives_no_case(home: Home, repository: Path) -> None:
    right = {"calc.py": adding("a + b"), "tests/add.py": test_of("add", 5), "Makefile": MAKE}
    commit(repository, "Add rightly", right, at=T0 + 50)
    assert repository_case(home, session(repository, EDIT, shell("make test", "ok"))) == "the tests pass before it too"
    unknown = repository_case(home, session(repository, EDIT, shell("make checks", "ok")))
    assert repository_case(home, session(repository, shell("make test", "ok"))) == LeftOut.NO_WORK
    assert isinstance(unknown, str)
    assert unknown.startswith("the tests could not be run")


@sandboxed
@pytest.mark.parametrize(
    ("first", "found"),
    [("b - a", "make test"), ("b + a", "no task case: its check passes with the work that was objected to")],
)
def test_what_a_person_objected_to_has_to_fail_the_check(home: Home, repository: Path, first: str, found: str) -> None:
    commit(repository, "Test it", {"Makefile": MAKE, "tests/add.py": test_of("add", 5)}, at=T0 + 50)

    def write(value: str) -> tuple[Message, Message]:
        return call("Write", {"file_path": str(repository / "calc.py"), "content": adding(value)}, "ok")

    objection = user("No, the first comes first.")
    told = session(
        repository, write(first), objection, write("a + b"), shell("make test", MAKE.splitlines()[1].strip())
    )
    piece = LessonPiece(LessonSource.PERSON, told.id, told.messages.index(objection), objection.text)
    evidence = LessonEvidence(LessonSource.PERSON, (piece,), 1, 1.0)
    rule = "The first comes first."
    lesson = Lesson("one", "calc", rule, "", rule, Patch(Form.RULE, Action.ADD, "one", rule), evidence)
    with opened(home) as database:
        keep(database, prepare(told), Provenance("test", 1.0, 1.0))
        made = cases_of_session(home, database, lesson, told.id, tasks=False)
    assert [*(each.check.command for each in made.cases), *made.left_out] == [found]


def test_a_session_elsewhere_or_without_a_date_gives_no_state(repository: Path, tmp_path: Path) -> None:
    assert stretch_of(session(tmp_path / "gone")) == "its folder is not on this machine"
    assert stretch_of(session(tmp_path)) == "its folder is not in a git repository"
    assert stretch_of(replace(session(repository), started=None)) == "its record does not say when it began"
    assert stretch_of(session(repository, began=T0 - 50)) == "the repository had no commit when it began"


def test_a_session_in_a_subfolder_is_checked_there(repository: Path) -> None:
    (repository / "web").mkdir()
    found = stretch_of(session(repository / "web"))
    assert not isinstance(found, str)
    assert found.inside == "web"
