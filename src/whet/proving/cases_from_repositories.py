"""Task cases from sessions in a repository: its state when the session began, and what told success in the end."""

import shlex
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.outcomes.view import gather
from whet.proving.cases_from_commits import (
    CHECK_SECONDS,
    NAME_LETTERS,
    TASK_LIMITS,
    Proved,
    checkout,
    links_in,
    proved,
    way_in,
)
from whet.proving.repositories import changed, commits, files_of, in_force, root_of, tip_of
from whet.sessions.arguments import command_of
from whet.sessions.call_effects import COMMIT, Effect, checks_of
from whet.sessions.transcripts import Transcript
from whet.store.home import Home
from whet.trials.cases import Case
from whet.trials.checks import Check, CommitFiles
from whet.trials.rebuilt_files import asked
from whet.trials.ways_to_test import OWN, WayToTest, is_test

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


def _by_commit(home: Home, transcript: Transcript, stretch: SessionStretch, words: str) -> Proved | None:
    if not stretch.after:
        return None
    tests = tuple(path for path in changed(stretch.repository, stretch.before, stretch.after) if is_test(path))
    way = way_in(stretch.repository, stretch.after)
    there = {file.path for file in files_of(stretch.repository, stretch.after)} & set(tests)
    if way is None or not there or not way.can_run(there):
        return None
    check = Check(way.line(sorted(there)), seconds=CHECK_SECONDS, tests=CommitFiles(stretch.after, tests))
    return proved(home, _case(transcript, stretch, words, check, way), way, solved=stretch.after)


def _by_command(home: Home, transcript: Transcript, stretch: SessionStretch, words: str) -> Proved | None:
    command = last_passing_check(transcript)
    if not command:
        return None
    line = f"cd {shlex.quote(stretch.inside)} && {{ {command}\n}}" if stretch.inside else command
    way = WayToTest(OWN, command)
    return proved(
        home, _case(transcript, stretch, words, Check(line, seconds=CHECK_SECONDS), way), way, solved=stretch.after
    )


def last_passing_check(transcript: Transcript) -> str:
    """The last test, build or lint that passed in a session, as a command that can be run elsewhere."""
    checks = (step for step in reversed(gather(transcript).steps) if step.worked and step.effect is Effect.CHECKS)
    lines = (command_of(step.exchange.call).strip() for step in checks if COMMIT not in checks_of(step.exchange.call))
    return next((line for line in lines if line and transcript.folder not in line), "")


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
