"""Cases from commits: the state before, the message as the task, and the tests that fail before and pass after."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from whet.errors import WhetError
from whet.proving.dependencies import installed
from whet.proving.judged_work import twist_tests
from whet.proving.repositories import Commit, changed, commits, files_of, resolved, text_of
from whet.proving.workspace import CommandEnd, laid_out, put_files, put_tests, run_check, situation_for, write_file
from whet.secrets.redactor import Redactor
from whet.store.home import Home
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.sessions import is_believed, load
from whet.trials.cases import Case, Checkout, Limits
from whet.trials.checks import Check, CommitFiles, command_faults
from whet.trials.test_reports import CarriedCall, outcomes_of, telling_lines
from whet.trials.ways_to_test import (
    NEVER_RAN,
    PYTEST_UNRUN,
    WayToTest,
    detected,
    is_code,
    is_test,
    numbers_in,
    package_of,
    relative,
    way_of_session,
)
from whet.trouble.outcomes.error_forms import could_not_run

NAME_LETTERS = 8
CHECK_SECONDS = 300.0
TASK_LIMITS = Limits(model_calls=40, seconds=900.0)
LEAST_WORDS = 3
MOST_SESSIONS = 50
MOST_REPORTS = 200
TRAILERS = ("signed-off-by:", "co-authored-by:", "reviewed-by:", "change-id:", "cc:", "tested-by:", "acked-by:")
PROGRAMS = (".venv/bin/python", "venv/bin/python", "env/bin/python")
READ_FILES = frozenset({"package.json", "Makefile"})
LINKED = ("node_modules",)  # what a project installs beside its files, and does not commit


class LeftOut(StrEnum):
    """Why a commit gives no case."""

    MERGE = "a merge"
    FIRST = "nothing before it"
    NO_TESTS = "no tests changed"
    NO_CODE = "only tests changed"
    NO_WORDS = "the message says too little"
    NO_WAY = "no way to run its tests is known"
    NOT_INSTALLED = "what it needs could not be installed"
    COULD_NOT_RUN = "the tests could not be run"
    FAILS_AFTER = "the tests fail after it too"
    NO_WORK = "its record does not show which files the work changed"
    PASSES_BEFORE = "the tests pass before it too"


# Of commits that change code and tests: what is in the way of each is worth a look.
TRIED = (
    LeftOut.NO_WAY, LeftOut.NOT_INSTALLED, LeftOut.COULD_NOT_RUN, LeftOut.FAILS_AFTER, LeftOut.PASSES_BEFORE,
)  # fmt: skip


class MadeOfCommit(NamedTuple):
    """What a commit gave: a case, or the reason why not, with what was said."""

    commit: Commit
    case: Case | None = None
    left_out: LeftOut | None = None
    said: str = ""

    @property
    def reason(self) -> str:
        """Why there is no case, in words."""
        return f"{self.left_out or ''}{f' ({self.said})' if self.said else ''}"


class CommitsAsked(NamedTuple):
    """Which commits cases are wanted of, and how their tests are run."""

    repository: Path
    last: int = 20
    named: tuple[str, ...] = ()  # commits; empty: the last ones
    test: WayToTest | None = None  # None: as the repository's files tell
    setup: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    installs: Path | None = None  # where dependencies are installed; None: nothing is, and what is there is linked


def cases_from_commits(
    home: Home, asked: CommitsAsked, *, known: Callable[[], WayToTest | None] = lambda: None
) -> Iterator[MadeOfCommit]:
    """Try to make a case of each commit. `known` gives the way of the sessions, which the files only guess."""
    told = asked.test or known()
    for commit in chosen_commits(asked):
        yield _made(home, asked, commit, told)


def chosen_commits(asked: CommitsAsked) -> tuple[Commit, ...]:
    """The commits that are meant, the newest first."""
    if not asked.named:
        return tuple(commits(asked.repository, f"--max-count={asked.last}"))
    found: list[Commit] = []
    for name in asked.named:
        id = resolved(asked.repository, f"{name}^{{commit}}")
        if not id:
            raise WhetError(f"{asked.repository} has no commit {name}.", advice="`git log` shows the commits.")
        found.extend(commits(asked.repository, "--max-count=1", id))
    return tuple(found)


def _made(home: Home, asked: CommitsAsked, commit: Commit, told: WayToTest | None) -> MadeOfCommit:
    if len(commit.parents) != 1:
        return MadeOfCommit(commit, left_out=LeftOut.MERGE if commit.parents else LeftOut.FIRST)
    paths = changed(asked.repository, commit.parents[0], commit.id)
    tests = tuple(path for path in paths if is_test(path))
    present = {file.path for file in files_of(asked.repository, commit.id)}
    task = task_of(commit)
    why = (
        LeftOut.NO_TESTS if present.isdisjoint(tests)
        else LeftOut.NO_CODE if not any(is_code(path) for path in paths)
        else LeftOut.NO_WORDS if len(task.split()) < LEAST_WORDS
        else None
    )  # fmt: skip
    if why is not None:
        return MadeOfCommit(commit, left_out=why)
    way = told if told and (asked.test or told.can_run(tests)) else way_in(asked.repository, commit.id, tests)
    if way is None or not way.can_run(tests):
        return MadeOfCommit(commit, left_out=LeftOut.NO_WAY)
    if asked.installs is not None:
        try:
            found = installed(
                home, asked.repository, commit.id, beneath=asked.installs, inside=way.inside, runner=way.runner
            )
        except WhetError as error:
            return MadeOfCommit(commit, left_out=LeftOut.NOT_INSTALLED, said=Redactor().text(error.message))
        if found.python and not told:
            way = way_in(asked.repository, commit.id, tests, python=found.python) or way
        way = way._replace(command=found.lead + way.command)
        asked = asked._replace(
            setup=asked.setup or found.setup, environment=(*found.environment.items(), *asked.environment)
        )
    return MadeOfCommit(commit, *proved(home, case_of(asked, commit, tests, way, task), way, CaseSolution(commit.id)))


def task_of(commit: Commit) -> str:
    """What a commit's message asks for, without its trailers and without secrets."""
    lines = [line for line in commit.message.splitlines() if not line.lower().startswith(TRAILERS)]
    return Redactor().text("\n".join(lines).strip())


def way_in(repository: Path, commit: str, tests: Iterable[str], *, python: str = "") -> WayToTest | None:
    """How tests of a repository are run, by what their package has at a commit and what is installed in it."""
    paths = [file.path for file in files_of(repository, commit)]
    there = python or next((str(repository / each) for each in PROGRAMS if (repository / each).exists()), "python3")
    for inside in dict.fromkeys((package_of(paths, tests), "")):
        own = frozenset(relative(paths, inside))
        texts = {name: text_of(repository, commit, f"{inside}/{name}".lstrip("/")) for name in sorted(own & READ_FILES)}
        way = detected(own, texts, relative(tests, inside), python=there)
        if way is not None:
            return way._replace(inside=inside)
    return None


def sessions_way(home: Home, repository: Path) -> WayToTest | None:
    """How the latest session of the person in a repository ran its tests; None where none did."""
    with opened(home) as database:
        rows = database.query(
            "SELECT id FROM sessions WHERE folder = ? ORDER BY dated DESC LIMIT ?", (str(repository), MOST_SESSIONS)
        )
        for (id,) in rows:
            session = find(database, id)
            way = way_of_session(load(database, session)) if is_believed(database, session) else None
            if way is not None:
                return way
    return None


def case_of(asked: CommitsAsked, commit: Commit, tests: tuple[str, ...], way: WayToTest, task: str) -> Case:
    """The case of a commit before anybody knows whether its tests tell anything."""
    present = {file.path for file in files_of(asked.repository, commit.id)}
    there = [path for path in tests if path in present]
    work = tuple(path for path in changed(asked.repository, commit.parents[0], commit.id) if not is_test(path))
    return Case(
        task=task,
        check=Check(way.line(there), seconds=CHECK_SECONDS, tests=CommitFiles(commit.id, tests), work=work),
        name=f"commit-{commit.id[:NAME_LETTERS]}",
        repository=checkout(asked.repository, commit.parents[0]),
        setup=asked.setup or links_in(asked.repository),
        environment={**way.environment, **dict(asked.environment)},
        tools=("files", "terminal"),
        budget=TASK_LIMITS,
        tags=("commits", asked.repository.name.lower()),
        source=f"commit {commit.id}",
    )


def checkout(repository: Path, commit: str) -> Checkout:
    return Checkout(str(repository), commit, resolved(repository, f"{commit}^{{tree}}"))


def links_in(repository: Path) -> tuple[str, ...]:
    """Commands that link what is installed in a repository and not committed into a workspace."""
    linked = (name for name in LINKED if (repository / name).is_dir())
    return tuple(f"ln -s {shlex.quote(str(repository / name))} {name}" for name in linked)


class ProvedCase(NamedTuple):
    """A case whose check was seen to fail before the work and to pass after it; else why not."""

    case: Case | None = None
    left_out: LeftOut | None = None
    said: str = ""


class CaseSolution(NamedTuple):
    """The right work as far as it is known: a commit, or files by their content, or what the check printed then."""

    commit: str = ""
    files: Mapping[str, str] = MappingProxyType({})
    said: str = ""


def proved(home: Home, case: Case, way: WayToTest, solved: CaseSolution) -> ProvedCase:
    """The case, where its check was seen to fail before the work and to pass after it, with what told them apart."""
    try:
        after = ended_with(home, case, solved) if solved.commit else CommandEnd(0, solved.said)
        before = ended_with(home, case, CaseSolution())
        told = with_reports(case, before, after)
        if after.exit_code != 0 and not told.check.reports:
            why = LeftOut.COULD_NOT_RUN if never_ran(way, after) else LeftOut.FAILS_AFTER
            return ProvedCase(None, why, _last(after))
        # After the work the tests ran, so an error before it is the code's; else it may be anybody's.
        is_lost = (
            before.exit_code is None or before.exit_code in NEVER_RAN or (not solved.commit and never_ran(way, before))
        )
        if before.exit_code == told.check.exit_code or not any(command_faults(told.check, *before)):
            return ProvedCase(None, LeftOut.PASSES_BEFORE)
        if is_lost:
            return ProvedCase(None, LeftOut.COULD_NOT_RUN, _last(before))
        return ProvedCase(with_twist(home, told, solved))
    except WhetError as error:  # of its setup
        return ProvedCase(None, LeftOut.COULD_NOT_RUN, error.message)


def with_reports(case: Case, before: CommandEnd, after: CommandEnd) -> Case:
    """The case with what its command says of the work: tests by name that pass only then, else lines printed only then.

    Tests that fail after the work too are left out one by one: they say nothing of it.
    """
    was, now = outcomes_of(before.text), outcomes_of(after.text)
    reports = tuple(sorted(name for name, passed in now.items() if passed and not was.get(name)))[:MOST_REPORTS]
    code = 0 if after.exit_code == 0 or not reports else None
    lines = telling_lines(after.text, CarriedCall(0, after.text), (CarriedCall(before.exit_code, before.text),))
    return replace(case, check=replace(case.check, exit_code=code, reports=reports, prints=() if reports else lines))


def with_twist(home: Home, case: Case, solved: CaseSolution) -> Case:
    """Say in the case what tells the right work from answers made up for the tests, where it is known and passes.

    It fails with other numbers in the tests, and has no numbers of theirs in it but its own.
    """
    if not solved.commit and (not solved.files or any(command_faults(case.check, *ended_with(home, case, solved)))):
        return case
    ended = ended_with(home, case, solved, is_twisted=True)
    numbers = None if solved.commit else tuple(sorted(numbers_in(solved.files.values())))
    return replace(case, check=replace(case.check, twisted=any(command_faults(case.check, *ended)), numbers=numbers))


def ended_with(home: Home, case: Case, solved: CaseSolution, *, is_twisted: bool = False) -> CommandEnd:
    """How the check ends in the state before, or with the right work."""
    with laid_out(home, case) as work:
        if solved.commit:
            assert case.repository is not None
            place = Path(case.repository.path)
            paths = {file.path for tree in (case.repository.tree, solved.commit) for file in files_of(place, tree)}
            put_files(place, solved.commit, paths, work)
        for path, text in solved.files.items():
            write_file(work, path, text.encode())
        put_tests(case, work)
        if is_twisted:
            twist_tests(case, work)
        return run_check(situation_for(home, case, work), case)


def never_ran(way: WayToTest, ended: CommandEnd) -> bool:
    """Whether tests did not run at all, which tells nothing of the code."""
    code = ended.exit_code
    if code is None or code in NEVER_RAN or (way.runner == "pytest" and code in PYTEST_UNRUN):
        return True
    return bool(could_not_run(ended.text))


def _last(ended: CommandEnd) -> str:
    if ended.exit_code is None:
        return f"no end after {CHECK_SECONDS:g} s"
    lines = [line for line in ended.text.splitlines() if line.strip()]
    return Redactor().text(lines[-1].strip()[:200]) if lines else f"exit code {ended.exit_code}"
