"""Weights from a hub over HTTPS: resumed where a connection was cut, checked before they count."""

import contextlib
import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message as Headers
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, urlsplit

from whet.agent.providers.local_weights import BLOCK_BYTES, SUFFIX, KnownWeights, check, fetching, file_name
from whet.errors import WhetError
from whet.store.folders import Folder, explained, temporary_name
from whet.store.home import Home

PREFIX = "hf:"
HUB = "https://huggingface.co"
TIMEOUT_SECONDS = 60.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
Progress = Callable[[int, int], None]  # bytes so far, bytes in all: 0 where that is not known


class WantedFile(NamedTuple):
    """A file on a hub: where it is, what it is called here, and what it has to be, where that is known."""

    url: str
    name: str
    sha256: str = ""
    token: str = ""


class _Part(NamedTuple):
    """What is there of a file already, and the server's mark of the version that it is of."""

    size_bytes: int
    mark: str


class _Answer(NamedTuple):
    """The open body, from where on, how long the whole is, and what the hub says of it."""

    body: http.client.HTTPResponse
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
            advice=f"It looks like {PREFIX}owner/repo/file{SUFFIX}; without one, the embedded model is fetched.",
        )
    if sha256 and (len(sha256) != 64 or not all(letter in "0123456789abcdef" for letter in sha256.lower())):
        raise WhetError("The checksum is not a sha256.", advice="It has 64 hexadecimal digits.")
    hub = environment.get("HF_ENDPOINT", "").rstrip("/") or HUB
    if urlsplit(hub).scheme != "https" and urlsplit(hub).hostname not in LOOPBACK:
        raise WhetError(f"HF_ENDPOINT is not an https address: {hub}.", advice=f"Unset it to use {HUB}.")
    path = "/".join(quote(part, safe="") for part in parts[2:])
    url = f"{hub}/{quote(parts[0], safe='')}/{quote(parts[1], safe='')}/resolve/main/{path}"
    return WantedFile(url, name or parts[-1].removesuffix(SUFFIX), sha256.lower(), environment.get("HF_TOKEN", ""))


def pull_file(wanted: WantedFile, home: Home, *, progress: Progress | None = None) -> Path:
    """Fetch a file into the home folder. A cut connection leaves what came, and the next call goes on from there."""
    target = file_name(wanted.name)
    with fetching(home) as folder:
        part = temporary_name(target)
        answer = _asked(wanted, _part(folder, part))
        with contextlib.closing(answer.body):
            _note(folder, part, answer)
            _receive(folder, part, answer, progress or _nothing)
        _finish(folder, part, wanted, answer)
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


def _asked(wanted: WantedFile, part: _Part | None) -> _Answer:
    """Ask for the file, or for the rest of it where the server still has the version that the part is of."""
    headers = {"User-Agent": "whet", "Accept-Encoding": "identity"}
    if wanted.token:
        headers["Authorization"] = f"Bearer {wanted.token}"
    if part:
        headers |= {"Range": f"bytes={part.size_bytes}-", "If-Range": part.mark}
    following = _Following()
    opener = urllib.request.build_opener(following)
    try:
        body = opener.open(urllib.request.Request(wanted.url, headers=headers), timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and part:  # longer than the file is now
                return _asked(wanted, None)
            raise _refused(error.code, wanted) from None
    except (OSError, http.client.HTTPException) as error:
        raise _unreached(wanted, error) from error
    start = part.size_bytes if part and body.status == 206 else 0
    length = int(body.headers.get("Content-Length") or 0)
    return _Answer(
        body=body,
        start=start,
        size_bytes=start + length if length else 0,
        mark=body.headers.get("ETag", "") if not body.headers.get("ETag", "").startswith("W/") else "",
        sha256=wanted.sha256 or following.sha256,
    )


class _Following(urllib.request.HTTPRedirectHandler):
    """Follows the hub to where its files lie, notes the checksum that it names, and gives the token to nobody else."""

    def __init__(self) -> None:
        self.sha256 = ""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Headers, newurl: str
    ) -> urllib.request.Request | None:
        linked = str(headers.get("X-Linked-ETag", "")).strip('"').lower()
        if len(linked) == 64:
            self.sha256 = linked
        made: Any = super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]  # as given
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if old.scheme == "https" and new.scheme != "https":
            raise WhetError(f"{old.hostname} sends on to an address without https.", advice="Use another source.")
        if made is not None and (old.hostname, old.port) != (new.hostname, new.port):
            made.remove_header("Authorization")
        return made if isinstance(made, urllib.request.Request) else None


def _receive(folder: Folder, part: str, answer: _Answer, progress: Progress) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | (0 if answer.start else os.O_TRUNC)
    got = answer.start
    with explained(folder.path / part), os.fdopen(os.open(part, flags, 0o600, dir_fd=folder.descriptor), "r+b") as out:
        out.seek(answer.start)
        out.truncate()
        while block := _block(answer, got):
            out.write(block)
            got += len(block)
            progress(got, answer.size_bytes)
        out.flush()
        os.fsync(out.fileno())
    if answer.size_bytes and got < answer.size_bytes:
        raise _cut(got, answer.size_bytes, "the connection was closed")


def _block(answer: _Answer, got: int) -> bytes:
    try:
        return answer.body.read(BLOCK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _cut(got, answer.size_bytes, str(error) or type(error).__name__) from error


def _finish(folder: Folder, part: str, wanted: WantedFile, answer: _Answer) -> None:
    """Put the file in its place if it is what it should be; else keep nothing of it."""
    target = file_name(wanted.name)
    try:
        with explained(folder.path / target):
            descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.descriptor)
            with os.fdopen(descriptor, "rb") as file:
                if file.read(4) != b"GGUF":
                    raise WhetError(f"{wanted.url} is no GGUF file. Nothing was kept.", advice="Check the address.")
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
            check(
                wanted.name, digest, size, expected=KnownWeights(wanted.name, "", "", answer.sha256, answer.size_bytes)
            )
            os.rename(part, target, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except WhetError:
        _discard(folder, part)
        raise
    _discard(folder, part)
    folder.settle(folder.path / target)


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
            advice="Accept the model's terms on the hub, and set HF_TOKEN to a token of yours.",
        )
    if status == 404:
        return WhetError(f"There is no file at {wanted.url}.", advice="Check owner, repository and file name.")
    return WhetError(f"{wanted.url} answered HTTP {status}.", advice="Try again later.")


def _unreached(wanted: WantedFile, error: OSError | http.client.HTTPException) -> WhetError:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return WhetError(
        f"{urlsplit(wanted.url).hostname} cannot be reached: {reason}.",
        advice="Check the network, or set HF_ENDPOINT to a mirror.",
    )


def _cut(got: int, size: int, reason: str) -> WhetError:
    return WhetError(
        f"The connection broke after {got:,} of {size:,} bytes: {reason}.",
        advice="Run it again: it goes on from there.",
    )
