"""Waiting: sleeps, polling, time that ran out, a provider that did not answer; and context that ran out."""

import re
from collections.abc import Iterator

from whet.sessions.call_effects import Effect
from whet.sessions.shell_lines import Stage, split
from whet.sessions.transcripts import Origin, Role
from whet.text.words import plain_name
from whet.trouble.clock import LINGERING, is_put_aside
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import plain_path
from whet.trouble.outcomes.purposes import path_of, program_of
from whet.trouble.values import TroubleEnding, TroubleKind

LEAST_ASKED = 3  # so often the same question in a row, and it is polling
LEAST_SECONDS = 10.0  # a shorter sleep lets something start, and is no waiting
SLEEPERS = frozenset({"sleep", "Start-Sleep"})
LOOKS = frozenset({Effect.READS, Effect.PROBES, Effect.THINKS})
DOES_OTHER = frozenset({Effect.THINKS, Effect.CHANGES})
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)")
_LOOP = re.compile(r"\b(?:while|until|for|foreach)\b")
TIME_OUT = "time ran out"
SLEEP = "sleep"
POLLING = "polling"
NO_ANSWER = "no answer from the provider"


def waits(course: SessionCourse) -> Iterator[Stretch]:
    """Each run of steps that only wait, however many calls it takes."""
    yield from _joined(_single(course))
    yield from _polls(course)
    yield from _silences(course)


def _single(course: SessionCourse) -> Iterator[Stretch]:
    for move in course.moves:
        if (move.step.failed and move.timed_out) or (move.command and is_put_aside(move.step.exchange)):
            yield _wait(move, TIME_OUT, TroubleEnding.LEFT)
        elif sleeps(move):
            yield _wait(move, SLEEP, TroubleEnding.OVER)


def sleeps(move: CourseStep) -> bool:
    """Whether a call waits by its own order: a command that sleeps for long or in a loop, or a tool for that."""
    if plain_name(move.step.tool) in LINGERING:
        return True
    if "leep" not in move.command:
        return False
    asleep = [stage for stage in split(move.command) if stage.program in SLEEPERS]
    return bool(asleep) and (_LOOP.search(move.command) is not None or sum(map(_seconds, asleep)) >= LEAST_SECONDS)


def _seconds(stage: Stage) -> float:
    """How long a command sleeps, as its words say: `sleep 5`, `sleep 2m`, `Start-Sleep -Seconds 30`."""
    found = (_TIME.fullmatch(word) for word in stage.words[1:])
    return sum(float(time[1]) * UNITS[time[2]] for time in found if time)


def _wait(move: CourseStep, cause: str, ending: TroubleEnding) -> Stretch:
    return Stretch(TroubleKind.WAITING, move.asked, move.answered, program_of(move.step), cause, ending)


def _joined(found: Iterator[Stretch]) -> Iterator[Stretch]:
    """Waits with nothing between them as one."""
    held: Stretch | None = None
    for stretch in found:
        if held is not None and held.cause == stretch.cause and stretch.first <= held.last + 1:
            held = held._replace(last=max(held.last, stretch.last))
            continue
        if held is not None:
            yield held
        held = stretch
    if held is not None:
        yield held


def _polls(course: SessionCourse) -> Iterator[Stretch]:
    """The same question again and again, with nothing done between."""
    run: list[CourseStep] = []
    for move in course.moves:
        if move.step.effect in DOES_OTHER or not move.step.worked:
            continue
        if run and _is_same(move, run[-1]) and move.asked > run[-1].asked:
            run.append(move)
            continue
        yield from _poll(run)
        run = [move]
    yield from _poll(run)


def _is_same(one: CourseStep, other: CourseStep) -> bool:
    """Whether two calls ask the same; what a command is said to be for does not matter."""
    first, second = one.step.exchange.call, other.step.exchange.call
    return first.name == second.name and (
        one.command == other.command if one.command else first.arguments == second.arguments
    )


def _poll(run: list[CourseStep]) -> Iterator[Stretch]:
    if len(run) >= LEAST_ASKED and not run[0].checks:
        first, last = run[0], run[-1]
        yield Stretch(
            TroubleKind.WAITING, first.answered, last.answered, program_of(first.step), POLLING, TroubleEnding.OVER
        )


def _silences(course: SessionCourse) -> Iterator[Stretch]:
    """What the agent program says in the agent's place: that the provider did not answer."""
    for index in course.of_programs:
        message = course.messages[index]
        if index > course.begin and message.role is Role.AGENT and message.origin is Origin.INSERTED:
            yield Stretch(TroubleKind.WAITING, index - 1, index, "provider", NO_ANSWER, TroubleEnding.HANDED_BACK)


def lost_contexts(course: SessionCourse) -> Iterator[Stretch]:
    """Each compaction, until the agent has read again what it had read before."""
    known: set[str] = set()
    done = 0  # so many steps are known
    for index in _compactions(course):
        while done < len(course.moves) and course.moves[done].asked < index:
            known.add(_looked_at(course.moves[done]))
            done += 1
        last = _read_again(course, index, done, known)
        yield Stretch(TroubleKind.CONTEXT, index - 1, last, ending=TroubleEnding.OVER)


def _compactions(course: SessionCourse) -> Iterator[int]:
    """The first message of each summary that stands for older messages."""
    for index in course.of_programs:
        if index < max(1, course.begin) or course.messages[index].origin is not Origin.SUMMARY:
            continue
        if index == course.begin or course.messages[index - 1].origin is not Origin.SUMMARY:
            yield index


def _read_again(course: SessionCourse, summary: int, step: int, known: set[str]) -> int:
    """The last message of the looks right after a summary that repeat looks from before it."""
    last = summary
    while step < len(course.moves) and course.moves[step].step.effect in LOOKS:
        if _looked_at(course.moves[step]) in known:
            last = course.moves[step].answered
        step += 1
    return last


def _looked_at(move: CourseStep) -> str:
    """What a step looked at or changed: its file, else its whole question."""
    path = path_of(move.step) or next(iter(move.files), "")
    return plain_path(path) if path else move.step.key
