"""What a format of record is, and one file of another agent, opened read-only and read in bounded memory."""

import contextlib
import gzip
import hashlib
import itertools
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

import apsw
import msgspec

from whet.agents.formats import databases
from whet.sessions.transcripts import Transcript
from whet.text.fields import BYTE_ORDER_MARK
from whet.text.fields import Unreadable as Unreadable
from whet.text.fields import parse as parse

DIGEST_BYTES = 5
END_BYTES = 16 << 10
SAMPLE_BYTES = 1 << 20
SAMPLE_RECORDS = 20
BLOCK_BYTES = 1 << 18  # larger ones are slower: the memory of each is given back and taken again
EXPANSION_LIMIT = 100  # sessions compress 5 to 30 times; what expands further is a bomb
EXPANSION_FREE_BYTES = 64 << 20
UTF_16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"[\0", b"\0{", b"\0[")

Kind = Literal["empty", "jsonl", "json", "sqlite", "other"]


class ReadLimits(NamedTuple):
    """How much of a file is held at once; what is larger is reported and passed over."""

    line_bytes: int = 32 << 20
    document_bytes: int = 48 << 20
    session_records: int = 600_000  # longer than anybody's; takes about 1 GB to read and judge
    skipped: int = 10_000


class Record(NamedTuple):
    """One object of a JSON Lines file with the number of its line."""

    line: int
    value: dict[str, Any]


class Line(NamedTuple):
    """One line; `body` is None where it is too long, `complete` is whether its newline was there."""

    number: int
    body: bytes | None
    complete: bool


class Skipped(msgspec.Struct, frozen=True):
    """Something that was not imported, and why. `line` is 0 when the whole file is meant.

    >>> import whet
    >>> [skipped] = whet.read("README.md")
    >>> skipped.path, skipped.line, skipped.reason
    ('README.md', 0, 'not a session of a known format')
    """

    path: str
    reason: str
    line: int = 0


class Source:
    """A file and what was seen of it. Importers take records or a document from it and report what they skip."""

    def __init__(self, path: Path, *, name: str = "", limits: ReadLimits = ReadLimits()) -> None:  # noqa: B008 -- frozen
        self.path = path
        self.name = name or str(path)
        self.limits = limits
        self.skipped: list[Skipped] = []
        self._document: object = None
        if not path.is_file():
            raise Unreadable("not a file" if path.exists() else "no such file")
        with self._open(plain=True) as file:
            head = _read(file, 16)
        self.compressed = head.startswith(b"\x1f\x8b")
        self.kind: Kind = self._kind(head)
        self.sample: tuple[dict[str, Any], ...] = tuple(self._sample())

    def skip(self, reason: str, line: int = 0) -> None:
        """Report that a line, or the file, was left out; a file of nothing but such lines is `Unreadable`."""
        if line and len(self.skipped) >= self.limits.skipped:
            first = self.skipped[0]
            raise Unreadable(f"more than {self.limits.skipped} lines skipped; line {first.line}: {first.reason}")
        self.skipped.append(Skipped(path=self.name, reason=reason, line=line))

    @property
    def document(self) -> object:
        """The whole file as one JSON value."""
        if self._document is None:
            limit = self.limits.document_bytes
            with self._open() as file:
                body = _read(file, limit + 1)
            if len(body) > limit:
                raise Unreadable(f"one JSON value larger than {limit >> 20} MiB")
            self._document = parse(body)
        return self._document

    def records(self) -> Iterator[Record]:
        """The objects of a JSON Lines file in order; a line that is not one is reported and passed over.

        The items of a JSON list count as lines, for some tools gather a session's lines in one.
        """
        for number, value in self._items() if self.kind == "json" else self._values():
            if isinstance(value, dict):
                yield Record(number, value)
            else:
                self.skip(f"not a JSON object but {_json_name(value)}", number)

    def session_records(self) -> Iterator[Record]:
        """The same of a file that is one session, all of which has to be held at once: so many records at most."""
        limit = self.limits.session_records
        for count, record in enumerate(self.records()):
            if count == limit:
                raise Unreadable(f"a session of more than {limit:,} records")
            yield record

    def database(self) -> contextlib.AbstractContextManager[apsw.Connection]:
        """The file as a SQLite database, read-only, with its write-ahead log if one lies beside it."""
        return databases.opened(self.path)

    def _open(self, *, plain: bool = False) -> IO[bytes]:
        try:
            if plain or not self.compressed:
                return open(self.path, "rb", opener=_without_waiting)
            return cast(IO[bytes], gzip.open(self.path))
        except OSError as error:
            raise Unreadable(f"cannot be opened: {error.strerror}") from error

    def _kind(self, head: bytes) -> Kind:
        if head.startswith(b"SQLite format 3\0"):
            return "sqlite"
        if head.startswith(UTF_16_STARTS):
            raise Unreadable("UTF-16 text; save it as UTF-8")
        with self._open() as file:
            start = _read(file, SAMPLE_BYTES).removeprefix(BYTE_ORDER_MARK)
        text = start.lstrip()
        if not text:
            return "empty" if len(start) < SAMPLE_BYTES - len(BYTE_ORDER_MARK) else "other"
        return self._kind_of_text() if text[:1] in b"{[" else "other"

    def _kind_of_text(self) -> Kind:
        """JSON Lines when the first line is a value of its own and more follow; one value is a document."""
        written = (line for line in self.lines() if line.body is None or line.body.strip())
        first = next(written)
        follows = next(written, None) is not None
        if first.body is not None and _is_json(first.body):
            return "jsonl" if follows else "json"
        try:
            return "json" if isinstance(self.document, dict | list) else "other"
        except Unreadable:
            # A long first line is a record too long to take; a damaged one has sound ones after it.
            return "jsonl" if first.body is None or any(self._sampled_records()) else "json"

    def _sample(self) -> Iterator[dict[str, Any]]:
        if self.kind == "json":
            with contextlib.suppress(Unreadable):
                value = self.document
                items = value if isinstance(value, list) else [value]
                yield from (item for item in items[:SAMPLE_RECORDS] if isinstance(item, dict))
        elif self.kind == "jsonl":
            yield from self._sampled_records()

    def _sampled_records(self) -> Iterator[dict[str, Any]]:
        """The objects among the first lines, at least those of the first mebibyte."""
        size = 0
        for line in itertools.islice(self.lines(), SAMPLE_RECORDS):
            body = line.body or b""
            with contextlib.suppress(Unreadable):
                value = parse(body)
                if isinstance(value, dict):
                    yield value
            size += len(body)
            if size > SAMPLE_BYTES:
                return

    def _items(self) -> Iterator[tuple[int, object]]:
        document = self.document
        yield from enumerate(document if isinstance(document, list) else [document], start=1)

    def _values(self) -> Iterator[tuple[int, object]]:
        for number, body, complete in self.lines():
            if body is None:
                self.skip(f"line longer than {self.limits.line_bytes >> 20} MiB", number)
            elif body.strip():
                try:
                    value = parse(body)
                except Unreadable as error:
                    # A last line without its newline is still being written: it is taken next time.
                    self.skip(str(error) if complete else "line not finished yet", number)
                else:
                    yield number, value

    def lines(self) -> Iterator[Line]:
        """The lines of a text file in order, without their newlines."""
        number, pending, size, limit = 1, list[bytes](), 0, self.limits.line_bytes
        for block in self._blocks():
            *whole, rest = block.split(b"\n")
            for piece in whole:
                size += len(piece)
                yield Line(number, b"".join([*pending, piece]) if size <= limit else None, complete=True)
                number, size = number + 1, 0
                pending.clear()
            size += len(rest)
            pending = [*pending, rest] if size <= limit else []
        if size:
            yield Line(number, b"".join(pending) if size <= limit else None, complete=False)

    def _blocks(self) -> Iterator[bytes]:
        taken = 0
        with self._open() as file:
            while block := _read(file, BLOCK_BYTES):
                taken += len(block)
                if self.compressed and taken > EXPANSION_FREE_BYTES:
                    self._refuse_bomb(taken)
                yield block

    def _refuse_bomb(self, taken: int) -> None:
        if taken > EXPANSION_LIMIT * self.path.stat().st_size:
            raise Unreadable(f"expands to more than {EXPANSION_LIMIT} times its size")


def _without_waiting(path: str, flags: int) -> int:
    """Open a file of the system's own that would wait for news, and read what is there."""
    return os.open(path, flags | os.O_NONBLOCK)


def _read(file: IO[bytes], size: int) -> bytes:
    try:
        return file.read(size) or b""  # nothing at all: what the system has not written yet
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


def identity(source: Source, index: int) -> str:
    """The id of a session that has none in its file: by the file's place, or by its content if it was piped in."""
    named = _ends(source.path) if source.name == "-" else str(source.path.absolute()).encode()
    digest = hashlib.blake2b(named, digest_size=DIGEST_BYTES).hexdigest()
    return f"{digest}-{Path(source.name).stem}#{index}"


def _ends(path: Path) -> bytes:
    """Enough of a file's content to tell it from another: its size, its start and its end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(END_BYTES)
        file.seek(max(0, size - END_BYTES))
        return str(size).encode() + start + file.read(END_BYTES)


class Format(NamedTuple):
    """One format of record. `places` are globs beneath the person's home folder, of files that hold sessions.

    `variable` names the environment variable that puts another folder in the place of the first one of each glob.
    `beside` names files that lie in the folder where the person worked, of agents that have no place of their own.
    """

    name: str
    title: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Transcript]]
    places: tuple[str, ...] = ()
    variable: str = ""
    beside: tuple[str, ...] = ()
