"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedure, Procedures, Queue
from whet.engine.system import CLOCK
from whet.learning import attempts, clock, experiment, hourly, improve, job_runs, review, trial_plans, watch

PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, review.review),
    trial_plans.KIND: Procedure(Queue.TRIALS, experiment.trial),
    attempts.KIND: Procedure(Queue.ATTEMPTS, attempts.attempt),
    job_runs.KIND: Procedure(Queue.JOBS, job_runs.job),
    job_runs.DELIVERY: Procedure(Queue.CHORES, job_runs.delivery),
    improve.KIND: Procedure(Queue.TRIALS, improve.improve),
    watch.KIND: Procedure(Queue.CHORES, watch.watch),
    CLOCK: Procedure(Queue.CHORES, hourly.beside(clock.clock)),
}
