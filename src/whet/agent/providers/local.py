"""Models on this machine: a file with weights, served by a process of our own, asked like any endpoint."""

import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from whet.agent.protocols import Chosen, ProviderFailed, ProviderFault, Reply
from whet.agent.providers.asking import Asking
from whet.agent.providers.dialects import Dialect
from whet.agent.providers.failures import Asked
from whet.agent.providers.local_facts import WeightFacts, facts_of
from whet.agent.providers.local_server import LocalServer, ServeOrder, ServerAddress
from whet.agent.providers.local_weights import EMBEDDED, path_of
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.openai_stream import OpenAIReading
from whet.errors import WhetError
from whet.net.http import Client, Waits, real_timing, route_to
from whet.runs.call_grammar import grammar_of
from whet.runs.models import Model, model_of, with_facts
from whet.runs.run import Fragment, Run
from whet.runs.settings import Local, Settings
from whet.shipped import data
from whet.store.home import Home

NAME = "local"
MOST_CONTEXT = 16_384  # of a model that could read more: what it reads is kept in memory
MOST_OUTPUT = 4_096  # where nothing else is said: an answer without end would hold the machine for an hour
SMALL_FILE_BYTES = 10_000_000_000
# Models of half a billion parameters and less go in circles: they are stopped early, and what was said lately becomes
# less likely.
TINY_FILE_BYTES = 600_000_000
TINY_OUTPUT = 512
TINY_PENALTY = {"repeat_penalty": 1.1, "repeat_last_n": 128}
SILENT_SECONDS = 1_800.0  # a long prompt takes minutes on a slow machine before the first word
BREAK = " "


def provider_for(wanted: str, *, home: Home, settings: Settings, environment: Mapping[str, str]) -> Chosen:
    """The provider of a model file: a path, a name in the home folder, or nothing for the embedded one."""
    path = path_of(wanted, home)
    facts = facts_of(path)
    name = EMBEDDED.name if path == home.folder / "models" / f"{EMBEDDED.name}.gguf" else path.stem
    size = path.stat().st_size
    model = with_facts(known_model(name, facts, size, settings.local), settings.models)
    order = ServeOrder(
        path=str(path),
        name=model.name,
        context_tokens=model.window or MOST_CONTEXT,
        slots=settings.local.slots,
        cache_mib=settings.local.cache_mib,
        threads=settings.local.threads,
        template=_template(settings.local),
    )
    extra = TINY_PENALTY if size < TINY_FILE_BYTES else {}
    codec = LocalCodec(model, controls=facts.controls, calls=settings.local.calls, extra=extra)
    return Chosen(LocalProvider(codec, LocalServer(order, environment=environment), environment), model)


def known_model(name: str, facts: WeightFacts, size_bytes: int, local: Local) -> Model:
    """What is known of a model: by its own name where the table knows that, else by the one in its file."""
    found = model_of(name, data.models(), provider=NAME)
    if not found.family:
        by_file = model_of(facts.name.replace(" ", "-"), data.models(), provider=NAME)
        found = msgspec.structs.replace(by_file, name=name)
    # A template that never mentions tools drops the definitions that it is given.
    has_calls = "tools" in (_template(local) or facts.template)
    window = min(facts.window or MOST_CONTEXT, local.context_tokens or MOST_CONTEXT)
    return msgspec.structs.replace(
        found,
        window=window,
        output_tokens=min(TINY_OUTPUT if size_bytes < TINY_FILE_BYTES else MOST_OUTPUT, window // 2),
        tools=found.tools if has_calls else "text",
        size=found.size or _size(size_bytes),
    )


def _size(size_bytes: int) -> Literal["", "tiny", "small"]:
    if size_bytes < TINY_FILE_BYTES:
        return "tiny"
    return "small" if size_bytes < SMALL_FILE_BYTES else ""


class LocalCodec:
    """The form of OpenAI's chat completions with what our own server takes besides."""

    path = OpenAICodec.path

    def __init__(
        self, model: Model, *, controls: tuple[str, ...], calls: str, extra: Mapping[str, float] | None = None
    ) -> None:
        self._model = model
        self._extra = dict(extra or {})
        self._controls = tuple(word.encode() for word in controls if len(word) > 1)
        self._calls = calls
        self._codec = OpenAICodec(model, Dialect())

    def headers(self, key: str) -> dict[str, str]:
        return self._codec.headers(key)

    def request(self, run: Run) -> bytes:
        """The body. Words of control lose their meaning in it: the server reads them wherever they stand."""
        body = self._codec.request(run)
        for word in self._controls:
            body = body.replace(word, word[:1] + BREAK.encode() + word[1:])
        first: dict[str, Any] = {"cache_prompt": True, **self._extra}
        if run.sampling.output_tokens is None:
            first["max_tokens"] = self._model.output_tokens or MOST_OUTPUT
        if self._model.tools == "text" and self._calls != "free" and run.shown:
            first["grammar"] = grammar_of(run.shown, always=self._calls == "always")
        return msgspec.json.encode(first)[:-1] + b"," + body[1:]

    def reading(self, run: Run) -> OpenAIReading:
        return self._codec.reading(run)


class LocalProvider:
    """A model on this machine. Its process is started with the first request, and ends with this object."""

    def __init__(self, codec: LocalCodec, server: LocalServer, environment: Mapping[str, str]) -> None:
        self._codec = codec
        self._server = server
        self._environment = environment
        self._lock = threading.Lock()
        self._asking: tuple[ServerAddress, Asking] | None = None

    @property
    def name(self) -> str:
        return NAME

    @property
    def server(self) -> LocalServer:
        return self._server

    def request(self, run: Run) -> bytes:
        return self._codec.request(run)

    def reply(self, run: Run, *, interrupt: threading.Event) -> Iterator[Fragment | Reply]:
        asking = self._asked(self._server.address(interrupt))
        try:
            yield from asking.reply(run, interrupt=interrupt)
        except ProviderFailed as failure:
            if self._server.is_alive:
                raise
            raise ProviderFailed(
                ProviderFault.ENDPOINT,
                "The model's process ended before the answer was complete.",
                advice="It may have run out of memory: try a smaller model, or a smaller local.context_tokens.",
            ) from failure

    def close(self) -> None:
        """End the process that serves the model."""
        with self._lock:
            if self._asking:
                self._asking[1].close()
            self._asking = None
        self._server.close()

    def _asked(self, address: ServerAddress) -> Asking:
        """The way to the server, made anew when it was started anew."""
        with self._lock:
            if self._asking is None or self._asking[0] != address:
                timing = real_timing()
                client = Client(
                    route_to(address.base_url, self._environment),
                    now=timing.steady,
                    waits=Waits(bytes_seconds=SILENT_SECONDS),
                )
                asking = Asking(self._codec, client, Asked(NAME, key=address.key), timing=timing, retries=0)
                self._asking = (address, asking)
            return self._asking[1]


def _template(local: Local) -> str:
    """The chat template that the person gave in place of the one in the file."""
    if not local.template:
        return ""
    path = Path(os.path.expanduser(local.template))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"The template {path} cannot be read: {error}.", advice="Set local.template.") from error
