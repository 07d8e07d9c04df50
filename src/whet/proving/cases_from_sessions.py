"""Cases from sessions: the step at which one failed, and the task where its own check later passed."""

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.agent.tools.situation import Situation
from whet.errors import WhetError
from whet.failures.analysis import analyse
from whet.failures.signals import SHOWN
from whet.failures.view import gather
from whet.proving.checks import run_check
from whet.sessions.example_marks import cold
from whet.sessions.transcripts import Message, Role, Transcript
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.store.home import Home
from whet.trials.cases import Case, Limits, is_inside
from whet.trials.checks import Check
from whet.trials.rebuilt_files import asked, rebuilt, recovered_check
from whet.trials.step_cases import Recovery, recoveries, step_case

NAME_LETTERS = 8
CHECK_SECONDS = 120.0
TASK_CALLS = 30


class MadeCases(NamedTuple):
    """The cases that a session gives, and why it gives no more."""

    cases: tuple[Case, ...]
    left_out: tuple[str, ...]


def cases_from(home: Home, transcript: Transcript, *, is_believed: bool = True) -> MadeCases:
    """A step case from what failed, and a task case where everything for it is on record; else the reason.

    The examples of a warm start are left out: a trial puts there those that it tries, and no others. To make a task
    case its check is run, which is done for nobody else's session.
    """
    transcript = msgspec.structs.replace(transcript, messages=cold(transcript.messages))
    made: list[Case] = []
    left_out: list[str] = []
    for make in (_step, _task if is_believed else _strangers_task):
        found = make(home, transcript)
        if isinstance(found, Case):
            made.append(found)
        else:
            left_out.append(found)
    return MadeCases(tuple(made), tuple(left_out))


def _by_weight(transcript: Transcript) -> list[Recovery]:
    """The failures in whose place something worked: those at or after the step that lost the session, then the others.

    A failure in whose place nothing worked gives no case: what would have been right is not on record.
    """
    found = list(recoveries(gather(transcript).steps))
    judged = analyse(transcript, failure_weights())
    turning = judged.decisive_step if judged.decisive_confidence >= SHOWN else None
    after = [each for each in found if turning is not None and each.asked >= turning]
    return [*after, *(each for each in reversed(found) if each not in after)]


def _step(_home: Home, transcript: Transcript) -> Case | str:
    if not asked(transcript):
        return "no step case: no word of the person is on record"
    why = "no call failed in whose place another worked later"
    for found in _by_weight(transcript):
        before = _before(transcript.messages, found.asked)
        if before:
            made = step_case(f"step-{transcript.id[:NAME_LETTERS]}", before, found, source=transcript.id)
            if isinstance(made, Case):
                return made
            why = made
    return f"no step case: {why}"


def _before(messages: tuple[Message, ...], end: int) -> tuple[Message, ...]:
    """The conversation before a message, without another agent's prompt, up to where the agent had to go on."""
    kept = [message for message in messages[:end] if message.role is not Role.SYSTEM]
    while kept and kept[-1].role is Role.AGENT:
        kept.pop()
    return tuple(kept)


def _task(home: Home, transcript: Transcript) -> Case | str:
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
    codes = [_run_check(home, held, command) for held in (files.before, files.after)]
    if codes[0] == 0 or codes[1] != 0:
        return (
            f"no task case: with the files on record, `{command}` gives {codes[0]} before and {codes[1]} after the"
            " work; it should fail, then pass"
        )
    return Case(
        task=words,
        check=Check(command=command, seconds=CHECK_SECONDS),
        name=f"task-{transcript.id[:NAME_LETTERS]}",
        files=files.before,
        tools=("files", "terminal"),
        budget=Limits(model_calls=TASK_CALLS),
        source=transcript.id,
    )


def _strangers_task(_home: Home, _transcript: Transcript) -> str:
    return "no task case: another member wrote or changed the session, and no command of theirs is run here"


def _run_check(home: Home, held: dict[str, str], command: str) -> int | None:
    """How the check ends over some files, in a folder that is removed afterwards."""
    if any(not is_inside(path) for path in held):
        raise WhetError("A file of the session lies outside its folder.", advice="No case can be made of it.")
    with tempfile.TemporaryDirectory(prefix="whet-case-", ignore_cleanup_errors=True) as folder:
        for path, text in held.items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        situation = Situation(Path(folder), home, "case", os.environ, told=Trust.OPERATOR)
        return run_check(situation, command, seconds=CHECK_SECONDS)
