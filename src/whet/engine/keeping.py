"""How long ended work is kept: then the engine's rows go, and what stays is the record that the work itself left."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from whet.engine.library import DBOSClient, WorkflowStatus

ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
OPEN = ("ENQUEUED", "DELAYED", "PENDING")
AT_ONCE = 500


def let_go(client: DBOSClient, name: str, queues: Sequence[str], *, before: float, most: int) -> int:
    """Delete work of some queues that ended: what was given before a time, and what goes beyond the newest so many.

    Parts stay as long as their whole is open. Says how many were deleted.
    """
    end = datetime.fromtimestamp(before, UTC).isoformat()
    bounds: tuple[dict[str, Any], ...] = ({"end_time": end}, {"offset": most, "sort_desc": True})
    listed = [each for bound in bounds for each in _ended(client, name, queue_name=list(queues) or None, **bound)]
    if queues:  # what is cancelled stands in no queue any more, so it is found among everybody's
        found_cancelled = (each for bound in bounds for each in _ended(client, name, ("CANCELLED",), **bound))
        listed += [each for each in found_cancelled if _queue_of(each) in queues]
    found = {each.workflow_id: each for each in listed}
    kept = _still_open(client, {each.parent_workflow_id for each in listed if each.parent_workflow_id})
    gone = [each.workflow_id for each in found.values() if each.parent_workflow_id not in kept]
    client.delete_workflows(gone)
    return len(gone)


def _ended(client: DBOSClient, name: str, states: Sequence[str] = ENDED, **narrowed: Any) -> list[WorkflowStatus]:
    return client.list_workflows(
        name=name, status=list(states), limit=AT_ONCE, load_input=False, load_output=False, **narrowed
    )


def _still_open(client: DBOSClient, ids: Collection[str]) -> set[str]:
    if not ids:
        return set()
    found = client.list_workflows(workflow_ids=list(ids), status=list(OPEN), load_input=False, load_output=False)
    return {each.workflow_id for each in found}


def _queue_of(found: WorkflowStatus) -> str:
    """The engine takes what is cancelled out of its queue, so its name stands beside it too."""
    return found.queue_name or str((found.attributes or {}).get("queue", ""))
