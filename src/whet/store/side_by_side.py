"""Stored sessions gone through by every processor: read here, worked on in other processes, kept here by the batch."""

import contextlib
import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from typing import NamedTuple, TypeVar

import msgspec

from whet.sessions.copies import NO_PLACES
from whet.sessions.transcripts import Transcript
from whet.store.database import Database
from whet.store.rows import DamagedRow, Session
from whet.store.sessions import copied_in, is_believed, load_as
from whet.store.troubles import judged_messages
from whet.trouble.values import JudgedMessages

BATCH_MESSAGES = 5_000
POOL_FROM_MESSAGES = 5_000
CHUNK = 4  # sessions that a process takes at a time
Item = TypeVar("Item")
Found = TypeVar("Found")


class AnalysisProgress(NamedTuple):
    """How far the sessions of the store have been gone through, in messages."""

    done: int
    total: int


class StoredTranscript(NamedTuple):
    """An encoded transcript, whether it is believed, which of its messages are copies, and what a reader judged."""

    body: bytes
    is_believed: bool
    copied: frozenset[int] = NO_PLACES
    judged: JudgedMessages = JudgedMessages()

    def decoded(self) -> Transcript:
        return msgspec.json.decode(self.body, type=Transcript)


Progress = Callable[[AnalysisProgress], None]


def go_through(
    database: Database,
    sessions: list[Session],
    work: Callable[[StoredTranscript], Found],
    keep: Callable[[Session, Found | None], None],
    *,
    progress: Progress,
    processors: int | None = None,
) -> None:
    """Do some work on each session, and keep what was found, or None for one that nobody can read.

    A batch is kept in one transaction: who interrupts it loses what is under way alone. With one processor all happens
    in this process; by default a large number of messages is shared among all, and then `work` is a function by name.
    """
    done, total = 0, sum(session.message_count for session in sessions)
    processors = processors or os.cpu_count() or 1
    progress(AnalysisProgress(done, total))
    with _workers(processors if total >= POOL_FROM_MESSAGES else 1, work) as run:
        begun = ((batch, *_begun(database, batch, run)) for batch in _batches(sessions))
        for batch, readable, results in _one_ahead(begun):
            found = dict(zip(readable, results, strict=True))
            with database.writing():
                for session in batch:
                    keep(session, found.get(session.no))
            done += sum(session.message_count for session in batch)
            progress(AnalysisProgress(done, total))


@contextlib.contextmanager
def process_pool(processors: int) -> Iterator[ProcessPoolExecutor]:
    """Processes for values that hold no cycles. An interrupt is for the one that started them; it ends what waits.

    They end with it, however it ends.
    """
    pool = ProcessPoolExecutor(processors, mp_context=get_context("forkserver"), initializer=_prepare_process)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare_process() -> None:
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for its next order for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _workers(
    processors: int, work: Callable[[StoredTranscript], Found]
) -> Iterator[Callable[[list[StoredTranscript]], Iterable[Found]]]:
    if processors == 1:
        yield lambda transcripts: map(work, transcripts)
        return
    with process_pool(processors) as pool:
        yield lambda transcripts: pool.map(work, transcripts, chunksize=CHUNK)


def _begun(
    database: Database, batch: list[Session], run: Callable[[list[StoredTranscript]], Iterable[Found]]
) -> tuple[list[int], Iterable[Found]]:
    """The numbers of the sessions that can be read, and what is being found in them."""
    read = {session.no: _encoded(database, session) for session in batch}
    readable = {no: transcript for no, transcript in read.items() if transcript}
    return list(readable), run(list(readable.values()))


def _encoded(database: Database, session: Session) -> StoredTranscript | None:
    """A session as it is worked on; None for one that nobody can read, which keeps nobody from the rest."""
    try:
        believed = is_believed(database, session)
        transcript = load_as(database, session, believed=believed)
    except (DamagedRow, ValueError):
        return None
    copied = copied_in(database, session, transcript.messages)
    return StoredTranscript(msgspec.json.encode(transcript), believed, copied, judged_messages(database, session.id))


def _batches(sessions: list[Session]) -> Iterator[list[Session]]:
    """Sessions in groups of so many messages that a group fits in memory."""
    batch: list[Session] = []
    size = 0
    for session in sessions:
        batch.append(session)
        size += session.message_count
        if size >= BATCH_MESSAGES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _one_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items, each when the next one has begun: so processes have work while a batch is kept."""
    waiting: deque[Item] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting
