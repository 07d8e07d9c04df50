"""What changed in one session between a call that failed or was refused, and the call that then worked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec.structs import replace

from whet.lessons.call_pairs import ALIKE, WORD, CallCourse, CallStep, LaterCalls, LaterPart, telling_words
from whet.lessons.simple_calls import CallInParts, SimpleCall, is_step
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust, lowest
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.envelopes import NOTHING_FOUND, printed_exit_code
from whet.trouble.outcomes.fingerprints import error_line
from whet.trouble.outcomes.purposes import is_shell
from whet.trouble.outcomes.refusal_forms import refusal_words
from whet.trouble.outcomes.view import JudgedCall
from whet.values import Value

MOST_CHANGED = 120
MOST_MADE = 400
MOST_WAYS = 8
ERROR_LETTERS = 200
SAID_LETTERS = 240
STEM = 5  # letters that words in different forms share
NOT_THERE = 127  # the exit code of a shell that does not find the program


class CallTrouble(StrEnum):
    """What was wrong with a call."""

    FAILED = "failed"
    REFUSED = "refused"  # by the person


class HowChanged(StrEnum):
    """What was different when it worked."""

    CALL = "call"  # another call came, in its place or before it
    PLACE = "place"  # the same call in another folder
    SETTING = "setting"  # the same call with variables set for it


class AnotherWay(Value, frozen=True):
    """One thing that was different when it worked.

    `gap` counts the calls that were nearer. It leads where a call like the failed one worked after it: then it is a
    step, and no other form. `news` are the words that no call had which worked before the failure: what is known by
    then was not what was missing.
    """

    how: HowChanged
    call: SimpleCall
    likeness: float = 0.0
    gap: int = 0
    leads: bool = False
    news: tuple[str, ...] = ()


class ChangedCall(Value, frozen=True):
    """A call that failed or was refused, and what may have been the remedy."""

    trigger: CallTrouble
    message: int
    call: SimpleCall
    error: str = ""  # the line that looks like why
    said: str = ""  # by the person who refused it
    ways: tuple[AnotherWay, ...] = ()
    at: float | None = None
    trust: Trust = Trust.TOOL


class MadeCall(Value, frozen=True):
    """A call of a session, and how often it worked and failed there."""

    call: SimpleCall
    worked: int = 0
    failed: int = 0


class SessionChanges(Value, frozen=True):
    """What one session shows: the calls that went wrong with what changed, and every call that was made."""

    changed: tuple[ChangedCall, ...] = ()
    made: tuple[MadeCall, ...] = ()


def changes_of(course: CallCourse) -> SessionChanges:
    """What changed in a session wherever a call went wrong and, in the end, right."""
    changed = [found for index in range(len(course.steps)) for found in _changed(course, index)]
    return SessionChanges(tuple(changed[:MOST_CHANGED]), tuple(_made(course))[:MOST_MADE])


def _made(course: CallCourse) -> Iterator[MadeCall]:
    worked: Counter[SimpleCall] = Counter()
    failed: Counter[SimpleCall] = Counter()
    for _, step, call in course.steps:
        for part in call.parts:
            worked[part] += step.worked
            failed[part] += step.failed
    for part in worked:
        if worked[part] or failed[part]:
            yield MadeCall(part, worked[part], failed[part])


def trigger_of(step: JudgedCall, call: CallInParts) -> CallTrouble | None:
    """What was wrong with a call, if anything. What looks into files is told no every day: a guess of the moment."""
    if step.decision.outcome is Outcome.REJECTED:
        return CallTrouble.REFUSED
    is_miss = call.looks_at_files or step.decision.evidence.endswith(NOTHING_FOUND)
    return CallTrouble.FAILED if step.failed and (not is_miss or _is_not_there(step)) else None


def _is_not_there(step: JudgedCall) -> bool:
    """Whether the shell did not find the program: no guess of the moment, whatever it was to look for."""
    result = step.exchange.result
    if result is None or not is_shell(step):
        return False
    code = printed_exit_code(result.text) if result.exit_code is None else result.exit_code
    return code == NOT_THERE


def _changed(course: CallCourse, index: int) -> Iterator[ChangedCall]:
    _, step, call = course.steps[index]
    trigger = trigger_of(step, call)
    if trigger is None:
        return
    within, further = course.after(index)
    if trigger is CallTrouble.REFUSED or not within:
        within, further = [*within, *further], []
    later = [*within, *further]
    said = _said(course, step) if trigger is CallTrouble.REFUSED else ""
    error = "" if trigger is CallTrouble.REFUSED else error_line(step.text)[:ERROR_LETTERS]
    at = course.view.transcript.messages[step.message].at
    trust = lowest((step.trust, *(other.trust for _, other, _ in later)))  # the remedy may have been read meanwhile
    for part in call.parts:
        if trigger is CallTrouble.REFUSED or is_step(part) or call.looks_at_files:
            followed = course.followed(part, call, within)
            found = _ways(part, followed)
            found += () if followed.is_resolved else _ways_told(course, index, part, further)
            ways = tuple(replace(way, news=course.news(way.call, index)) for way in found[:MOST_WAYS])
            told = " ".join(said.split())[:SAID_LETTERS]
            yield ChangedCall(trigger, step.message, part, error, told, ways, at, trust)


def _said(course: CallCourse, step: JudgedCall) -> str:
    """The words with which a call was refused, as far as the record itself vouches for them."""
    result = step.exchange.result
    if result is None or result.disposition is not Disposition.REJECTED:
        return ""
    return refusal_words(result.text) or course.words_after(step.message)


def _ways(part: SimpleCall, followed: LaterCalls) -> list[AnotherWay]:
    """What was different when it worked: every call that may have changed something, until one like it works."""
    before = followed.parts[:-1] if followed.is_resolved else followed.parts
    found = [_way(each, gap) for gap, each in enumerate(each for each in before if each.is_other)]
    if not followed.is_resolved:
        return found[: MOST_WAYS // 2]
    last = followed.parts[-1]
    steps = [replace(way, leads=True) for way in found]
    if last.part.words == part.words:
        return [*_since(part, last.part), *steps][-MOST_WAYS:]
    return [_way(last, len(found)), *steps][:MOST_WAYS]


def _way(later: LaterPart, gap: int) -> AnotherWay:
    return AnotherWay(HowChanged.CALL, later.part, round(later.likeness, 2), gap)


def _ways_told(course: CallCourse, index: int, part: SimpleCall, further: Sequence[CallStep]) -> Iterator[AnotherWay]:
    """What worked in place of a call that was still failing when the person spoke.

    They may have told how; they may as well have asked for something else, so it has to be for the same purpose, or to
    have a word of theirs that no call had before.
    """
    count = 0
    call = course.steps[index].call
    said = _beginnings(WORD.findall(course.words_after(course.steps[index].step.message).lower()))
    for _, step, other in further:
        for each in other.parts if step.worked and not other.looks_at_files and not other.edits else ():
            alike = course.likeness(part, each, call, other)
            if each.words == part.words and each.settings == part.settings:
                return
            is_told = not said.isdisjoint(_beginnings(telling_words(course.news(each, index))))
            if is_step(each) and (each.words[0] == part.words[0] or alike >= ALIKE or is_told):
                yield AnotherWay(HowChanged.CALL, each, round(alike, 2), count)
                count += 1


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    """Words without what inflects them."""
    return frozenset(word[:STEM] for word in words if len(word) >= STEM)


def _since(part: SimpleCall, worked: SimpleCall) -> Iterator[AnotherWay]:
    """What was different in the very same command when it worked."""
    if worked.folder != part.folder:
        yield AnotherWay(HowChanged.PLACE, worked, 1.0)
    elif worked.settings != part.settings:
        yield AnotherWay(HowChanged.SETTING, worked, 1.0)
