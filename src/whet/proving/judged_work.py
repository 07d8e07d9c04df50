"""Work judged: what an agent left is taken into a fresh workspace, so that nothing it did to the check counts."""

import filecmp
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.tools.sandbox import advice, holds_network
from whet.agent.tools.situation import Situation, ToolState
from whet.errors import WhetError
from whet.proving.repositories import begin_history, files_of, text_of
from whet.proving.workspace import (
    CommandEnd,
    cleared,
    put_tests,
    run_check,
    run_command,
    run_setup,
    with_environment,
    write_file,
    write_start,
)
from whet.sessions.tool_families import Family, command_of, family_of
from whet.sessions.transcripts import Message
from whet.trials.cases import Case
from whet.trials.checks import command_faults
from whet.trials.shapes import fits, only_looks, only_runs
from whet.trials.step_cases import handling
from whet.trials.test_reports import CarriedCall
from whet.trials.ways_to_test import CODE, copied_answers, counts, is_test, numbers_in, reached_by, twisted

LARGEST = 2_000_000
LARGEST_READ = 200_000
MOST_TESTS = 50
MOST_CALLS = 3  # of one step that are carried out


class WorkEnd(NamedTuple):
    """How the command of a check ended on a work, what it printed, and why that is no sign of the work, if so."""

    exit_code: int | None
    text: str = ""
    gamed: str = ""


class _Left(NamedTuple):
    """The files that an agent left and that count, by their path: changed or new; and those that it removed."""

    changed: dict[str, bytes]
    new: dict[str, bytes]
    removed: tuple[str, ...]


def judge_work(situation: Situation, case: Case) -> WorkEnd:
    """Run the check of a case on what lies in the situation's folder.

    Where the case says what its work is, only that counts: it is put into a fresh workspace with the tests and all else
    as the case has them. What passes has to fail without the work, and with other numbers in the tests.
    """
    if not case.check.work:
        put_tests(case, situation.folder)
        return WorkEnd(*run_check(situation, case))
    with fresh_workspace(situation, case) as fresh:
        left = _left(case, situation.folder, fresh.folder)
        ended = _checked(fresh, case, left)
    if any(command_faults(case.check, *ended)):
        return WorkEnd(*ended)
    return WorkEnd(*ended, _gamed(situation, case, left))


def was_handled(situation: Situation, case: Case, messages: Sequence[Message]) -> bool | None:
    """Whether the situation of a step was handled, and by nothing that was made to say so.

    The call does not count where what it runs or reads had been changed before it. What is changed after it does not
    matter, but only looks are sure to have changed nothing before.
    """
    found = handling(case.check, messages)
    command = command_of(found.call) if found.call else ""
    if not command or (only_runs(command) and all(map(only_looks, found.before))):
        return found.is_handled
    return False if _has_spoiled(situation, case, command) else found.is_handled


def _has_spoiled(situation: Situation, case: Case, command: str) -> bool:
    """Whether a test, or a script or file that a command reaches, is no longer as the case has it."""
    with fresh_workspace(situation, case) as fresh:
        start = frozenset(_files(fresh.folder))
        reached = reached_by(command, start, lambda path: _text(fresh.folder / path))
        tests = frozenset(path for path in start if is_test(path) and path.rpartition(".")[2] in CODE)
        found = frozenset(_files(situation.folder))
        return any(
            path not in found or not filecmp.cmp(situation.folder / path, fresh.folder / path, shallow=False)
            for path in reached | tests
        )


def carried_calls(situation: Situation, case: Case, messages: Iterable[Message]) -> tuple[CarriedCall, ...]:
    """What the commands of a step came to in a fresh workspace; none where there is nothing to carry them out.

    Whatever the agent did before, it did elsewhere. Those that fit what is wanted come first.
    """
    shells = [call for message in messages for call in message.calls if family_of(call) is Family.SHELL]
    shapes = case.check.calls.one_of if case.check.calls else ()
    calls = sorted(shells, key=lambda call: not any(fits(shape, call) for shape in shapes))
    try:
        return tuple(_in_workspace(situation, case, command_of(call)) for call in calls[:MOST_CALLS])
    except WhetError:  # no sandbox
        return ()


def _in_workspace(situation: Situation, case: Case, command: str) -> CarriedCall:
    folder = str(situation.folder)  # which the agent knew the workspace by
    with fresh_workspace(situation, case) as fresh:
        return carry_out(fresh, case, command.replace(folder, str(fresh.folder)))


def carry_out(situation: Situation, case: Case, command: str) -> CarriedCall:
    """Run a command; the folder of the session, which the agent knows, stands for the workspace.

    It was meant for another day, so it reaches nothing but the workspace, whatever the settings open to commands.
    """
    assert case.repository is not None
    held = situation._replace(
        limits=situation.limits._replace(
            sandbox=replace(situation.limits.sandbox, network=False, writable=(), required=True)
        )
    )
    with closing(ToolState(held, ())) as workplace:
        if not holds_network(workplace.walls, network=False):
            raise WhetError("No sandbox here keeps commands from the network.", advice=advice())
    here = command.replace(case.repository.path, str(held.folder))
    ended = run_command(held, here, seconds=case.check.seconds)
    return CarriedCall(ended.exit_code, ended.text)


def _gamed(situation: Situation, case: Case, left: _Left) -> str:
    """Why a check that passes tells nothing of the work."""
    beside = {path: content for path, content in left.new.items() if path not in case.check.work}
    if beside:
        with fresh_workspace(situation, case) as fresh:
            ended = _checked(fresh, case, _Left({}, beside, ()))
        if not any(command_faults(case.check, *ended)):
            return "it passes without the work, by a file that was put beside it"
    if case.check.twisted:
        with fresh_workspace(situation, case) as fresh:
            ended = _checked(fresh, case, left, is_twisted=True)
        if not any(command_faults(case.check, *ended)):
            return "it passes with other numbers in the tests, which the right work fails"
    copied = _copied(case, left)
    return f"the work has numbers of the tests in it: {', '.join(sorted(copied)[:3])}" if copied else ""


@contextmanager
def fresh_workspace(situation: Situation, case: Case) -> Iterator[Situation]:
    """A fresh workspace of the case, with its setup and nothing of the agent's."""
    with tempfile.TemporaryDirectory(prefix="whet-check-", ignore_cleanup_errors=True) as folder:
        fresh = with_environment(situation._replace(folder=Path(os.path.realpath(folder))), case)
        write_start(case, fresh.folder)
        if case.repository is not None:
            begin_history(fresh.folder)
        run_setup(fresh, case)
        yield fresh


def _checked(fresh: Situation, case: Case, left: _Left, *, is_twisted: bool = False) -> CommandEnd:
    for path, content in (left.changed | left.new).items():
        place = fresh.folder / path
        mode = stat.S_IMODE(place.stat().st_mode) if place.is_file() else 0o644
        write_file(fresh.folder, path, content, mode=mode)
    for path in left.removed:
        cleared(fresh.folder, path)
    put_tests(case, fresh.folder)
    if is_twisted:
        twist_tests(case, fresh.folder)
    return run_check(fresh, case)


def _left(case: Case, work: Path, fresh: Path) -> _Left:
    start = frozenset(_files(fresh))
    reached = reached_by(case.check.command, start, lambda path: _text(fresh / path))
    allowed = frozenset(case.check.work)
    changed, new = dict[str, bytes](), dict[str, bytes]()
    found = frozenset(_files(work))
    for path in sorted(found):
        if not counts(path, allowed, reached) or _is_linked(fresh, path):
            continue
        if path not in start:
            new[path] = _content(work / path)
        elif not filecmp.cmp(work / path, fresh / path, shallow=False):
            changed[path] = _content(work / path)
    gone = (path for path in start - found if counts(path, allowed, reached))
    return _Left(changed, new, tuple(sorted(gone)))


def _files(folder: Path) -> Iterator[str]:
    """The ordinary files of a workspace; links are not followed, and histories are none of its files."""
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git" and not Path(above, name).is_symlink()]
        for name in names:
            place = Path(above, name)
            status = place.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
                yield place.relative_to(folder).as_posix()


def _is_linked(fresh: Path, path: str) -> bool:
    """Whether a path lies in something that the setup linked into the workspace."""
    return any((fresh / above).is_symlink() for above in Path(path).parents)


def _content(place: Path) -> bytes:
    with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return file.read(LARGEST)


def _text(place: Path) -> str:
    with place.open("rb") as file:
        return file.read(LARGEST_READ).decode("utf-8", "replace")


def twist_tests(case: Case, work: Path) -> None:
    """Put other numbers into the tests of a case."""
    check = case.check
    put = check.tests.paths if check.tests else ()
    paths = put or tuple(path for path in _files(work) if is_test(path))
    for path in (*paths, *check.put):
        place = work / path
        if place.is_file() and not place.is_symlink():
            old = _text(place)
            if (new := twisted(old)) != old:
                write_file(work, path, new.encode(), mode=stat.S_IMODE(place.stat().st_mode))


def _copied(case: Case, left: _Left) -> frozenset[str]:
    """The numbers that a work took from tests that lay in its workspace; known only where the right work is."""
    check, repository = case.check, case.repository
    if repository is None or (check.tests is None and check.numbers is None):
        return frozenset()
    place, put = Path(repository.path), check.tests.paths if check.tests else ()
    start = [file.path for file in files_of(place, repository.tree) if is_test(file.path)]
    told = [path for path in start if path in put or not put][:MOST_TESTS]
    seen = [text_of(place, repository.tree, path) for path in told]
    commits = (repository.tree, *((check.tests.commit,) if check.tests else ()))
    known = numbers_in((*(text_of(place, commit, path) for commit in commits for path in check.work), case.task))
    added = [content.decode("utf-8", "replace") for content in (left.changed | left.new).values()]
    return copied_answers(added, seen, known.union(check.numbers or ()))
