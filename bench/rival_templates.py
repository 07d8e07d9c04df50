"""The original's way to make a template from a session, written anew from its description: the rival in templates.py.

It walks over the first hundred rows. A call is stored when the next one begins, with the result that was seen last;
so parallel calls get each other's results and the last call is lost. Every call counts as a success, and results are
cut at 500 characters.
"""

from typing import Any, NamedTuple

ROWS = 100
EXAMPLES = 10
RESULT_CHARACTERS = 500


class Pair(NamedTuple):
    """A call and the result that the template shows for it, with the ids that the record gives them."""

    tool: str
    arguments: str
    result: str
    call_id: str
    result_id: str
    is_error: bool | None


def template(messages: list[dict[str, Any]], *, examples: int = EXAMPLES) -> list[Pair]:
    made: list[Pair] = []
    waiting: dict[str, Any] | None = None
    last: dict[str, Any] = {}
    for message in messages[:ROWS]:
        if message.get("role") == "tool":
            last = message
        for call in message.get("tool_calls") or ():
            if waiting is not None:
                made.append(_pair(waiting, last))
            waiting = call
    return made[:examples]


def _pair(call: dict[str, Any], result: dict[str, Any]) -> Pair:
    content = result.get("content")
    text = content if isinstance(content, str) else str(content or "")
    function = call["function"]
    return Pair(
        function["name"],
        str(function["arguments"]),
        text[:RESULT_CHARACTERS],
        str(call.get("id")),
        str(result.get("tool_call_id")),
        result.get("is_error"),
    )
