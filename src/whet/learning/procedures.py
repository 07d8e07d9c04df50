"""Every kind of durable work, and how it is carried out."""

from whet.engine.orders import Procedures

PROCEDURES: Procedures = {}
