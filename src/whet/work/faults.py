"""The library for durable work, an extra: whoever needs it is told how to get it. And the faults of its database.

Rows of the engine, which a whole team can write: what a home remembers has its seal, and none of them is code.
"""

import contextlib
import logging
import select
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec

from whet.errors import WhetError
from whet.shipped.extras import how_to_add
from whet.store.database import DENIED, NO_SCHEMA, Unreachable, missing_right
from whet.store.opening import Owner
from whet.work.orders import Done
from whet.work.system import IN_FILE, System, damaged

try:
    from dbos import (
        DBOS,
        DBOSClient,
        DBOSConfig,
        DBOSPortableJSONSerializer,
        EnqueueOptions,
        PortableWorkflowError,
        SetWorkflowID,
        StepInfo,
        WorkflowHandle,
        WorkflowStatus,
        error,
    )
    from dbos._serialization import DefaultSerializer
    from sqlalchemy import Engine, ExceptionContext, event
    from sqlalchemy.exc import DatabaseError, DBAPIError, DisconnectionError, OperationalError, SQLAlchemyError
    from sqlalchemy.pool import Pool
except ModuleNotFoundError as missing:
    if missing.name != "dbos":
        raise
    raise WhetError(
        "Background work needs a library that is not installed.",
        advice=f"Run `{how_to_add('work')}`. Without it, use --now for trials and `whet try`.",
    ) from missing

DBOSException = error.DBOSException

__all__ = [
    "DBOS", "DBAPIError", "DBOSClient", "DBOSConfig", "DBOSException", "DBOSPortableJSONSerializer", "DatabaseError",
    "DefaultSerializer", "DisconnectionError", "Engine", "EnqueueOptions", "ExceptionContext", "OperationalError",
    "Pool", "PortableWorkflowError", "SQLAlchemyError", "SetWorkflowID", "StepInfo", "WorkflowHandle",
    "WorkflowStatus", "event",
]  # fmt: skip


BREAK = "\n"  # between the seal and the text, which is JSON and has none


def distrust_rows() -> None:
    """Have no row loaded as a pickle, which is code, and none printed by the engine's own log, as it stands.

    DBOS believes each row about the way in which it is written.
    """
    setattr(DefaultSerializer, "deserialize", _refuse)  # noqa: B010 - mypy lets no method be assigned
    logging.getLogger("dbos").setLevel(logging.CRITICAL)


def _refuse(_serializer: DefaultSerializer, _text: str) -> object:
    raise TypeError("a row of the engine is written as a pickle, and those are never loaded")


def sealed(owner: Owner, text: str, *parts: str) -> str:
    """A text as it is stored, with the seal of this home where others can write beside it."""
    seal = owner.seal(*parts, text)
    return f"{seal}{BREAK}{text}" if seal else text


def unsealed(owner: Owner, stored: str, *parts: str) -> str:
    """The text that this home stored; raises WhetError for one that it did not."""
    seal, _, text = stored.rpartition(BREAK)
    if not owner.has_sealed(seal, *parts, text):
        raise WhetError(
            "The database's record of this work was not written by this home, so the work was stopped.",
            advice="Check who can write to the team's database, then submit the work again.",
        )
    return text


def text_of(stored: object) -> str:
    """The text without its seal, to be shown and never to be acted on."""
    return stored.rpartition(BREAK)[2] if isinstance(stored, str) else ""


def arguments_in(found: WorkflowStatus) -> tuple[str, str]:
    """Kind and body of an order, which anybody may have written in any form."""
    given = found.input.get("args", ()) if isinstance(found.input, dict) else ()
    texts = [str(each) for each in given[:2]] if isinstance(given, (tuple, list)) else []
    return (texts[0], texts[1]) if len(texts) == 2 else ("", "{}")


def done_in(output: object) -> Done | None:
    """What came of an order, or what failed work left, where that can be read."""
    try:
        if isinstance(output, str):
            return msgspec.json.decode(output, type=Done)
        data = output.data if isinstance(output, PortableWorkflowError) else None
        return msgspec.convert(data, Done) if isinstance(data, dict) else None
    except msgspec.MsgspecError:
        return None


@contextlib.contextmanager
def explained(system: System) -> Iterator[None]:
    """Say what a person can do where the database is at fault. What SQLAlchemy itself says may hold the address."""
    try:
        yield
    except DBAPIError as error:
        why = str(error.orig).strip().partition("\n")[0]
        if getattr(error.orig, "sqlstate", "") in (DENIED, NO_SCHEMA):
            raise missing_right(system.member, system.schema, why) from error
        file = unquote(system.url.removeprefix(IN_FILE)) if system.url.startswith(IN_FILE) else ""
        if isinstance(error, OperationalError):
            said = f"The engine's database cannot be used: {why}."
            if file:
                raise WhetError(said, advice="Check the disk and its free space.") from error
            raise Unreachable(said, advice="Check that the server is running.") from error
        if file and type(error) is DatabaseError:
            raise damaged(Path(file), why) from error
        raise
    except SQLAlchemyError as error:
        raise WhetError(
            f"The engine cannot use its database ({type(error).__name__}).", advice="Check WHET_DATABASE_URL."
        ) from error


def wait_for_lost_servers() -> None:
    """Have work wait for a server that is gone for a moment. DBOS knows only some of the words for that.

    A kept connection is looked at before it is used, without a question to the server: there are many uses a second.
    """
    if not event.contains(Engine, "handle_error", _notice_loss):
        event.listen(Engine, "handle_error", _notice_loss)
        event.listen(Pool, "checkout", _expect_open)


def _expect_open(connection: object, _record: object, _proxy: object) -> None:
    """Nobody asked anything, so what there is to read is the end of the connection, or a notice of it."""
    server = getattr(connection, "pgconn", None)  # a file has none
    if server is not None:
        look = select.poll()
        look.register(server.socket, select.POLLIN)
        if look.poll(0):
            raise DisconnectionError("the server closed this connection")


def _notice_loss(context: ExceptionContext) -> None:
    error = context.original_exception
    # The driver has no code of the server's for what it found out by itself: that there is none.
    if type(error).__module__.startswith("psycopg") and getattr(error, "sqlstate", "") is None:
        context.is_disconnect = isinstance(context.sqlalchemy_exception, OperationalError)
