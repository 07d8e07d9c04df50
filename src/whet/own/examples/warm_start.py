"""Warm starts: a session that begins with the examples of a template, marked as examples and not as its history.

The ids of the examples' calls come from the template's key and their number alone. So all sessions with one template
begin with the same bytes, which a cache can share, and within a session no two calls have the same id: providers give
ids of other forms, and should the session hold such an id already, the examples take others.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from whet.own.examples.templates import Example, Template
from whet.sessions.example_marks import PREFIX, cold
from whet.sessions.transcripts import Message, Origin, Part, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.text.words import filled


class WarmWords(NamedTuple):
    """What is said around the examples: `{body}` and `{tool}` are filled in. It lives in guidance/warm."""

    opening: str
    step: str
    hint: str
    ending: str
    closing: str


def warm_start(template: Template, messages: Sequence[Message], words: WarmWords) -> tuple[Message, ...]:
    """The messages with the template's examples after the system's and before the first other; once, however often.

    The examples of another template that are there already give way.
    """
    rest = cold(messages)
    first = next((index for index, message in enumerate(rest) if message.role is not Role.SYSTEM), len(rest))
    return (*rest[:first], *examples(template, words, taken=ids_of(rest)), *rest[first:])


def examples(template: Template, words: WarmWords, *, taken: frozenset[str] = frozenset()) -> tuple[Message, ...]:
    """The examples as messages: a request, its calls with their results, and the agent's word that it ends.

    So the sides take turns, also where results are a user's turn: some endpoints refuse anything else.
    """
    mark = next(mark for mark in _marks(template) if not any(each.startswith(f"{mark}-") for each in taken))
    made: list[Message] = []
    numbers = count(1)
    for group in template.requests:
        request = _request(group[0], words)
        if made:
            made += (_said(Role.AGENT, words.ending), _said(Role.USER, request))
        else:
            body = f"{template.addendum}\n\n{request}" if template.addendum else request
            made.append(_said(Role.USER, filled(words.opening, {"body": body})))
        for example in group:
            made += _exchange(example, f"{mark}-{next(numbers)}")
    return (*made, _said(Role.AGENT, words.closing))


def _marks(template: Template) -> Iterator[str]:
    yield f"{PREFIX}-{template.key}"
    yield from (f"{PREFIX}-{template.key}{number}" for number in count(2))


def _request(example: Example, words: WarmWords) -> str:
    """What was asked for. Of a longer piece of work one step alone is asked for: it would teach to stop too early."""
    if not example.intent:
        return filled(words.hint, {"tool": example.tool})
    return example.intent if example.is_whole else filled(words.step, {"tool": example.tool, "body": example.intent})


def _exchange(example: Example, call_id: str) -> tuple[Message, Message]:
    call = ToolCall(call_id, example.tool, example.arguments)
    content = (Text(example.result),) if example.result else ()
    return (
        Message(Role.AGENT, (call,), Trust.AGENT, origin=Origin.INSERTED),
        # Its words are the call's own and counts: no tool wrote them.
        Message(Role.TOOL, (ToolResult(call_id, content, example.tool),), Trust.AGENT, origin=Origin.INSERTED),
    )


def _said(role: Role, text: str) -> Message:
    parts: tuple[Part, ...] = (Text(text),)
    return Message(role, parts, Trust.AGENT, origin=Origin.INSERTED)


def ids_of(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of all calls in the messages, also of those that only a result names."""
    calls = (call.id for message in messages for call in message.calls)
    results = (result.call_id for message in messages for result in message.results)
    return frozenset((*calls, *results))
