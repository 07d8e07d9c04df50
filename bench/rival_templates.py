"""The original's way to make a template, written anew from its description: the rival in templates.py.

Of a session it walks over the first hundred rows. A call is stored when the next one begins, with the result that was
seen last; so parallel calls get each other's results and the last call is lost. Every call counts as a success, and
results are cut at 500 characters. Over many sessions it takes the longest first, as the most experienced.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

ROWS = 100
EXAMPLES = 10
MINED_EXAMPLES = 100
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


def longest_first(sessions: Iterable[list[dict[str, Any]]]) -> list[int]:
    """For each example that is mined over the sessions, the place of its session among them."""
    longest = sorted(enumerate(sessions), key=lambda each: -len(each[1]))
    return [place for place, messages in longest for _ in template(messages)][:MINED_EXAMPLES]


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
