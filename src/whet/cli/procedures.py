"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedure, Procedures, Queue
from whet.engine.steps import Direct
from whet.engine.system import ARRIVALS, CLOCK, WATCH
from whet.improving import arriving, improve, review, watch
from whet.proving import attempt, plan, trial
from whet.scheduling import runs
from whet.store.home import Home
from whet.trials.design import Trial
from whet.trials.ideas import ImproveRequest

PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, review.review, review.ReviewRequest),
    plan.KIND: Procedure(Queue.TRIALS, trial.trial, Trial),
    attempt.KIND: Procedure(Queue.ATTEMPTS, attempt.attempt, attempt.AttemptRequest),
    runs.KIND: Procedure(Queue.JOBS, runs.job, runs.JobRequest),
    runs.DELIVERY: Procedure(Queue.CHORES, runs.delivery, runs.JobRequest),
    improve.KIND: Procedure(Queue.TRIALS, improve.improve, ImproveRequest),
    WATCH: Procedure(Queue.CHORES, watch.watch, str),
    ARRIVALS: Procedure(Queue.CHORES, arriving.arrive, str),
}


def with_clock() -> Procedures:
    """All that a worker does: the clock orders work, so it needs the engine."""
    from whet.scheduling.clock import clock

    return {**PROCEDURES, CLOCK: Procedure(Queue.CHORES, clock, str)}


def direct(home: Home, id: str, *, at_once: int = 1) -> Direct:
    """Steps in this process, which carries further orders out itself, so many side by side."""
    return Direct(id, lambda inner, kind, ask: PROCEDURES[kind].run(home, inner, ask).value, at_once=at_once)
