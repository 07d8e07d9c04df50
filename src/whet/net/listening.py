"""A socket of this machine that a server of Whet's own answers at."""

import asyncio
import logging
import socket

from whet.errors import WhetError

LOOPBACK = "127.0.0.1"
LEAVE_SECONDS = 3  # for requests under way when a server ends: a client that stands still must not hold it


def leave_quietly() -> None:
    """Have the server print nothing of clients that stood still when it ended."""
    logging.getLogger("uvicorn.error").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    is_cut_off = bool(record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
    return not is_cut_off and "timeout graceful shutdown" not in record.getMessage()


def listen(port: int, *, advice: str) -> socket.socket:
    """A socket that callers on this machine can reach from now on."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise WhetError(f"Port {port} cannot be used: {error.strerror}.", advice=advice) from error
    listening.listen()
    return listening
