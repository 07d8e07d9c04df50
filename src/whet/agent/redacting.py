"""No secret reaches a model: replaced in what it sees, put back in what tools of this machine do."""

import json
from collections.abc import Iterator
from threading import Event, Lock

import msgspec

from whet.agent.loop import stand_in
from whet.agent.protocols import Answer, Provider, Reply, Toolbox
from whet.own.runs.run import Fragment, Run
from whet.secrets.redactor import PLACEHOLDER, Redactor
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Message, Thought, ToolCall
from whet.sessions.trust import Trust, trust_of_tool
from whet.shipped.guidance import notice

# Tools that work on files and programs of this machine. A note or a page elsewhere gets the placeholder.
LOCAL = frozenset({Family.SHELL, Family.INTERPRETER, Family.READ, Family.SEARCH, Family.WRITE, Family.EDIT})


class Secrets:
    """The secrets of one session: replaced in what the model sees, put back in what tools of this machine do."""

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        self.known = known
        self._redactor = Redactor(known)
        self._literal: set[str] = set()  # what looks like a placeholder and stood so in a file
        self._lock = Lock()

    def hidden(self, message: Message) -> Message:
        """The message without its secrets; the same object when there are none."""
        with self._lock:
            clean = self._redactor.message(message)
        return clean if clean is message else _unsigned(clean, message)

    def seen(self, answer: Answer) -> Answer:
        """A tool's answer as the model may see it."""
        with self._lock:
            self._literal.update(
                found for found in PLACEHOLDER.findall(answer.result.text) if not self._redactor.has_made(found)
            )
            result = self._redactor.result(answer.result)
        return answer._replace(result=result)

    def lost(self, call: ToolCall) -> str:
        """A placeholder in a call that would be taken literally, where a secret was meant; empty if there is none."""
        return next((each for each in PLACEHOLDER.findall(call.arguments) if not self._value(each)), "")

    def put_back(self, call: ToolCall) -> ToolCall:
        """The call with the secrets in the places of their placeholders."""
        arguments = PLACEHOLDER.sub(lambda found: json.dumps(self._value(found[0]))[1:-1], call.arguments)
        return call if arguments == call.arguments else msgspec.structs.replace(call, arguments=arguments)

    def _value(self, placeholder: str) -> str:
        with self._lock:
            return placeholder if placeholder in self._literal else self._redactor.secret_of(placeholder)


class RedactingProvider:
    """A provider whose replies hold no secrets."""

    def __init__(self, provider: Provider, secrets: Secrets) -> None:
        self.name = provider.name
        self._provider = provider
        self._secrets = secrets

    def request(self, run: Run) -> bytes:
        return self._provider.request(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        for piece in self._provider.reply(run, interrupt=interrupt):
            yield Reply(self._secrets.hidden(piece.message), piece.stop) if isinstance(piece, Reply) else piece


class RedactingToolbox:
    """A toolbox whose answers hold no secrets, and whose tools of this machine are given them."""

    def __init__(self, toolbox: Toolbox, secrets: Secrets) -> None:
        self._toolbox = toolbox
        self._secrets = secrets

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        if trust_of_tool(call.name) is Trust.TOOL and family_of(call) in LOCAL:
            lost = self._secrets.lost(call)
            if lost:
                return Answer(stand_in(call, notice("call_secret", placeholder=lost)), Trust.AGENT)
            call = self._secrets.put_back(call)
        return self._secrets.seen(self._toolbox.answer(call, allowed=allowed, interrupt=interrupt))

    def can_run_beside(self, call: ToolCall) -> bool:
        return self._toolbox.can_run_beside(call)

    def close(self) -> None:
        self._toolbox.close()


def without_secrets(run: Run, secrets: Secrets) -> Run:
    """The run as it may be sent; the same object when it holds no secrets."""
    messages = tuple(secrets.hidden(message) for message in run.messages)
    same = all(new is old for new, old in zip(messages, run.messages, strict=True))
    return run if same else msgspec.structs.replace(run, messages=messages)


def _unsigned(clean: Message, before: Message) -> Message:
    """Thoughts that were changed lose their signature: the endpoint would refuse it over other words."""
    parts = tuple(
        Thought(part.text) if isinstance(part, Thought) and part is not old else part
        for part, old in zip(clean.parts, before.parts, strict=True)
    )
    return msgspec.structs.replace(clean, parts=parts)
