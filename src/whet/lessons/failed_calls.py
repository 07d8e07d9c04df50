"""The failed calls of a session as events: why each failed, and the call for the same purpose that then worked."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.changed_calls import RARE, CallCourse
from whet.lessons.condensed import MOST_LINES, EventKind, SessionEvent, in_project, telling_lines, terms
from whet.sessions.call_effects import Effect
from whet.sessions.lineage import pieces_of
from whet.sessions.tool_families import Family, command_of, family_of
from whet.sessions.transcripts import Role, Text, Thought
from whet.text.words import cut
from whet.trouble.course import CourseStep, SessionCourse
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.envelopes import NOTHING_FOUND
from whet.trouble.outcomes.purposes import is_shell, path_of, shown_call
from whet.trouble.outcomes.view import JudgedCall
from whet.trouble.verdicts import CheckVerdict, red_name
from whet.values import lazy

CALL, CHECK, ERROR, LINE, SEARCHED = 120, 80, 200, 120, 40  # letters shown
ARGUMENTS = 1_000  # letters of a call that are compared
SAID = 1_500  # letters of what the agent said after a failure
ALMOST = 0.75  # of the words of both calls, the rare ones counting more
SEARCHES_SHOWN = 3
ADDED = 4  # words of a command that is made again
LOOKS = frozenset({Effect.READS, Effect.PROBES, Effect.THINKS})
EDITORS = frozenset({Family.EDIT, Family.WRITE})
_NAME = re.compile(r"[/\\.:].|[1-9]")


class Resolved(NamedTuple):
    """The call that worked, and whether it is the failed one again."""

    move: CourseStep
    again: bool
    is_after_edit: bool


class FailedCalls:
    """What failed in a session, beside what worked in it. `scale` is of the letters and lines that an event gets."""

    def __init__(self, course: SessionCourse, calls: CallCourse, scale: float = 1.0) -> None:
        self.course = course
        self.calls = calls
        self.folder = course.view.transcript.folder
        self.scale = scale

    def _cut(self, text: str, letters: int) -> str:
        return cut(text, round(letters * self.scale))

    @lazy
    def words(self) -> tuple[frozenset[str], ...]:
        """Of each step the words that it was given."""
        given = (terms(" ".join(pieces_of(move.step.exchange.call))[:ARGUMENTS]) for move in self.course.moves)
        # Paths by their last part: what is looked for may lie in another folder.
        return tuple(frozenset(word for word in each if "/" not in word and "\\" not in word) for each in given)

    @lazy
    def known(self) -> Counter[str]:
        """In how many steps each word stands."""
        return Counter(word for own in self.words for word in own)

    @lazy
    def opened(self) -> frozenset[str]:
        """The paths of calls that worked."""
        return frozenset(path_of(move.step) for move in self.course.moves if move.step.worked)

    def events(self) -> Iterator[SessionEvent]:
        """Every failure, each kind of error once with its number, in no order."""
        yield from _once(event for move in self.course.moves for event in self._event(move))
        yield from self._searches()

    @lazy
    def cancelled(self) -> frozenset[str]:
        """What the host answers for calls that it did not let run."""
        steps = (move.step for move in self.course.moves)
        return frozenset(step.text for step in steps if step.decision.outcome is Outcome.CANCELLED and step.text)

    def _event(self, move: CourseStep) -> Iterator[SessionEvent]:
        step = move.step
        if step.text in self.cancelled:
            yield self._counted(move)
        elif _found_nothing(step):
            return
        elif step.failed and family_of(step.exchange.call) in EDITORS:
            yield self._counted(move)
        elif step.failed or move.verdict is CheckVerdict.RED:
            yield self._failed(move)

    def _counted(self, move: CourseStep) -> SessionEvent:
        """Of an editing tool's answer the first line says what it misses."""
        first = next(iter(telling_lines(move.step.text, asked=frozenset(), followed=frozenset(), most=MOST_LINES)), "")
        error = self._cut(in_project(first, self.folder), LINE) or move.step.decision.evidence
        return SessionEvent(move.answered, EventKind.COUNTED, move.step.tool, error, trust=move.step.trust)

    def _failed(self, move: CourseStep) -> SessionEvent:
        found = self.resolved(move)
        is_red = found.is_after_edit if found else bool(move.checks)
        if is_red or (found is not None and found.again and move.checks):
            red = self._red(move)
            return self._with_form(red, move, found) if found and found.again else red
        error = self.error_of(move, self.words[found.move.number] if found else frozenset())
        path = path_of(move.step)  # which a call looked at, and none of the session could open
        missing = in_project(path, self.folder) if move.step.effect in LOOKS and path not in self.opened else ""
        event = SessionEvent(
            move.answered, EventKind.FAILED, self.shown(move), error, trust=move.step.trust, subject=missing
        )
        return self._with_form(event, move, found) if found else event

    def _red(self, move: CourseStep) -> SessionEvent:
        name = red_name(move.step) if move.checks else ""
        name = name if name in move.step.text else ""  # else it is folded, and nobody can look it up
        error = self.error_of(move, most=1, name=name)
        check, subject = self._cut(self._whole(move), CHECK), in_project(name, self.folder)
        return SessionEvent(move.answered, EventKind.RED, check, error, trust=move.step.trust, subject=subject)

    def _with_form(self, event: SessionEvent, move: CourseStep, found: Resolved) -> SessionEvent:
        if not found.again:
            worked = self._cut(self._whole(found.move), CALL)
            return replace(event, worked=worked, worked_at=found.move.asked)
        between = [
            other
            for other in self.course.moves[move.number + 1 : found.move.number]
            if other.step.worked and other.step.effect not in LOOKS and (not found.is_after_edit or other.command)
        ]
        if not between and found.is_after_edit:
            return event
        if not between:
            return replace(event, again=True, worked_at=found.move.asked)
        return replace(event, again=True, worked=self.shown(between[-1]), worked_at=between[-1].asked)

    def resolved(self, move: CourseStep) -> Resolved | None:
        """The later call that did what one was to do."""
        found = self.calls.resolution(move.number)
        if found is None:
            return None
        other = self.course.moves[found.step.number]
        if other.step.key == move.step.key:
            return Resolved(other, True, found.is_edited)
        is_red = found.is_edited and other.step.tool == move.step.tool
        return Resolved(other, False, is_red and (bool(move.checks) or found.likeness >= ALMOST))

    def error_of(self, move: CourseStep, remedy: frozenset[str] = frozenset(), *, most: int = 2, name: str = "") -> str:
        """The lines that say why a call failed, and what decided it where the answer says nothing."""
        lines = telling_lines(
            move.step.text,
            asked=frozenset(word for word in self.words[move.number] if self.known[word] <= RARE),
            followed=(terms(self._said_after(move)) | remedy) - self.words[move.number],
            most=round(most * self.scale) or 1,
            name=name,
        )
        shown = (self._cut(in_project(line, self.folder), LINE) for line in lines)
        return self._cut(" | ".join(shown), ERROR) or move.step.decision.evidence

    def _said_after(self, move: CourseStep) -> str:
        """What the agent said and thought right after an answer, and the call that it made."""
        for message in self.course.messages[move.answered + 1 : move.answered + 4]:
            if message.role is Role.USER:
                return message.text[:SAID]
            if message.role is Role.AGENT:
                said = [part.text[:SAID] for part in message.parts if isinstance(part, Text | Thought)]
                return " ".join((*said, *(call.arguments[:SAID] for call in message.calls)))
        return ""

    def _searches(self) -> Iterator[SessionEvent]:
        """The searches that found nothing, as one event."""
        empty = [move for move in self.course.moves if _found_nothing(move.step)]
        if empty:
            shown = "; ".join(cut(self._whole(move), SEARCHED) for move in empty[:SEARCHES_SHOWN])
            trust = min(move.step.trust for move in empty)
            yield SessionEvent(empty[0].answered, EventKind.COUNTED, shown, trust=trust, times=len(empty))

    def shown(self, move: CourseStep) -> str:
        return self._cut(self._whole(move), CALL)

    def _whole(self, move: CourseStep) -> str:
        return in_project(whole_call(move.step), self.folder).removeprefix("cd . && ")


def whole_call(step: JudgedCall) -> str:
    """A call on one line: the command, else the tool with its path or its first argument."""
    return " ".join(command_of(step.exchange.call)[:ARGUMENTS].split()) if is_shell(step) else shown_call(step)


def _found_nothing(step: JudgedCall) -> bool:
    """Whether a search brought nothing: an empty answer, or one short line in which no name stands."""
    if step.failed:
        return step.effect is Effect.PROBES and step.decision.evidence.endswith(NOTHING_FOUND)
    if not step.worked or family_of(step.exchange.call) is not Family.SEARCH:
        return False
    text = step.text.strip()
    return len(text) <= 60 and "\n" not in text and not any(map(_NAME.search, text.split()))


def _once(events: Iterator[SessionEvent]) -> Iterator[SessionEvent]:
    """Each kind of error once, with the first form that worked, and how often it came."""
    found: dict[tuple[EventKind, str, str], SessionEvent] = {}
    for event in events:
        key = (event.kind, *_sameness(event))
        held = found.get(key)
        if held is None:
            found[key] = event
        else:
            best = event if event.worked and not held.worked else held
            found[key] = replace(best, times=held.times + 1)
    return iter(found.values())


def _sameness(event: SessionEvent) -> tuple[str, str]:
    if event.kind is EventKind.RED:
        return event.subject or event.text, ""
    error = "".join(letter for letter in event.error if not letter.isdigit())
    return (event.text if event.kind is EventKind.COUNTED else event.text.partition(" ")[0]), error
