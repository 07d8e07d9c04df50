"""Replies of a scripted model, as tests write them."""

from whet.agent.protocols import Reply, StopReason
from whet.agent.providers.choosing import Call, ScriptLine, reply_of
from whet.sessions.transcripts import Usage


def says(text: str, *, usage: Usage | None = None, stop: StopReason = StopReason.END) -> Reply:
    """A reply in words."""
    return reply_of(ScriptLine(text=text, usage=usage, stop=stop))


def asks(*calls: Call, text: str = "", usage: Usage | None = None, stop: StopReason = StopReason.CALLS) -> Reply:
    """A reply that asks for tools."""
    return reply_of(ScriptLine(text=text, calls=calls, usage=usage, stop=stop))
