"""Weights from a hub over HTTPS: resumed where a connection was cut, checked before they count."""

import contextlib
import hashlib
import json
import os
import string
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from whet.agent.providers.local_weights import SUFFIX, KnownWeights, check, fetching, file_name
from whet.errors import WhetError
from whet.net.http import Client, Response, Waits, route_to
from whet.net.wire import TransportFailed
from whet.store.folders import Folder, explained, temporary_name
from whet.store.home import Home

PREFIX = "hf:"
HUB = "https://huggingface.co"
WAITS = Waits(bytes_seconds=60.0)
REDIRECTS = (301, 302, 303, 307, 308)
MOST_REDIRECTS = 10
LOOPBACK = ("127.0.0.1", "localhost", "::1")
Progress = Callable[[int, int], None]  # bytes so far, bytes in all: 0 where that is not known
Warn = Callable[[str], None]


class WantedFile(NamedTuple):
    """A file on a hub: where it is, what it is called here, what it has to be if that is known, and the way there."""

    url: str
    name: str
    sha256: str
    token: str
    environment: Mapping[str, str]  # names proxies and certificates


class _Part(NamedTuple):
    """What is there of a file already, and the server's mark of the version that it is of."""

    size_bytes: int
    mark: str


class _Found(NamedTuple):
    """What an address led to, and the checksum that the hub named on the way."""

    body: Response
    sha256: str


class _Answer(NamedTuple):
    """The open body, from where on, how long the whole is, and what the hub itself says of it."""

    body: Response
    start: int
    size_bytes: int
    mark: str
    sha256: str


def wanted_of(address: str, *, environment: Mapping[str, str], name: str = "", sha256: str = "") -> WantedFile:
    """What `hf:owner/repo/file.gguf` means; the hub and a token for it may stand in the environment."""
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
    token = environment.get("HF_TOKEN", "")
    return WantedFile(url, name or parts[-1].removesuffix(SUFFIX), sha256.lower(), token, environment)


def pull_file(wanted: WantedFile, home: Home, *, progress: Progress | None = None, warn: Warn | None = None) -> Path:
    """Fetch a file into the home folder. A cut connection leaves what came, and the next call goes on from there.

    `warn` hears of weights that nobody named a checksum for: they may be anybody's.
    """
    target = file_name(wanted.name)
    with fetching(home) as folder:
        part = temporary_name(target)
        answer = _ask(wanted, _part(folder, part))
        with contextlib.ExitStack() as stack:
            stack.callback(answer.body.end)
            _note(folder, part, answer)
            _receive(folder, part, answer, progress or _nothing)
        digest = _finish(folder, part, wanted, answer)
    if warn and not (answer.sha256 or wanted.sha256):
        warn(f"No checksum is known for {wanted.name}. The file has {digest}: compare it, or pull again with --sha256.")
    return home.folder / "models" / target


def _part(folder: Folder, part: str) -> _Part | None:
    note = folder.read(_note_name(part))
    try:
        size = os.stat(part, dir_fd=folder.descriptor, follow_symlinks=False).st_size
        mark = json.loads(note or b"")["mark"]
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None
    return _Part(size, mark) if size and isinstance(mark, str) and mark else None


def _note(folder: Folder, part: str, answer: _Answer) -> None:
    """Write down of which version the part is, before any byte of it."""
    name = _note_name(part)
    folder.write(name, json.dumps({"mark": answer.mark}).encode(), expected=folder.read(name))


def _note_name(part: str) -> str:
    return temporary_name(f"{part}.version")


def _ask(wanted: WantedFile, part: _Part | None) -> _Answer:
    """Ask for the file, or for the rest of it where the server still has the version that the part is of."""
    headers = {"Range": f"bytes={part.size_bytes}-", "If-Range": part.mark} if part else {}
    try:
        found = _followed(wanted, headers)
    except TransportFailed as failure:
        raise WhetError(
            f"{urlsplit(wanted.url).hostname} cannot be reached: {failure.message}.",
            advice=failure.advice or "Check the network, or set HF_ENDPOINT to a mirror.",
        ) from failure
    body = found.body
    if body.status not in (200, 206):
        body.end()
        if body.status == 416 and part:  # longer than the file is now
            return _ask(wanted, None)
        raise _refused(body.status, wanted)
    start = part.size_bytes if part and body.status == 206 else 0
    length = int(body.header("Content-Length")) if body.header("Content-Length").isdecimal() else 0
    mark = body.header("ETag")
    return _Answer(body, start, start + length if length else 0, "" if mark.startswith("W/") else mark, found.sha256)


def _followed(wanted: WantedFile, headers: Mapping[str, str]) -> _Found:
    """What a file's address leads to: the hub sends on to where its files lie. The token goes to the hub only."""
    url, sha256, token = wanted.url, "", wanted.token
    hub = urlsplit(url).netloc
    for _ in range(MOST_REDIRECTS):
        here = urlsplit(url)
        given = {"User-Agent": "whet", "Authorization": f"Bearer {token}" if token else "", **headers}
        route = route_to(f"{here.scheme}://{here.netloc}", wanted.environment, what="the address of the file")
        client = Client(route, now=time.monotonic, waits=WAITS)
        path = urlunsplit(("", "", here.path or "/", here.query, ""))
        response = client.get(path, given, interrupt=threading.Event())
        linked = response.header("X-Linked-ETag").strip('"').lower()
        if len(linked) == 64 and here.netloc == hub:
            sha256 = linked
        if response.status not in REDIRECTS or not response.header("Location"):
            return _Found(response, sha256)
        response.end()
        url = urljoin(url, quote(response.header("Location"), safe=string.punctuation))
        there = urlsplit(url)
        if there.scheme != "https" and (here.scheme == "https" or there.hostname not in LOOPBACK):
            raise WhetError(f"{here.hostname} redirects to an address without https.", advice="Use another source.")
        token = token if there[:2] == here[:2] else ""
    raise WhetError(f"{wanted.url} redirects too often.", advice="Use another source.")


def _receive(folder: Folder, part: str, answer: _Answer, progress: Progress) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | (0 if answer.start else os.O_TRUNC)
    got = answer.start
    with explained(folder.path / part), os.fdopen(os.open(part, flags, 0o600, dir_fd=folder.descriptor), "r+b") as out:
        out.seek(answer.start)
        out.truncate()
        try:
            for block in answer.body.chunks():
                out.write(block)
                got += len(block)
                progress(got, answer.size_bytes)
        except TransportFailed as failure:
            raise WhetError(
                f"The connection broke after {got:,} of {answer.size_bytes:,} bytes: {failure.message}.",
                advice="Run it again to resume.",
            ) from failure
        finally:
            out.flush()
            os.fsync(out.fileno())


def _finish(folder: Folder, part: str, wanted: WantedFile, answer: _Answer) -> str:
    """Put the file in its place if it is what the hub and the person say, and give its hash; else keep nothing."""
    target = file_name(wanted.name)
    try:
        with explained(folder.path / target):
            descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.descriptor)
            with os.fdopen(descriptor, "rb") as file:
                if file.read(4) != b"GGUF":
                    raise WhetError(f"{wanted.url} is not a GGUF file. Nothing was saved.", advice="Check the address.")
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
            for sha256 in (answer.sha256, wanted.sha256):
                check(wanted.name, digest, size, expected=KnownWeights(wanted.name, "", "", sha256, answer.size_bytes))
            os.rename(part, target, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except WhetError:
        _discard(folder, part)
        raise
    _discard(folder, part)
    folder.settle(folder.path / target)
    return digest


def _discard(folder: Folder, part: str) -> None:
    for name in (part, _note_name(part)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder.descriptor)


def _nothing(_got: int, _size: int) -> None:
    """No progress to show."""


def _refused(status: int, wanted: WantedFile) -> WhetError:
    if status in (401, 403):
        return WhetError(
            f"{wanted.url} needs permission (HTTP {status}).",
            advice="Accept the model's terms on the hub, and set HF_TOKEN to your token.",
        )
    if status == 404:
        return WhetError(f"There is no file at {wanted.url}.", advice="Check owner, repository and file name.")
    return WhetError(f"{wanted.url} answered HTTP {status}.", advice="Try again later.")
