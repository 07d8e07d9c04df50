"""whet learn: a model reads the sessions that nobody has read, and code checks what it claims."""

import os
import time
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option
from whet.cli.output import moment, next_step, plain, print_json, say
from whet.errors import WhetError
from whet.text.words import many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whet.improving.review import ReviewRequest
    from whet.reading.learn import LearnProgress, LearnRequest, ReadingLimit, ReadingPlan
    from whet.reading.readers import LessonReader
    from whet.sessions.transcripts import Usage
    from whet.store.database import Database
    from whet.store.home import Home
    from whet.store.rows import Session
    from whet.targets.known_projects import KnownProjects

NO_READER = (
    "Install an agent that can read ({agents}), or name a model: `whet learn --with provider:name`. Inside an agent,"
    " `/whet:learn` lets that one read."
)


@click.command(
    "learn",
    epilog="Example: whet learn --with claude",
    help="Let an agent or a model read the sessions of a project that nobody has read yet, in short form, the oldest"
    " first, and claim lessons. Code checks each claim, a sceptic doubts it, and nothing is told to agents before you"
    " say yes. The reader has no tools. It can be stopped at any time and goes on where it was.",
)
@click.argument("project", default="")
@click.option(
    "--with",
    "reader",
    default="",
    metavar="NAME",
    help="Who reads: claude, codex, opencode, gemini, or a model as provider:name.",
)
@click.option("--all", "every", is_flag=True, help="Read every project, and not that of this folder.")
@click.option("--budget", multiple=True, metavar="AMOUNT", help="Limit, such as 2$ or 500000tokens. Repeatable.")
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
@json_option
def command(
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
    as_json: bool,
) -> int:
    if session:
        return review_session(session, kind, reader, background=background, work=work, as_json=as_json)
    from whet.cli.trying import allowance_of
    from whet.reading.learn import LearnRequest, ReadingLimit
    from whet.store.home import find_home
    from whet.store.opening import opened
    from whet.targets.known_projects import KnownProjects

    home = find_home(os.environ)
    allowance = allowance_of(budget)
    limit = ReadingLimit(allowance.tokens, allowance.dollars)
    if background:
        return _queue(home, reader, limit, as_json=as_json)
    with opened(home) as database:
        known = KnownProjects(database, also=(os.getcwd(),))
        plans = _plans(home, database, _asked(database, known, project, every=every))
        named = {each.project: known.shown(each.project) for each in plans}
    if not any(each.sessions for each in plans):
        _say_all_read(plans, as_json=as_json)
        return 0
    chosen = _reader(home, reader)
    lines = _plan_lines(chosen, plans, named)
    if dry_run:
        _show_plan(chosen, plans, lines, as_json=as_json)
        return 0
    _expect_yes(chosen, lines, yes=yes)
    ask = LearnRequest(tuple(each.project for each in plans if each.sessions), chosen.name, limit)
    return _read(home, ask, chosen, named, as_json=as_json)


def _asked(
    database: "Database", known: "KnownProjects", project: str, *, every: bool
) -> "Mapping[str, Sequence[Session]]":
    """The sessions of the projects that are meant: all, those named, or the one that this folder belongs to."""
    from whet.reading.project_files import project_sessions
    from whet.store.listing import COUNTED

    if every:
        return project_sessions(database, COUNTED)
    found = project_sessions(database)
    is_folder = not project or project.startswith((".", "/", "~"))
    if is_folder:
        here = known.identity(os.path.abspath(os.path.expanduser(project or ".")))
        wanted = {name: sessions for name, sessions in found.items() if name == here}
    else:
        wanted = {name: sessions for name, sessions in found.items() if known.is_named(name, project)}
    if not wanted:
        names = ", ".join(sorted({known.short(each) for each in found})[:6]) or "none: run `whet import`"
        raise WhetError(
            f"No session of {project or 'this folder'} is stored.",
            advice=f"Name a project or give --all. Projects with sessions: {names}.",
        )
    return wanted


def _plans(home: "Home", database: "Database", asked: "Mapping[str, Sequence[Session]]") -> "list[ReadingPlan]":
    from whet.cli.analysed import bring_up_to_date, read_what_is_taught
    from whet.reading.learn import foretell

    bring_up_to_date(database)
    read_what_is_taught(database)
    return [foretell(home, database, name, sessions) for name, sessions in asked.items()]


def _reader(home: "Home", name: str) -> "LessonReader":
    """Who reads: as asked for, as set, or the first agent that is here."""
    from whet.proving.attempt import served
    from whet.reading.readers import found_agents, reader_named, reading_agents
    from whet.store.settings_file import load

    settings = load(home)
    wanted = name or settings.reading.reader
    if not wanted:
        here = found_agents(os.environ)
        wanted = here[0].name if here else settings.model
    if not wanted:
        names = ", ".join(agent.name for agent in reading_agents())
        raise WhetError("Nobody is here to read.", advice=NO_READER.format(agents=names))
    return reader_named(wanted, home, settings, os.environ, supply=served)


def _plan_lines(reader: "LessonReader", plans: "list[ReadingPlan]", named: dict[str, str]) -> list[str]:
    from whet.text.words import short

    open_ = [each for each in plans if each.sessions]
    sessions, passes = sum(each.sessions for each in open_), sum(each.passes for each in open_)
    calls, usage = sum(each.calls for each in open_), _usage(open_)
    place = plain(named[open_[0].project]) if len(open_) == 1 else f"{len(open_)} projects"
    return [
        f"{plain(reader.name)} would read {many(sessions, 'unread session')} of {place}"
        f" in {passes} pass{'' if passes == 1 else 'es'}: about {many(calls, 'call')}.",
        f"That takes about {short(usage.input)} tokens in and {short(usage.output)} out, {_cost(reader, usage)}.",
        "It sees short forms of the sessions, what the project tells agents, and no tools. Nothing it says is told to"
        " agents before you say yes.",
    ]


def _cost(reader: "LessonReader", usage: "Usage") -> str:
    if reader.is_in_plan:
        return "within your plan"
    dollars = reader.price(usage)
    return "at your provider's prices" if dollars is None else f"about ${dollars:.2f}"


def _usage(plans: "list[ReadingPlan]") -> "Usage":
    from whet.sessions.transcripts import Usage

    return Usage(sum(each.usage.input for each in plans), sum(each.usage.output for each in plans))


def _expect_yes(reader: "LessonReader", lines: list[str], *, yes: bool) -> None:
    from whet.cli.trying import expect_allowed

    expect_allowed(reader.name, lines, yes=yes)


def _read(home: "Home", ask: "LearnRequest", reader: "LessonReader", named: dict[str, str], *, as_json: bool) -> int:
    from whet.agent.start import new_id
    from whet.cli.output import step_line
    from whet.cli.shown.learning import report_lines, report_record
    from whet.reading.learn import LearnReport, ReadingCourse, learn
    from whet.work.orders import Direct, decoded

    with step_line(f"{reader.name} reads") as line:

        def observe(progress: "LearnProgress") -> None:
            what = "the sceptic" if progress.is_doubting else f"pass {progress.number} of {progress.passes}"
            line(f"{what}, {many(progress.claims, 'claim')} so far")

        try:
            steps = Direct(f"learn-{new_id(time.time())}")
            report = decoded(learn(ReadingCourse(home, steps, ask, reader, observe)).value, LearnReport)
        except KeyboardInterrupt:
            raise WhetError(
                "Stopped. What was read until then is kept.", advice="`whet learn` goes on from there."
            ) from None
    if as_json:
        print_json(report_record(report))
        return 0
    for each in report_lines(report, named):
        say(each)
    next_step("`whet lessons` shows what held, `whet lessons --dropped` what did not and why.")
    return 0


def _queue(home: "Home", name: str, limit: "ReadingLimit", *, as_json: bool) -> int:
    """Leave new sessions of every project to the worker, if a reader is set: nobody is here to be asked."""
    from whet.store.settings_file import load

    reader = name or load(home).reading.reader
    if not reader:
        say("No reader is set, so nothing is read. To set one: `whet config reading.reader NAME`.")
        return 0
    id = queue_reading(home, reader, limit)
    if as_json:
        print_json({"work": id})
    else:
        say(f"Queued as {id}. To see progress: `whet worker list {id}`." if id else "Every session has been read.")
    return 0


def queue_reading(home: "Home", reader: str, limit: "ReadingLimit | None" = None) -> str:
    """The work of reading what nobody has read in any project, for the worker; empty where nothing is left."""
    from whet.agent.start import new_id
    from whet.reading.learn import LearnRequest, ReadingLimit, order, unread_projects
    from whet.store.opening import opened
    from whet.work.given import given_orders
    from whet.work.orders import Queue

    with opened(home) as database:
        projects = unread_projects(database)
    if not projects:
        return ""
    ask = LearnRequest(projects, reader, limit or ReadingLimit())
    with given_orders(home) as orders:
        return orders.submit(order(ask, key=new_id(time.time())), Queue.REVIEWS)


def _show_plan(reader: "LessonReader", plans: "list[ReadingPlan]", lines: list[str], *, as_json: bool) -> None:
    if not as_json:
        for line in lines:
            say(line)
        next_step("the same command without --dry-run.")
        return
    usage = _usage(plans)
    print_json(
        {
            "reader": reader.name,
            "within_plan": reader.is_in_plan,
            "dollars": None if reader.is_in_plan else reader.price(usage),
            "projects": [
                {
                    "project": each.project,
                    "sessions": each.sessions,
                    "passes": each.passes,
                    "calls": each.calls,
                    "input_tokens": each.usage.input,
                    "output_tokens": each.usage.output,
                }
                for each in plans
            ],
        }
    )


def _say_all_read(plans: "list[ReadingPlan]", *, as_json: bool) -> None:
    if as_json:
        print_json({"reader": "", "projects": []})
    else:
        say("Every session has been read." if plans else "No sessions yet. To import them, run `whet import`.")
        next_step("`whet lessons` shows what was learned.")


def review_session(session: str, kind: str, model: str, *, background: bool, work: bool, as_json: bool) -> int:
    """Look back on a session for notes and skills worth keeping; after long turns, `whet chat` does so by itself."""
    from whet.cli.options import own_store
    from whet.improving.review import ReviewRequest, look_back
    from whet.store.listing import find
    from whet.told.review_when import ReviewKind

    with own_store() as (home, database):
        found = find(database, session)
        ask = ReviewRequest(found.id, found.message_count, ReviewKind(kind), model)
        if background and (not work or _can_queue()):
            id = _submit(home, ask, as_json)
            return _work(home, id) if work else 0
        from whet.cli.chat.interrupts import interruptible

        with interruptible() as stop:
            outcome = look_back(home, database, ask, environment=os.environ, interrupt=stop)
    if as_json:
        print_json(outcome)
    else:
        say(plain(outcome.summary or f"Nothing to keep ({outcome.ending}{_because(outcome.detail)})."))
    return 0 if outcome.ending in ("finished", "budget") else 1


def _submit(home: "Home", ask: "ReviewRequest", as_json: bool) -> str:
    from whet.improving.review import order
    from whet.work.given import WorkState, given_orders
    from whet.work.orders import Queue

    with given_orders(home) as orders:
        id = orders.submit(order(ask), Queue.REVIEWS)
        work = orders.find(id)
    if as_json:
        print_json({"work": id, "state": work.state})
    elif work.is_open:
        say(f"Queued as {id}. To run it: `whet worker`.")
    elif work.state is WorkState.DONE:
        kept = work.done.sessions[0][:12] if work.done and work.done.sessions else "REVIEW"
        again = f"To do it again, run `whet forget {kept}`, then `whet learn --review {ask.session[:12]}`."
        say(f"This session was already reviewed, on {moment(work.changed)}. {again}")
    else:
        say(f"Its review {work.state} on {moment(work.changed)}. To resume it, run `whet worker retry {id}`.")
    return id


def _can_queue() -> bool:
    """Whether the engine is installed. Without it a review behind a conversation is made at once; a crash loses it."""
    from whet.errors import WhetError

    try:
        import whet.work.library  # noqa: F401
    except WhetError:
        return False
    return True


def _work(home: "Home", id: str) -> int:
    """Out of the way of whoever is talking meanwhile; they hear of a failure from its session, or by the exit code."""
    from whet.cli.commands.worker import work_off
    from whet.work.given import WorkState, given_orders
    from whet.work.orders import Queue

    os.nice(10)
    code = work_off(home, [Queue.REVIEWS], concurrency=1)
    with given_orders(home) as orders:
        work = orders.find(id)
    return 1 if work.state is WorkState.FAILED and not work.left.sessions else code


def _because(detail: str) -> str:
    return f": {detail}" if detail else ""
