"""What a chat completion in OpenAI's form, as LiteLLM keeps it, says of itself."""

from typing import Any

from whet.sessions.transcripts import ToolCall, Usage
from whet.text import fields


def usage(record: dict[str, Any], *, cost_dollars: object = None) -> Usage | None:
    """Tokens of a completion, where the prompt's count includes its cached ones."""
    cost = fields.amount(cost_dollars)
    if not record and cost is None:
        return None
    details = fields.mapping(record, "prompt_tokens_details")
    return Usage(
        input=fields.whole(record, "prompt_tokens"),
        output=fields.whole(record, "completion_tokens"),
        cached=fields.whole(details, "cached_tokens") or fields.whole(record, "cache_read_input_tokens"),
        cache_written=fields.whole(record, "cache_creation_input_tokens"),
        cost_dollars=cost,
    )


def calls(message: dict[str, Any]) -> list[ToolCall]:
    """The tool calls of an assistant message, with their arguments as the model wrote them."""
    found = []
    for call in fields.objects(message, "tool_calls"):
        function = fields.mapping(call, "function")
        arguments = fields.json_text(function.get("arguments", {}))
        found.append(ToolCall(fields.text(call, "id"), fields.text(function, "name"), arguments))
    return found
