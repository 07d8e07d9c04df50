"""What is found call by call: slips until they are repaired, edits thrown away, waiting, and contexts that ran out."""

import re
from collections.abc import Iterator
from itertools import islice

from whet.sessions.call_effects import Effect
from whet.sessions.shell_lines import Stage, split
from whet.sessions.transcripts import Origin, Role
from whet.text.words import plain_name
from whet.trouble.checks import PROGRAM
from whet.trouble.clock import LINGERING, is_put_aside
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import is_same_file, plain_path
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.purposes import is_same_purpose, path_of, program_of
from whet.trouble.values import TroubleEnding, TroubleKind
from whet.trouble.verdicts import CheckVerdict, is_answer, is_expected, plain_error

REACH = 14  # calls after a try within which the next try is looked for
FARTHEST = 4 * REACH

ALL = "."
PUT_BACK = "put back"
LOOKED_BACK = 40  # edits among which the one that another turns back is looked for

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


def slips(course: SessionCourse) -> Iterator[Stretch]:
    """Each run of failed calls with what was done to get them right; one that waits for a repair is one slip."""
    covered = -1
    for move in course.failing:
        if move.number <= covered or not is_slip(move):
            continue
        mended = _mended(course, move)
        if mended is not None:
            covered = mended.number
            yield _slip(move, mended.asked, TroubleEnding.MENDED)
            continue
        following = _next_working(course, move)
        covered = following.number - 1 if following is not None else _last_within(course, move)
        if following is not None:
            yield _slip(move, following.asked, TroubleEnding.LEFT)
        else:
            last = course.end_of_turn(move.asked)
            yield _slip(move, last, course.how_it_ends(last))


def _last_within(course: SessionCourse, move: CourseStep) -> int:
    """The last step of the turn."""
    return course.moves_within(move.asked, course.end_of_turn(move.asked))[-1].number


def is_slip(move: CourseStep) -> bool:
    """Whether a call went wrong by itself: a red check, a probe's no and time that ran out are something else."""
    step = move.step
    if not step.failed or move.timed_out:
        return False
    return not is_answer(step) and not is_expected(step) and move.verdict is not CheckVerdict.RED


def _slip(move: CourseStep, last: int, ending: TroubleEnding) -> Stretch:
    program = program_of(move.step)
    subject = program if PROGRAM.fullmatch(program) else move.step.tool
    cause = plain_error(move.step) or move.step.decision.evidence
    return Stretch(TroubleKind.SLIP, move.asked, max(move.answered, last), subject, cause, ending)


def _mended(course: SessionCourse, move: CourseStep) -> CourseStep | None:
    """The first call for the same purpose that worked, before somebody else speaks; each new try is looked beyond."""
    end = course.end_of_turn(move.asked)
    aim = frozenset(edit.path for edit in move.edits)
    number, reach = move.number + 1, move.number + REACH
    while number < len(course.moves) and number <= reach and course.moves[number].asked <= end:
        other = course.moves[number]
        number += 1
        if other.asked == move.asked:
            continue
        if _is_for(move, aim, other):
            if _ran(other):
                return other
            reach = min(other.number + REACH, move.number + FARTHEST)
        elif _ran(other) and _goes_on(move, other):
            return None
    return None


def _is_for(move: CourseStep, aim: frozenset[str], other: CourseStep) -> bool:
    """Whether a call tries the same: for an edit, any way to change that file."""
    if aim and not aim.isdisjoint(other.files or (edit.path for edit in other.edits)):
        return True
    return is_same_purpose(move.step, other.step)


def _ran(move: CourseStep) -> bool:
    """Whether a call did what it was made for: a check that is red did."""
    return move.step.worked or move.verdict is CheckVerdict.RED


def _goes_on(move: CourseStep, other: CourseStep) -> bool:
    """Whether a step is work on something else: a change to another file than the failed call's, or a hand-over."""
    if other.hands_over:
        return True
    return other.step.effect is Effect.CHANGES and not move.command and bool(other.files)


def _next_working(course: SessionCourse, move: CourseStep) -> CourseStep | None:
    end = course.end_of_turn(move.asked)
    for other in islice(course.moves, move.number + 1, None):
        if other.asked > end:
            return None
        if other.asked > move.asked and other.step.decision.outcome in (Outcome.OK, Outcome.UNKNOWN):
            return other
    return None


def discarded(course: SessionCourse) -> Iterator[Stretch]:
    """Each time that edits were put back, from the first of them on."""
    kept: dict[int, CourseStep] = {}  # edits that are neither handed over nor put back
    for move in course.moves[course.changes[0].number :] if course.changes else ():
        if not move.step.worked or not (kept or move.files):
            continue
        if move.hands_over:
            kept.clear()
            continue
        others = _by_others(course, move, kept)
        gone = others or _by_git(course, move, kept) or _by_hand(move, kept)
        if gone:
            yield _stretch(course, gone, move.answered if not others else course.start_of_turn(move.asked), move.number)
            for each in gone:
                del kept[each.number]
        if move.files and (others or not gone):
            kept[move.number] = move


def _stretch(course: SessionCourse, gone: list[CourseStep], last: int, back: int) -> Stretch:
    """From the first edit that was put back; all of it, where nothing else was changed meanwhile."""
    lost = {move.number for move in gone}
    between = [move for move in course.moves[gone[0].number : back + 1] if move.asked < last]
    only = None
    if any(move.files and move.number not in lost for move in between[:-1]):
        counted = (*gone, course.moves[back])
        only = frozenset(at for move in counted for at in range(move.asked, move.answered + 1))
    subject = sorted(gone[0].files)[0]
    return Stretch(TroubleKind.THROWN_AWAY, gone[0].asked, last, subject, PUT_BACK, TroubleEnding.MENDED, only)


def _by_others(course: SessionCourse, move: CourseStep, kept: dict[int, CourseStep]) -> list[CourseStep]:
    """The edits of earlier turns, where one of them could be made once more: somebody had put them back."""
    if not kept or not move.edits:
        return []
    start = course.start_of_turn(move.asked)
    if next(iter(kept.values())).answered >= start or not any(edit.replaces for edit in move.edits):
        return []
    before = [each for each in islice(reversed(kept.values()), LOOKED_BACK) if each.answered < start]
    made = {(edit.path, edit.old) for each in before for edit in each.edits if edit.replaces}
    if not any((edit.path, edit.old) in made for edit in move.edits):
        return []
    return before[::-1]


def _by_git(course: SessionCourse, move: CourseStep, kept: dict[int, CourseStep]) -> list[CourseStep]:
    if not kept or "git" not in move.command:
        return []
    back = {path for stage in split(move.command) if stage.program == "git" for path in _put_back(course, move, stage)}
    if not back:
        return []
    if ALL in back:
        return list(kept.values())
    return [each for each in kept.values() if any(_covers(back, path) for path in each.files)]


def _covers(back: set[str], path: str) -> bool:
    return any(is_same_file(path, each) or f"/{each.rstrip('/')}/" in f"/{path}" for each in back)


def _put_back(course: SessionCourse, move: CourseStep, stage: Stage) -> list[str]:
    """The paths whose changes a git command drops."""
    words = [word for word in stage.words[1:] if word]
    command = next((word for word in words if not word.startswith("-")), "")
    rest = words[words.index(command) + 1 :] if command else []
    plain = [plain_path(word) for word in rest if not word.startswith("-")]
    if command == "checkout":
        return plain_after(rest) if "--" in rest else [path for path in plain if "/" in path or "." in path]
    if command == "restore":
        return [] if "--staged" in rest and "--worktree" not in rest else plain
    if command == "reset":
        return [ALL] if "--hard" in rest else []
    if command == "stash":
        is_put = not plain or plain[0] in ("push", "save")
        return [ALL] if is_put and course.last_unstash < move.number else []
    return []


def plain_after(words: list[str]) -> list[str]:
    return [plain_path(word) for word in words[words.index("--") + 1 :]]


def _by_hand(move: CourseStep, kept: dict[int, CourseStep]) -> list[CourseStep]:
    """The edit that this one turns back exactly."""
    if not kept or not move.edits:
        return []
    first = move.edits[0]
    for earlier in islice(reversed(kept.values()), LOOKED_BACK):
        if earlier.edits and earlier.edits[0].is_undone_by(first) and _is_inverse(earlier, move):
            return [earlier]
    return []


def _is_inverse(earlier: CourseStep, move: CourseStep) -> bool:
    if len(earlier.edits) != len(move.edits):
        return False
    return all(one.is_undone_by(two) for one, two in zip(earlier.edits, move.edits, strict=True))


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
