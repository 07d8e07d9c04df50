"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedure, Procedures, Queue
from whet.learning import attempts, experiment, review, trial_plans

PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, review.review),
    trial_plans.KIND: Procedure(Queue.TRIALS, experiment.trial),
    attempts.KIND: Procedure(Queue.ATTEMPTS, attempts.attempt),
}
