"""What is used of the library for durable work. It is an extra: whoever needs it is told how to get it."""

from whet.errors import WhetError
from whet.shipped.extras import how_to_add

try:
    from dbos import (
        DBOS,
        DBOSClient,
        DBOSConfig,
        DBOSPortableJSONSerializer,
        EnqueueOptions,
        PortableWorkflowError,
        SetWorkflowID,
        StepInfo,
        WorkflowHandle,
        WorkflowStatus,
        error,
    )
    from dbos._serialization import DefaultSerializer
    from sqlalchemy import Engine, ExceptionContext, event
    from sqlalchemy.exc import DatabaseError, DBAPIError, DisconnectionError, OperationalError, SQLAlchemyError
    from sqlalchemy.pool import Pool
except ModuleNotFoundError as missing:
    if missing.name != "dbos":
        raise
    raise WhetError(
        "Background work needs a library that is not installed.",
        advice=f"Run `{how_to_add('work')}`. Without it, use --now for trials and `whet try`.",
    ) from missing

DBOSException = error.DBOSException

__all__ = [
    "DBOS", "DBAPIError", "DBOSClient", "DBOSConfig", "DBOSException", "DBOSPortableJSONSerializer", "DatabaseError",
    "DefaultSerializer", "DisconnectionError", "Engine", "EnqueueOptions", "ExceptionContext", "OperationalError",
    "Pool", "PortableWorkflowError", "SQLAlchemyError", "SetWorkflowID", "StepInfo", "WorkflowHandle",
    "WorkflowStatus", "event",
]  # fmt: skip
