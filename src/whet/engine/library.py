"""What is used of the library for durable work. It is an extra: whoever needs it is told how to get it."""

from whet.errors import WhetError

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
        WorkflowStatus,
        error,
    )
    from dbos._serialization import DefaultSerializer
    from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
except ModuleNotFoundError as missing:
    if missing.name != "dbos":
        raise
    raise WhetError(
        "Work in the background needs a library that is not installed.",
        advice="pip install 'whet[work]'. Without it, trials and `whet improve` run in this process with --now.",
    ) from missing

DBOSException = error.DBOSException

__all__ = [
    "DBOS",
    "DBAPIError",
    "DBOSClient",
    "DBOSConfig",
    "DBOSException",
    "DBOSPortableJSONSerializer",
    "DefaultSerializer",
    "EnqueueOptions",
    "OperationalError",
    "PortableWorkflowError",
    "SQLAlchemyError",
    "SetWorkflowID",
    "StepInfo",
    "WorkflowStatus",
]
