"""A session condensed to what a reader needs, and as text: who said what, what failed and what then worked."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate

from whet.lessons.changed_calls import CallCourse
from whet.lessons.condensed import (
    CondensedSession,
    EventKind,
    SessionEvent,
    in_project,
    telling_lines,
    terms,
)
from whet.lessons.failed_calls import FailedCalls
from whet.sessions.lineage import is_typed, is_vouched
from whet.sessions.transcripts import Disposition, Origin
from whet.sessions.trust import Trust
from whet.text.words import cut
from whet.trouble.clock import agent_seconds
from whet.trouble.course import CourseStep, SessionCourse
from whet.trouble.outcomes.deciding import Outcome, refusal_words
from whet.trouble.outcomes.view import Saying, SessionView
from whet.trouble.people import course_of
from whet.trouble.values import InterventionKind

PERSONS, BEGINNING, KEY, END = 450, 240, 110, 90  # letters of a person's message
TEAMS, UNVOUCHED, UNKNOWN = 100, 200, 300  # where others speak; of a record that vouches for some; for nobody
INSIGHT, CLAIM = 160, 100
MOST_INSIGHTS = 5
ROOM, AROUND = 3_600, 20  # letters of a session, and of what stands around an event
ENOUGH = 1_400  # letters that any session may have: one with less to tell tells it at more length
NARROWEST, WIDEST = 0.6, 3.0  # times the letters that an event has otherwise
SAID = 3_000  # letters of the agent's words that are looked at
LEAST_INSIGHT = 40
SHARED = 3  # words of an insight and of what it is about; one is enough that is no plain word
LOOKED = 4  # calls before the first change of a turn
RETYPED = 0.6  # of the words
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
TIMES = "×"
NOTHING = "FOUND NOTHING"
HEADS = {kind: kind.value.upper() for kind in EventKind} | {
    EventKind.FAILED: "✗",
    EventKind.CLAIMED: "DONE?",
    EventKind.UNSURE: "PERSON?",
    EventKind.COUNTED: "FAILED",
}


def condense(view: SessionView, calls: CallCourse | None = None) -> CondensedSession:
    """The events of a session. What was copied from another one is told there (`own_part`)."""
    making = _Condensing(course_of(view), calls or CallCourse(view))
    found = making.events(1.0)
    taken = sum(map(_letters, found))
    if found and not ENOUGH <= taken <= ROOM:
        found = making.events(min(WIDEST, max(NARROWEST, (ENOUGH if taken < ENOUGH else ROOM) / taken)))
    kept = _fitting(sorted(found, key=lambda event: event.message))
    return CondensedSession(
        view.transcript.id, view.transcript.source, view.transcript.started, kept, len(found) - len(kept)
    )


def _fitting(events: list[SessionEvent]) -> tuple[SessionEvent, ...]:
    """The events that a session has room for: people's words first, what nobody put right last."""
    left = ROOM
    kept: set[int] = set()
    for place in sorted(range(len(events)), key=lambda at: (_rank(events[at]), at)):
        left -= _letters(events[place])
        if left < 0:
            break
        kept.add(place)
    return tuple(event for place, event in enumerate(events) if place in kept)


def _letters(event: SessionEvent) -> int:
    return len(event.text) + len(event.error) + len(event.worked) + AROUND


def _rank(event: SessionEvent) -> int:
    if event.kind in (EventKind.PERSON, EventKind.REFUSED, EventKind.INTERRUPTED):
        return 0
    if event.kind in (EventKind.UNSURE, EventKind.TEAM):
        return 1 if event.trust > Trust.EXTERNAL else 3
    return 1 if event.worked or event.times > 1 else 2


class _Condensing:
    """One session on its way to events."""

    def __init__(self, course: SessionCourse, calls: CallCourse) -> None:
        self.course = course
        self.scale = 1.0
        self.folder = course.view.transcript.folder
        self.failed = FailedCalls(course, calls)
        self.asked = [move.asked for move in course.moves]
        self.seconds = list(accumulate(agent_seconds(course.messages, course.view.steps), initial=0.0))
        self.answered = sorted((move.answered, move.step.trust) for move in course.moves)
        self.lowest = list(accumulate((trust for _, trust in self.answered), min))

    def events(self, scale: float) -> list[SessionEvent]:
        """Every event in no order, with so many times the usual letters."""
        self.scale = self.failed.scale = scale
        return [*self.spoken(), *self.stopped(), *self.failed.events(), *self.claims(), *self.insights()]

    def _cut(self, text: str, letters: int) -> str:
        return cut(text, round(letters * self.scale))

    def spoken(self) -> Iterator[SessionEvent]:
        """What stands in the person's place: their own words, and those of others."""
        said = [saying for saying in self.course.view.by_user if saying.text.strip()]
        for saying in said:
            message = self.course.messages[saying.message]
            if is_vouched(message):
                yield self._persons(saying, EventKind.PERSON, self._excerpt(saying))
            elif is_typed(message):
                room = round((UNVOUCHED if self.course.is_vouched else UNKNOWN) * self.scale)
                yield self._persons(saying, EventKind.UNSURE, self._beginning(saying, room))
            else:
                yield SessionEvent(saying.message, EventKind.TEAM, self._beginning(saying, TEAMS), trust=saying.trust)

    def _beginning(self, saying: Saying, room: int) -> str:
        return cut(in_project(saying.text[: 4 * room], self.folder), room)

    def _persons(self, saying: Saying, kind: EventKind, words: str) -> SessionEvent:
        """What a person typed, or may have typed, and what it cost."""
        first = saying.message
        end = self.course.end_of_turn(first)
        calls = bisect_right(self.asked, end) - bisect_left(self.asked, first)
        minutes = (self.seconds[end + 1] - self.seconds[first + 1]) / 60
        return SessionEvent(first, kind, words, trust=saying.trust, calls=calls, minutes=round(minutes, 1))

    def _excerpt(self, saying: Saying) -> str:
        """The words, of a long paste its beginning, the lines that the agent took up, and its end."""
        text = in_project(saying.text, self.folder)
        if len(text) <= PERSONS * self.scale:
            return text
        beginning, end = round(BEGINNING * self.scale), round(END * self.scale)
        middle = saying.text[beginning:-end].partition(" ")[2]
        place = bisect_right(self.course.spoken, saying.message)
        reply = self.course.view.by_agent[place].text if place < len(self.course.spoken) else ""
        lines = telling_lines(middle, asked=frozenset(), followed=terms(reply), most=1)
        key = self._cut(in_project(lines[0], self.folder), KEY) if lines else ""
        return f"{cut(text, beginning)} {key} … {text[-end:].lstrip()}".replace("……", "…").replace("… …", "…")

    def stopped(self) -> Iterator[SessionEvent]:
        """Calls that were refused, with the words that the record keeps of it, and where the agent was interrupted."""
        refused = [move for move in self.course.moves if move.step.decision.outcome is Outcome.REJECTED]
        for move in refused:
            yield SessionEvent(move.answered, EventKind.REFUSED, self.failed.shown(move), trust=self._trust_of(move))
            yield from self._words(move)
        for index, message in enumerate(self.course.messages):
            # A refusal right before an interrupt says the same.
            if message.origin is Origin.INTERRUPT and self.course.refused.isdisjoint((index - 1, index)):
                yield from self._interrupted(index)

    def _words(self, move: CourseStep) -> Iterator[SessionEvent]:
        result = move.step.exchange.result
        words = in_project(refusal_words(result.text), self.folder) if result is not None else ""
        if result is not None and words:
            # Anybody can print a refusal: the words are the person's where the record itself says that they refused.
            is_theirs = result.disposition is Disposition.REJECTED and self.course.is_vouched
            kind, trust = (EventKind.PERSON, Trust.USER) if is_theirs else (EventKind.TEAM, move.step.trust)
            yield SessionEvent(move.answered, kind, self._cut(words, PERSONS), trust=trust)

    def _interrupted(self, index: int) -> Iterator[SessionEvent]:
        """Where the agent was stopped at work; who stops it before it did anything takes back what they typed."""
        place = bisect_left(self.asked, index) - 1
        if place >= 0 and self.asked[place] >= self.course.start_of_turn(index - 1):
            move = self.course.moves[place]
            yield SessionEvent(move.asked, EventKind.INTERRUPTED, self.failed.shown(move), trust=self._trust_of(move))

    def _trust_of(self, move: CourseStep) -> Trust:
        """A call is worth no more than what the agent had read when it made it."""
        return min(Trust.AGENT, self._read_before(move.asked))

    def _read_before(self, message: int) -> Trust:
        """The lowest trust of what the agent had read: its sentences may repeat that."""
        place = bisect_left(self.answered, (message, Trust.EXTERNAL))
        return self.lowest[place - 1] if place else Trust.AGENT

    def claims(self) -> Iterator[SessionEvent]:
        """The last words of a turn that changed files, where the person or a check contradicted them next."""
        objected = {event.message for event in self.course.events if event.kind is InterventionKind.CORRECTION}
        last = {self.course.end_of_turn(saying.message): saying for saying in self.course.view.by_agent}
        for end, saying in last.items():
            first = self.course.start_of_turn(saying.message)
            if not saying.is_closing or not self.course.has_changed(first, saying.message):
                continue
            if end + 1 in objected or self._is_red_after(end + 1):
                line = next((line for line in saying.text.split("\n") if line.strip()), "")
                yield self._agents(saying, EventKind.CLAIMED, self._cut(in_project(line, self.folder), CLAIM))

    def _is_red_after(self, message: int) -> bool:
        """Whether a check fails in the turn that a message opens, before anything is changed."""
        if message >= len(self.course.messages):
            return False
        for move in self.course.moves_within(message, self.course.end_of_turn(message)):
            if move.files:
                return False
            if move.checks and move.step.failed:
                return True
        return False

    def insights(self) -> Iterator[SessionEvent]:
        """What the agent said when somebody objected, and before its changes."""
        found: dict[int, SessionEvent] = {}
        answers = [(saying, about, 1) for saying, about in self._conceded()]
        others = [(saying, about, SHARED) for saying, about in self._found_out()]
        for saying, about, least in (*answers, *others):
            if saying.message not in found and (event := self._insight(saying, about, least)).text:
                found[saying.message] = event
        return iter([*found.values()][: round(MOST_INSIGHTS * self.scale)])

    def _conceded(self) -> Iterator[tuple[Saying, str]]:
        for event in self.course.events:
            place = bisect_right(self.course.spoken, event.message)
            if place < len(self.course.spoken) and self.course.spoken[place] <= self.course.end_of_turn(event.message):
                yield self.course.view.by_agent[place], event.words

    def _found_out(self) -> Iterator[tuple[Saying, str]]:
        """The words before the first change of a turn in which the agent looked around."""
        for opening in self.course.openings:
            change = self.course.next_change(opening)
            if change is None or change.asked > self.course.end_of_turn(opening):
                continue
            looked = bisect_left(self.asked, change.asked) - bisect_left(self.asked, opening)
            place = bisect_right(self.course.spoken, change.asked) - 1
            if looked < LOOKED or place < 0:
                continue
            saying = self.course.view.by_agent[place]
            if opening < saying.message and not saying.is_closing:
                yield saying, change.step.exchange.call.arguments[:SAID]

    def _insight(self, saying: Saying, about: str, least: int) -> SessionEvent:
        """The sentence that has most to do with what it is about; nothing where none has enough words of it."""
        words = terms(about)
        sentences = (line for line in _SENTENCE.split(saying.text[:SAID]) if len(line) >= LEAST_INSIGHT)
        lines = telling_lines("\n".join(sentences), asked=words, followed=words, most=1)
        line = in_project(" ".join(lines), self.folder)
        shared = terms(line) & words
        is_telling = len(shared) >= least or any(not word.isalpha() for word in shared)
        return self._agents(saying, EventKind.AGENT, self._cut(line, INSIGHT) if is_telling else "")

    def _agents(self, saying: Saying, kind: EventKind, words: str) -> SessionEvent:
        return SessionEvent(saying.message, kind, words, trust=min(saying.trust, self._read_before(saying.message)))


def shown(session: CondensedSession) -> str:
    """A session as a reader gets it: a heading, then a line for each event with the number of its message."""
    started = "" if session.started is None else f"{datetime.fromtimestamp(session.started, UTC):%Y-%m-%d %H:%M}"
    heading = " ".join(part for part in ("##", session.session, started, session.agent) if part)
    more = (f"({session.left_out} more events)",) if session.left_out else ()
    return "\n".join((heading, *_lines(session.events), *more))


def _lines(events: tuple[SessionEvent, ...]) -> Iterator[str]:
    held = ""
    refused = -1
    for event in events:
        line = _event(event)
        if event.message == refused and event.kind in (EventKind.PERSON, EventKind.TEAM):
            held += f" — {line}"
            refused = -1
            continue
        if held:
            yield held
        held = f"[{event.message}] {line}"
        refused = event.message if event.kind is EventKind.REFUSED else -1
    if held:
        yield held


def _event(event: SessionEvent) -> str:
    head = f"{HEADS[event.kind]}{f' {TIMES}{event.times}' if event.times > 1 else ''}"
    match event.kind:
        case EventKind.PERSON | EventKind.UNSURE:
            return f"{head}{_cost(event)}: {event.text}"
        case EventKind.TEAM | EventKind.AGENT:
            return f"{head}: {event.text}"
        case EventKind.INTERRUPTED:
            return f"{head} after {event.text}"
        case EventKind.REFUSED | EventKind.CLAIMED:
            return f"{head} {event.text}"
        case EventKind.COUNTED:
            return (
                f"{event.text} {head}: {event.error}"
                if event.error
                else f"{NOTHING}{head[len('FAILED') :]} {event.text}"
            )
    name = f"{event.subject}: " if event.kind is EventKind.RED and event.subject not in event.error else ""
    return f"{head} {event.text} → {name}{event.error}{_worked(event)}"


def _cost(event: SessionEvent) -> str:
    minutes = f", {event.minutes:.0f} min" if event.minutes >= 1 else ""
    return f" ({event.calls} calls{minutes})" if event.calls else ""


def _worked(event: SessionEvent) -> str:
    if event.worked:
        return f"  ✓ [{event.worked_at}] {'again after ' if event.again else ''}{event.worked}"
    return "  ✓ again" if event.again else ""
