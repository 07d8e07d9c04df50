"""A process that has all of Whet loaded and makes a copy of itself for each command: a start without its wait.

The copy is a process like any other, with its own folder, environment, streams, signals and end. What Python reads
before its first line (`FROM_THE_START`) needs a real start.
"""

import atexit
import contextlib
import faulthandler
import gc
import io
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import whet
from whet.cli.main import main

FROM_THE_START = ("PYTHON", "COV", "LANG", "LC_", "LD_")
ORDER_BYTES = 1 << 20
Streams = tuple[int, int, int]


def needs_start(variables: dict[str, str]) -> bool:
    """Whether a command with this environment has to be started anew. What counts coverage does so for each process."""
    unlike = {name for name, value in variables.items() if value != os.environ.get(name) or name.startswith("COV")}
    return any(name.startswith(FROM_THE_START) for name in unlike)


def run_copy(arguments: list[str], stdin: str, variables: dict[str, str], folder: Path) -> tuple[int, str, str]:
    """Run `whet` to its end, and say how it ended, as subprocess does, and what it wrote."""
    (given, give), (out, out_end), (err, err_end) = os.pipe(), os.pipe(), os.pipe()
    line = begin_copy(arguments, variables, folder, (given, out_end, err_end))
    for end in (given, out_end, err_end):
        os.close(end)
    with ThreadPoolExecutor(2) as readers:
        written = [readers.submit(_read, end) for end in (out, err)]
        with contextlib.suppress(BrokenPipeError), open(give, "wb") as pipe:
            pipe.write(stdin.encode())
        said, complained = (each.result() for each in written)
    return ends(line)(), said, complained


def _read(end: int) -> str:
    with open(end, "rb") as pipe:
        return pipe.read().decode()


def begin_copy(arguments: list[str], variables: dict[str, str], folder: Path, streams: Streams) -> socket.socket:
    """Have `whet` begun with these streams. The line tells its code when it has ended."""
    body = json.dumps([arguments, variables, str(folder)]).encode()
    line = socket.socket(socket.AF_UNIX)
    line.connect(warm().address)
    socket.send_fds(line, [len(body).to_bytes(8, "big")], streams)
    line.sendall(body)
    return line


def ends(line: socket.socket) -> Callable[[], int]:
    """A way to wait for the end of a command."""

    def code() -> int:
        with line:
            return int(line.recv(64))

    return code


class Warm(NamedTuple):
    """The process of this run, and where it listens. It ends with this one, however that happens."""

    process: "subprocess.Popen[bytes]"
    address: str


@cache
def warm() -> Warm:
    folder = tempfile.mkdtemp(prefix="whet-warm-")
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", *FROM_THE_START))}
    command = [sys.executable, "-P", __file__, f"{folder}/line"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**kept, "HOME": folder}, cwd=folder
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return Warm(process, f"{folder}/line")


def cool() -> None:
    """End the process of this run, if it was needed."""
    if warm.cache_info().currsize:
        with warm().process:
            warm.cache_clear()


def _serve(address: str) -> None:
    """Take orders until whoever started this is gone. Returns in each copy, to run its command."""
    waiting: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([0, woken, listener.fileno()], [], [])
            if 0 in ready:
                shutil.rmtree(Path(address).parent)
                os._exit(0)
            if woken in ready:
                os.read(woken, 1024)
                for process, code in _ended():
                    with contextlib.suppress(BrokenPipeError), waiting.pop(process) as line:
                        line.sendall(f"{code}\n".encode())
            if listener.fileno() in ready:
                line, _ = listener.accept()
                order, streams = _taken(line)
                process = os.fork()
                if not process:
                    for each in (line, *waiting.values()):
                        each.close()
                    break
                waiting[process] = line
                for stream in streams:
                    os.close(stream)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.close(woken)
    os.close(wake)
    _become(order, streams)


def _ended() -> Iterator[tuple[int, int]]:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended[0], os.waitstatus_to_exitcode(ended[1])


def _taken(line: socket.socket) -> tuple[Any, list[int]]:
    head, streams, _, _ = socket.recv_fds(line, 8, 3)
    size, body = int.from_bytes(head, "big"), bytearray()
    while len(body) < size:
        body += line.recv(ORDER_BYTES)
    return json.loads(body), streams


def _become(order: Any, streams: list[int]) -> None:
    """Put on a command's streams, environment and folder."""
    arguments, environment, folder = order
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=os.isatty(1))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    time.tzset()
    sys.argv[:] = [str(Path(sys.executable).with_name("whet")), *arguments]


def _load() -> None:
    for module in pkgutil.walk_packages(whet.__path__, "whet."):
        import_module(module.name)
    gc.collect()
    gc.freeze()  # what a copy only reads stays shared


def _run() -> None:
    """Run the command and exit: threads and what is registered for the end have their turn, memory is left as it is."""
    codes: list[int] = []
    # The first to be registered is the last to run. Taking everything apart would copy it first.
    atexit.register(lambda: _leave(codes[0]) if codes else None)
    try:
        main()
    except SystemExit as end:
        codes.append(end.code if isinstance(end.code, int) else int(end.code is not None))
        raise


def _leave(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    faulthandler.enable()
    _load()
    _serve(sys.argv[1])
    _run()
