"""One file of another agent, opened read-only and read in bounded memory."""

import contextlib
import gzip
import io
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import apsw
import msgspec

LINE_LIMIT_BYTES = 32 << 20
DOCUMENT_LIMIT_BYTES = 48 << 20
SAMPLE_LIMIT_BYTES = 1 << 20
SAMPLE_RECORDS = 20
BLOCK_BYTES = 1 << 20
DEPTH_LIMIT = 200

Kind = Literal["empty", "jsonl", "json", "sqlite", "zip", "other"]


class Record(NamedTuple):
    """One line of a JSON Lines file."""

    line: int
    value: dict[str, Any]


class Skipped(msgspec.Struct, frozen=True):
    """Something that was not imported, and why. `line` is 0 when the whole file is meant."""

    path: str
    reason: str
    line: int = 0


class Unreadable(Exception):
    """A whole file that cannot be imported; its text is the reason in the report."""


class Source:
    """A file and what was seen of it. Importers take records or a document from it and report what they skip."""

    def __init__(self, path: Path, *, name: str = "") -> None:
        self.path = path
        self.name = name or str(path)
        self.skipped: list[Skipped] = []
        self._document: object = None
        with open(path, "rb") as file:
            head = file.read(16)
        self.compressed = head.startswith(b"\x1f\x8b")
        self.kind: Kind = self._kind(head)
        self.sample: tuple[dict[str, Any], ...] = tuple(self._sample())

    def skip(self, reason: str, line: int = 0) -> None:
        """Report that a line, or the file, was left out."""
        self.skipped.append(Skipped(path=self.name, reason=reason, line=line))

    @property
    def document(self) -> object:
        """The whole file as one JSON value."""
        if self._document is None:
            with self._open() as file:
                body = _read(file, DOCUMENT_LIMIT_BYTES + 1)
            if len(body) > DOCUMENT_LIMIT_BYTES:
                raise Unreadable(f"one JSON value larger than {DOCUMENT_LIMIT_BYTES >> 20} MiB")
            self._document = parse(body)
        return self._document

    def records(self) -> Iterator[Record]:
        """The objects of a JSON Lines file in order; a line that is not one is reported and passed over."""
        number = 0
        for number, line, complete in self._lines():
            if line is None:
                self.skip(f"line longer than {LINE_LIMIT_BYTES >> 20} MiB", number)
                continue
            if not line.strip():
                continue
            try:
                value = parse(line)
            except Unreadable as error:
                # A last line without its newline is still being written: it is taken next time.
                self.skip("line not finished yet" if not complete else str(error), number)
                continue
            if isinstance(value, dict):
                yield Record(number, value)
            else:
                self.skip(f"not a JSON object but {_json_name(value)}", number)

    @contextlib.contextmanager
    def database(self) -> Iterator[apsw.Connection]:
        """The file as a SQLite database, read-only, with its write-ahead log if one lies beside it."""
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        try:
            connection = apsw.Connection(f"{self.path.absolute().as_uri()}?mode=ro", flags=flags)
            try:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            except apsw.Error:
                connection.close()
                raise
        except apsw.Error:
            # A log on a read-only disk cannot be shared in place: read a private copy.
            with tempfile.TemporaryDirectory() as folder:
                yield from self._copied_database(Path(folder))
            return
        with contextlib.closing(connection):
            yield connection

    def members(self) -> Iterator[tuple[str, object]]:
        """The JSON members of a zip file with their names."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                for entry in archive.infolist():
                    if not entry.filename.endswith(".json"):
                        continue
                    if entry.file_size > DOCUMENT_LIMIT_BYTES:
                        self.skip(f"{entry.filename} is larger than {DOCUMENT_LIMIT_BYTES >> 20} MiB")
                        continue
                    with archive.open(entry) as member:
                        body = member.read(DOCUMENT_LIMIT_BYTES)
                    try:
                        yield entry.filename, parse(body)
                    except Unreadable as error:
                        self.skip(f"{entry.filename}: {error}")
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise Unreadable(f"broken zip file: {error}") from error

    def _copied_database(self, folder: Path) -> Iterator[apsw.Connection]:
        copy = folder / "copy.db"
        shutil.copyfile(self.path, copy)
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists():
            shutil.copyfile(log, folder / "copy.db-wal")
        try:
            with contextlib.closing(apsw.Connection(str(copy))) as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                yield connection
        except apsw.Error as error:
            raise Unreadable(f"broken SQLite database: {error}") from error

    def _open(self) -> IO[bytes]:
        return gzip.open(self.path) if self.compressed else open(self.path, "rb")  # type: ignore[return-value]

    def _kind(self, head: bytes) -> Kind:
        if head.startswith(b"SQLite format 3\0"):
            return "sqlite"
        if head.startswith(b"PK\x03\x04"):
            return "zip"
        with self._open() as file:
            start = _read(file, SAMPLE_LIMIT_BYTES)
        text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not text:
            return "empty"
        if text[:1] not in b"{[":
            return "other"
        first, newline, rest = text.partition(b"\n")
        if newline and rest.strip() and _is_json(first):
            return "jsonl"
        if len(start) == SAMPLE_LIMIT_BYTES and not newline:
            return "jsonl" if not self._fits() else "json"
        return "json" if self._is_document() else "jsonl"

    def _fits(self) -> bool:
        with self._open() as file:
            return len(_read(file, DOCUMENT_LIMIT_BYTES + 1)) <= DOCUMENT_LIMIT_BYTES

    def _is_document(self) -> bool:
        try:
            return isinstance(self.document, dict | list)
        except Unreadable:
            return False

    def _sample(self) -> Iterator[dict[str, Any]]:
        if self.kind == "json":
            value = self.document
            items = value if isinstance(value, list) else [value]
            yield from (item for item in items[:SAMPLE_RECORDS] if isinstance(item, dict))
        elif self.kind == "jsonl":
            with self._open() as file:
                start = _read(file, SAMPLE_LIMIT_BYTES)
            for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:SAMPLE_RECORDS]:
                with contextlib.suppress(Unreadable):
                    value = parse(line)
                    if isinstance(value, dict):
                        yield value

    def _lines(self) -> Iterator[tuple[int, bytes | None, bool]]:
        """Each line with its number, None where it is too long, and whether its newline was there."""
        number, parts, size = 1, io.BytesIO(), 0
        with self._open() as file:
            while block := _read(file, BLOCK_BYTES):
                *whole, rest = block.split(b"\n")
                for piece in whole:
                    size += len(piece)
                    if size <= LINE_LIMIT_BYTES:
                        parts.write(piece)
                    yield number, parts.getvalue() if size <= LINE_LIMIT_BYTES else None, True
                    number, parts, size = number + 1, io.BytesIO(), 0
                size += len(rest)
                if size <= LINE_LIMIT_BYTES:
                    parts.write(rest)
        if size:
            yield number, parts.getvalue() if size <= LINE_LIMIT_BYTES else None, False


def parse(body: bytes) -> object:
    """A JSON value, or `Unreadable` with the reason; never a crash, whatever the bytes."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(body)
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        return _parse_leniently(body, str(error))


def _parse_leniently(body: bytes, reason: str) -> object:
    """Accept what JavaScript writes and strict JSON refuses: half surrogate pairs, NaN, a stray encoding."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8 text") from None
    try:
        value = json.loads(text)
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except ValueError:
        raise Unreadable(f"not JSON: {reason}") from None
    return _mended(value)


def _mended(value: object, depth: int = 0) -> object:
    """The value with half surrogate pairs replaced, since UTF-8 cannot hold them."""
    if depth > DEPTH_LIMIT:
        raise Unreadable("nested too deeply")
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_mended(key, depth + 1): _mended(item, depth + 1) for key, item in value.items()}
    return value


def _read(file: IO[bytes], size: int) -> bytes:
    try:
        return file.read(size)
    except (EOFError, zlib.error, OSError) as error:
        raise Unreadable(f"cannot be read: {error}") from error


def _is_json(line: bytes) -> bool:
    try:
        parse(line)
    except Unreadable:
        return False
    return True


def _json_name(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
