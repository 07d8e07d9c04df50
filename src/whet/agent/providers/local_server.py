"""A server for one model file, on loopback, in a process of its own that is started when it is first needed."""

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
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

from whet.agent.protocols import ProviderFailed, ProviderFault
from whet.errors import WhetError
from whet.net.interrupting import Interrupted
from whet.shipped.extras import how_to_add
from whet.values import Value

LIBRARY = "xllamacpp"
CHILD = "whet.agent.providers.local_child"
START_SECONDS = 600.0  # a large file on a slow disk
GLANCE_SECONDS = 0.1
END_SECONDS = 5.0
MOST_THREADS = 8
FAULT_CHARACTERS = 300
# What a program needs to run at all. Keys and tokens of the person are not among them.
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH")
KEPT_PREFIXES = ("CUDA_", "HIP_", "ROCR_", "GGML_", "COV")


class ServeOrder(Value, frozen=True):
    """What is to be served and how. Zero threads: as many as there are cores."""

    path: str
    name: str
    context_tokens: int
    slots: int = 2  # a review beside the conversation that it is a fork of
    cache_mib: int = 1024
    threads: int = 0
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


class LocalServer:
    """The server of one order. Several threads may ask for its address; the first starts it, and a dead one anew."""

    def __init__(self, order: ServeOrder, *, environment: Mapping[str, str]) -> None:
        require_library()
        self._order = order
        self._environment = environment
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._address: ServerAddress | None = None

    def address(self, interrupt: threading.Event) -> ServerAddress:
        """Where it listens, once it does. Raises ProviderFailed where it cannot, Interrupted once the event is set."""
        with self._lock:
            if self._child is not None and self._child.process.poll() is not None:
                self._end()
            if self._child is None:
                self._child = _start(self, self._order, self._environment)
            if self._address is None:
                try:
                    self._address = _wait(self._child, Path(self._order.path), interrupt)
                except ProviderFailed:
                    self._end()
                    raise
            return self._address

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
        """End the process. The next one who asks for the address starts it again."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = self._address = None


def require_library() -> None:
    """Raise WhetError where the library that runs models is not installed."""
    if find_spec(LIBRARY) is None:
        advice = f"Run `{how_to_add('local')}`."
        raise WhetError("Local models need a library that is not installed.", advice=advice)


def threads_of(order: ServeOrder) -> int:
    """How many threads compute: one a core, and no more than help."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return order.threads or max(1, min(cores, MOST_THREADS))


def _start(owner: LocalServer, order: ServeOrder, environment: Mapping[str, str]) -> _Child:
    key, log = secrets.token_urlsafe(24), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
    process = subprocess.Popen(
        [sys.executable, "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=_variables(environment),
        start_new_session=True,  # Ctrl-C stops a turn, not the model
    )
    ending = weakref.finalize(owner, _stop, process, log)  # also at the end of the program
    fields = {name: getattr(order, name) for name in order.__struct_fields__}
    line = json.dumps({**fields, "threads": threads_of(order), "key": key})
    with contextlib.suppress(BrokenPipeError):  # it ended at once: the log says why
        assert process.stdin is not None
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
    return _Child(process, log, key, ending)


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value for name, value in environment.items() if name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)
    }
    # Threads that wait by spinning take the cores from everything else, the other threads included.
    return {**kept, "OMP_WAIT_POLICY": "passive"}


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
