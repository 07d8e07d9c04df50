"""whet learn: sessions that nobody has read, for a reader and code."""

import os
import time
from collections.abc import Mapping, Sequence

import click
import msgspec

from whet.agent.assembling import new_id
from whet.cli.analysed import read_what_is_taught
from whet.cli.chat.inputs import interruptible
from whet.cli.commands.worker import work_off
from whet.cli.options import allowance_of, budget_option, is_of_project, json_command, own_store
from whet.cli.output import fields, give, moment, next_lines, plain, step_line
from whet.cli.shown.lessons import report_lines
from whet.cli.trying import expect_allowed
from whet.errors import WhetError
from whet.improving.review import ReviewRequest, look_back
from whet.own.told.review_when import ReviewKind
from whet.proving.attempt import served
from whet.reading.learn import (
    LearnProgress,
    LearnReport,
    LearnRequest,
    ReadingCourse,
    ReadingLimit,
    ReadingPlan,
    foretell,
    learn,
    order,
    unread_projects,
)
from whet.reading.project_files import project_sessions
from whet.reading.readers import LessonReader, found_agents, reader_named, reading_agents
from whet.sessions.transcripts import Usage
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import COUNTED, find
from whet.store.opening import opened
from whet.store.rows import Session
from whet.store.settings_file import load
from whet.telling.targets.known_projects import KnownProjects
from whet.text.words import many, short
from whet.work.orders import DirectSteps, Queue, decoded

NO_READER = (
    "Install an agent that can read ({agents}), or name a model: `whet learn --with provider:name`. Inside an agent,"
    " `/whet:learn` lets that one read."
)


@json_command("learn", epilog="Example: whet learn --with claude")
@click.argument("project", default="")
@click.option(
    "--with",
    "reader",
    default="",
    metavar="NAME",
    help="Who reads: claude, codex, opencode, gemini, or a model as provider:name.",
)
@click.option("--all", "every", is_flag=True, help="Read every project, and not that of this folder.")
@budget_option
@click.option("--yes", is_flag=True, help="Start without asking.")
@click.option("--dry-run", is_flag=True, help="Show who would read, and what it takes.")
@click.option("--background", is_flag=True, help="Queue it for `whet worker`, within the daily limit.")
@click.option(
    "--review",
    "session",
    default="",
    metavar="ID",
    help="Look back on this session alone, of any agent, for notes and skills worth keeping; --with names the model.",
)
@click.option("--kind", type=click.Choice(["memory", "skill", "combined"]), default="combined", hidden=True)
@click.option("--work", is_flag=True, hidden=True, help="With --background: be the worker too, until all is done.")
def learn_command(
    project: str,
    reader: str,
    every: bool,
    budget: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    background: bool,
    session: str,
    kind: str,
    work: bool,
) -> int:
    """Let an agent or a model read the sessions of a project that nobody has read yet, in short form, the oldest first,
    and claim lessons. Code checks each claim, a sceptic doubts it, and nothing is told to agents before you say yes.
    The reader has no tools. It can be stopped at any time and goes on where it was.
    """
    if session:
        return review_session(session, kind, reader, background=background, work=work)

    home = find_home(os.environ)
    limit = reading_limit(budget)
    if background:
        return _queue(home, reader, limit)
    with opened(home) as database:
        known = KnownProjects(database, also=(os.getcwd(),))
        asked = _asked(database, known, project, every=every)
        read_what_is_taught(database)
        plans = [foretell(home, database, name, sessions) for name, sessions in asked.items()]
        named = {each.project: known.shown(each.project) for each in plans}
    if not any(each.sessions for each in plans):
        told = "Every session has been read." if plans else "No sessions yet. To import them, run `whet import`."
        return give({"reader": "", "projects": []}, (told, *next_lines("`whet lessons` shows what was learned.")))
    chosen = reader_of(home, reader)
    lines = _plan_lines(chosen, plans, named)
    if dry_run:
        then = next_lines("the same command without --dry-run.")
        return give(_plan_record(chosen, plans), (*lines, *then))
    expect_allowed(chosen.name, lines, yes=yes)
    ask = LearnRequest(tuple(each.project for each in plans if each.sessions), chosen.name, limit)
    return _read(home, ask, chosen, named)


def reading_limit(budget: tuple[str, ...]) -> ReadingLimit:
    allowance = allowance_of(budget)
    return ReadingLimit(allowance.tokens, allowance.dollars)


def _asked(database: Database, known: KnownProjects, project: str, *, every: bool) -> Mapping[str, Sequence[Session]]:
    """The sessions of the projects that are meant: all, those named, or the one that this folder belongs to."""
    if every:
        return project_sessions(database, COUNTED)
    found = project_sessions(database)
    wanted = {name: sessions for name, sessions in found.items() if is_of_project(name, project or ".", known)}
    if not wanted:
        names = ", ".join(sorted({known.short(each) for each in found})[:6]) or "none: run `whet import`"
        raise WhetError(
            f"No session of {project or 'this folder'} is stored.",
            advice=f"Name a project or give --all. Projects with sessions: {names}.",
        )
    return wanted


def reader_of(home: Home, name: str) -> LessonReader:
    """Who reads: as asked for, as set, or the first agent that is here."""
    settings = load(home)
    wanted = name or settings.reading.reader
    if not wanted:
        here = found_agents(os.environ)
        wanted = here[0].name if here else settings.model
    if not wanted:
        names = ", ".join(agent.name for agent in reading_agents())
        raise WhetError("Nobody is here to read.", advice=NO_READER.format(agents=names))
    return reader_named(wanted, home, settings, os.environ, supply=served)


def _plan_lines(reader: LessonReader, plans: list[ReadingPlan], named: dict[str, str]) -> list[str]:
    open_ = [each for each in plans if each.sessions]
    sessions, passes = sum(each.sessions for each in open_), sum(each.passes for each in open_)
    calls, usage = sum(each.calls for each in open_), _usage(open_)
    place = plain(named[open_[0].project]) if len(open_) == 1 else f"{len(open_)} projects"
    return [
        f"{plain(reader.name)} would read {many(sessions, 'unread session')} of {place}"
        f" in {passes} pass{'' if passes == 1 else 'es'}: about {many(calls, 'call')}.",
        f"That takes about {short(usage.input)} tokens in and {short(usage.output)} out, {cost_words(reader, usage)}.",
        "It sees short forms of the sessions, what the project tells agents, and no tools. Nothing it says is told to"
        " agents before you say yes.",
    ]


def cost_words(reader: LessonReader, usage: Usage) -> str:
    if reader.is_in_plan:
        return "within your plan"
    dollars = reader.price(usage)
    return "at your provider's prices" if dollars is None else f"about ${dollars:.2f}"


def _usage(plans: list[ReadingPlan]) -> Usage:
    return Usage(sum(each.usage.input for each in plans), sum(each.usage.output for each in plans))


def _read(home: Home, ask: LearnRequest, reader: LessonReader, named: dict[str, str]) -> int:
    with step_line(f"{reader.name} reads") as line:

        def observe(progress: LearnProgress) -> None:
            what = "the sceptic" if progress.is_doubting else f"pass {progress.number} of {progress.passes}"
            line(f"{what}, {many(progress.claims, 'claim')} so far")

        try:
            steps = DirectSteps(f"learn-{new_id(time.time())}")
            report = decoded(learn(ReadingCourse(home, steps, ask, reader, observe)).value, LearnReport)
        except KeyboardInterrupt:
            raise WhetError(
                "Stopped. What was read until then is kept.", advice="`whet learn` goes on from there."
            ) from None
    then = next_lines("`whet lessons` shows what held, `whet lessons --dropped` what did not and why.")
    return give(msgspec.to_builtins(report), (*report_lines(report, named), *then))


def _queue(home: Home, name: str, limit: ReadingLimit) -> int:
    """Leave new sessions of every project to the worker, if a reader is set: nobody is here to be asked."""
    reader = name or load(home).reading.reader
    if not reader:
        none = "No reader is set, so nothing is read. To set one: `whet config reading.reader NAME`."
        return give({"work": ""}, (none,))
    id = queue_reading(home, reader, limit)
    told = f"Queued as {id}. To see progress: `whet worker list {id}`." if id else "Every session has been read."
    return give({"work": id}, (told,))


def queue_reading(home: Home, reader: str, limit: ReadingLimit | None = None) -> str:
    """The work of reading what nobody has read in any project, for the worker; empty where nothing is left."""
    from whet.work.given import given_orders

    with opened(home) as database:
        projects = unread_projects(database)
    if not projects:
        return ""
    ask = LearnRequest(projects, reader, limit or ReadingLimit())
    with given_orders(home) as orders:
        return orders.submit(order(ask, key=new_id(time.time())), Queue.REVIEWS)


def _plan_record(reader: LessonReader, plans: list[ReadingPlan]) -> dict[str, object]:
    projects = [
        {
            **fields(each, "project", "sessions", "passes", "calls"),
            "input_tokens": each.usage.input,
            "output_tokens": each.usage.output,
        }
        for each in plans
    ]
    dollars = None if reader.is_in_plan else reader.price(_usage(plans))
    return {"reader": reader.name, "within_plan": reader.is_in_plan, "dollars": dollars, "projects": projects}


def review_session(session: str, kind: str, model: str, *, background: bool, work: bool) -> int:
    """Look back on a session for notes and skills worth keeping; after long turns, `whet chat` does so by itself."""
    with own_store() as (home, database):
        found = find(database, session)
        ask = ReviewRequest(found.id, found.message_count, ReviewKind(kind), model)
        if background and (not work or _can_queue()):
            id = _submit(home, ask)
            return _work(home, id) if work else 0
        with interruptible() as stop:
            outcome = look_back(home, database, ask, environment=os.environ, interrupt=stop)
    because = f": {outcome.detail}" if outcome.detail else ""
    told = plain(outcome.summary or f"Nothing to keep ({outcome.ending}{because}).")
    return give(outcome, (told,), code=int(outcome.ending not in ("finished", "budget")))


def _can_queue() -> bool:
    """Whether the engine is installed. Without it a review behind a conversation is made at once; a crash loses it."""
    try:
        import whet.work.faults  # noqa: F401
    except WhetError:
        return False
    return True


def _submit(home: Home, ask: ReviewRequest) -> str:
    from whet.improving.review import order
    from whet.work.given import WorkState, given_orders

    with given_orders(home) as orders:
        id = orders.submit(order(ask), Queue.REVIEWS)
        work = orders.find(id)
    told = f"Its review {work.state} on {moment(work.changed)}. To resume it, run `whet worker retry {id}`."
    if work.is_open:
        told = f"Queued as {id}. To run it: `whet worker`."
    elif work.state is WorkState.DONE:
        kept = work.done.sessions[0][:12] if work.done and work.done.sessions else "REVIEW"
        again = f"To do it again, run `whet forget {kept}`, then `whet learn --review {ask.session[:12]}`."
        told = f"This session was already reviewed, on {moment(work.changed)}. {again}"
    give({"work": id, "state": work.state}, (told,))
    return id


def _work(home: Home, id: str) -> int:
    """Out of the way of whoever is talking meanwhile; they hear of a failure from its session, or by the exit code."""
    from whet.work.given import WorkState, given_orders

    os.nice(10)
    code = work_off(home, [Queue.REVIEWS], concurrency=1)
    with given_orders(home) as orders:
        work = orders.find(id)
    return 1 if work.state is WorkState.FAILED and not work.left.sessions else code
