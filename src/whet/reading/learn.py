"""Learning as durable work: sessions that nobody read go to a reader, pass by pass, and what it claims to a sceptic.

What a pass claims and that its sessions were read is kept together. So whatever ends the work, it goes on with the
next pass, and no session is read twice.
"""

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.metering import Meter
from whet.agent.providers.choosing import Supply
from whet.agents.executor import ReaderAnswer
from whet.lessons.claim_evidence import CheckedQuote, check_quotes
from whet.lessons.claims import Claim, ClaimAuthor, DroppedClaim, Quote, ReadBy, bounded
from whet.own.runs.models import Amount
from whet.own.runs.run import Spent, together
from whet.proving.attempt import served
from whet.reading.answers import ClaimsRead, Shown, faults, read_answer, with_exact_quotes
from whet.reading.passes import (
    ANSWER_TOKENS,
    PASS_TOKENS,
    ProjectReading,
    cut_passes,
    doubtful,
    doubts_of,
    gather,
    question_of,
    question_of_doubts,
    refused_in,
)
from whet.reading.project_files import project_sessions
from whet.reading.readers import LessonReader, MeteredReading, ModelReading, ReaderQuestion, reader_named
from whet.sessions.transcripts import Usage
from whet.shipped.guidance import READING
from whet.store.claims import keep_pass, sessions_read
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import COUNTED
from whet.store.opening import opened
from whet.store.rows import Session
from whet.store.sessions import load
from whet.store.settings_file import load as load_settings
from whet.text.words import estimate
from whet.values import Value
from whet.work.orders import Done, Failed, Order, Steps, encoded

KIND = "learn"
FIRST_SPLIT = 8  # sessions that a first run needs, so that its older part can be tested on the newer one
DOUBT_TOKENS = 15_000  # that a sceptic sees at once, as measured
ENDED = "the limit is reached"


class ReadingLimit(Value, frozen=True):
    """What one run may use; None sets no limit."""

    tokens: int | None = None
    dollars: float | None = None

    def has_room(self, spent: Spent) -> bool:
        """Whether there is room for one more question like those before."""
        used = spent.input + spent.output
        if self.tokens is not None and used + used // max(spent.model_calls, 1) > self.tokens:
            return False
        return self.dollars is None or (spent.dollars or 0.0) < self.dollars


class LearnRequest(Value, frozen=True):
    """Of which projects the unread sessions are to be read, by whom, and within what."""

    projects: tuple[str, ...]
    reader: str
    limit: ReadingLimit = ReadingLimit()


class LearnedProject(Value, frozen=True):
    """What reading one project came to."""

    project: str
    sessions: int = 0  # read in this run
    passes: int = 0
    claims: int = 0  # operations that were kept
    dropped: int = 0  # lines of answers that could not be used
    asked_again: int = 0
    kept: int = 0  # by the sceptic, in the same or in better words
    refused: int = 0  # by the sceptic
    left: int = 0  # sessions still unread


class LearnReport(Value, frozen=True):
    """What a run came to; `stopped` says why it ended before all was read."""

    reader: str
    projects: tuple[LearnedProject, ...] = ()
    spent: Spent = Spent()
    stopped: str = ""
    is_in_plan: bool = False


class LearnProgress(NamedTuple):
    """How far a run is: of which project, in which pass of how many, and the claims so far."""

    project: str
    number: int
    passes: int
    claims: int
    is_doubting: bool = False


class _PassPlan(Value, frozen=True):
    """The sessions of one pass, by their ids, and whether what was claimed so far is doubted after it."""

    sessions: tuple[str, ...]
    doubts_after: bool = False


class _PassDone(Value, frozen=True):
    """What one pass came to."""

    sessions: int = 0
    claims: int = 0
    dropped: int = 0
    asked_again: bool = False
    kept: int = 0
    refused: int = 0
    spent: Spent = Spent()
    why: str = ""  # why there was no answer


Observe = Callable[[LearnProgress], None]


class ReadingCourse(NamedTuple):
    """One run while it is carried out."""

    home: Home
    steps: Steps
    ask: LearnRequest
    reader: LessonReader
    observe: Observe = lambda _: None


def order(ask: LearnRequest, *, key: str) -> Order:
    """The order to learn. Only one is open at a time: two would read the same sessions."""
    return Order(KIND, key, encoded(ask), alone=KIND)


def carry_out(
    home: Home,
    steps: Steps,
    ask: LearnRequest,
    *,
    supply: Supply = served,
    meter: Meter | None = None,
    observe: Observe = lambda _: None,
) -> Done:
    """Carry an order out. With a meter, what a program reads counts towards the daily limit of background work."""
    reader = reader_named(ask.reader, home, load_settings(home), os.environ, supply=supply)
    if meter is not None and not isinstance(reader, ModelReading):  # a model's calls are metered by its supply
        reader = MeteredReading(reader, meter, Amount(PASS_TOKENS + ANSWER_TOKENS))
    return learn(ReadingCourse(home, steps, ask, reader, observe))


def learn(course: ReadingCourse) -> Done:
    """Read what nobody has read of the projects, check it and doubt it, until all is read or the limit is reached."""
    found: list[LearnedProject] = []
    costs: list[Spent] = []
    stopped = ""
    for place, project in enumerate(course.ask.projects):
        made = LearnedProject(project)
        plan = course.steps.do(f"plan {place}", lambda: _plan(course, project), tuple[_PassPlan, ...])  # noqa: B023
        for number, each in enumerate(plan, start=1):
            if not course.ask.limit.has_room(together(costs)):
                stopped = ENDED
                break
            course.observe(LearnProgress(project, number, len(plan), made.claims))
            made = _carry(course, made, costs, f"{place} pass {number}", _reading(course, project, each, number, plan))
            if each.doubts_after:
                course.observe(LearnProgress(project, number, len(plan), made.claims, is_doubting=True))
                made = _doubt(course, made, costs, f"{place} doubts {number}")
        left = sum(len(each.sessions) for each in plan) - made.sessions
        found.append(replace(made, left=left))
        if stopped:
            break
    report = LearnReport(course.reader.name, tuple(found), together(costs), stopped, course.reader.is_in_plan)
    return Done(sentence(report), (), report.spent, encoded(report))


def sentence(report: LearnReport) -> str:
    """A run in a line."""
    sessions = sum(each.sessions for each in report.projects)
    claims = sum(each.claims for each in report.projects)
    end = f"; {report.stopped}" if report.stopped else ""
    return f"{report.reader} read {sessions} sessions and claims {claims}{end}"


def passes_of(reading: ProjectReading) -> tuple[_PassPlan, ...]:
    """The passes over what is unread: of a project that nobody has read, first those over its older half."""
    unread = reading.unread
    half = len(unread) // 2 if reading.is_first and len(unread) >= FIRST_SPLIT else 0
    parts = [part for part in (unread[:half], unread[half:]) if part]
    plans: list[_PassPlan] = []
    for part in parts:
        cut = cut_passes(reading, part)
        plans += [
            _PassPlan(tuple(each.session.id for each in sessions), number == len(cut))
            for number, sessions in enumerate(cut, start=1)
        ]
    return tuple(plans)


def unread_projects(database: Database) -> tuple[str, ...]:
    """The projects with sessions that nobody has read, those with most of them first; no temporary folders."""
    waiting: dict[str, int] = {}
    for project, sessions in project_sessions(database, COUNTED).items():
        done = sessions_read(database, project)
        waiting[project] = sum(each.id not in done or done[each.id].messages < each.message_count for each in sessions)
    return tuple(sorted((each for each, count in waiting.items() if count), key=lambda each: -waiting[each]))


class ReadingPlan(NamedTuple):
    """What a run over one project would take, as far as can be told before."""

    project: str
    sessions: int
    passes: int
    calls: int
    usage: Usage


def foretell(home: Home, database: Database, project: str, sessions: Sequence[Session]) -> ReadingPlan:
    """What reading a project takes: its passes, and a look of the sceptic at what they may claim."""
    reading = gather(home, database, project, sessions)
    plans = passes_of(reading)
    told = {each.session.id: estimate(each.text) for each in reading.unread}
    calls = sum(any(told[id] for id in each.sessions) for each in plans)
    doubts = sum(each.doubts_after for each in plans) if calls else 0
    shown = calls * reading.overhead + sum(told.values()) + doubts * DOUBT_TOKENS
    return ReadingPlan(
        project, len(reading.unread), len(plans), calls + doubts, Usage(shown, (calls + doubts) * ANSWER_TOKENS)
    )


def _plan(course: ReadingCourse, project: str) -> tuple[_PassPlan, ...]:
    with opened(course.home) as database:
        sessions = project_sessions(database).get(project, [])
        return passes_of(gather(course.home, database, project, sessions))


def _carry(
    course: ReadingCourse, made: LearnedProject, costs: list[Spent], name: str, act: Callable[[], _PassDone]
) -> LearnedProject:
    """One step, counted; where there was no answer, the work ends here with what it cost."""
    done = course.steps.do(name, act, _PassDone)
    costs.append(done.spent)
    if done.why:
        raise Failed(
            f"{course.reader.name} gave no answer: {done.why}.",
            advice="What was read until then is kept. Put it right and run `whet learn` again: it goes on from there.",
            spent=together(costs),
        )
    return replace(
        made,
        sessions=made.sessions + done.sessions,
        passes=made.passes + bool(done.sessions),
        claims=made.claims + done.claims,
        dropped=made.dropped + done.dropped,
        asked_again=made.asked_again + done.asked_again,
        kept=made.kept + done.kept,
        refused=made.refused + done.refused,
    )


def _reading(
    course: ReadingCourse, project: str, plan: _PassPlan, number: int, plans: Sequence[_PassPlan]
) -> Callable[[], _PassDone]:
    def act() -> _PassDone:
        with opened(course.home) as database:
            reading = gather(course.home, database, project, project_sessions(database).get(project, []))
            wanted = frozenset(plan.sessions)
            reading = reading._replace(unread=tuple(each for each in reading.unread if each.session.id in wanted))
            return read_pass(course, database, reading, number=number, passes=len(plans))

    return act


def read_pass(
    course: ReadingCourse, database: Database, reading: ProjectReading, *, number: int, passes: int
) -> _PassDone:
    """One pass: asked, asked once more about what cannot be used, and kept."""
    if not reading.unread:
        return _PassDone()
    told = [each for each in reading.unread if each.text]
    if not told:  # nothing happened in any of them: nobody has to be asked
        keep(database, reading, ClaimsRead(), course.reader.name)
        return _PassDone(len(reading.unread))
    asked = question_of(reading, reading.unread, number=number, passes=passes)
    sessions = [each.session for each in reading.unread]
    first = _ask(course, asked.question)
    if first.why:
        return _PassDone(spent=spent_on(course.reader, first), why=first.why)
    answer = checked_answer(database, first.text, asked.shown, sessions)
    costs = [spent_on(course.reader, first)]
    if answer.dropped:
        again = READING.text("again", reading.own, faults=faults(answer))
        second = _ask(course, asked.question._replace(order=f"{asked.question.order}\n\n{again}"))
        costs.append(spent_on(course.reader, second))
        # It may speak of the new claims of the first answer too.
        shown = asked.shown._replace(claims=asked.shown.claims | {each.id for each in answer.claims})
        better = checked_answer(database, second.text, shown, sessions)
        more = (each for each in better.claims if each not in answer.claims)
        answer = ClaimsRead(
            (*answer.claims, *more),
            better.dropped if not second.why else answer.dropped,
            better.judged if answer.judged is None else answer.judged,
        )
    keep(database, reading, answer, course.reader.name)
    return _PassDone(len(sessions), len(answer.claims), len(answer.dropped), len(costs) > 1, spent=together(costs))


def checked_answer(database: Database, text: str, shown: Shown, sessions: Sequence[Session]) -> ClaimsRead:
    """The claims of an answer whose quotes stand in the sessions, and what cannot be used of it."""
    answer = read_answer(text, shown)
    by_session: dict[str, list[Quote]] = {}
    for claim in answer.claims:
        for quote in claim.quotes:
            by_session.setdefault(quote.session, []).append(quote)
    checked: dict[Quote, CheckedQuote] = {}
    for session in sessions:
        if session.id in by_session:
            found = check_quotes(tuple(dict.fromkeys(by_session[session.id])), load(database, session))
            checked.update({each.quote: each for each in found})
    return with_exact_quotes(answer, checked)


def keep(database: Database, reading: ProjectReading, answer: ClaimsRead, reader: str) -> bool:
    """Keep what was claimed of a pass, that its sessions were read, and which messages in them are corrections."""
    read = tuple(each.read((answer.judged or {}).get(each.session.id)) for each in reading.unread)
    claims: tuple[Claim | DroppedClaim, ...] = (*answer.claims, *answer.dropped)
    return keep_pass(database, reading.project, read, bounded(claims), reader=ReadBy(reader), now=time.time())


def _doubt(course: ReadingCourse, made: LearnedProject, costs: list[Spent], name: str) -> LearnedProject:
    """Have a sceptic look at each claim that held and that none has looked at yet, ten at a time."""
    for number in range(1, made.claims + made.kept + 2):
        if not course.ask.limit.has_room(together(costs)):
            return made
        before = made.kept + made.refused
        made = _carry(course, made, costs, f"{name} {number}", lambda: _doubted(course, made.project))  # noqa: B023
        if made.kept + made.refused == before:
            return made
    return made


def _doubted(course: ReadingCourse, project: str) -> _PassDone:
    with opened(course.home) as database:
        sessions = project_sessions(database).get(project, [])
        found = doubtful(course.home, database, project, sessions)
        if not found:
            return _PassDone()
        asked = question_of_doubts(course.home, project, found)
        answer = _ask(course, asked.question)
        if answer.why:
            return _PassDone(spent=spent_on(course.reader, answer), why=answer.why)
        claims, spent = doubts_of(answer.text, asked.shown), spent_on(course.reader, answer)
        if not claims.claims:
            answer = _ask(course, asked.question)
            claims = doubts_of(answer.text, asked.shown)
            spent = together((spent, spent_on(course.reader, answer)))
        keep_doubts(database, project, claims, course.reader.name)
        refused, dropped = refused_in(claims), len(claims.dropped)
        return _PassDone(kept=len(claims.claims) - refused, refused=refused, dropped=dropped, spent=spent)


def keep_doubts(database: Database, project: str, claims: ClaimsRead, reader: str) -> None:
    """Keep what a sceptic said."""
    said = bounded((*claims.claims, *claims.dropped))
    keep_pass(database, project, (), said, reader=ReadBy(reader, ClaimAuthor.SCEPTIC), now=time.time())


def _ask(course: ReadingCourse, question: ReaderQuestion) -> ReaderAnswer:
    left = course.ask.limit.dollars
    return course.reader.ask(question, interrupt=course.steps.interrupt, dollars=left)


def spent_on(reader: LessonReader, answer: ReaderAnswer) -> Spent:
    """What an answer used; within a plan it costs nothing more."""
    usage = answer.usage
    dollars = None if reader.is_in_plan else reader.price(usage)
    return Spent(1, usage.input, usage.output, usage.cached, dollars=dollars)
