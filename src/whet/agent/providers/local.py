"""Models on this machine: a file with weights, served by a process of our own, asked like any endpoint.

A server for one model file, on loopback, in a process of its own that is started when it is first needed.
"""

import contextlib
import json
import os
import secrets
import selectors
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from whet.agent.protocols import Chosen, ProviderFailed, ProviderFault, Reply
from whet.agent.providers import local_weights
from whet.agent.providers.asking import Asking
from whet.agent.providers.local_weights import EMBEDDED, NAME, facts_of, path_of
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.vendors import Asked, Dialect
from whet.net.http import Client, Timeouts, real_timing, route_to
from whet.net.wire import Interrupted
from whet.own.runs.models import Model, with_facts
from whet.own.runs.run import Fragment, Run
from whet.own.runs.settings import Settings
from whet.own.runs.text_calls import grammar_of
from whet.shipped.extras import require
from whet.store.home import Home
from whet.values import Value

CHILD = "whet.agent.providers.local_child"
START_SECONDS = 600.0  # a large file on a slow disk
GLANCE_SECONDS = 0.1
END_SECONDS = 5.0
FAULT_CHARACTERS = 300
# What a program needs to run at all. Keys and tokens of the person are not among them.
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH")
KEPT_PREFIXES = ("CUDA_", "HIP_", "ROCR_", "GGML_", "COV")
TINY_PENALTY = {"repeat_penalty": 1.1, "repeat_last_n": 128}
SILENT_SECONDS = 1_800.0  # a long prompt takes minutes on a slow machine before the first word
BREAK = " "


class ServeOrder(Value, frozen=True):
    """What is to be served and how."""

    path: str
    name: str
    context_tokens: int
    template: str = ""  # in place of the one in the file


class ServerAddress(NamedTuple):
    """Where the server listens, and the key that it asks for: other accounts on the machine are not served."""

    base_url: str
    key: str


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    key: str
    end: Callable[[], object]


def provider_for(wanted: str, *, home: Home, settings: Settings, environment: Mapping[str, str]) -> Chosen:
    """The provider of a model file: a path, a name in the home folder, or nothing for the embedded one."""
    path = path_of(wanted, home)
    facts = facts_of(path)
    name = EMBEDDED.name if path == home.folder / "models" / f"{EMBEDDED.name}.gguf" else path.stem
    size = path.stat().st_size
    model = with_facts(local_weights.known_model(name, facts, size, settings), settings.models)
    order = ServeOrder(
        path=str(path),
        name=model.name,
        context_tokens=model.window or local_weights.MOST_CONTEXT,
        template=local_weights.template_of(settings.local),
    )
    extra = TINY_PENALTY if size < local_weights.TINY_FILE_BYTES else {}
    codec = LocalCodec(model, controls=facts.controls, calls=settings.local.calls, extra=extra)
    return Chosen(LocalProvider(codec, order, environment), model)


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
            first["max_tokens"] = self._model.output_tokens or local_weights.MOST_OUTPUT
        if self._model.tools == "text" and self._calls != "free" and run.shown:
            first["grammar"] = grammar_of(run.shown, always=self._calls == "always")
        return msgspec.json.encode(first)[:-1] + b"," + body[1:]

    def read(self, run: Run, events: Iterable[bytes]) -> Generator[Fragment, None, Reply]:
        return self._codec.read(run, events)


class LocalProvider:
    """A model on this machine. The first request starts its process, or anew where it died; it ends with this object.

    Several threads may ask at the same time.
    """

    def __init__(self, codec: LocalCodec, order: ServeOrder, environment: Mapping[str, str]) -> None:
        require("local", "Local models")
        self.name = NAME
        self._codec = codec
        self._order = order
        self._environment = environment
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._reached: tuple[ServerAddress, Asking] | None = None

    def request(self, run: Run) -> bytes:
        return self._codec.request(run)

    def reply(self, run: Run, *, interrupt: threading.Event) -> Iterator[Fragment | Reply]:
        _, asking = self._reach(interrupt)
        try:
            yield from asking.reply(run, interrupt=interrupt)
        except ProviderFailed as failure:
            if self.is_alive:
                raise
            raise ProviderFailed(
                ProviderFault.ENDPOINT,
                "The model's process ended before the answer was complete.",
                advice="It may have run out of memory: try a smaller model, or a smaller models.local.window.",
            ) from failure

    def address(self, interrupt: threading.Event) -> ServerAddress:
        """Where it listens, once it does. Raises ProviderFailed where it cannot, Interrupted once the event is set."""
        return self._reach(interrupt)[0]

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        child = self._child
        return child is not None and child.process.poll() is None

    @property
    def process_id(self) -> int | None:
        """That of the process which serves, while there is one."""
        return self._child.process.pid if self._child else None

    def close(self) -> None:
        """End the process. The next request starts it again."""
        with self._lock:
            self._end()

    def _reach(self, interrupt: threading.Event) -> tuple[ServerAddress, Asking]:
        with self._lock:
            if not self.is_alive:
                self._end()
            if self._child is None:
                self._child = _start(self, self._order, self._environment)
            if self._reached is None:
                try:
                    address = _wait(self._child, Path(self._order.path), interrupt)
                except ProviderFailed:
                    self._end()
                    raise
                timing, waits = real_timing(), Timeouts(bytes_seconds=SILENT_SECONDS)
                client = Client(route_to(address.base_url, self._environment), now=timing.steady, waits=waits)
                asking = Asking(self._codec, client, Asked(NAME, key=address.key), timing=timing, retries=0)
                self._reached = (address, asking)
            return self._reached

    def _end(self) -> None:
        if self._reached is not None:
            self._reached[1].close()
        if self._child is not None:
            self._child.end()
        self._child = self._reached = None


def _start(owner: "LocalProvider", order: ServeOrder, environment: Mapping[str, str]) -> _Child:
    key, log = secrets.token_urlsafe(24), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
    kept = {
        name: value for name, value in environment.items() if name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)
    }
    process = subprocess.Popen(
        [sys.executable, "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        # Threads that wait by spinning take the cores from everything else, the other threads included.
        env={**kept, "OMP_WAIT_POLICY": "passive"},
        start_new_session=True,  # Ctrl-C stops a turn, not the model
    )
    ending = weakref.finalize(owner, _stop, process, log)  # also at the end of the program
    line = json.dumps({**msgspec.structs.asdict(order), "key": key})
    with contextlib.suppress(BrokenPipeError):  # it ended at once: the log says why
        assert process.stdin is not None
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
    return _Child(process, log, key, ending)


def _wait(child: _Child, path: Path, interrupt: threading.Event) -> ServerAddress:
    """The address that the process tells once the model is loaded."""
    line = b"".join(_line(child, interrupt))
    if not line.endswith(b"\n"):
        raise ProviderFailed(
            ProviderFault.ENDPOINT,
            f"The model {path} could not be loaded: {_reason(child)}",
            advice="Check that the file is a complete GGUF model and fits into memory.",
        )
    return ServerAddress(f"{json.loads(line)['address']}/v1", child.key)


def _line(child: _Child, interrupt: threading.Event) -> Iterator[bytes]:
    """The first line that the process writes, in pieces, up to its end or that of the process or of our patience."""
    assert child.process.stdout is not None
    deadline = time.monotonic() + START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(child.process.stdout, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            if interrupt.is_set():
                raise Interrupted
            if selector.select(GLANCE_SECONDS):
                piece = os.read(child.process.stdout.fileno(), 4096)
                yield piece
                if not piece or piece.endswith(b"\n"):
                    return


def _reason(child: _Child) -> str:
    """What its log says last, or how it ended."""
    try:
        child.process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        return f"it was not ready after {START_SECONDS:.0f} seconds."
    child.log.seek(0)
    lines = child.log.read().decode("utf-8", "replace").splitlines()
    told = next((line for line in lines if " E " in line), lines[-1] if lines else "")
    return f"{told[:FAULT_CHARACTERS] or 'no reason was given'} (exit code {child.process.returncode})."


def _stop(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """End the process: by itself when its input closes, else by force."""
    log.close()
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
