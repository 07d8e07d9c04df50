"""Templates of the original forms: session templates and warm sessions, each one JSON file of Hermes' home.

Neither form was ever documented, and versions differ in the names of their fields; so a field is known by any of its
names. Every call was called a success there and results may be another call's: their texts are not taken, only their
shape, and what says of itself that it failed is left out.
"""

import re
from typing import Any

import msgspec

from whet.activity import Activity
from whet.errors import WhetError
from whet.importers import fields
from whet.lineage import pieces_of
from whet.quoting import visible
from whet.redaction import Redactor
from whet.result_shapes import shape
from whet.templates import DESCRIPTION_CHARACTERS, MOST_TAGS, TAG, TOOL_NAME, Example, Template, name_fault
from whet.transcripts import ToolCall

FOLDERS = ("session-templates", "warm_sessions")
LISTS = ("examples", "tool_examples", "tool_call_examples", "tool_calls", "patterns", "tool_patterns")
TOOLS = ("tool_name", "tool", "name")
ARGUMENTS = ("arguments", "args", "parameters", "input")
RESULTS = ("result", "result_summary", "result_preview", "result_pattern", "output")
HINTS = ("context_hint", "hint", "user_message", "task_hint", "intent", "context")
SESSIONS = ("source_session_id", "session_id", "source_session")
ACTIVITIES = ("task_type", "type", "activity", "session_type")
INTENT_CHARACTERS = 240
_UNNAMED = re.compile(r"[^a-z0-9]+")


def read(text: str, *, stem: str) -> Template:
    """The template that a file of either form holds; raises WhetError where it holds none."""
    try:
        record = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise WhetError(f"{stem} is not JSON.", advice="It is left out.") from error
    if not isinstance(record, dict):
        raise WhetError(f"{stem} is no template.", advice="It is left out.")
    session = fields.text(record, *SESSIONS)
    listed = next((value for key in LISTS if (value := fields.objects(record, key))), [])
    found = (_example(one, session) for one in listed)
    examples = tuple(dict.fromkeys(example for example in found if example is not None))
    if not examples:
        raise WhetError(f"{stem} has no example that can be used.", advice="It is left out.")
    activity = fields.text(record, *ACTIVITIES).lower()
    return Template(
        name=_name(fields.text(record, "name") or stem),
        examples=examples,
        activity=Activity(activity) if activity in tuple(Activity) else Activity.MIXED,
        description=_clean(fields.text(record, "description"))[:DESCRIPTION_CHARACTERS],
        tags=_tags(record),
        made="imported",
        created=fields.seconds(record.get("created_at")),
    )


def _example(record: dict[str, Any], session: str) -> Example | None:
    tool = next((record[key] for key in TOOLS if isinstance(record.get(key), str)), "")
    arguments = next((value for key in ARGUMENTS if isinstance(value := _decoded(record.get(key)), dict)), None)
    if record.get("success") is False or arguments is None or not TOOL_NAME.fullmatch(tool):
        return None
    call = ToolCall("", tool, Redactor().arguments(msgspec.json.encode(arguments).decode()))
    answered = next((fields.json_text(record[key]) for key in RESULTS if record.get(key)), "")
    intent = _clean(fields.text(record, *HINTS))
    return Example(
        tool=tool,
        arguments=call.arguments,
        result=shape(answered, pieces_of(call)),
        intent=intent if len(intent) <= INTENT_CHARACTERS else "",
        session=fields.text(record, *SESSIONS) or session,
    )


def _decoded(value: object) -> object:
    """Arguments as an object, which some versions keep as its text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _name(name: str) -> str:
    made = _UNNAMED.sub("-", name.lower()).strip("-")[:60].strip("-")
    if name_fault(made):
        raise WhetError(f"{name[:80]!r} cannot become the name of a template.", advice="It is left out.")
    return made


def _tags(record: dict[str, Any]) -> tuple[str, ...]:
    listed = record.get("tags")
    plain = (_UNNAMED.sub("-", str(tag).lower()).strip("-") for tag in listed) if isinstance(listed, list) else ()
    return tuple(dict.fromkeys(tag for tag in plain if TAG.fullmatch(tag)))[:MOST_TAGS]


def _clean(text: str) -> str:
    return Redactor().text(" ".join(visible(text).split()))
