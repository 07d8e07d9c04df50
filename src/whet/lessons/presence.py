"""What a session shows to be there: programs that ran, here or on another machine, and skills that were found.

One shell that does not find a program says nothing of the project where another one ran it.
"""

from collections.abc import Iterator

import re2

from whet.failures.purposes import is_shell, shown_call
from whet.failures.view import JudgedCall, SessionView
from whet.lessons.contrasts import missing_program
from whet.lessons.pieces import LessonPiece
from whet.outcomes.unrunnable import could_not_run
from whet.sessions.arguments import command_of
from whet.sessions.shell_lines import SHELLS, split

SKILL = "skill"
NO_DAEMON = "no daemon"  # the program ran, and what it talks to was not started
HAVE_RUN = SHELLS | {"ssh", "wsl"}  # a container has programs of its own, which say nothing of the project
_HIDES = re2.compile(r"2> ?/dev/null|&> ?/dev/null|\|\|")  # a program that is not there would go unnoticed
_UNKNOWN_SKILL = re2.compile(r"(?i)^unknown skill: (\S+)")


def present_in(view: SessionView) -> tuple[str, ...]:
    """The programs and skills that a session had, each once."""
    return tuple(sorted({name for step in view.steps for name in _shown_by(step) if name}))


def missing_skill(error: str) -> str:
    """The skill that a session had not."""
    found = _UNKNOWN_SKILL.search(error)
    return found.group(1) if found else ""


def missing_name(piece: LessonPiece) -> str:
    """What a piece says is not there, as `present_in` would name it; nothing where it says something else."""
    skill = missing_skill(piece.error)
    return f"{SKILL} {skill}" if skill else missing_program(piece.call, piece.error)


def _shown_by(step: JudgedCall) -> Iterator[str]:
    if not is_shell(step):
        if step.worked and step.tool.lower() == SKILL:
            yield f"{SKILL} {shown_call(step).partition(' ')[2]}"
        return
    command = command_of(step.exchange.call)
    why = could_not_run(step.text)
    if (step.worked and why != "no such program" and not _HIDES.search(command)) or why == NO_DAEMON:
        yield from _programs(command)


def _programs(command: str) -> Iterator[str]:
    """The programs of a command line, and those that it has another shell run."""
    for stage in split(command):
        yield stage.program
        if stage.program in HAVE_RUN:
            yield from (inner.program for word in stage.words[1:] for inner in split(word))
