"""What a session and its messages look like on their way into the database."""

from typing import NamedTuple

from whet.sessions.transcripts import RecordedCheck, Usage
from whet.values import Value


class MessageRow(NamedTuple):
    """One message as it is stored."""

    id: bytes
    role: str
    at: float | None
    model: str
    body: bytes
    words: str
    tools: tuple[str, ...]  # called or answering in it


class SessionFacts(Value, frozen=True):
    """What is kept of a session besides its columns."""

    version: str = ""
    ending_detail: str = ""
    parent: str = ""
    own_title: str = ""
    tools: tuple[str, ...] = ()
    checks: tuple[RecordedCheck, ...] = ()
    usage: Usage | None = None
    prompt_key: str = ""  # of the prompt that a session of our own was told
    run_key: str = ""  # of the run without its conversation
    lot: str = ""  # by which canaries were drawn for it


class PreparedSession(NamedTuple):
    """A session ready to be kept."""

    id: str
    columns: tuple[object, ...]
    ended: float | None
    head: bytes
    rows: tuple[MessageRow, ...]


COLUMNS = (
    "source, native_id, parent_id, title, model, folder, branch, purpose, ending, started, ended,"
    " input_tokens, output_tokens, cached_tokens, cost_dollars, facts"
)
