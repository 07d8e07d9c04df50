"""Faults of the engine's database, in words for a person."""

import contextlib
import select
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from whet.engine.library import (
    DatabaseError,
    DBAPIError,
    DisconnectionError,
    Engine,
    ExceptionContext,
    OperationalError,
    Pool,
    SQLAlchemyError,
    event,
)
from whet.engine.system import IN_FILE, System, damaged
from whet.errors import WhetError
from whet.store.rights import DENIED, NO_SCHEMA, missing_right


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
            advice = "Check the disk and its free space." if file else "Check that the server is running."
            raise WhetError(f"The engine's database cannot be used: {why}.", advice=advice) from error
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
