"""Cases from sessions: the step at which one failed, and the task in its repository with what told success."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from whet.errors import WhetError
from whet.proving.cases_from_commits import (
    CHECK_SECONDS,
    NAME_LETTERS,
    TASK_LIMITS,
    CaseSolution,
    LeftOut,
    ProvedCase,
    checkout,
    ended_with,
    links_in,
    proved,
    way_in,
)
from whet.proving.judged_work import carry_out
from whet.proving.repositories import changed, commits, files_of, in_force, root_of, text_of, tip_of
from whet.proving.workspace import laid_out, situation_for
from whet.sessions.call_effects import COMMIT, Effect, checks_of, files_written
from whet.sessions.copies import cold
from whet.sessions.lineage import is_ordered
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
from whet.sessions.transcripts import Message, Role, Transcript
from whet.store.home import Home
from whet.trials.cases import Case, is_inside
from whet.trials.checks import Check, CommitFiles, command_faults
from whet.trials.step_cases import IRRELEVANT, NEW_TEXTS, NOTHING, OLD_TEXTS, Recovery, recoveries, step_case
from whet.trials.test_reports import CarriedCall, OutcomeDemand, lines_of, telling_lines
from whet.trials.ways_to_test import OWN, WayToTest, is_test
from whet.trouble.outcomes.envelopes import contents, output_of
from whet.trouble.outcomes.purposes import is_shell
from whet.trouble.outcomes.view import JudgedCall, gather

About = Mapping[int, str]  # the messages with calls that a case is to be about, and what is known to work instead
CONTENTS = ("content", "contents", "file_text", "text", "code_edit")
COMMIT_SECONDS = 3_600.0  # after a session in which a commit still counts as what came of it
MOST_COMMITS = 500


class MadeCases(NamedTuple):
    """The cases that a session gives, and why it gives no more."""

    cases: tuple[Case, ...]
    left_out: tuple[str, ...]


def cases_from(
    home: Home,
    transcript: Transcript,
    *,
    about: About = NOTHING,
    objection: int | None = None,
    tasks: bool = True,
    unrun: str = "",
) -> MadeCases:
    """A step case from what failed, and a task case of the session's repository; else the reason why there is none.

    Failures that the case is to be `about` come first. Of a person's objection, by its message, there is a task case
    alone: no call failed. The examples of a warm start are left out: a trial puts there those that it tries, and no
    others. Commands of the session are run to make a case, unless `unrun` says why not: then calls alone are compared,
    which takes seconds.
    """
    kept = cold(transcript.messages)
    shift = len(transcript.messages) - len(kept)
    about = {message - shift: fix for message, fix in about.items()}
    objection = None if objection is None else objection - shift
    transcript = replace(transcript, messages=kept)
    found = [] if objection is not None else [_step(home, transcript, about=about, carries=not unrun)]
    if tasks or objection is not None:
        task = unrun or repository_case(home, transcript, objection=objection)
        found.append(task if isinstance(task, Case) else f"no task case: {task}")
    return MadeCases(
        tuple(each for each in found if isinstance(each, Case)), tuple(each for each in found if isinstance(each, str))
    )


def _by_weight(transcript: Transcript, about: About) -> list[Recovery]:
    """The failures in whose place something worked: those asked for, then the others, the last first.

    A failure in whose place nothing worked gives no case: what would have been right is not on record.
    """
    latest = [*recoveries(gather(transcript).steps, about)][::-1]
    return sorted(latest, key=lambda each: each.failed.message not in about)


def _step(home: Home, transcript: Transcript, *, about: About, carries: bool) -> Case | str:
    if not asked(transcript):
        return "no step case: no word of the person is on record"
    why = "no call failed in whose place another worked later"
    for found in _by_weight(transcript, about):
        before = _before(transcript.messages, found.asked)
        if before:
            made = step_case(f"step-{transcript.id[:NAME_LETTERS]}", before, found, source=transcript.id)
            if isinstance(made, Case):
                return with_outcome(home, transcript, made, found) if carries else made
            why = made
    return f"no step case: {why}"


def _before(messages: tuple[Message, ...], end: int) -> tuple[Message, ...]:
    """The conversation before a message, without another agent's prompt, up to where the agent had to go on."""
    kept = [message for message in messages[:end] if message.role is not Role.SYSTEM]
    while kept and kept[-1].role is Role.AGENT:
        kept.pop()
    return tuple(kept)


def with_outcome(home: Home, transcript: Transcript, case: Case, found: Recovery) -> Case:
    """The step case with what its call must come to, where both were seen here: the failure, and what worked instead.

    Where they were not, or where no line tells what worked from `true`, the case stays one that compares calls.
    """
    stretch = stretch_of(transcript)
    if isinstance(stretch, str):
        return case
    if found.worked is None or not (is_shell(found.failed) and is_shell(found.worked)) or stretch.inside:
        return case
    placed = replace(case, repository=checkout(stretch.repository, stretch.before), setup=links_in(stretch.repository))
    try:
        lines = _lines_that_tell(home, placed, found.failed, found.worked)
    except WhetError:  # no sandbox, or what the repository needs is not here
        return placed
    return replace(placed, check=replace(case.check, outcome=OutcomeDemand(lines))) if lines else placed


def _lines_that_tell(home: Home, case: Case, failed: JudgedCall, worked: JudgedCall) -> tuple[str, ...]:
    again = _in_fresh_workspace(home, case, worked)
    if again.exit_code != 0:
        return ()
    lost = _in_fresh_workspace(home, case, failed)
    is_same_failure = lines_of(lost.text).keys() & lines_of(failed.text).keys()
    if lost.exit_code == 0 or not is_same_failure:
        return ()
    with laid_out(home, case) as work:
        situation = situation_for(home, case, work)
        idle = tuple(carry_out(situation, case, line) for line in IRRELEVANT)
    return telling_lines(worked.text, again, (lost, *idle))


def _in_fresh_workspace(home: Home, case: Case, step: JudgedCall) -> CarriedCall:
    with laid_out(home, case) as work:
        return carry_out(situation_for(home, case, work), case, command_of(step.exchange.call))


class SessionStretch(NamedTuple):
    """What a repository was when a session began, and the commit that came of it, if one did."""

    repository: Path
    inside: str  # the session's folder beneath the repository's top
    before: str
    after: str


def repository_case(home: Home, transcript: Transcript, *, objection: int | None = None) -> Case | str:
    """A task case of a session whose repository is on this machine; else why there is none.

    The tests of the commit that came of it are preferred to the command that told success in the session. What a person
    objected to has to fail the check, or it tells nothing of the objection.
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
            passing = _objected(home, transcript, stretch, found.case, objection)
            if not passing:
                return found.case
            why = passing
        elif found is not None and found.left_out is not None:
            why = f"{found.left_out.value}{f' ({found.said})' if found.said else ''}"
    return why


def _objected(home: Home, transcript: Transcript, stretch: SessionStretch, case: Case, objection: int | None) -> str:
    """Why a check tells nothing of what a person objected to; empty where nobody did.

    It has to fail with the work up to the objection and to pass with all of it, which a commit that came of it does.
    """
    if objection is None:
        return ""

    def passes(until: int) -> bool | None:
        files = _rebuilt_work(transcript, stretch, until)
        return (
            not any(command_faults(case.check, *ended_with(home, case, CaseSolution(files=files)))) if files else None
        )

    before = passes(objection)
    if before is None or not (stretch.after or passes(len(transcript.messages))):
        return "its record does not show the work that was objected to"
    return "its check passes with the work that was objected to" if before else ""


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
    return proved(home, case, way, CaseSolution(stretch.after, files, _printed(transcript, found)))


def _printed(transcript: Transcript, check: JudgedCall) -> str:
    """What a check itself printed. Lines that calls of the same tool also got that checked nothing are the tool's."""
    others = (step for step in gather(transcript).steps if step.tool == check.tool and step.effect is not Effect.CHECKS)
    around = {line for step in others for line in lines_of(step.text)}
    own = output_of(contents(check.text)).splitlines()
    return "\n".join(line for line in own if not around & lines_of(line).keys())


def _rebuilt_work(transcript: Transcript, stretch: SessionStretch, until: int) -> dict[str, str]:
    """The files that a session left, where its record tells them from what the repository held."""
    start = {file.path for file in files_of(stretch.repository, stretch.before)}

    def held(path: str) -> str | None:
        place = os.path.normpath(Path(stretch.inside, path))
        return text_of(stretch.repository, stretch.before, place) if place in start else None

    steps = [step for step in gather(transcript).steps if step.message < until]
    found = left_files(steps, transcript.folder, held)
    return {os.path.normpath(Path(stretch.inside, path)): text for path, text in found.items()}


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


def asked(transcript: Transcript) -> str:
    """What the agent was to do first, in the words of whoever ordered it; nothing where no order is on record."""
    return next((each.text for each in transcript.messages if is_ordered(each) and each.text.strip()), "")


def left_files(steps: Sequence[JudgedCall], folder: str, held: Callable[[str], str | None]) -> dict[str, str]:
    """The files that calls wrote and edited; `held` says what a file held before, if that is known.

    Nothing where a call changed a file without showing how: a guess would be a bad case.
    """
    after: dict[str, str] = {}
    for step in steps:
        family = family_of(step.exchange.call)
        if not step.worked or family not in (Family.WRITE, Family.EDIT):
            continue
        arguments = arguments_of(step.exchange.call)
        path = _inside(next(iter(files_written(step.exchange.call)), ""), folder)
        text = _first(arguments, CONTENTS)
        if family is Family.EDIT:
            text = _edited(arguments, after.get(path, held(path))) if path else None
        if not path or text is None:
            return {}
        after[path] = text
    return after


def _edited(arguments: dict[str, object], text: str | None) -> str | None:
    old, new = _first(arguments, OLD_TEXTS), _first(arguments, NEW_TEXTS)
    if not old or new is None or text is None or old not in text:
        return None
    return text.replace(old, new) if arguments.get("all") else text.replace(old, new, 1)


def _first(arguments: dict[str, object], names: Iterable[str]) -> str | None:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)


def _inside(path: str, folder: str) -> str:
    """The path within the session's folder; nothing for one that is elsewhere."""
    given = PurePosixPath(path)
    if given.is_absolute():
        if not folder or not given.is_relative_to(folder):
            return ""
        given = given.relative_to(folder)
    plain = str(given)
    return plain if is_inside(plain) else ""
