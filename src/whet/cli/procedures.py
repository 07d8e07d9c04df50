"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedure, Procedures, Queue
from whet.engine.system import CLOCK
from whet.improving import hourly, improve, review, watch
from whet.proving import attempt, plan, trial
from whet.scheduling import clock, runs

PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, review.review),
    plan.KIND: Procedure(Queue.TRIALS, trial.trial),
    attempt.KIND: Procedure(Queue.ATTEMPTS, attempt.attempt),
    runs.KIND: Procedure(Queue.JOBS, runs.job),
    runs.DELIVERY: Procedure(Queue.CHORES, runs.delivery),
    improve.KIND: Procedure(Queue.TRIALS, improve.improve),
    watch.KIND: Procedure(Queue.CHORES, watch.watch),
    CLOCK: Procedure(Queue.CHORES, hourly.beside(clock.clock)),
}
