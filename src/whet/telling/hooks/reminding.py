"""What a session is reminded of at a call: rules whose calls it is among, each once. Loads little: a host waits."""

import os
from collections.abc import Mapping
from typing import Any

from whet.lessons.call_patterns import CallPattern, is_matched
from whet.telling.hooks import spool
from whet.telling.hooks.events import CALL, HostEvent, is_for
from whet.telling.hooks.places import FOLDER, REMINDED


def reminding_text(home: str, compiled: Mapping[str, Any], event: HostEvent) -> str:
    """The rules that are for this call and that its session was not reminded of yet; it is on record that it was."""
    fitting = [rule for rule in compiled["reminders"] if _fits(rule, event)]
    given = [rule for rule in fitting if _is_first(home, rule["entry"], event)]
    if not given:
        return ""
    entries = [rule["entry"] for rule in given]
    spool.put(home, CALL, event.agent, event.session, entries=entries)
    body = "\n".join(dict.fromkeys(rule["line"] for rule in given))
    return str(compiled["frame"]).replace("{body}", body)


def _fits(rule: Mapping[str, Any], event: HostEvent) -> bool:
    is_meant = is_for(rule, event, project=None) and is_matched(CallPattern(*rule["calls"]), event.command)
    return is_meant and (not rule["project"] or is_for(rule, event, project=_project(event.folder)))


def _project(folder: str) -> str:
    from whet.telling.targets.project_names import name_of_project  # noqa: PLC0415 - only where the call is one of a rule's

    return name_of_project(folder)


def _is_first(home: str, entry: int, event: HostEvent) -> bool:
    """Leave the mark of a reminder; False where it is there already. Calls that run side by side leave one."""
    folder = os.path.join(home, FOLDER, REMINDED)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, spool.name_of(str(entry), event.agent, event.session))
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True
