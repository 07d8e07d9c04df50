"""Cases from sessions: the step at which one failed, and the task where its own check later passed."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, NamedTuple

from msgspec.structs import replace

from whet.proving.carried_steps import with_outcome
from whet.proving.cases_from_commits import CaseSolution, with_reports, with_twist
from whet.proving.cases_from_repositories import repository_case
from whet.proving.checks import CommandEnd
from whet.proving.workspace import laid_out, run_check, situation_for
from whet.sessions.example_marks import cold
from whet.sessions.transcripts import Message, Role, Transcript
from whet.store.home import Home
from whet.trials.cases import Case, Limits
from whet.trials.checks import Check
from whet.trials.rebuilt_files import asked, rebuilt, recovered_check
from whet.trials.step_cases import NOTHING, Recovery, recoveries, step_case
from whet.trials.ways_to_test import is_test
from whet.trouble.outcomes.view import gather

NAME_LETTERS = 8
CHECK_SECONDS = 120.0
TASK_CALLS = 30
About = Mapping[int, str]  # the messages with calls that a case is to be about, and what is known to work instead
Kind = Literal["step", "task"]
Kinds = tuple[Kind, ...]
KINDS: Kinds = ("step", "task")


class MadeCases(NamedTuple):
    """The cases that a session gives, and why it gives no more."""

    cases: tuple[Case, ...]
    left_out: tuple[str, ...]


def cases_from(
    home: Home,
    transcript: Transcript,
    *,
    is_believed: bool = True,
    about: About = NOTHING,
    in_repository: bool = True,
    kinds: Kinds = KINDS,
) -> MadeCases:
    """A step case from what failed, and a task case where everything for it is on record; else the reason.

    Failures that the case is to be `about` come first. The examples of a warm start are left out: a trial puts there
    those that it tries, and no others. To make a task case its check is run, and to make a step case its calls, which
    is done for nobody else's session; `in_repository` says whether its repository is used, whose tests may take long.
    Step cases alone take seconds.
    """
    transcript = replace(transcript, messages=cold(transcript.messages))
    made: list[Case] = []
    left_out: list[str] = []
    task = _strangers_task if not is_believed else _task if in_repository else _rebuilt_task
    step = partial(_step, about=about, carries=is_believed and in_repository)
    ways: dict[Kind, Callable[[Home, Transcript], Case | str]] = {"step": step, "task": task}
    for kind in kinds:
        found = ways[kind](home, transcript)
        if isinstance(found, Case):
            made.append(found)
        else:
            left_out.append(found)
    return MadeCases(tuple(made), tuple(left_out))


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


def _task(home: Home, transcript: Transcript) -> Case | str:
    """From the session's repository where it is on this machine, else from the files that its record shows."""
    found = repository_case(home, transcript)
    if isinstance(found, Case):
        return found
    rebuilt_case = _rebuilt_task(home, transcript)
    return rebuilt_case if isinstance(rebuilt_case, Case) else f"{rebuilt_case}; from its repository: {found}"


def _rebuilt_task(home: Home, transcript: Transcript) -> Case | str:
    words = asked(transcript)
    if not words:
        return "no task case: no word of the person is on record"
    check = recovered_check(transcript)
    if check is None:
        return "no task case: no test, build or lint failed and later passed"
    until = check.passed.asked
    files = rebuilt(transcript, until=until)
    if files.fault:
        return f"no task case: {files.fault}"
    command = check.command
    if transcript.folder and transcript.folder in command:
        return "no task case: its check names the folder in which the session was"
    work = tuple(path for path, text in files.after.items() if files.before.get(path) != text and not is_test(path))
    case = Case(
        task=words,
        check=Check(command=command, seconds=CHECK_SECONDS, work=work),
        name=f"task-{transcript.id[:NAME_LETTERS]}",
        files=files.before,
        tools=("files", "terminal"),
        budget=Limits(model_calls=TASK_CALLS),
        source=transcript.id,
    )
    before, after = (_ended(home, replace(case, files=held)) for held in (files.before, files.after))
    if before.exit_code == 0 or after.exit_code != 0 or not work:
        return (
            f"no task case: with the files on record, `{command}` gives {before.exit_code} before and"
            f" {after.exit_code} after the work; it should fail, then pass"
        )
    told = with_reports(case, before, after)
    return with_twist(home, told, CaseSolution(files=files.after))


def _strangers_task(_home: Home, _transcript: Transcript) -> str:
    return "no task case: another member wrote or changed the session, and no command of theirs is run here"


def _ended(home: Home, case: Case) -> CommandEnd:
    """How the check of a case ends in its workspace as it is laid out."""
    with laid_out(home, case) as work:
        return run_check(situation_for(home, case, work), case)
