"""Every kind of durable work, and how it is carried out: within the daily limit, unless somebody waits for it."""

from collections.abc import Mapping
from functools import partial

from whet.agent.metering import Meter, metered
from whet.agent.protocols import Chosen
from whet.improving import improve, review, watch
from whet.own.runs.settings import Settings
from whet.proving import attempt, plan, trial
from whet.reading import learn
from whet.store.home import Home
from whet.store.opening import opened
from whet.trials.attempts import AttemptRequest
from whet.trials.design import Trial
from whet.trials.improvements import ImproveRequest
from whet.work import job_runs
from whet.work.orders import DirectSteps, Done, Procedure, Procedures, Queue, Steps
from whet.work.system import ARRIVALS, CLOCK, WATCH


def within_limit(home: Home, settings: Settings, model: str) -> Chosen:
    """Who answers background work: as always, while the day has room."""
    return metered(attempt.served(home, settings, model), Meter(home))


def _attempt(home: Home, steps: Steps, ask: AttemptRequest) -> Done:
    if ask.terms.watched:
        return attempt.attempt(home, steps, ask)
    return attempt.attempt(home, steps, ask, supply=within_limit, meter=Meter(home))


def _job(home: Home, steps: Steps, ask: job_runs.JobRequest) -> Done:
    done = job_runs.job(home, steps, ask, supply=within_limit)
    steps.do("review", lambda: _order_review(home, done), bool)
    return done


def _order_review(home: Home, done: Done) -> bool:
    """Have a job's session looked back on where it calls for it; whether it does."""
    from whet.work.given import given_orders

    with opened(home) as database:
        asked = [ask for session in done.sessions if (ask := review.due_after(home, database, session))]
    with given_orders(home) as orders:
        for ask in asked:
            orders.submit(review.order(ask), Queue.REVIEWS)
    return bool(asked)


def _improve(home: Home, steps: Steps, ask: ImproveRequest) -> Done:
    return improve.improve(home, steps, ask, supply=attempt.served if ask.watched else within_limit)


def _learn(home: Home, steps: Steps, ask: learn.LearnRequest) -> Done:
    return learn.carry_out(home, steps, ask, supply=within_limit, meter=Meter(home))


PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, partial(review.review, supply=within_limit), review.ReviewRequest),
    learn.KIND: Procedure(Queue.REVIEWS, _learn, learn.LearnRequest),
    plan.KIND: Procedure(Queue.TRIALS, trial.trial, Trial),
    improve.KIND: Procedure(Queue.TRIALS, _improve, ImproveRequest),
    attempt.KIND: Procedure(Queue.ATTEMPTS, _attempt, AttemptRequest),
    job_runs.KIND: Procedure(Queue.JOBS, _job, job_runs.JobRequest),
    job_runs.DELIVERY: Procedure(Queue.JOBS, job_runs.delivery, job_runs.JobRequest),
    WATCH: Procedure(Queue.CHORES, watch.watch, str),
    ARRIVALS: Procedure(Queue.CHORES, watch.arrive, str),
}


def with_clock() -> Procedures:
    """All that a worker does: the clock orders work, so it needs the engine."""
    from whet.work.clock import clock

    return {**PROCEDURES, CLOCK: Procedure(Queue.CHORES, clock, str)}


def direct(home: Home, id: str, *, at_once: int = 1) -> DirectSteps:
    """Steps in this process, which makes the attempts of a trial itself, so many side by side; without the limit, for
    somebody waits for them.
    """
    return DirectSteps(id, lambda inner, _kind, ask: attempt.attempt(home, inner, ask).value, at_once=at_once)


def is_watched(environment: Mapping[str, str]) -> bool:
    """Whether somebody waits for the work of this process; for the script of a job nobody does."""
    return "WHET_RUN" not in environment
