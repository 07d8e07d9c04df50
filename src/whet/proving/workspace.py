"""Workspaces: a case's files laid out in a folder, and commands run there behind the sandbox."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.tools.processes import Process
from whet.agent.tools.sandbox import Wall, advice
from whet.agent.tools.situation import Situation, ToolLimits, ToolState
from whet.agent.tools.terminal import plan_of
from whet.errors import WhetError
from whet.proving.repositories import (
    LINK,
    PROGRAM,
    TreeFile,
    begin_history,
    contents_of,
    files_of,
    private_folder,
    resolved,
)
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.settings_file import load
from whet.trials.cases import Case, is_inside

SETUP_SECONDS = 600.0
OUTPUT_CHARACTERS = 200_000


class CommandEnd(NamedTuple):
    """How a command ended: its exit code, None where it came to no end, and what it printed."""

    exit_code: int | None
    text: str = ""


def run_command(situation: Situation, command: str, *, seconds: float) -> CommandEnd:
    """Run a command in the workspace, with all that it starts ended in time.

    The workspace holds what the agent wrote, so the command is held back like the agent's own.
    """
    workplace = ToolState(situation, ())
    if workplace.walls.wall is Wall.NONE:
        raise WhetError("A check cannot be run: no sandbox is available here.", advice=advice())
    process = Process(plan_of(workplace, command), command, limit=OUTPUT_CHARACTERS)
    try:
        ended = process.wait(seconds, Event())
    finally:
        process.stop()
        workplace.close()
    text = process.tape.take().text
    return CommandEnd(process.exit_code if ended == "done" and not process.fault else None, text)


def lay_out(home: Home, case: Case, work: Path, *, set_up: bool = True) -> None:
    """Put the case's workspace into an empty folder: the repository at its commit, the files, the setup commands.

    The workspace of a repository has a history of one commit: the one to come cannot be looked up in it.
    """
    write_start(case, work)
    if case.repository is not None:
        begin_history(work)
    if set_up:
        run_setup(situation_for(home, case, work), case)


def write_start(case: Case, work: Path) -> None:
    """Write the files of a case's start into an empty folder."""
    if case.repository is not None:
        repository = Path(case.repository.path)
        _write_files(repository, files_of(repository, _tree(case)), work)
    for path, text in case.files.items():
        write_file(work, path, text.encode())
    for path, mode in case.modes.items():
        _inside(work, path).chmod(int(mode, 8))


def run_setup(situation: Situation, case: Case) -> None:
    """Run the case's setup commands in the situation's folder; raises WhetError where one fails."""
    for command in case.setup:
        ended = run_command(situation, command, seconds=SETUP_SECONDS)
        if ended.exit_code != 0:
            said = ended.text.strip().splitlines()
            raise WhetError(
                f"The setup of the case {case.name} failed: `{command}` gave {ended.exit_code}"
                f"{f' ({said[-1][:200]})' if said else ''}.",
                advice="Correct `setup` in the case. If it needs the network: sandbox.network in the settings.",
            )


def put_tests(case: Case, work: Path) -> None:
    """Put the tests of a case in place, which the agent did not see."""
    check = case.check
    if check.tests is not None and case.repository is not None:
        put_files(Path(case.repository.path), check.tests.commit, check.tests.paths, work)
    for path, text in check.put.items():
        write_file(work, path, text.encode())


def run_check(situation: Situation, case: Case) -> CommandEnd:
    """Run the case's command in the situation's folder as it is; its folder is left out of what it prints."""
    ended = run_command(with_environment(situation, case), case.check.command, seconds=case.check.seconds)
    return CommandEnd(
        ended.exit_code, ended.text.replace(f"{situation.folder}/", "").replace(str(situation.folder), ".")
    )


def situation_for(home: Home, case: Case, work: Path) -> Situation:
    """Where the commands of a case are run when no agent is at work: behind the walls that the settings ask for."""
    sandbox = replace(load(home).sandbox, required=True)
    limits = ToolLimits(sandbox, hidden=hidden_by(case))
    situation = Situation(work, home, "case", os.environ, limits=limits, told=Trust.OPERATOR)
    return with_environment(situation, case)


def hidden_by(case: Case) -> tuple[Path, ...]:
    """What of the case's repository no command may see: its history and its files, but not what is installed in it."""
    if case.repository is None:
        return ()
    folder = Path(case.repository.path)
    if not folder.is_dir():
        raise WhetError(f"The repository {folder} is gone.", advice="Change `path` in the case, or make it again.")
    names = {file.path.partition("/")[0] for file in files_of(folder, "HEAD")}
    return (private_folder(folder), *(folder / name for name in sorted(names)))


@contextmanager
def laid_out(home: Home, case: Case) -> Iterator[Path]:
    """A case's workspace in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="whet-case-", ignore_cleanup_errors=True) as folder:
        lay_out(home, case, Path(folder))
        yield Path(folder)


def put_files(repository: Path, commit: str, paths: Iterable[str], work: Path) -> None:
    """Put files into a workspace as a commit has them, and remove those that it has not."""
    wanted = set(paths)
    found = [file for file in files_of(repository, commit) if file.path in wanted]
    for path in wanted - {file.path for file in found}:
        place = _inside(work, path)
        if place.is_symlink() or place.is_file():
            place.unlink()
    _write_files(repository, found, work)


def with_environment(situation: Situation, case: Case) -> Situation:
    sandbox = replace(situation.limits.sandbox, variables=(*situation.limits.sandbox.variables, *case.environment))
    limits = situation.limits._replace(sandbox=sandbox)
    return situation._replace(environment={**situation.environment, **case.environment}, limits=limits)


def _tree(case: Case) -> str:
    assert case.repository is not None
    tree = case.repository.tree
    if resolved(Path(case.repository.path), f"{case.repository.commit}^{{tree}}") not in ("", tree):
        raise WhetError(
            f"The case {case.name} names a commit and a tree that do not belong together.",
            advice="Make the case again.",
        )
    return tree


def _write_files(repository: Path, files: Iterable[TreeFile], work: Path) -> None:
    listed = [file for file in files if is_inside(file.path)]
    for file, content in zip(listed, contents_of(repository, [file.hash for file in listed]), strict=True):
        if file.mode == LINK:
            cleared(work, file.path).symlink_to(os.fsdecode(content))
        else:
            write_file(work, file.path, content, mode=0o755 if file.mode == PROGRAM else 0o644)


def write_file(work: Path, path: str, content: bytes, *, mode: int = 0o644) -> None:
    place = cleared(work, path)
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode), "wb") as file:
        file.write(content)
    place.chmod(mode)


def cleared(work: Path, path: str) -> Path:
    """A free place in the workspace, whatever an agent has put there: a link would lead out of it."""
    place = _inside(work, path)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    return place


def _inside(work: Path, path: str) -> Path:
    if not is_inside(path):
        raise WhetError(f"A case has a file outside its workspace: {path!r}.", advice="Leave it out.")
    *folders, name = path.split("/")
    place = work
    for folder in folders:
        place /= folder
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)
    return place / name
