"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedure, Procedures, Queue
from whet.engine.system import CLOCK
from whet.learning import attempts, clock, experiment, job_runs, review, trial_plans

PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, review.review),
    trial_plans.KIND: Procedure(Queue.TRIALS, experiment.trial),
    attempts.KIND: Procedure(Queue.ATTEMPTS, attempts.attempt),
    job_runs.KIND: Procedure(Queue.JOBS, job_runs.job),
    job_runs.DELIVERY: Procedure(Queue.CHORES, job_runs.delivery),
    CLOCK: Procedure(Queue.CHORES, clock.clock),
}
