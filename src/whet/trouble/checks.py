"""Which commands check the work: those known everywhere, and those that a project's own sessions show to be checks.

A command of a project's own is a check by how it is used: it failed, files were changed, and it worked.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from whet.sessions.call_effects import PROBERS, Effect, checks_of, files_written
from whet.sessions.shell_lines import RUNNERS, Stage, split
from whet.sessions.tool_families import Family, command_of, family_of
from whet.text.words import names
from whet.trouble.outcomes.hidden_failures import is_reader
from whet.trouble.outcomes.view import EntryHead, JudgedCall

LEAST_CYCLES = 2  # so often red, changed and green, before a command is a check
LEAST_SHARE = 0.5  # and so many of its failures were followed by a change
ASIDES = names("cd echo export sleep true set source . mkdir rm cp mv touch git gh kill pkill chmod open curl")
# The name of a program that may be a project's own; a shell's commands for objects, such as Set-Location, are not.
PROGRAM = re.compile(r"(?![A-Z][a-z]+-[A-Z])\.?[A-Za-z_][\w.-]*")
# A word that names a task: no option, no file, no number.
_TASK = re.compile(r"[A-Za-z][\w:-]*")

OWN = frozenset({"check"})


class CommandCount(NamedTuple):
    """How often a command failed, and how often a change and its success came next."""

    head: EntryHead
    failures: int
    cycles: int


def check_names(step: JudgedCall, known: frozenset[EntryHead] = frozenset()) -> frozenset[str]:
    """The checks that a call runs, by names that do not depend on how each is started; none for any other call."""
    if step.effect is Effect.CHECKS:
        return checks_of(step.exchange.call) or frozenset(" ".join(head) for head in heads_of(step)) or OWN
    if not known:
        return frozenset()
    return frozenset(" ".join(head) for head in heads_of(step) if head in known)


def heads_of(step: JudgedCall) -> tuple[EntryHead, ...]:
    """The words by which the commands of a call are the same from one run to the next."""
    call = step.exchange.call
    if family_of(call) is not Family.SHELL:
        return ()
    return tuple(dict.fromkeys(head for stage in split(command_of(call)) if (head := head_of(stage))))


def head_of(stage: Stage) -> EntryHead:
    """A program with its task: `./dev test`, `flutter analyze`; nothing for what only shows, waits or moves files."""
    if stage.program in ASIDES or stage.program in PROBERS or is_reader(stage) or not PROGRAM.fullmatch(stage.program):
        return ()
    words = tuple(takewhile(_TASK.fullmatch, stage.words[1:4]))
    is_script = stage.program in RUNNERS and words[:1] == ("run",)
    return (stage.program, *words[: 2 if is_script else 1])


def head_counts(steps: Sequence[JudgedCall]) -> tuple[CommandCount, ...]:
    """How the commands of one session were used, to be added up over the sessions of its project."""
    failures, cycles = Counter[EntryHead](), Counter[EntryHead]()
    open_since: dict[EntryHead, bool] = {}  # whether a file was changed since it failed
    for step in steps:
        heads = heads_of(step)
        if len(heads) > 1:  # which of them failed, nobody knows
            heads = ()
        if step.worked and _changes(step):
            open_since = dict.fromkeys(open_since, True)
        for head in heads:
            if step.failed:
                failures[head] += 1
                open_since.setdefault(head, False)
            elif step.worked and head in open_since:
                cycles[head] += open_since.pop(head)
    return tuple(CommandCount(head, number, cycles[head]) for head, number in failures.items())


def _changes(step: JudgedCall) -> bool:
    return step.effect is Effect.CHANGES or bool(files_written(step.exchange.call))


def learned_checks(counts: Iterable[CommandCount]) -> frozenset[EntryHead]:
    """The commands that the sessions of a project show to be its checks."""
    return frozenset(_learned(counts))


def _learned(counts: Iterable[CommandCount]) -> Iterator[EntryHead]:
    failures, cycles = Counter[EntryHead](), Counter[EntryHead]()
    for head, failed, turned in counts:
        failures[head] += failed
        cycles[head] += turned
    for head, turned in cycles.items():
        if turned >= LEAST_CYCLES and turned >= LEAST_SHARE * failures[head]:
            yield head
