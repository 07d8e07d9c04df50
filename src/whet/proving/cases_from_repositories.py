"""Task cases from sessions in a repository: its state when the session began, and what told success in the end."""

import os
import shlex
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.proving.cases_from_commits import (
    CHECK_SECONDS,
    NAME_LETTERS,
    TASK_LIMITS,
    CaseSolution,
    LeftOut,
    ProvedCase,
    checkout,
    links_in,
    proved,
    way_in,
)
from whet.proving.repositories import changed, commits, files_of, in_force, root_of, text_of, tip_of
from whet.sessions.arguments import command_of
from whet.sessions.call_effects import COMMIT, Effect, checks_of, files_written
from whet.sessions.transcripts import Transcript
from whet.store.home import Home
from whet.trials.cases import Case, is_inside
from whet.trials.checks import Check, CommitFiles
from whet.trials.rebuilt_files import asked, rebuilt
from whet.trials.ways_to_test import OWN, WayToTest, is_test
from whet.trouble.outcomes.view import JudgedCall, gather

COMMIT_SECONDS = 3_600.0  # after a session in which a commit still counts as what came of it
MOST_COMMITS = 500


class SessionStretch(NamedTuple):
    """What a repository was when a session began, and the commit that came of it, if one did."""

    repository: Path
    inside: str  # the session's folder beneath the repository's top
    before: str
    after: str


def repository_case(home: Home, transcript: Transcript) -> Case | str:
    """A task case of a session whose repository is on this machine; else why there is none.

    The tests of the commit that came of it are preferred to the command that told success in the session.
    """
    words = asked(transcript)
    if not words:
        return "no word of the person is on record"
    stretch = stretch_of(transcript)
    if isinstance(stretch, str):
        return stretch
    why = "no commit with tests came of it, and no check passed in it"
    for tried in (_by_commit, _by_command):
        found = tried(home, transcript, stretch, words)
        if found is not None and found.case is not None:
            return found.case
        if found is not None and found.left_out is not None:
            why = f"{found.left_out.value}{f' ({found.said})' if found.said else ''}"
    return why


def stretch_of(transcript: Transcript) -> SessionStretch | str:
    """The state of the session's repository before and after it; else why that cannot be known."""
    began = transcript.started or next((each.at for each in transcript.messages if each.at is not None), None)
    folder = Path(transcript.folder)
    if not transcript.folder or not folder.is_absolute() or not folder.is_dir():
        return "its folder is not on this machine"
    if began is None:
        return "its record does not say when it began"
    try:
        repository = root_of(folder)
    except WhetError:
        return "its folder is not in a git repository"
    before = in_force(repository, began, branch=transcript.branch)
    if not before:
        return "the repository had no commit when it began"
    ended = transcript.ended or max((each.at for each in transcript.messages if each.at is not None), default=began)
    newer = commits(repository, f"--max-count={MOST_COMMITS}", f"{before}..{tip_of(repository, transcript.branch)}")
    after = next((each.id for each in newer if began <= each.at <= ended + COMMIT_SECONDS), "")
    inside = folder.resolve().relative_to(repository)
    return SessionStretch(repository, "" if str(inside) == "." else str(inside), before, after)


def _by_commit(home: Home, transcript: Transcript, stretch: SessionStretch, words: str) -> ProvedCase | None:
    if not stretch.after:
        return None
    tests = tuple(path for path in changed(stretch.repository, stretch.before, stretch.after) if is_test(path))
    way = way_in(stretch.repository, stretch.after, tests)
    there = {file.path for file in files_of(stretch.repository, stretch.after)} & set(tests)
    if way is None or not there or not way.can_run(there):
        return None
    check = Check(
        way.line(sorted(there)),
        seconds=CHECK_SECONDS,
        tests=CommitFiles(stretch.after, tests),
        work=_committed(stretch),
    )
    return proved(home, _case(transcript, stretch, words, check, way), way, CaseSolution(stretch.after))


def _by_command(home: Home, transcript: Transcript, stretch: SessionStretch, words: str) -> ProvedCase | None:
    found = last_passing_check(transcript)
    if found is None:
        return None
    command = command_of(found.exchange.call).strip()
    line = f"cd {shlex.quote(stretch.inside)} && {{ {command}\n}}" if stretch.inside else command
    work = _committed(stretch) if stretch.after else _written(transcript, stretch)
    if not work:
        return ProvedCase(None, LeftOut.NO_WORK)
    way = WayToTest(OWN, command)
    solution = CommitFiles(stretch.after, ()) if stretch.after else None
    case = _case(transcript, stretch, words, Check(line, seconds=CHECK_SECONDS, work=work, tests=solution), way)
    files = {} if stretch.after else _rebuilt_work(transcript, stretch, found.message)
    return proved(home, case, way, CaseSolution(stretch.after, files, found.text))


def _rebuilt_work(transcript: Transcript, stretch: SessionStretch, until: int) -> dict[str, str]:
    """The files that a session left, where its record tells them from what the repository held."""
    start = {file.path for file in files_of(stretch.repository, stretch.before)}

    def held(path: str) -> str | None:
        place = os.path.normpath(Path(stretch.inside, path))
        return text_of(stretch.repository, stretch.before, place) if place in start else None

    found = rebuilt(transcript, until=until, held=held)
    return {os.path.normpath(Path(stretch.inside, path)): text for path, text in found.after.items()}


def _committed(stretch: SessionStretch) -> tuple[str, ...]:
    """The files that the commit of a session changed, without tests."""
    return tuple(path for path in changed(stretch.repository, stretch.before, stretch.after) if not is_test(path))


def _written(transcript: Transcript, stretch: SessionStretch) -> tuple[str, ...]:
    """The files of the repository that the calls of a session say they changed, without tests."""
    folder = Path(transcript.folder)
    top = stretch.repository
    places = (
        Path(os.path.normpath(folder / path))
        for step in gather(transcript).steps
        if step.worked
        for path in files_written(step.exchange.call)
    )
    inside = (place.relative_to(top).as_posix() for place in places if place.is_relative_to(top))
    return tuple(path for path in dict.fromkeys(inside) if is_inside(path) and not is_test(path))


def last_passing_check(transcript: Transcript) -> JudgedCall | None:
    """The last test, build or lint that passed in a session, where its command can be run elsewhere."""
    checks = (step for step in reversed(gather(transcript).steps) if step.worked and step.effect is Effect.CHECKS)
    found = (step for step in checks if COMMIT not in checks_of(step.exchange.call))
    return next((step for step in found if _is_portable(command_of(step.exchange.call), transcript.folder)), None)


def _is_portable(line: str, folder: str) -> bool:
    return bool(line.strip()) and folder not in line


def _case(transcript: Transcript, stretch: SessionStretch, words: str, check: Check, way: WayToTest) -> Case:
    return Case(
        task=words,
        check=check,
        name=f"task-{transcript.id[:NAME_LETTERS]}",
        repository=checkout(stretch.repository, stretch.before),
        setup=links_in(stretch.repository),
        environment=dict(way.environment),
        tools=("files", "terminal"),
        budget=TASK_LIMITS,
        source=transcript.id,
    )
