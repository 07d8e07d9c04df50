"""Recoveries: a call that failed, and the later call for the same purpose that worked."""

from collections.abc import Iterator, Sequence

import re2
from msgspec.structs import replace

from whet.failures.fingerprints import error_line
from whet.failures.purposes import (
    fixing_form,
    is_in_other_folder,
    is_same_purpose,
    is_shell,
    path_of,
    program_of,
    shown_call,
)
from whet.failures.view import JudgedCall, SessionView
from whet.lessons.contrasts import missing_program
from whet.lessons.error_remedies import asked_command, hook_complaints, remedy_of
from whet.lessons.known_causes import explains_itself
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.outcomes.deciding import Outcome
from whet.outcomes.unrunnable import could_not_run
from whet.sessions.arguments import arguments_of
from whet.sessions.call_effects import COMMIT, Effect, checks_of
from whet.sessions.tool_families import Family, family_of
from whet.text.key_words import key_words

COMMITS = "git commit"
WAY = " the file, then "  # between what was done and the call that then worked
REACH = 14  # calls after a failure within which what worked is looked for
SHOWN = 500
LOOKED_AT = 3_000
WORKED, UNSOLVED, REMEDIED, LOOKED = 1.5, 0.5, 1.0, -0.7  # what each adds to the weight
MISS = 1.0
PUT_RIGHT = 0.6  # alone it is a red check like any other
RAN_NOTHING = 1.5  # a check that is taken for green
FOUND_SHARE = 0.3
_NOTHING = re2.compile(
    r"(?i)^\W*(?:no (?:files?|matches|results?|content)(?: were| was)? found|no matches|found 0 (?:files|matches)|"
    r"\(no output\)|0 (?:results|matches|files))"
)
# No tests found, exiting with code 0; collected 0 items. Go says "no tests to run" of every other package.
_NO_TEST = re2.compile(r"(?im)^\W*(no tests? (?:files? )?(?:found|matched|collected|ran)\b.*|collected 0 items)$")
_IN_COURSE = re2.compile(r"(?i)could not apply|\bCONFLICT\b|merge conflict|nothing to commit")  # work, and no lesson
_COLOUR = re2.compile(r"\x1b?\[[0-9;]*m")
_NO_PATH = re2.compile(r"(?i)does not exist|no such file|not found|cannot find")


def recovery_pieces(view: SessionView) -> Iterator[LessonPiece]:
    """Each failure that was no red check, with what worked instead where the session shows it, and silent misses."""
    for index, step in enumerate(view.steps):
        later = view.steps[index + 1 : index + 1 + REACH]
        if ran_no_test(step):
            found = next((other for other in later if _is_same_check(step, other)), None)
            yield _piece(view, step, found, LessonSource.RECOVERY, RAN_NOTHING)
        elif _is_miss(step):
            found = _found_later(step, later)
            if found is not None:
                yield _piece(view, step, found, LessonSource.PLACE, MISS)
        elif step.failed:
            yield from _of_failure(view, step, later)
            yield from _of_red_check(view, step, later)
        elif step.decision.outcome is Outcome.CANCELLED and explains_itself(error_line(step.text)):
            yield _piece(view, step, None, LessonSource.RECOVERY, UNSOLVED)


def _of_failure(view: SessionView, step: JudgedCall, later: Sequence[JudgedCall]) -> Iterator[LessonPiece]:
    remedy = _remedy(step)
    is_red = step.effect is Effect.CHECKS and not could_not_run(step.text)
    if (is_red and not remedy) or _IN_COURSE.search(step.text[:LOOKED_AT]):
        return
    worked = worked_later(step, later)
    is_look = step.effect is Effect.PROBES
    if worked is None and not remedy and is_look:
        return
    is_absent = missing_program(shown_call(step), error_line(step.text)) != ""
    tells = REMEDIED if remedy or is_absent else 0.0  # that a program is not there, is as good as what to do
    weight = (WORKED if worked else UNSOLVED) + tells + (LOOKED if is_look else 0.0)
    source = LessonSource.RECOVERY
    if path_of(step) and _NO_PATH.search(error_line(step.text)):
        source = LessonSource.PLACE
    elif remedy and worked is None:
        source = LessonSource.REMEDY
    piece = _piece(view, step, worked, source, weight, fix=_fix(step, worked, later))
    yield replace(piece, did=_heeded(remedy, later))


def _of_red_check(view: SessionView, step: JudgedCall, later: Sequence[JudgedCall]) -> Iterator[LessonPiece]:
    """A check that was red, and the same check told to put it right: where that recurs, it might have come first."""
    if step.effect is not Effect.CHECKS or could_not_run(step.text):
        return
    for other in later:
        found = fixing_form(shown_call(step), shown_call(other)) if other.worked and is_shell(other) else None
        if found:
            check, fix = found
            yield LessonPiece(
                LessonSource.RECOVERY,
                view.transcript.id,
                step.message,
                f"{check} is red → {fix}",
                call=check,
                fix=fix,
                keys=key_words(f"{check} {fix}"),
                weight=PUT_RIGHT,
                trust=min(step.trust, other.trust),
            )
            return


def _piece(
    view: SessionView,
    step: JudgedCall,
    worked: JudgedCall | None,
    source: LessonSource,
    weight: float,
    *,
    fix: str = "",
) -> LessonPiece:
    """The piece of a call and the one that worked for it, believed no more than either."""
    fix = fix or (shown_call(worked) if worked else "")
    line = hook_complaints(step.text) if _is_commit(step) else ""
    unrun = _NO_TEST.search(step.text[-LOOKED_AT:]) if ran_no_test(step) else None
    line = _COLOUR.sub("", unrun.group(1) if unrun else line or error_line(step.text) or step.decision.evidence)
    call = _shown(step)
    error = line[:SHOWN] if step.failed or unrun else ""  # what only found nothing is no error
    return LessonPiece(
        source,
        view.transcript.id,
        step.message,
        f"{call[: SHOWN // 2]} → {line}"[:SHOWN],
        call=call,
        error=error,
        fix=fix,
        remedy=_remedy(step)[:SHOWN],
        keys=_keys(step, line, fix),
        weight=weight,
        trust=min(step.trust, worked.trust) if worked else step.trust,
        is_habit=not is_shell(step) and step.text.lstrip().startswith("<tool_use_error>"),
    )


def _heeded(remedy: str, later: Sequence[JudgedCall]) -> str:
    """The call that does what the error asked for, and worked."""
    asked = asked_command(remedy).split()
    if not asked:
        return ""
    calls = (shown_call(other) for other in later if other.worked and is_shell(other))
    return next((call for call in calls if call.split()[: len(asked)] == asked), "")


def _shown(step: JudgedCall) -> str:
    """The call in one line, which still says that it commits where that stands beyond its end."""
    call = shown_call(step)
    return f"{call} … {COMMITS}" if _is_commit(step) and COMMITS not in call else call


def _fix(step: JudgedCall, worked: JudgedCall | None, later: Sequence[JudgedCall]) -> str:
    """The call that worked; where it is the same call on the same file, what was done with the file before it."""
    if worked is None:
        return ""
    if shown_call(worked) != shown_call(step):
        return shown_call(worked)
    between = (other for other in later[: later.index(worked)] if other.worked and other.tool != step.tool)
    way = next((other.tool for other in between if path_of(other) == path_of(step) != ""), "")
    return f"{way}{WAY}{step.tool}" if way else shown_call(worked)


def _keys(step: JudgedCall, line: str, fix: str) -> frozenset[str]:
    """The error without its places, the program, and what the fix has that the failed call had not.

    What a commit's hooks refuse is one thing for each program that they run; to be in the wrong folder is one thing.
    """
    if _is_commit(step) and (complaints := hook_complaints(step.text)):
        return frozenset({"commit-hook", *key_words(complaints.partition(";")[0])})
    if is_in_other_folder(shown_call(step), fix):
        return frozenset({"another-folder"})
    new = key_words(fix) - key_words(shown_call(step))
    plain = frozenset(word for word in key_words(line) if "/" not in word and "." not in word)
    program = program_of(step).lower()
    return frozenset({*([program] if program else ()), *plain, *(word for word in new if "/" not in word)})


def _remedy(step: JudgedCall) -> str:
    """What the error asks for. A commit's hooks ask the same of the next commit; other checks just failed."""
    if step.effect is Effect.CHECKS and not could_not_run(step.text) and not _is_commit(step):
        return ""
    return remedy_of(step.text) or (hook_complaints(step.text) if _is_commit(step) else "")


def _is_commit(step: JudgedCall) -> bool:
    return COMMIT in checks_of(step.exchange.call)


def ran_no_test(step: JudgedCall) -> bool:
    """Whether a check counts as passed though it found no test to run."""
    return step.worked and step.effect is Effect.CHECKS and _NO_TEST.search(step.text[-LOOKED_AT:]) is not None


def _is_same_check(step: JudgedCall, other: JudgedCall) -> bool:
    is_run = other.effect is Effect.CHECKS and (other.worked or other.failed) and not could_not_run(other.text)
    return is_run and is_same_purpose(step, other)


def _is_miss(step: JudgedCall) -> bool:
    """A search that counts as ok and found nothing."""
    is_search = family_of(step.exchange.call) is Family.SEARCH
    return step.worked and is_search and _NOTHING.search(step.text[:200]) is not None


def _found_later(step: JudgedCall, later: Sequence[JudgedCall]) -> JudgedCall | None:
    """The search for the same thing that found it."""
    asked = key_words(" ".join(map(str, arguments_of(step.exchange.call).values())))
    for other in later:
        if family_of(other.exchange.call) in (Family.SEARCH, Family.READ) and other.worked and not _is_miss(other):
            words = key_words(" ".join(map(str, arguments_of(other.exchange.call).values())))
            if asked and len(asked & words) >= FOUND_SHARE * len(asked | words):
                return other
    return None


def worked_later(step: JudgedCall, later: Sequence[JudgedCall]) -> JudgedCall | None:
    """The first call for the same purpose that worked; none where the very same call worked before it."""
    for other in later:
        if other.worked and other.key == step.key:
            return None
        if other.worked and is_same_purpose(step, other):
            return other
    return None
