"""Fail, analyse, rewrite, retry, verify, in one go: what `whet try` does where it is given no change."""

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from whet.cli.options import point_in_time
from whet.cli.other_agents import expect_allowed, other_agent
from whet.cli.output import next_step, print_json, say
from whet.cli.trying import TryOptions
from whet.errors import WhetError
from whet.ledger.origins import PatchOrigin, PatchWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whet.store.home import Home
    from whet.trials.improvements import ImproveReport, ImproveRequest

LOOK_SECONDS = 1.0


class ImproveOptions(NamedTuple):
    """What is said of an improvement beside how its changes are tried."""

    share: float
    most: int
    since: str | None
    retire: bool
    nightly: str | None


def improve_by(given: TryOptions, more: ImproveOptions, *, as_json: bool) -> int:
    """Take what sessions teach, test each change on cases, and keep what is proven to help."""
    from whet.cli.trying import allowance_of
    from whet.store.home import find_home
    from whet.trials.design import TrialDesign
    from whet.trials.improvements import ImproveRequest

    if sum((given.now, given.background, given.dry_run, bool(more.nightly))) > 1:
        raise WhetError("Use only one of --now, --background, --dry-run and --nightly.", advice="Remove the others.")
    home = find_home(os.environ)
    named = tuple(os.path.abspath(each) if os.path.exists(each) else each for each in given.cases)
    ask = ImproveRequest(
        given.model,
        other_agent(given.agent),
        named,
        TrialDesign(given.seeds, given.alpha, given.placebo, allowance_of(given.budget)),
        more.share,
        more.most,
        point_in_time(more.since),
        more.retire,
        dry_run=given.dry_run,
    )
    if ask.agent and more.nightly:
        raise WhetError(
            f"Every night is too often to agree to what {given.agent} spends.",
            advice="Leave out --agent, or --nightly.",
        )
    if ask.agent and not given.dry_run:
        expect_allowed(ask.agent, _asked_of(ask, given.budget), yes=given.yes)
    if more.nightly:
        options = _options(ask, budget=given.budget, since=more.since)
        return _nightly(home, more.nightly, options, as_json=as_json)
    if given.dry_run:
        return _show(_planned(home, ask), as_json)
    if not given.background:
        _expect_key(home, ask)
    if not as_json:
        _name_judge(home, ask)
    if given.now:
        return _show(_direct(home, ask), as_json)
    return _queued(home, ask, follow=not given.background, as_json=as_json)


def _asked_of(ask: "ImproveRequest", budget: tuple[str, ...]) -> "Iterator[str]":
    """What another agent may take in the person's name."""
    from whet.cli.other_agents import account

    limit = f"each ends at {' or '.join(budget)}" if budget else "no budget is set: --budget 2$ ends each there"
    yield f"At most {ask.most} changes are tried on {ask.agent}; {limit}. To see the plan: --dry-run."
    yield account(ask.agent)


def _expect_key(home: "Home", ask: "ImproveRequest") -> None:
    """Raise before anything is queued where the model that this process asks has no key."""
    from whet.agent.providers.choosing import missing_key
    from whet.store.settings_file import load

    model = load(home).model if ask.agent else ask.model or load(home).model
    if model and (variable := missing_key(load(home), os.environ, model)):
        raise WhetError(
            f"{model} needs the key in {variable}, which is not set.",
            advice=f"Run `export {variable}=…`. To see the plan without it, use --dry-run.",
        )


def _name_judge(home: "Home", ask: "ImproveRequest") -> None:
    """Say before a trial which model judges for which agent."""
    from whet.cli.shown.trials import judge_line
    from whet.store.settings_file import load

    model = ask.model or load(home).model
    if model or ask.agent:
        say(judge_line("" if ask.agent and not ask.model else model, ask.agent))


def _id() -> str:
    from whet.agent.start import new_id

    return f"improve-{new_id(time.time())}"


def _planned(home: "Home", ask: "ImproveRequest") -> "ImproveReport":
    from whet.cli.analysed import bring_up_to_date, learning, read_what_is_taught
    from whet.engine.steps import Direct, decoded
    from whet.improving.improve import improve
    from whet.store.decoding import uncollected
    from whet.store.opening import opened
    from whet.trials.improvements import ImproveReport

    with opened(home) as database:
        bring_up_to_date(database)  # here and not below, where nobody would see how far it is
        read_what_is_taught(database)
    with uncollected(), learning() as progress:
        return decoded(improve(home, Direct(_id()), ask, progress=progress).value, ImproveReport)


def _direct(home: "Home", ask: "ImproveRequest") -> "ImproveReport":
    from whet.cli.other_agents import at_once
    from whet.cli.procedures import direct
    from whet.cli.shown.trials import LiveLine
    from whet.engine.steps import decoded
    from whet.improving.improve import improve
    from whet.trials.improvements import ImproveReport

    with LiveLine() as line:
        steps = direct(home, _id(), at_once=at_once(home, ask.agent))
        done = improve(home, steps, ask, observe=lambda _: line.show)
    return decoded(done.value, ImproveReport)


def _queued(home: "Home", ask: "ImproveRequest", *, follow: bool, as_json: bool) -> int:
    from msgspec.structs import replace

    from whet.cli.commands.learn import queue_reading
    from whet.cli.other_agents import at_once
    from whet.cli.procedures import PROCEDURES, is_watched
    from whet.engine.orders import Queue
    from whet.engine.steps import decoded
    from whet.engine.work import WorkState, office
    from whet.engine.worker import launched
    from whet.improving.improve import order
    from whet.store.settings_file import load
    from whet.trials.improvements import ImproveReport

    if not follow and (reader := load(home).reading.reader):
        queue_reading(home, reader)
    with office(home) as counter:
        watched = replace(ask, watched=follow and is_watched(os.environ))
        id = counter.submit(order(watched, key=_id()), Queue.TRIALS)
    if not follow:
        if as_json:
            print_json({"work": id})
        else:
            say(f"Queued as {id}. To run it: `whet worker`. To see progress: `whet worker list {id}`.")
        return 0
    queues = [Queue.TRIALS, Queue.ATTEMPTS]
    concurrency = max(2, at_once(home, ask.agent))
    with launched(home, PROCEDURES, queues=queues, concurrency=concurrency) as worker, office(home) as counter:
        while (work := counter.find(id)).is_open:
            worker.look_after()
            time.sleep(LOOK_SECONDS)
    if work.state is not WorkState.DONE or work.done is None:
        raise WhetError(f"The work {work.state}: {work.error}", advice=f"To resume it, run `whet worker retry {id}`.")
    return _show(decoded(work.done.value, ImproveReport), as_json)


def _options(ask: "ImproveRequest", *, budget: tuple[str, ...], since: str | None) -> list[str]:
    """What was asked for, as it is written on a command line; what is usual is left out."""
    from whet.trials.improvements import ImproveRequest

    usual, design = ImproveRequest(), ask.design
    words = [] if design.placebo is None else ["--placebo" if design.placebo else "--no-placebo"]
    words += ["--retire"] if ask.retire else []
    given = {
        "model": (ask.model, usual.model),
        "seeds": (design.seeds, usual.design.seeds),
        "alpha": (design.alpha, usual.design.alpha),
        "share": (ask.share, usual.share),
        "most": (ask.most, usual.most),
    }
    for name, (value, usually) in given.items():
        if value != usually:
            words += [f"--{name}", str(value)]
    for name, values in (("cases", ask.cases), ("budget", budget), ("since", (since,) if since else ())):
        for value in values:
            words += [f"--{name}", value]
    return words


def _nightly(home: "Home", at: str, options: list[str], *, as_json: bool) -> int:
    import sys
    from pathlib import Path

    from whet.changes.author import Author
    from whet.changes.job_changes import keep
    from whet.cli.acting import actor_of, trust_of
    from whet.context.zone import local_zone
    from whet.jobs.nightly import nightly_job
    from whet.store.opening import opened

    program = str(Path(sys.executable).with_name("whet"))
    job = nightly_job(at, options, program=program, timezone=local_zone(os.environ), now=time.time())
    actor = actor_of(os.environ)
    with opened(home) as database:
        author = Author(
            home,
            database,
            actor,
            trust_of(actor),
            time.time(),
            origin=PatchOrigin(PatchWriter.PERSON, said="improve every night"),
        )
        entry = keep(author, job, replace=True)
    if as_json:
        print_json({"job": job.name, "schedule": job.schedule, "timezone": job.timezone, "entry": entry.number})
    else:
        say(f"The job {job.name} runs at {at} ({job.timezone}), while `whet worker` runs (entry {entry.number}).")
    return 0


def _show(report: "ImproveReport", as_json: bool) -> int:
    from whet.cli.shown.improvements import NEXT_STEPS, report_lines, report_record
    from whet.store.home import find_home
    from whet.store.opening import opened
    from whet.targets.known_projects import KnownProjects

    if as_json:
        print_json(report_record(report))
        return 0
    with opened(find_home(os.environ)) as database:
        named = KnownProjects(database).shown
    for line in report_lines(report, named):
        say(line)
    every = (*report.outcomes, *report.waiting)
    became = set() if report.stopped else {outcome.became for outcome in every}
    for words in [words for what, words in NEXT_STEPS if what in became][:1]:
        next_step(words)
    return 0
