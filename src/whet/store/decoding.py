"""Values out of rows. A row that cannot be read is damage: it is said, and keeps nobody from the rest."""

import contextlib
import gc
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from whet.errors import WhetError
from whet.sessions.transcripts import Message, decode

Kind = TypeVar("Kind")


class DamagedRow(WhetError):
    """What the database holds of something cannot be read."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The {what} is damaged in the database.", advice="Run `whet doctor`, which finds all damage and its fix."
        )


def blob(value: object) -> bytes:
    """The bytes in a column; a damaged file may hold something else there, which says nothing."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


def decoded_row(body: object, kind: type[Kind], what: str) -> Kind:
    """The value in a row; raises DamagedRow where there is none."""
    try:
        return msgspec.json.decode(blob(body), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedRow(what) from error


def decoded_or_none(body: object, kind: type[Kind]) -> Kind | None:
    """The value in a row; None where it cannot be read."""
    try:
        return msgspec.json.decode(blob(body), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def decoded_message(body: object, what: str) -> Message:
    """The message in a row; raises DamagedRow where there is none."""
    try:
        return decode(blob(body))
    except (msgspec.MsgspecError, ValueError) as error:
        raise DamagedRow(what) from error


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Values hold no cycles, and the collector would walk millions of them again and again to find none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
