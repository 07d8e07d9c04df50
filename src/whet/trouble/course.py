"""The course of one session, gathered once for every kind of trouble: its turns, its steps, and what each changed."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

import re2

from whet.sessions.call_effects import Effect, files_written, hands_over
from whet.sessions.lineage import is_ordered, is_vouched
from whet.sessions.tool_families import Family, command_of, family_of
from whet.sessions.transcripts import Message, Origin, Role
from whet.trouble.checks import check_names
from whet.trouble.clock import agent_seconds
from whet.trouble.edits import FileEdit, edits_of, is_scratch, plain_path
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.purposes import mends
from whet.trouble.outcomes.view import EntryHead, JudgedCall, SessionView
from whet.trouble.values import InterventionKind, JudgedMessages, Speaker, TroubleEnding
from whet.trouble.verdicts import CheckVerdict, hides_status, timed_out, verdict
from whet.values import Value, lazy

# What every shell line has that writes a file, or hands work over: looked for before the line is split.
_WRITING = (">", "sed -", "tee ", "patch", ".py", ".sh", ".js")
NONE: frozenset[str] = frozenset()
_MENDING = ("fix", "--write", "--apply", "correct")
_HANDING = ("commit", "push", "pr ", "mr ")
WRITERS = frozenset({Family.EDIT, Family.WRITE, Family.SHELL})
STOPPED = frozenset({Outcome.REJECTED, Outcome.CANCELLED})
DOES = frozenset({Effect.CHANGES, Effect.RUNS})
_UNSTASH = re2.compile(r"\bstash\s+(?:pop|apply)\b")


class Stretch(NamedTuple):
    """A stretch before its cost is counted.

    It counts the messages after `first` up to `last`; those of `only`, where other work lies between.
    """

    kind: str
    first: int
    last: int
    subject: str = ""
    cause: str = ""
    ending: TroubleEnding = TroubleEnding.MENDED
    only: frozenset[int] | None = None


class Break(NamedTuple):
    """A rule in force, and a message at which the agent did not follow it."""

    rule: str
    message: int


class SessionKnowledge(NamedTuple):
    """What is known of a session beside its record.

    `checks` are the commands that the project's other sessions show to be checks, `breaks` say where rules in force
    were broken, `judged` are the messages of people in which a reader told corrections from wishes.
    """

    checks: frozenset[EntryHead] = frozenset()
    breaks: tuple[Break, ...] = ()
    judged: JudgedMessages = JudgedMessages()


NOTHING_KNOWN = SessionKnowledge()


class SteppedIn(NamedTuple):
    """Somebody stepped in, at a message; `tool` is what was refused."""

    message: int
    kind: InterventionKind
    words: str
    by: Speaker
    tool: str = ""
    is_judged: bool = False


class CourseStep(Value, frozen=True, dict=True):
    """One step of the agent as trouble sees it."""

    number: int  # its place among the steps
    step: JudgedCall
    checks: frozenset[str]  # the checks that it runs; none where it is no check

    @property
    def asked(self) -> int:
        return self.step.exchange.asked

    @property
    def answered(self) -> int:
        return self.step.message

    @lazy
    def edits(self) -> tuple[FileEdit, ...]:
        return edits_of(self.step.exchange.call)

    @lazy
    def files(self) -> frozenset[str]:
        """The files that it changed, if it worked; none that are there to be thrown away."""
        return frozenset(path for path in self.worked_on if not is_scratch(path)) if self.worked_on else NONE

    @lazy
    def worked_on(self) -> frozenset[str]:
        """The files that it changed, if it worked, wherever they lie."""
        if family_of(self.step.exchange.call) not in WRITERS or not self.step.worked:
            return NONE
        return frozenset([path for path in self._written if path])

    @property
    def _written(self) -> Iterable[str]:
        if self.edits:
            return (edit.path for edit in self.edits)
        if not self.command:
            return ()
        plain = self.command.replace("2>&1", "").replace(">/dev/null", "")
        if not any(sign in plain for sign in _WRITING):
            return ()
        return (plain_path(path) for path in files_written(self.step.exchange.call) if path != "/dev/null")

    @lazy
    def verdict(self) -> CheckVerdict:
        """What it found, if it is a check."""
        return CheckVerdict.NONE if not self.checks or self.timed_out else verdict(self.step, self.checks)

    @lazy
    def timed_out(self) -> bool:
        """Whether it failed because its time ran out."""
        return self.step.failed and timed_out(self.step)

    @lazy
    def proves(self) -> bool:
        """Whether it shows by its own status that all is well; one that puts right what it finds only does so."""
        return self.verdict is CheckVerdict.GREEN and not hides_status(self.step, self.checks) and not self.mends

    @lazy
    def mends(self) -> bool:
        """Whether it tells a check to put right what that finds."""
        may = self.checks and any(sign in self.command for sign in _MENDING)
        return bool(may) and mends(self.command)

    @lazy
    def command(self) -> str:
        call = self.step.exchange.call
        return command_of(call) if family_of(call) is Family.SHELL else ""

    @property
    def delegates(self) -> bool:
        """Whether it had another agent do the work."""
        return self.step.worked and family_of(self.step.exchange.call) is Family.DELEGATE

    @lazy
    def hands_over(self) -> bool:
        may_be = not self.command or any(sign in self.command for sign in _HANDING)
        return may_be and self.step.worked and hands_over(self.step.exchange.call)


class SessionCourse(Value, frozen=True, dict=True):
    """One session as trouble sees it. Messages before `begin` are copies of another session's."""

    view: SessionView
    moves: tuple[CourseStep, ...]
    begin: int = 0
    known: SessionKnowledge = NOTHING_KNOWN
    listen: Callable[["SessionCourse"], tuple[SteppedIn, ...]] = lambda _: ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.view.transcript.messages

    @lazy
    def seconds(self) -> tuple[float, ...]:
        """Of each message, the agent's seconds between the one before and itself; none of a copy's."""
        spent = agent_seconds(self.messages, self.view.steps)
        return tuple([0.0 if at <= self.begin else each for at, each in enumerate(spent)])

    @lazy
    def of_programs(self) -> tuple[int, ...]:
        """The messages that are nobody's turn: what a program put there, a summary, an interrupt."""
        return tuple([at for at, message in enumerate(self.messages) if message.origin is not Origin.TURN])

    @lazy
    def events(self) -> tuple[SteppedIn, ...]:
        """With what somebody stepped in."""
        return self.listen(self)

    @lazy
    def _asked(self) -> tuple[int, ...]:
        return tuple([move.asked for move in self.moves])

    @lazy
    def failing(self) -> tuple[CourseStep, ...]:
        """The steps that failed."""
        return tuple([move for move in self.moves if move.step.failed])

    @lazy
    def stopped(self) -> tuple[CourseStep, ...]:
        """The steps that somebody refused or cut off."""
        return tuple([move for move in self.moves if move.step.decision.outcome in STOPPED])

    @lazy
    def checking(self) -> tuple[CourseStep, ...]:
        """The steps that run a check."""
        return tuple([move for move in self.moves if move.checks])

    @lazy
    def openings(self) -> tuple[int, ...]:
        """The messages with which somebody opens a turn of the agent, or stops it; not what is typed while it works."""
        by_user = (at for at, message in enumerate(self.messages) if message.role is Role.USER and at >= self.begin)
        return tuple([at for at in by_user if self._opens(at)])

    def _opens(self, at: int) -> bool:
        message = self.messages[at]
        return message.origin is Origin.INTERRUPT or (is_ordered(message) and not self.is_at_work(at))

    @lazy
    def spoken(self) -> tuple[int, ...]:
        """The messages in which the agent said something."""
        return tuple(saying.message for saying in self.view.by_agent)

    @lazy
    def is_vouched(self) -> bool:
        """Whether the record makes certain that a person spoke in it."""
        return any(is_vouched(message) for message in self.messages)

    @lazy
    def _turns_of_agent(self) -> tuple[int, ...]:
        return tuple(index for index, message in enumerate(self.messages) if message.role is Role.AGENT)

    def spoke_between(self, first: int, last: int) -> bool:
        """Whether the agent said or did anything between two messages."""
        place = bisect_right(self._turns_of_agent, first)
        return place < len(self._turns_of_agent) and self._turns_of_agent[place] < last

    @lazy
    def _last_doing(self) -> int:
        spoken = (
            at
            for at in range(len(self.messages) - 1, -1, -1)
            if self.messages[at].role is Role.AGENT
            or (is_ordered(self.messages[at]) and self.messages[at].text.strip())
        )
        return next(spoken, -1)

    def goes_on_after(self, message: int) -> bool:
        """Whether somebody typed anything or the agent did, after a message."""
        return self._last_doing > message

    @lazy
    def refused(self) -> frozenset[int]:
        """The messages that say that a call was refused."""
        return frozenset(move.answered for move in self.stopped if move.step.decision.outcome is Outcome.REJECTED)

    def is_at_work(self, message: int) -> bool:
        """Whether the agent was still at it when a message came."""
        before = self.messages[message - 1] if message else None
        return before is not None and (before.role is Role.TOOL or bool(before.calls))

    def end_of_turn(self, message: int) -> int:
        """The last message of the turn in which a message stands."""
        place = bisect_right(self.openings, message)
        return (self.openings[place] if place < len(self.openings) else len(self.messages)) - 1

    def end_of_work(self, message: int) -> int:
        """The last message of the work in which a message stands: who is stopped, or asks, goes on with it."""
        end = self.end_of_turn(message)
        while end + 1 < len(self.messages) and self._is_amid(end + 1):
            end = self.end_of_turn(end + 1)
        return end

    def start_of_work(self, message: int) -> int:
        """The message that opened the work in which a message stands."""
        start = self.start_of_turn(message)
        while start > self.begin and self._is_amid(start):
            start = self.start_of_turn(start - 1)
        return start

    def _is_amid(self, opening: int) -> bool:
        """Whether a message that opens a turn stands in the middle of the work."""
        near = self.messages[max(0, opening - 1) : opening + 1]
        return any(message.origin is Origin.INTERRUPT for message in near) or self.is_answer(opening)

    def is_answer(self, message: int) -> bool:
        """Whether the agent had ended with a question, so that a message is the answer."""
        before = bisect_right(self.spoken, message)
        last = self.view.by_agent[before - 1] if before else None
        if last is None or not last.is_closing or not ("?" in last.text or "？" in last.text):
            return False
        return "?" in last.end or "？" in last.end

    def claimed_done(self, message: int) -> bool:
        """Whether the agent had handed back its turn as done: it changed files in it and ended without a question."""
        before = bisect_left(self.spoken, message)
        last = self.view.by_agent[before - 1] if before else None
        if last is None or not last.is_closing or self.is_answer(last.message):
            return False
        worked = self.has_changed(self.start_of_turn(last.message), last.message)
        return worked and not self.has_changed(last.message, message)

    def start_of_turn(self, message: int) -> int:
        """The message that opened the turn in which a message stands."""
        place = bisect_right(self.openings, message)
        return self.openings[place - 1] if place else self.begin

    def moves_within(self, first: int, last: int) -> tuple[CourseStep, ...]:
        """The steps that were asked for from one message to another."""
        return self.moves[bisect_left(self._asked, first) : bisect_right(self._asked, last)]

    @lazy
    def _doing(self) -> tuple[int, ...]:
        return tuple(
            move.number
            for move in self.moves
            if move.step.effect in DOES or (move.checks and (move.mends or move.files))
        )

    def has_done(self, first: int, last: int) -> bool:
        """Whether a step between two others did more than look and check."""
        place = bisect_right(self._doing, first)
        return place < len(self._doing) and self._doing[place] < last

    @lazy
    def changes(self) -> tuple[CourseStep, ...]:
        """The steps that changed files."""
        return tuple([move for move in self._works if move.files])

    @lazy
    def _changed(self) -> tuple[int, ...]:
        return tuple(move.asked for move in self.changes)

    def has_changed_before(self, message: int) -> bool:
        return bisect_left(self._changed, message) > 0

    def has_changed(self, first: int, last: int) -> bool:
        """Whether a step from one message to before another changed files."""
        return bisect_left(self._changed, first) < bisect_left(self._changed, last)

    def next_change(self, message: int) -> CourseStep | None:
        """The first step from a message on that changed files."""
        place = bisect_left(self._changed, message)
        return self.changes[place] if place < len(self.changes) else None

    @lazy
    def is_resumed(self) -> bool:
        """Whether the agent had acted in the session that this one goes on with."""
        return any(message.calls for message in self.messages[: self.begin])

    def has_acted_before(self, message: int) -> bool:
        """Whether the agent did anything before a message."""
        return self.is_resumed or bisect_left(self._asked, message) > bisect_left(self._asked, self.begin)

    @lazy
    def last_unstash(self) -> int:
        """The last step that takes changes out of a stash again."""
        back = (
            move.number for move in reversed(self.moves) if "stash" in move.command and _UNSTASH.search(move.command)
        )
        return next(back, -1)

    def changes_before(self, message: int, most: int) -> tuple[CourseStep, ...]:
        """The last steps before a message that changed files."""
        end = bisect_left(self._changed, message)
        return self.changes[max(0, end - most) : end]

    @lazy
    def _works(self) -> tuple[CourseStep, ...]:
        return tuple([move for move in self.moves if move.worked_on])

    @lazy
    def _first_work(self) -> int:
        return next((move.asked for move in self.moves if move.files or move.delegates), len(self.messages))

    def has_worked_before(self, message: int) -> bool:
        """Whether anything was changed before a message, by the agent or by one that worked for it."""
        return self._first_work < message

    @lazy
    def _handed_over(self) -> tuple[int, ...]:
        return tuple(move.number for move in self.moves if move.hands_over)

    def handed_over_after(self, number: int) -> int:
        """The message with which the work was handed over next after a step; past the end where it never was."""
        place = bisect_right(self._handed_over, number)
        return self.moves[self._handed_over[place]].asked if place < len(self._handed_over) else len(self.messages)

    def how_it_ends(self, last: int) -> TroubleEnding:
        """How a stretch ends that reaches the end of its turn."""
        following = self.messages[last + 1 : last + 2]
        if following and following[0].origin is Origin.INTERRUPT:
            return TroubleEnding.STOPPED
        own = self.messages[last] if self.messages else None
        is_said = own is not None and own.role is Role.AGENT and not own.calls
        return TroubleEnding.HANDED_BACK if is_said or following else TroubleEnding.CUT


def moves_of(view: SessionView, checks: frozenset[EntryHead] = frozenset()) -> tuple[CourseStep, ...]:
    """The steps of a session. `checks` are the commands that this project checks its work with, where known."""
    return tuple([CourseStep(number, step, check_names(step, checks)) for number, step in enumerate(view.steps)])
