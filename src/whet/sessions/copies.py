"""Copies: a resumed or forked session begins with messages of another one, which count there and not again."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from whet.sessions.transcripts import Message, Origin, Role, Transcript, chain


def copied_count(messages: Sequence[Message], shared: int) -> int:
    """How many of the first `shared` messages are copies: all, where one of them is dated work of the agent.

    Without dates two runs of the same task begin alike by chance, and both happened.
    """
    dated = any(message.role is Role.AGENT and message.at is not None for message in messages[:shared])
    return shared if dated else 0


def own_part(transcript: Transcript, copied: int) -> Transcript:
    """The transcript with its copied beginning as what it is: context, and no evidence of this session."""
    if not copied:
        return transcript
    context = (replace(message, origin=Origin.SUMMARY) for message in transcript.messages[:copied])
    return replace(transcript, messages=(*context, *transcript.messages[copied:]))


def is_copy(transcript: Transcript, copied: int) -> bool:
    """Whether nothing that an agent did in it is its own."""
    return bool(copied) and not any(message.role is Role.AGENT for message in transcript.messages[copied:])


class Seen:
    """The histories of the sessions read so far: message ids that cover all before them."""

    def __init__(self) -> None:
        self._ids: set[bytes] = set()

    def shared(self, history: Sequence[bytes]) -> int:
        """How many first messages of a history were seen before; it counts as seen from now on."""
        count = 0
        while count < len(history) and history[count] in self._ids:
            count += 1
        self._ids.update(history[count:])
        return count


def history_of(messages: Iterable[Message]) -> tuple[bytes, ...]:
    return tuple(chain(messages))
