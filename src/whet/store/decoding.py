"""Values out of rows. A row that cannot be read is damage: it is said, and keeps nobody from the rest.

What a member of a team needs on the server, said where it is missing.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from whet.errors import WhetError
from whet.sessions.transcripts import Message, decode

OF_A_MEMBER = "SELECT, INSERT, UPDATE, DELETE"
DENIED = "42501"  # the server's code for a right that is missing
NO_SCHEMA = "3F000"  # and for a schema that a role may not see


class MissingRight(WhetError):
    """A role may not do something in a schema; `why` is what the server says."""

    def __init__(self, role: str, schema: str, why: str) -> None:
        name, place = _quoted(role), _quoted(schema)
        super().__init__(
            f"The database role {role} lacks a right in the schema {schema}: {why}.",
            advice=f"The owner of the schema can grant it: GRANT USAGE ON SCHEMA {place} TO {name};"
            f" GRANT {OF_A_MEMBER} ON ALL TABLES IN SCHEMA {place} TO {name};"
            f" (and CREATE ON SCHEMA {place} where there are no tables yet).",
        )


def missing_right(role: str, schema: str, why: str) -> WhetError:
    """The error for a role that may not do something; the server's words say what, the advice which commands allow it.

    Rights on rows are all that a member needs. Who owns the tables can do more, and brings them up to date.
    """
    if "must be owner" not in why:
        return MissingRight(role, schema, why)
    return WhetError(
        f"The database role {role} may not migrate the tables in {schema}: {why}.",
        advice="Run any command of this version once as the role that owns the tables.",
    )


def _quoted(name: str) -> str:
    plain = name.replace("_", "").isalnum() and name == name.lower() and not name[:1].isdigit()
    return name if plain else '"{}"'.format(name.replace('"', '""'))


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
