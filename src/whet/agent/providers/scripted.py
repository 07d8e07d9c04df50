"""Replies that are given beforehand, by a test or by a file."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event, Lock

import msgspec

from whet.agent.protocols import ProviderFailed, ProviderFault, Reply, Stop
from whet.errors import WhetError
from whet.net.interrupting import Interrupted
from whet.runs.run import Fragment, Run
from whet.sessions.transcripts import Message, Role, Text, ToolCall, Usage
from whet.sessions.trust import Trust
from whet.values import Value

Step = Reply | ProviderFailed | Callable[[Run], Reply]
PIECE_CHARACTERS = 16


class Call(Value, frozen=True):
    """A call as a script writes it. `arguments` is JSON text, so that a script can also hold what is none."""

    name: str
    arguments: str = "{}"
    id: str = ""


class ScriptLine(Value, frozen=True, forbid_unknown_fields=True):
    """One line of a script: words and calls, or a fault."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop | None = None
    usage: Usage | None = None
    fault: ProviderFault | None = None


class Scripted:
    """A provider that gives its replies one after the other, whatever it is asked."""

    def __init__(self, steps: Iterable[Step], *, name: str = "scripted") -> None:
        self._steps = iter(steps)
        self._name = name
        self._lock = Lock()

    @property
    def name(self) -> str:
        return self._name

    def request(self, run: Run) -> bytes:
        return request_of(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        with self._lock:
            step = next(self._steps, None)
        if step is None:
            raise ProviderFailed(
                ProviderFault.ENDPOINT, "The script has no more replies.", advice="Add one for each call."
            )
        if isinstance(step, ProviderFailed):
            raise step
        reply = step if isinstance(step, Reply) else step(run)
        yield from _pieces(reply.message, interrupt)
        yield reply


def scripted_file(path: Path) -> Scripted:
    """The provider of a script: a file with one reply a line, in the form of `Line`."""
    try:
        lines = [line for line in path.read_bytes().splitlines() if line.strip()]
        return Scripted([_step(msgspec.json.decode(line, type=ScriptLine)) for line in lines], name=path.stem)
    except OSError as error:
        raise WhetError(f"The script {path} cannot be read: {error.strerror}.", advice="Check its path.") from error
    except msgspec.MsgspecError as error:
        raise WhetError(
            f"The script {path} has a line that is not a reply: {error}.",
            advice='A line looks like {"text": "Done."} or {"calls": [{"name": "finish", "arguments": "{}"}]}.',
        ) from error


def reply_of(line: ScriptLine) -> Reply:
    """The reply that a line of a script stands for. Calls without an id are numbered within their message."""
    calls = tuple(
        ToolCall(call.id or f"call-{number}", call.name, call.arguments)
        for number, call in enumerate(line.calls, start=1)
    )
    message = Message(
        role=Role.AGENT,
        parts=(*((Text(line.text),) if line.text else ()), *calls),
        trust=Trust.AGENT,
        usage=line.usage,
    )
    return Reply(message, line.stop or (Stop.CALLS if message.calls else Stop.END))


def request_of(run: Run) -> bytes:
    """A plain request: everything that an answer may depend on, with the messages last."""
    return msgspec.json.encode(
        {
            "model": run.model,
            "system": run.spoken,
            "tools": run.shown,
            "sampling": run.sampling,
            "messages": [{"role": message.role.value, "parts": message.parts} for message in run.messages],
        }
    )


def _step(line: ScriptLine) -> Step:
    return ProviderFailed(line.fault, line.text or line.fault.value) if line.fault else reply_of(line)


def _pieces(message: Message, interrupt: Event) -> Iterator[Fragment]:
    for part in message.parts:
        text = part.text if isinstance(part, Text) else ""
        for start in range(0, len(text), PIECE_CHARACTERS):
            if interrupt.is_set():
                raise Interrupted
            yield Fragment("text", text[start : start + PIECE_CHARACTERS])
    if interrupt.is_set():
        raise Interrupted
