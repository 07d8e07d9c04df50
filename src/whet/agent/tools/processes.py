"""Processes of the terminal: their environment, their output, and their end with all that they started."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from whet.secrets.looks import is_key_name, is_secret_name
from whet.secrets.redactor import Redactor
from whet.text.words import names

# Who and where one is, and how texts and times are written. All that begins with LC_ besides.
USUAL = names("HOME USER LOGNAME SHELL HOSTNAME LANG LANGUAGE TZ COLUMNS LINES CI SOURCE_DATE_EPOCH")
# Where languages and their tools are installed and find their libraries, and how they build.
TOOLCHAINS = names(
    "VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYTHONPATH PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED"
    " PYTHONDONTWRITEBYTECODE PYTHONWARNINGS PYENV_ROOT PYENV_VERSION UV_PYTHON UV_PROJECT_ENVIRONMENT PIPX_HOME"
    " NODE_PATH NODE_ENV NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME N_PREFIX PNPM_HOME BUN_INSTALL"
    " DENO_DIR DENO_INSTALL COREPACK_HOME GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTOOLCHAIN GOFLAGS GOPROXY"
    " GOPRIVATE GONOSUMDB GONOPROXY GOOS GOARCH CGO_ENABLED CARGO_HOME CARGO_TARGET_DIR CARGO_BUILD_JOBS RUSTUP_HOME"
    " RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE JAVA_HOME JDK_HOME JRE_HOME GRADLE_HOME GRADLE_USER_HOME MAVEN_HOME"
    " M2_HOME ANT_HOME SDKMAN_DIR KOTLIN_HOME SCALA_HOME SBT_HOME ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME"
    " ANDROID_NDK_ROOT GEM_HOME GEM_PATH BUNDLE_PATH BUNDLE_GEMFILE RBENV_ROOT RBENV_VERSION RUBYLIB PERL5LIB"
    " PERL_LOCAL_LIB_ROOT LUA_PATH LUA_CPATH COMPOSER_HOME PHPRC DOTNET_ROOT DOTNET_CLI_HOME NUGET_PACKAGES OPAMROOT"
    " OPAMSWITCH OPAM_SWITCH_PREFIX OCAMLPATH CAML_LD_LIBRARY_PATH STACK_ROOT CABAL_DIR GHCUP_INSTALL_BASE_PREFIX"
    " ERL_LIBS MIX_HOME MIX_ENV HEX_HOME JULIA_DEPOT_PATH JULIA_PROJECT R_HOME R_LIBS R_LIBS_USER ASDF_DIR"
    " ASDF_DATA_DIR MISE_DATA_DIR NIX_PATH NIX_PROFILES XDG_DATA_DIRS XDG_CONFIG_DIRS HOMEBREW_PREFIX"
    " HOMEBREW_CELLAR HOMEBREW_REPOSITORY EMSDK CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES ROCM_PATH OMP_NUM_THREADS"
    " MKL_NUM_THREADS OPENBLAS_NUM_THREADS CC CXX CPP LD AR AS NM FC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS"
    " CMAKE_PREFIX_PATH CMAKE_GENERATOR PKG_CONFIG_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH SDKROOT"
    " DEVELOPER_DIR MANPATH INFOPATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE"
    " NODE_EXTRA_CA_CERTS"
)
PROXIES = names("http_proxy https_proxy ftp_proxy all_proxy no_proxy")
FIXED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "HISTFILE": "/dev/null",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
}
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Sequences that move a cursor, set colours, titles, links or the clipboard; and single controls.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]{0,65536}(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]|\x1b"
)
_ERASED = re.compile(r"[^\n\x08]\x08")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n])", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
HEAD_SHARE = 0.4
ERASING_ROUNDS = 80
POLL_SECONDS = 0.05
GRACE_SECONDS = 5.0
MOST_AT_ONCE = 20
_CHILD = re.compile(rb'"child-pid":\s*(\d+)')


def cleaned(
    environment: Mapping[str, str], *, session: str, temporary: str, network: bool = False, kept: Iterable[str] = ()
) -> dict[str, str]:
    """The variables for commands: those that are known to be needed, and those that the person names in `kept`."""
    chosen = frozenset(kept)
    found = {
        name: value
        for name, value in environment.items()
        if name in chosen or (is_known(name, network=network) and not looks_secret(name, value))
    }
    return {
        **found,
        **FIXED,
        "PATH": safe_path(environment.get("PATH", "")),
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{temporary}/cache",
        "PYTHONPYCACHEPREFIX": f"{temporary}/cache/python",  # compiled files in the folder run instead of their source
        "npm_config_cache": f"{temporary}/cache/npm",
        "WHET_RUN": session,  # so that `whet` itself knows that an agent is at the command line
    }


def is_known(name: str, *, network: bool) -> bool:
    """Whether programs need a variable of this name."""
    return name in USUAL or name in TOOLCHAINS or name.startswith("LC_") or (network and name.lower() in PROXIES)


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable looks like a secret, by its name or by its value: a proxy's address may hold a password."""
    if is_secret_name(name) or is_key_name(name):
        return True
    return Redactor().text(value) != value or Redactor().text(f"{name}={value}") != f"{name}={value}"


def safe_path(path: str) -> str:
    """The search path without relative entries, by which a file in the working folder would pose as a program."""
    entries = [entry for entry in path.split(":") if entry.startswith("/")]
    return ":".join(entries) or DEFAULT_PATH


def installations(path: str) -> tuple[Path, ...]:
    """Where the programs of the search path are installed, with what they need: the folder around each `bin`."""
    places = [Path(entry) for entry in safe_path(path).split(":")]
    around = [place.parent for place in places if place.name == "bin"]
    own = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[3])
    return tuple(place for place in dict.fromkeys((*places, *around, *own)) if place != Path("/"))


class KeptOutput(NamedTuple):
    """What was printed: its beginning and its end, and how many bytes are missing between them."""

    head: bytes
    tail: bytes
    missing: int

    @property
    def text(self) -> str:
        if not self.missing:
            return plain((self.head + self.tail).decode("utf-8", "replace"))
        head, tail = (plain(part.decode("utf-8", "ignore")) for part in (self.head, self.tail))
        return f"{head.rstrip()}\n[… {self.missing:,} bytes left out …]\n{tail.lstrip()}"


class BoundedOutput:
    """Keeps the beginning and the end of what is added, in bounded memory. Safe to use from two threads."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._head_limit = int(limit * HEAD_SHARE)
        self._tail_limit = limit - self._head_limit
        self._head, self._tail, self._missing = b"", b"", 0

    def add(self, piece: bytes) -> None:
        with self._lock:
            room = self._head_limit - len(self._head)
            if room > 0:
                self._head, piece = self._head + piece[:room], piece[room:]
            self._tail += piece
            # Cut only now and then: cutting at every piece would copy the tail each time.
            if len(self._tail) > 2 * self._tail_limit + 65_536:
                self._cut()

    def take(self) -> KeptOutput:
        """What was added since the last time."""
        with self._lock:
            self._cut()
            taped = KeptOutput(self._head, self._tail, self._missing)
            self._head, self._tail, self._missing = b"", b"", 0
            return taped

    def _cut(self) -> None:
        over = len(self._tail) - self._tail_limit
        if over > 0:
            self._tail, self._missing = self._tail[over:], self._missing + over


def plain(text: str) -> str:
    """The text as a terminal would leave it: overwritten lines in their last state, no sequences, no controls."""
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text)
    for _ in range(ERASING_ROUNDS):
        erased = _ERASED.sub("", text) if "\b" in text else text
        if erased == text:
            break
        text = erased
    return _CONTROL.sub("", text)


class Launch(NamedTuple):
    """How a command is started: a program, options that name open descriptors, and the rest of the line."""

    program: tuple[str, ...]
    rest: tuple[str, ...]
    environment: dict[str, str]
    folder: Path
    files: tuple[tuple[str, bytes], ...] = ()  # options that take the descriptor of a file that holds these bytes
    keeps: tuple[int, ...] = ()  # descriptors that the command inherits
    leash: str = ""  # the option that takes the end of a pipe: when we are gone, so is the command
    tells: str = ""  # the option that takes a pipe, to tell of the process in whose end all others end


class Process:
    """One command at work. A thread of its own starts it and reads what it prints, so that it never has to wait.

    The thread must be the one that starts it: the kernel ends a sandbox with the thread that it came from.
    """

    def __init__(self, launch: Launch, command: str, *, limit: int) -> None:
        self.command = command
        self.tape = BoundedOutput(limit)
        self.started = time.monotonic()
        self.exit_code: int | None = None
        self.fault = ""
        self._popen: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._leash = -1
        self._supervised = bool(launch.leash)
        self._ready, self.done = threading.Event(), threading.Event()
        threading.Thread(target=self._run, args=(launch,), name="whet-process", daemon=True).start()
        self._ready.wait()

    def wait(self, seconds: float, interrupt: threading.Event) -> str:
        """Wait for its end: `done`, or why it goes on: `time` or `interrupt`."""
        deadline = time.monotonic() + seconds
        while not self.done.wait(max(0.0, min(POLL_SECONDS, deadline - time.monotonic()))):
            if interrupt.is_set():
                return "interrupt"
            if time.monotonic() >= deadline:
                return "time"
        return "done"

    def stop(self) -> None:
        """End it and all that it started, now."""
        self._let_go()
        if self._popen is not None and not self.done.is_set():
            # A supervisor on a leash ends what it watches and then itself; anything else is ended by group.
            if self._supervised and self.done.wait(GRACE_SECONDS):
                return
            self._end_group()
            self.done.wait(GRACE_SECONDS)

    def _end_group(self) -> None:
        """End what is left of the group; macOS says "not permitted" of a group of the dead."""
        if self._popen is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def _run(self, launch: Launch) -> None:
        descriptors: list[int] = []
        telling = -1
        try:
            options: list[str] = []
            for option, body in launch.files:
                descriptors.append(_holding(body))
                options += (option, str(descriptors[-1]))
            if launch.leash:
                end, self._leash = os.pipe()
                descriptors.append(end)
                options += (launch.leash, str(end))
            if launch.tells:
                telling, end = os.pipe()
                descriptors.append(end)
                options += (launch.tells, str(end))
            self._popen = subprocess.Popen(
                [*launch.program, *options, *launch.rest],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=launch.environment,
                cwd=launch.folder,
                start_new_session=True,
                pass_fds=(*descriptors, *launch.keeps),
            )
        except OSError as error:
            self.fault = error.strerror or str(error)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
            self._ready.set()
        last = _watched(telling) if telling >= 0 else -1
        if self._popen is not None:
            self._drain(self._popen)
        _see_out(last)
        if not (launch.leash or launch.tells):
            self._end_group()
        self._let_go()
        self.done.set()

    def _drain(self, popen: "subprocess.Popen[bytes]") -> None:
        assert popen.stdout is not None
        with popen.stdout as pipe:
            while piece := os.read(pipe.fileno(), 65_536):
                self.tape.add(piece)
        code = popen.wait()
        self.exit_code = code if code >= 0 else 128 - code

    def _let_go(self) -> None:
        with self._lock:  # a descriptor that is closed twice may be another's by then
            leash, self._leash = self._leash, -1
        if leash >= 0:
            os.close(leash)


class Processes:
    """The background processes of a session, by their handles."""

    def __init__(self) -> None:
        self._running: dict[str, Process] = {}
        self._count = 0

    def keep(self, start: Callable[[], Process]) -> tuple[str, Process] | None:
        """Start one more; None where there are too many."""
        if sum(not process.done.is_set() for process in self._running.values()) >= MOST_AT_ONCE:
            return None
        self._count += 1
        handle = f"p{self._count}"
        self._running[handle] = start()
        return handle, self._running[handle]

    def get(self, handle: str) -> Process | None:
        return self._running.get(handle)

    def all(self) -> tuple[tuple[str, Process], ...]:
        return tuple(self._running.items())

    def close(self) -> None:
        for process in self._running.values():
            process.stop()
        self._running.clear()


def _watched(telling: int) -> int:
    """A descriptor of the process that holds all others of a sandbox, as the sandbox tells of it; -1 for none."""
    with os.fdopen(telling, "rb") as pipe:
        found = _CHILD.search(pipe.read())
    with contextlib.suppress(OSError):
        return os.pidfd_open(int(found[1])) if found else -1
    return -1


def _see_out(last: int) -> None:
    """Wait until that process is gone: the one that we started ends a moment before those that it held."""
    if last >= 0:
        poll = select.poll()
        poll.register(last, select.POLLIN)
        poll.poll(GRACE_SECONDS * 1_000)
        os.close(last)


def _holding(body: bytes) -> int:
    """A descriptor of a file without a name that holds these bytes."""
    descriptor = os.memfd_create("whet")
    os.write(descriptor, body)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


__all__ = ["KeptOutput", "Launch", "Process", "Processes"]
