"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedure, Procedures, Queue
from whet.learning import review

PROCEDURES: Procedures = {
    review.KIND: Procedure(Queue.REVIEWS, review.review),
}
