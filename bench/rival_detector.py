"""The rival: phrases of five kinds searched in every message, as the original detector is described.

Seventeen case-insensitive patterns; a message counts once a kind; a session's score is its number of hits.
"""

import re
from collections.abc import Sequence
from typing import Any

PATTERNS: dict[str, tuple[str, ...]] = {
    "retry_loop": (
        r"retry(?:ing)?\s+(?:again|attempt)",
        r"attempt\s+\d+\s*(?:of|/)\s*\d+",
        r"(?:let me|i'll)\s+try\s+(?:that\s+)?again",
        r"same\s+error\s+(?:again|as before)",
    ),
    "timeout": (r"timed?\s*-?out", r"timeout", r"deadline\s+exceeded", r"took\s+too\s+long"),
    "hallucination": (
        r"(?:does\s+not|doesn't)\s+exist",
        r"no\s+such\s+(?:file|function|method|module)",
        r"i\s+(?:made\s+up|invented|assumed)",
    ),
    "context_loss": (
        r"(?:don't|do\s+not)\s+(?:remember|recall|have\s+context)",
        r"lost\s+(?:track|context)",
        r"(?:could|can)\s+you\s+(?:remind|repeat)",
    ),
    "tool_failure": (
        r"tool\s+(?:call\s+)?(?:failed|error)",
        r"(?:failed|unable)\s+to\s+(?:execute|run|call)",
        r"error:?\s+.*(?:failed|exception)",
    ),
}
COMPILED = {kind: tuple(re.compile(p, re.IGNORECASE) for p in patterns) for kind, patterns in PATTERNS.items()}


def detect(messages: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The number of messages that have a phrase of each kind."""
    found = dict.fromkeys(COMPILED, 0)
    for message in messages:
        if message.get("role") == "user":
            continue
        content = message.get("content")
        text = content if isinstance(content, str) else str(content)
        for kind, patterns in COMPILED.items():
            # The original searches each pattern and only then asks whether any was found.
            if any([pattern.search(text) is not None for pattern in patterns]):  # noqa: C419
                found[kind] += 1
    return found
