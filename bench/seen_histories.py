"""How much of each session was seen before in another one, for benchmarks that read files without a store."""

from whet.sessions.transcripts import Message, chain


class SeenHistories:
    """The histories of the sessions read so far: message ids that cover all before them."""

    def __init__(self) -> None:
        self._ids: set[bytes] = set()

    def shared(self, messages: tuple[Message, ...]) -> int:
        """How many first messages of a session were seen before; it counts as seen from now on."""
        history, count = tuple(chain(messages)), 0
        while count < len(history) and history[count] in self._ids:
            count += 1
        self._ids.update(history[count:])
        return count
