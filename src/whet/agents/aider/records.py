"""Aider: one Markdown file a repository, with every session ever held there, to which the program appends.

The file gives the time of a session's start and of nothing else, in the zone of its machine, which it does not name:
it is taken as UTC. Edits and commands have no ids; each is told by what Aider prints of it after the answer that asked
for it. What a command printed is not in the file.
"""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator

from whet.agents.aider.chat import START, AiderChat, BlockKind, blocks, ending, finish, take
from whet.agents.formats.source import Format, Source, Unreadable
from whet.sessions.transcripts import Message, Origin, Transcript
from whet.text import fields

NAME = "aider"
FILE = ".aider.chat.history.md"
SNIFFED_LINES = 20
ID_BYTES = 4


def sniff(source: Source) -> bool:
    """Whether one of the first lines says that a chat began."""
    return source.kind == "other" and any(
        line.body is not None and START.match(_decoded(line.body))
        for line in itertools.islice(source.lines(), SNIFFED_LINES)
    )


def read(source: Source) -> Iterator[Transcript]:
    used = Counter[str]()
    for number, chat in enumerate(_chats(source)):
        if number >= source.limits.session_records:
            raise Unreadable(f"more than {source.limits.session_records:,} sessions")
        messages = finish(chat)
        if messages and not chat.is_marked:
            source.skip(f"{chat.started}: the blanks at the ends of its lines, which tell who spoke, are gone")
        elif any(message.origin is Origin.TURN for message in messages):  # else it was started and left
            yield _transcript(source, chat, messages, used)


def _chats(source: Source) -> Iterator[AiderChat]:
    chat: AiderChat | None = None
    for block in blocks(_lines(source)):
        if block.kind is BlockKind.START:
            if chat is not None:
                yield chat
            chat = AiderChat(block.text)
        elif chat is not None:
            take(chat, block)
    if chat is not None:
        yield chat


def _lines(source: Source) -> Iterator[str]:
    for number, body, complete in source.lines():
        if body is None:
            source.skip(f"line longer than {source.limits.line_bytes >> 20} MiB", number)
        elif not complete:
            source.skip("line not finished yet", number)
        else:
            yield _decoded(body)


def _decoded(body: bytes) -> str:
    return body.decode(errors="replace").removesuffix("\r")


def _transcript(source: Source, chat: AiderChat, messages: tuple[Message, ...], used: Counter[str]) -> Transcript:
    began = chat.started.replace(" ", "T")
    return Transcript(
        source=NAME,
        native_id=_identity(f"{began}-{hashlib.blake2b(chat.first.encode(), digest_size=ID_BYTES).hexdigest()}", used),
        messages=messages,
        model=next((message.model for message in messages if message.model), chat.model),
        folder=_folder(source, chat),
        version=chat.version,
        ending=ending(chat, messages),
        ending_detail=chat.ending_detail,
        started=fields.seconds(began),
        ended=fields.seconds(began),  # no later time is known
    )


def _folder(source: Source, chat: AiderChat) -> str:
    """Where the file lies, as that is where the repository does: one that came with it could name another project.

    A copy under another name, or one on standard input, lies anywhere.
    """
    here = "" if source.name == "-" else str(source.path.absolute().parent)
    return here if source.path.name == FILE else chat.folder or here


def _identity(wanted: str, used: Counter[str]) -> str:
    """When it began and what was said first: that stays while the file grows, and where it is moved."""
    used[wanted] += 1
    return wanted if used[wanted] == 1 else f"{wanted}-{used[wanted]}"


FORMAT = Format(NAME, "Aider", sniff, read, beside=(FILE,))
