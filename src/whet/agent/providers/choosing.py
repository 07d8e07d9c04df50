"""The provider that the settings choose, and what is known of its model.

Replies that are given beforehand, by a test or by a file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event, Lock

import msgspec
from msgspec.structs import replace

from whet.agent.protocols import Chosen, ProviderFailed, ProviderFault, Reply, StopReason
from whet.agent.providers.anthropic import AnthropicCodec
from whet.agent.providers.asking import Asking, Codec
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.vendors import Asked, dialect_of
from whet.errors import WhetError
from whet.net.http import Client, Timeouts, Timing, real_timing, route_to
from whet.net.wire import Interrupted
from whet.own.runs.models import Model, address_of, model_of, with_facts
from whet.own.runs.run import Fragment, Run
from whet.own.runs.settings import Endpoint, Settings
from whet.sessions.transcripts import Message, Role, Text, ToolCall, Usage
from whet.sessions.trust import Trust
from whet.shipped import data
from whet.store.home import Home
from whet.values import Value

Step = Reply | ProviderFailed | Callable[[Run], Reply]
PIECE_CHARACTERS = 16
# Where people and proxies put the address of these two already; what the settings say wins.
BASE_VARIABLES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
Supply = Callable[[Home, Settings, str], Chosen]  # who answers, by the settings and the name of a model


class Call(Value, frozen=True):
    """A call as a script writes it. `arguments` is JSON text, so that a script can also hold what is none."""

    name: str
    arguments: str = "{}"
    id: str = ""


class ScriptLine(Value, frozen=True, forbid_unknown_fields=True):
    """One line of a script: words and calls, or a fault."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: StopReason | None = None
    usage: Usage | None = None
    fault: ProviderFault | None = None


class Scripted:
    """A provider that gives its replies one after the other, whatever it is asked."""

    def __init__(self, steps: Iterable[Step], *, name: str = "scripted") -> None:
        self.name = name
        self._steps = iter(steps)
        self._lock = Lock()

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
        bodies = [body for body in path.read_bytes().splitlines() if body.strip()]
        lines = [msgspec.json.decode(body, type=ScriptLine) for body in bodies]
    except OSError as error:
        raise WhetError(f"The script {path} cannot be read: {error.strerror}.", advice="Check its path.") from error
    except msgspec.MsgspecError as error:
        raise WhetError(
            f"The script {path} has a line that is not a reply: {error}.",
            advice='A line looks like {"text": "Done."} or {"calls": [{"name": "finish", "arguments": "{}"}]}.',
        ) from error
    steps = (
        ProviderFailed(line.fault, line.text or line.fault.value) if line.fault else reply_of(line) for line in lines
    )
    return Scripted(steps, name=path.stem)


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
    return Reply(message, line.stop or (StopReason.CALLS if message.calls else StopReason.END))


def request_of(run: Run) -> bytes:
    """A plain request: everything that an answer may depend on, with the messages last."""
    return msgspec.json.encode(
        {
            "model": run.model,
            "system": run.system,
            "tools": run.shown,
            "sampling": run.sampling,
            "messages": [{"role": message.role.value, "parts": message.parts} for message in run.messages],
        }
    )


def _pieces(message: Message, interrupt: Event) -> Iterator[Fragment]:
    for part in message.parts:
        text = part.text if isinstance(part, Text) else ""
        for start in range(0, len(text), PIECE_CHARACTERS):
            if interrupt.is_set():
                raise Interrupted
            yield Fragment("text", text[start : start + PIECE_CHARACTERS])
    if interrupt.is_set():
        raise Interrupted


def provider_for(settings: Settings, *, environment: Mapping[str, str], home: Home, model: str = "") -> Chosen:
    """The provider of the chosen model, or of one named as in the settings; raises WhetError with advice."""
    address = address_of(settings, model)
    endpoint = at_base(address.endpoint, settings, environment)
    if endpoint.kind == "local":
        from whet.agent.providers import local  # noqa: PLC0415 - it is an extra, and nobody else needs it

        return local.provider_for(address.model, home=home, settings=settings, environment=environment)
    if endpoint.kind == "scripted":
        return Chosen(scripted_file(Path(address.model)), Model("scripted"))
    known = with_facts(model_of(address.model, data.models(), provider=endpoint.name), settings.models)
    variable = base_variable(address.endpoint, settings, environment)
    key = _key(endpoint, environment)
    return Chosen(asking(endpoint, known, key=key, environment=environment, variable=variable), known)


def missing_key(settings: Settings, environment: Mapping[str, str], model: str = "") -> str:
    """The variable that has to hold the key of a model and is not set; empty where nothing is missing."""
    variable = address_of(settings, model).endpoint.key_variable
    return variable if variable and not environment.get(variable, "").strip() else ""


def at_base(endpoint: Endpoint, settings: Settings, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint at the address that the environment names, unless the settings name one."""
    variable = base_variable(endpoint, settings, environment)
    if not variable:
        return endpoint
    given = environment[variable].strip().rstrip("/")
    needs_version = endpoint.kind == "anthropic" and not given.endswith("/v1")
    return replace(endpoint, base_url=f"{given}/v1" if needs_version else given)


def base_variable(endpoint: Endpoint, settings: Settings, environment: Mapping[str, str]) -> str:
    """The variable that names the address of an endpoint; empty where none does, or the settings name one."""
    variable = BASE_VARIABLES.get(endpoint.name, "")
    is_set = any(each.name == endpoint.name and each.base_url for each in settings.providers)
    return variable if environment.get(variable, "").strip().rstrip("/") and not is_set else ""


def asking(
    endpoint: Endpoint,
    model: Model,
    *,
    key: str,
    environment: Mapping[str, str],
    timing: Timing | None = None,
    variable: str = "",
) -> Asking:
    """A provider that asks this endpoint for this model. A variable is where its address comes from."""
    timing = timing or real_timing()
    codec: Codec = (
        AnthropicCodec(model)
        if endpoint.kind == "anthropic"
        else OpenAICodec(model, dialect_of(endpoint.name, endpoint.base_url))
    )
    client = Client(
        route_to(endpoint.base_url, environment, what=variable or "base_url"),
        now=timing.steady,
        waits=Timeouts(bytes_seconds=endpoint.timeout_seconds),
    )
    return Asking(
        codec,
        client,
        Asked(endpoint.name, endpoint.key_variable, key, variable),
        timing=timing,
        retries=endpoint.retries,
    )


def _key(endpoint: Endpoint, environment: Mapping[str, str]) -> str:
    key = environment.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    if endpoint.key_variable and not key:
        raise WhetError(
            f"No API key for {endpoint.name}: the variable {endpoint.key_variable} is not set.",
            advice=f"`export {endpoint.key_variable}=…`, or choose another model: `whet config model local`.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise WhetError(
            f"The key in {endpoint.key_variable} contains characters that cannot be in a key.",
            advice="Copy it again, without line breaks and spaces.",
        )
    return key
